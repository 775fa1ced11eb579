"""Baseline: noisy stochastic descent over subspaces, `NSGGD`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from gdppca import _validate, linalg
from gdppca._errors import ParameterError
from gdppca.estimators._base import Found
from gdppca.estimators._baseline import Baseline, Setup
from gdppca.estimators.analyze_gauss import PRINTED, printed_scatter
from gdppca.estimators.sgpca import paired_differences
from gdppca.kernels import OneSample, sign_covariance
from gdppca.noise.bits import Rng
from gdppca.privacy import ApproximateEvent, Event, NonPrivateEvent, Status
from gdppca.privacy.assumptions import NOT_CRYPTOGRAPHIC
from gdppca.releases import NoisyScatter, ScatterNoise, private_scatter, scatter_noise
from gdppca.signs import Spherical

_STEPS_AT_ONCE = 100_000  # between two looks at the keyboard
_ROUNDING = 1e-9  # far above what floating point adds to the length of a gradient
_TOO_LITTLE = (
    "the printed noise is too small by a factor near n/B for subsampled Gaussian steps, and the "
    'start divides by the data\'s own largest norm; use noise="accounted"'
)


@dataclass(frozen=True)
class Descent:
    """Everything that the descent needs to know, from public numbers alone."""

    n_pairs: int
    n_features: int
    n_steps: int
    batch_size: int
    step: float
    sigma: float
    accounted: bool


@dataclass(eq=False, repr=False, kw_only=True)
class NSGGD(Baseline):
    r"""Noisy stochastic geodesic gradient descent for least absolute deviations; a baseline.

    Parameters
    ----------
    n_components : int, default 2
        Number of directions; their order means nothing.
    epsilon, delta : float, default 1.0 and 1e-6
        Privacy ε and δ. An infinite ε adds no noise and protects nobody.
    ledger : None or str, default None
        As for `DPPCA`; a fit with the printed noise protects nobody, and is refused.
    random_state : None or int, default None
        As for `DPPCA`: a seed makes a simulation.
    n_iterations : None or int, default None
        Number of steps T; None is n².
    batch_size : None or int, default None
        Pairs in a step B, on average with ``noise="accounted"``; None is the paper's
        :math:`\max(n\sqrt{\varepsilon/8T}, 1)`, which is 1 for T = n² and ε < 32.
    learning_rate : None, "paper" or float, default None
        Length η of a step; None and "paper" are 1/n². With Tη = 1 the descent hardly leaves its
        start. Tη = 20 does better with the printed noise, and worse with the accounted noise,
        whose start is good and whose steps are not.
    noise : "printed" or "accounted", default "printed"
        The paper's noise, which protects nobody, or noise from an account of the steps.
    descend : bool, default True
        False takes the printed sign of the gradient, which climbs away from the minimum.

    Attributes
    ----------
    components_ : array of shape (m, d)
        Directions, one per row, in no order.
    guarantee_ : Guarantee
        What was promised; status "none" for the printed noise.
    release_ : Release
        Everything that the method puts out; there is no matrix.
    noise_sd_ : float
        σ of the noise on each entry of a step's mean gradient.
    n_iterations_, batch_size_ : int
        T and B as used.
    learning_rate_ : float
        η as used.

    Notes
    -----
    **Privacy.** With ``noise="accounted"``, half of ε and δ buys the start, a noisy mean of
    :math:`zz^\top` over pairs that moves by at most :math:`\sqrt2/(n/2)`. The other half buys the
    steps. A row is in one pair, a pair adds at most 1 to the length of a step's gradient, and
    each pair enters a step by its own coin of probability B/(n/2): T Gaussian mechanisms with
    Poisson sampling, accounted by Rényi divergences. Leaving a pair out is one move and putting
    another in its place a second one, so the steps are calibrated to ε₀ = ε/4 and
    δ₀ = (δ/2)/(1 + exp ε₀) for one move, which gives (ε/2, δ/2) for both. The noise of the steps
    is floating-point noise of a fast generator with a secret seed, unlike that of every other
    estimator here; the guarantee lists it among its assumptions.

    With ``noise="printed"``, none: σ is too small by a factor near n/B.

    **Paper.** Algorithm 3, App D.3, with three repairs: pairs are :math:`X_{n/2+i}, X_i`, the
    step descends, and T and η are taken from the number of rows, σ from the number of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.estimators import NSGGD
    >>> X = np.random.default_rng(0).standard_t(2, size=(600, 4)) * [9, 1, 1, 1]
    >>> pca = NSGGD(1, epsilon=4.0, delta=1e-4, noise="accounted").fit(X)
    >>> pca.components_.shape, pca.n_iterations_, round(pca.guarantee_.epsilon, 3)
    ((1, 4), 360000, 4.0)
    """

    n_iterations: int | None = None
    batch_size: int | None = None
    learning_rate: Any = None
    noise: str = "printed"
    descend: bool = True

    _least_rows: ClassVar[int] = 4

    def _setup(self, n: int, d: int) -> Setup:
        plan = descent_of(self, n, d)
        noise = self._start_noise(plan)
        private = plan.accounted and plan.sigma > 0

        def draw(X: np.ndarray, rng: Rng) -> Found:
            Z = linalg.directions(paired_differences(X, rng))[0]  # line 1
            start = self._start(Z, noise, rng)  # lines 2 and 4
            V = linalg.Spectrum(start.matrix).leading(self.n_components)
            V = descended(Z, V, plan, rng)  # lines 5 to 11
            self.n_iterations_ = plan.n_steps
            self.batch_size_ = plan.batch_size
            self.learning_rate_ = abs(plan.step)
            return Found(components=linalg.with_stable_signs(V).T, noise_sd=plan.sigma)

        return Setup(
            events=self._events(plan, noise),
            draw=draw,
            calibration=self.noise,
            noiseless=plan.sigma == 0,
            assumed=(NOT_CRYPTOGRAPHIC,) if private else (),
            status=Status.PROVEN if private else Status.NONE,
            reason="" if private else _TOO_LITTLE,
        )

    def _schedule(self, n: int) -> tuple[int, int, float]:
        T = n**2 if self.n_iterations is None else _validate.count(n_iterations=self.n_iterations)
        if self.batch_size is not None:
            B = _validate.count(batch_size=self.batch_size)
        else:
            B = 1 if math.isinf(self.epsilon) else int(n * math.sqrt(self.epsilon / (8 * T)))
        B = min(max(B, 1), n // 2)
        if isinstance(self.learning_rate, str):
            _validate.one_of(("paper",), learning_rate=self.learning_rate)
        if self.learning_rate is None or isinstance(self.learning_rate, str):
            return T, B, 1 / n**2
        eta = _validate.finite_positive(learning_rate=self.learning_rate)
        if eta > 1e6:
            raise ParameterError("`learning_rate` must be at most 1e6.")
        return T, B, eta

    def _start_noise(self, plan: Descent) -> ScatterNoise | None:
        """Noise of the start, half of the budget; None for the printed one."""
        if not plan.accounted:
            return None
        return scatter_noise(
            epsilon=self.epsilon / 2,
            delta=self.delta / 2,
            sign=Spherical(),
            scheme=OneSample(),
            n_samples=plan.n_pairs,
            n_features=plan.n_features,
        )

    def _events(self, plan: Descent, noise: ScatterNoise | None) -> tuple[Event, ...]:
        """What the start and the steps draw."""
        steps: Event = NonPrivateEvent(purpose="descent")
        if plan.accounted and plan.sigma > 0:
            steps = ApproximateEvent(
                purpose="descent", epsilon=self.epsilon / 2, delta=self.delta / 2
            )
        return (PRINTED if noise is None else noise.event, steps)

    def _start(self, Z: np.ndarray, noise: ScatterNoise | None, rng: Rng) -> NoisyScatter:
        """Line 4: Analyze Gauss on the unit vectors, printed or with noise that protects."""
        if noise is None:
            return printed_scatter(Z, self.epsilon / 2, self.delta / 2, rng)
        return private_scatter(sign_covariance(Z, np.zeros(Z.shape[1])), noise, rng)


def descent_of(pca: NSGGD, n: int, d: int) -> Descent:
    """Lines 2 and 3, and the paper's choices of T, B and η."""
    T, B, eta = pca._schedule(n)
    n_pairs = n // 2
    accounted = _validate.one_of(("printed", "accounted"), noise=pca.noise) == "accounted"
    epsilon, delta = pca.epsilon / 2, pca.delta / 2
    if math.isinf(epsilon):
        sigma = 0.0
    elif accounted:
        sigma = steps_multiplier(epsilon, delta, min(1.0, B / n_pairs), T) / B
    else:
        sigma = printed_sigma(epsilon, delta, B, n_pairs, T)
    step = eta if _validate.flag(descend=pca.descend) else -eta
    return Descent(n_pairs, d, T, B, step, sigma, accounted)


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


def descended(Z: np.ndarray, V: np.ndarray, plan: Descent, rng: Rng) -> np.ndarray:
    """Lines 5 to 11, in pieces that leave room for an interrupt."""
    from gdppca.estimators._compiled_nsggd import descend

    Z, V = np.ascontiguousarray(Z), np.array(V, order="C")
    generator = rng.generator()
    for done in range(0, plan.n_steps, _STEPS_AT_ONCE):
        n_steps = min(_STEPS_AT_ONCE, plan.n_steps - done)
        descend(Z, V, n_steps, plan.step, plan.sigma, plan.batch_size, plan.accounted, generator)
    return V
