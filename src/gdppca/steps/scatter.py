"""The noisy scatter matrix, which gets all that the steps before it leave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from gdppca import _validate, linalg
from gdppca._errors import ParameterError
from gdppca.kernels import Scheme
from gdppca.noise import Noise, calibrated_sigma, lattice_slack
from gdppca.privacy import Event, GaussianEvent, PureEvent
from gdppca.privacy.accounting import classical_multiplier, gdp_mu, multiplier_left
from gdppca.sensitivity import CALIBRATIONS, REPLACING, Moves, paper_sensitivity
from gdppca.signs import Sign, Spherical
from gdppca.steps.base import Public, Rows, State, gaussian_event
from gdppca.steps.centre_budget import centre_bias
from gdppca.steps.count import within_limits
from gdppca.tables.base import Recipe
from gdppca.theory import components_above_noise

PURPOSE = "scatter"

_TAIL = 50.0  # standard deviations that no noise ever reaches
_SMALLEST_SD = 1e-306  # its lattice, and that of half of it, are made of floats


@dataclass(frozen=True, kw_only=True)
class ScatterNoise:
    """How much noise a scatter matrix gets, from public numbers alone."""

    noise_sd: float
    sensitivity: float
    event: Event


@dataclass(frozen=True, kw_only=True)
class MatrixBudget:
    """What a matrix may spend: all that is left of μ, or noise that somebody states.

    `stated` is noise over the paper's sensitivity; the event still records the true ratio of noise
    to sensitivity, so that a guarantee says what is really promised.
    """

    mu: float  # of all Gaussian steps together; infinite: no noise
    stated: float | None = None

    def level(
        self,
        sign: Sign,
        scheme: Scheme,
        n: float,
        d: int,
        spent: tuple[Event, ...] = (),
        moves: Moves = REPLACING,
    ) -> ScatterNoise:
        """Noise of a matrix, beside what was spent before it."""
        bound = moves.scatter(scheme, sign.sup_norm, n, d)
        length = linalg.packed_length(d)
        if math.isinf(self.mu):
            sd = multiplier = 0.0
        elif self.stated is None:
            multiplier = 1 / math.sqrt(self.mu**2 - gdp_mu(_gaussian(spent)) ** 2)
            sd = calibrated_sigma(multiplier, bound, length)
        else:
            sd = self.stated * paper_sensitivity(scheme, sign.sup_norm, int(n))
            multiplier = sd / (bound + lattice_slack(sd, length))
        event = gaussian_event(PURPOSE, multiplier)
        return ScatterNoise(noise_sd=sd, sensitivity=bound, event=event)


def matrix_budget(
    epsilon: float, delta: float, calibration: str, beside: tuple[Event, ...] = ()
) -> MatrixBudget:
    r"""What (ε, δ) leaves to a matrix beside other steps; the one place where noise is solved for.

    **Paper.** ``calibration="paper"`` gives :math:`\sigma_{\varepsilon,\delta} =
    4\|g\|_\infty^2\sqrt{2\ln(1.25/\delta)}/(n\varepsilon)` (Sec 2.2).
    """
    epsilon = _validate.budget(epsilon=epsilon)
    delta = _validate.fraction(delta=delta)
    tight = _validate.one_of(CALIBRATIONS, calibration=calibration) == "tight"
    if math.isinf(epsilon):
        return MatrixBudget(mu=math.inf)
    if tight:
        return MatrixBudget(mu=1 / multiplier_left(epsilon, delta, beside))
    if any(_gaussian(beside)):
        raise ParameterError(
            "The paper's noise shares its budget with no other Gaussian step: use "
            "`calibration='tight'`."
        )
    pure = sum(event.epsilon for event in beside if isinstance(event, PureEvent))
    stated = classical_multiplier(epsilon - pure, delta)
    return MatrixBudget(mu=1 / stated, stated=stated)


def _gaussian(events: tuple[Event, ...]) -> list[Event]:
    return [event for event in events if isinstance(event, GaussianEvent)]


@np.errstate(over="ignore")  # infinity is too large as well
def require_representable(noise: ScatterNoise, sign: Sign, n_features: int) -> None:
    """Refuse a matrix that floating point cannot hold, from public numbers and unspent.

    Eigenvalues and their sums stay floats too, and the noise has a lattice.
    """
    private = isinstance(noise.event, GaussianEvent)
    if n_features * (sign.sup_norm**2 + _TAIL * noise.noise_sd) > linalg.LARGEST:
        raise ParameterError(
            f"The sign's bound {sign.sup_norm:g} and this budget make the noisy matrix too large "
            "for floating point: use a smaller radius, and rescale the columns."
        )
    if private and noise.noise_sd < _SMALLEST_SD:
        raise ParameterError(
            f"The sign's bound {sign.sup_norm:g} and this budget make the noise too small for "
            "floating point: use a larger radius, and rescale the columns."
        )


@dataclass(frozen=True, kw_only=True)
class Scatter:
    r"""The noisy matrix, and its leading eigenvectors.

    **Privacy.** One Gaussian event, `Moves.scatter` (docs/proofs/sensitivity.md). Rows of one
    person share a weight of one.

    **Paper.** :math:`\tilde K_g = \hat K_g + \mathrm{vecd}^{-1}(\xi)`,
    :math:`\xi \sim N(0, \sigma^2 I)`, Sec 2.2.
    """

    public: Public
    n_components: int | str  # "auto": as many as stand above the noise
    first: ScatterNoise  # where nothing is drawn before
    budget: MatrixBudget | None = None  # what is shared with steps before; None: `first` it is
    needs_sample = False

    @property
    def events(self) -> tuple[Event, ...]:
        """The most that it draws: all that there is."""
        return (self.first.event,)

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """The noisy matrix of all rows."""
        level = self.level(state)
        K_hat = self.mean(table, state.recipe(self.public.n_features))  # not private
        K_tilde, noise_sd = noisy_matrix(K_hat, level, noise), level.noise_sd
        state, ratio = self.counted(state, K_tilde, noise_sd)
        K_tilde, noise_sd = K_tilde * ratio, noise_sd * ratio
        kept = partial(self.kept, state, noise_sd)
        return state.with_matrix(K_tilde, noise_sd, kept, level.event)

    def mean(self, table: Rows, recipe: Recipe) -> np.ndarray:
        """The sum over all rows, over a number that is public; exact, not private."""
        total = table.total(recipe)
        mean = total.mean()
        if self.public.moves.replaces:
            return mean
        return mean * (total.n_samples / self.public.n_samples)

    def counted(self, state: State, K_tilde: np.ndarray, noise_sd: float) -> tuple[State, float]:
        """Where their number is secret, how many there are; by what means are multiplied for it."""
        if state.number is None:
            return state, 1.0
        number = self._number(state, K_tilde, noise_sd)
        return state.with_(estimate=number), self.public.n_samples / number

    def _number(self, state: State, K_tilde: np.ndarray, noise_sd: float) -> int:
        """How many rows or persons there are by count and trace together; spherical signs add one.

        Each as far as it is sure. Weighted rows add their weights, which tell no number.
        """
        n, sd = self.public.n_samples, state.number_sd
        if not isinstance(state.sign, Spherical) or self.public.weighted or sd == 0:
            return n
        by_trace, trace_sd = n * float(np.trace(K_tilde)), n * noise_sd * math.sqrt(len(K_tilde))
        weight = sd**2 / (sd**2 + trace_sd**2)
        return round(within_limits(n + weight * (by_trace - n)))

    def level(self, state: State) -> ScatterNoise:
        """Its noise, beside what was drawn before."""
        if self.budget is None or not state.events:
            return self.first
        n, d = self.public.n_samples, self.public.n_features
        moves = self.public.moves
        return self.budget.level(state.sign, state.scheme, n, d, state.events, moves)

    def kept(self, state: State, noise_sd: float, eigenvalues: np.ndarray) -> int:
        """How many directions are kept: as many as asked for, or as stand above the noise."""
        if not isinstance(self.n_components, str):
            return self.n_components
        gaps = (state.rates, state.rate_error)
        bias = self.centre_bias(state)
        return components_above_noise(eigenvalues, noise_sd, self.public.n_samples, bias, *gaps)

    def centre_bias(self, state: State) -> float:
        """What the error of a private centre adds to an eigenvalue; zero without one."""
        if state.location is None:
            return 0.0
        seen, d = self.public.n_seen, self.public.n_features
        return centre_bias(state.events, seen, d, self.public.moves, state.rates)


def noisy_matrix(K_hat: np.ndarray, level: ScatterNoise, noise: Noise) -> np.ndarray:
    """The matrix with noise of one size on its packed form; as it is where there is none."""
    if level.noise_sd == 0:
        return K_hat
    packed = linalg.vecd(K_hat)
    noisy = noise.gaussian(packed, level.noise_sd, sensitivity=level.sensitivity)
    return linalg.vecd_inverse(noisy)
