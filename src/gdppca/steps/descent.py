"""Noisy stochastic geodesic gradient descent: Algorithm 3, App D.3."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gdppca import linalg
from gdppca.kernels import OneSample, sign_covariance
from gdppca.noise import Noise
from gdppca.privacy import ApproximateEvent, Event, NonPrivateEvent
from gdppca.signs import Spherical
from gdppca.steps.base import Public, Rows, State
from gdppca.steps.pairing import halved_differences
from gdppca.steps.printed import PRINTED, printed_scatter
from gdppca.steps.scatter import ScatterNoise, matrix_budget, noisy_matrix

PURPOSE = "descent"

_STEPS_AT_ONCE = 100_000  # between two looks at the keyboard
_ROUNDING = 1e-9  # far above what floating point adds to the length of a gradient


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Directions by noisy steps from a noisy start; half of ε and δ for each.

    **Privacy.** With `accounted`, the start is a noisy mean of zz' over pairs,
    `Moves.scatter`. A row is in one pair, a pair adds at most 1 to the length of
    a step's gradient, and each pair enters a step by its own coin of probability B/(n/2): T
    Gaussian mechanisms with Poisson sampling, accounted by Rényi divergences. Else none.
    """

    public: Public
    epsilon: float
    delta: float
    n_components: int
    n_steps: int
    batch_size: int
    step: float
    accounted: bool
    needs_sample = True

    @property
    def n_pairs(self) -> int:
        """Pairs of rows."""
        return self.public.n_seen // 2

    @property
    def sigma(self) -> float:
        """Noise on each entry of a step's mean gradient."""
        half = self.epsilon / 2, self.delta / 2
        if math.isinf(self.epsilon):
            return 0.0
        if not self.accounted:
            return printed_sigma(*half, self.batch_size, self.n_pairs, self.n_steps)
        share = min(1.0, self.batch_size / self.n_pairs)
        return steps_multiplier(*half, share, self.n_steps) / self.batch_size

    @property
    def private(self) -> bool:
        """Whether its noise protects anybody."""
        return self.accounted and self.sigma > 0

    @property
    def start_level(self) -> ScatterNoise:
        """Noise of an accounted start."""
        budget = matrix_budget(self.epsilon / 2, self.delta / 2, "tight")
        return budget.level(Spherical(), OneSample(), self.n_pairs, self.public.n_features)

    @property
    def events(self) -> tuple[Event, ...]:
        """What the start and the steps draw."""
        start = self.start_level.event if self.accounted else PRINTED
        half = {"epsilon": self.epsilon / 2, "delta": self.delta / 2}
        steps: Event = NonPrivateEvent(purpose=PURPOSE)
        return (start, ApproximateEvent(purpose=PURPOSE, **half) if self.private else steps)

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """Directions, in no order."""
        Z = linalg.directions(halved_differences(table.sample(self.public.n_seen).single, noise))[0]
        V = linalg.Spectrum(self._start(Z, noise)).leading(self.n_components)  # lines 1 to 4
        V = descended(Z, V, self, noise)  # lines 5 to 11
        components = linalg.with_stable_signs(V).T
        return state.with_(components=components, noise_sd=self.sigma, events=self.events)

    def _start(self, Z: np.ndarray, noise: Noise) -> np.ndarray:
        """Line 4: Analyze Gauss on the unit vectors, printed or with noise that protects."""
        if not self.accounted:
            return printed_scatter(Z, self.epsilon / 2, self.delta / 2, noise)[0]
        exact = sign_covariance(Z, np.zeros(Z.shape[1]))
        return noisy_matrix(exact, self.start_level, noise)


def printed_sigma(epsilon: float, delta: float, batch_size: int, n_pairs: int, T: int) -> float:
    """Line 3 of Algorithm 3, B √(2T log(1/δ'))/(n² ε')."""
    return batch_size * math.sqrt(2 * T * math.log(1 / delta)) / (n_pairs**2 * epsilon)


@lru_cache(maxsize=256)
def steps_multiplier(epsilon: float, delta: float, share: float, n_steps: int) -> float:
    r"""Noise on a step's summed gradient that makes all steps together (ε, δ), replace-one.

    Each pair adds a vector of length at most 1 and enters a step with probability `share`. For
    pairs left out, T Poisson-sampled Gaussian steps are (ε₀, δ₀) by Rényi accounting. A replaced
    pair is one left out and another put in, so for any event A with the empty table between,
    :math:`P(A) \le e^{\varepsilon_0}(e^{\varepsilon_0}P'(A) + \delta_0) + \delta_0`: with
    ε₀ = ε/2 and δ₀ = δ/(1 + exp ε₀) that is (ε, δ).
    """
    import dp_accounting as dpa
    from dp_accounting.rdp import RdpAccountant

    def steps(multiplier: float) -> dpa.DpEvent:
        step = dpa.PoissonSampledDpEvent(share, dpa.GaussianDpEvent(multiplier))
        return dpa.SelfComposedDpEvent(step, n_steps)

    one_move = epsilon / 2
    multiplier = dpa.calibrate_dp_mechanism(
        RdpAccountant,
        steps,
        one_move,
        delta / (1 + math.exp(one_move)),
        dpa.LowerEndpointAndGuess(1e-3, 10.0),
        tol=1e-4,
    )
    return float(multiplier) * (1 + _ROUNDING)


def descended(Z: np.ndarray, V: np.ndarray, plan: Descent, noise: Noise) -> np.ndarray:
    """Lines 5 to 11, in pieces that leave room for an interrupt."""
    from gdppca.steps.descent_loop import descend

    Z, V = np.ascontiguousarray(Z), np.array(V, order="C")
    generator, sigma = noise.generator(), plan.sigma
    for done in range(0, plan.n_steps, _STEPS_AT_ONCE):
        n_steps = min(_STEPS_AT_ONCE, plan.n_steps - done)
        descend(Z, V, n_steps, plan.step, sigma, plan.batch_size, plan.accounted, generator)
    return V
