"""Privacy curves: δ at ε, ε at δ, odds at a chance, and the noise that meets them.

What is known of the steps comes as two totals: μ² of all Gaussian steps, and the pure steps,
counted. A Gaussian alone is exact (Balle and Wang 2018), pure steps beside it are an exact mixture
over their privacy loss (`gdppca.privacy.loss`). How events become totals, and totals the numbers
that are shown, stands in `gdppca.privacy.spending`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_ndtr, logsumexp, ndtri
from scipy.stats import norm

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.privacy.events import ApproximateEvent, Event, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.privacy.loss import Steps, counted, pure_loss

_SOLVER_SLACK = 1e-9  # relative; the root finder may stop short of the root
_LARGE = 1e6  # ε from which plain addition will do
_HARDLY_NOISE = 1e-150  # a multiplier whose square floats do not hold
_HARDLY_LOSS = 1e-6  # ε of a pure step whose μ is its tangent's, to twelve digits
_TINY, _FLOAT_MAX = math.ulp(0.0), sys.float_info.max  # the smallest number above 0, the largest
_BEYOND_FLOATS = 1e3  # μ or ε whose factor no float can hold
_NOTHING_LEFT = "The other steps spend all of `epsilon`; nothing is left for this one."
_ROUNDING = 1e-12  # of the logarithm of a factor, far above what floats lose


@lru_cache(maxsize=256)
def gaussian_multiplier(epsilon: float, delta: float) -> float:
    """Smallest noise sd over sensitivity that gives (ε, δ), exactly (Balle and Wang 2018)."""
    from dp_accounting import get_sigma_gaussian

    epsilon = _validate.budget(epsilon=epsilon)
    delta = _validate.fraction(delta=delta)
    return float(get_sigma_gaussian(epsilon, delta)) * (1 + _SOLVER_SLACK) + 2e-12


def classical_multiplier(epsilon: float, delta: float) -> float:
    r"""Multiplier of the paper, :math:`\sqrt{2\ln(1.25/\delta)}/\varepsilon` (Prop 1.1).

    Proved for ε < 1 only; it promises too much from ε = 8.42 on at δ = 1e-5.
    """
    epsilon = _validate.budget(epsilon=epsilon)
    delta = _validate.fraction(delta=delta)
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@lru_cache(maxsize=256)
def gaussian_epsilon(noise_multiplier: float, delta: float) -> float:
    """Exact ε of one Gaussian at δ."""
    if math.isinf(noise_multiplier):
        return 0.0
    if noise_multiplier < _HARDLY_NOISE:
        return math.inf
    from dp_accounting import get_epsilon_gaussian

    with np.errstate(divide="ignore"):  # the solver tries log(0) where hardly anything is left
        return max(float(get_epsilon_gaussian(noise_multiplier, delta)), 0.0)


def gaussian_deltas(noise_multiplier: float, epsilons: np.ndarray) -> np.ndarray:
    """Exact δ of one Gaussian at each ε: Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) with μ = 1/multiplier.

    Of no step at all where the multiplier is infinite.
    """
    if math.isinf(noise_multiplier):
        return np.asarray(-np.expm1(np.minimum(epsilons, 0.0)))
    mu = 1 / noise_multiplier
    first = log_ndtr(mu / 2 - epsilons / mu)
    second = epsilons + log_ndtr(-mu / 2 - epsilons / mu)
    ratio = second - np.maximum(first, -_FLOAT_MAX)  # where both are beyond floats too
    deltas: np.ndarray = np.exp(first) * -np.expm1(np.minimum(ratio, 0.0))
    return deltas


def mixed_delta(noise_multiplier: float, pure: tuple[float, ...], epsilon: float) -> float:
    """Exact δ at ε of a Gaussian beside ε-private steps."""
    return _mixed_delta(noise_multiplier, counted(pure), epsilon)


def _mixed_delta(noise_multiplier: float, pure: Steps, epsilon: float) -> float:
    """Mean of the Gaussian's δ over the privacy loss of the pure steps."""
    losses, log_odds = pure_loss(pure)
    return float(np.exp(log_odds) @ gaussian_deltas(noise_multiplier, epsilon - losses))


def squared_mu(noise_multiplier: float) -> float:
    """μ² of a Gaussian, which adds up; never nothing, and infinite beyond what floats hold."""
    return max(noise_multiplier**-2, _TINY) if noise_multiplier > _HARDLY_NOISE else math.inf


def multiplier_of(squared: float) -> float:
    """Noise multiplier of a Gaussian with this μ²; infinite where there is none."""
    return squared**-0.5 if squared > 0 else math.inf


def as_one(gaussian: float, pure: Steps) -> float:
    """μ² of one Gaussian that is no more private than a Gaussian of this μ² and pure steps."""
    return gaussian + sum(count * pure_mu(step) ** 2 for step, count in pure)


def delta_beside(gaussian: float, pure: Steps, epsilon: float) -> float:
    """δ at ε of a Gaussian of this μ² beside pure steps, exactly."""
    if math.isinf(gaussian):
        return 1.0
    return _mixed_delta(multiplier_of(gaussian), pure, epsilon)


def added_epsilon(gaussian: float, pure: Steps, delta: float) -> float:
    """ε at δ of the same by plain addition: never below the exact number."""
    added = sum(step * count for step, count in pure)
    return added + gaussian_epsilon(multiplier_of(gaussian), delta)


def epsilon_beside(gaussian: float, pure: Steps, delta: float) -> float:
    """ε at δ of the same, exact and rounded up."""
    most = added_epsilon(gaussian, pure, delta)
    alone = not gaussian and sum(count for _, count in pure) == 1
    if not pure or alone or delta <= 0 or most > _LARGE:
        return most
    most = min(most, gaussian_epsilon(multiplier_of(as_one(gaussian, pure)), delta))

    def excess(epsilon: float) -> float:
        return delta_beside(gaussian, pure, epsilon) / delta - 1

    if excess(0.0) <= 0:
        return 0.0
    if excess(most) >= 0:  # losses that were rounded
        return most
    root = brentq(excess, 0.0, most, xtol=1e-13, rtol=1e-13)
    return min(float(root) * (1 + 1e-11), most)


@lru_cache(maxsize=256)
def multiplier_beside(epsilon: float, delta: float, pure: tuple[float, ...]) -> float:
    """Smallest noise multiplier that gives (ε, δ) together with pure steps; rounded up."""
    if not pure:
        return gaussian_multiplier(epsilon, delta)
    if sum(pure) >= epsilon:
        raise ParameterError(_NOTHING_LEFT)
    low = gaussian_multiplier(epsilon, delta)
    high = gaussian_multiplier(epsilon - sum(pure), delta)
    solved = brentq(lambda m: math.log(mixed_delta(m, pure, epsilon) / delta), low * 0.999, high)
    return float(solved) * (1 + _SOLVER_SLACK) + 2e-12


def multiplier_left(epsilon: float, delta: float, beside: tuple[Event, ...]) -> float:
    """Noise multiplier of a last Gaussian step that completes (ε, δ) beside other steps.

    Pure steps count by `multiplier_beside`, Gaussian ones by 1/m² each: the order and the number
    of Gaussian steps may depend on what was released before (docs/proofs/centre.md).
    """
    pure = tuple(event.epsilon for event in beside if isinstance(event, PureEvent))
    gaussians = [event for event in beside if isinstance(event, GaussianEvent)]
    if len(pure) + len(gaussians) < len(beside):
        raise ParameterError("Only pure and Gaussian steps share a budget.")
    whole = multiplier_beside(epsilon, delta, pure)
    left = 1 - sum((whole / event.noise_multiplier) ** 2 for event in gaussians)
    if left <= 0:
        raise ParameterError(_NOTHING_LEFT)
    return whole / math.sqrt(left)


def gdp_mu(events: Iterable[Event]) -> float:
    """μ of Gaussian differential privacy, √Σμ²; infinite where a step has none."""
    return math.hypot(*map(_mu, events))


def _mu(event: Event) -> float:
    match event:
        case GaussianEvent(noise_multiplier=multiplier):
            return 1 / multiplier
        case PureEvent(epsilon=epsilon):
            return pure_mu(epsilon)
        case ApproximateEvent() | NonPrivateEvent():
            return math.inf  # no trade-off curve of a Gaussian lies below


@lru_cache(maxsize=256)
def pure_mu(epsilon: float) -> float:
    """Smallest μ whose trade-off curve lies below that of an ε-private step (Liu et al. 2022).

    It is 2 Φ⁻¹(e^ε/(1 + e^ε)), concave in ε, so that its tangent at 0 is never below.
    """
    if epsilon < _HARDLY_LOSS:
        return epsilon * math.sqrt(math.pi / 2)
    return float(2 * norm.isf(expit(-epsilon)))


def zcdp_rho(events: Iterable[Event]) -> float:
    """ρ of zero-concentrated differential privacy: Σ 1/(2 multiplier²), and ε²/2 for pure steps."""
    return sum(_rho(event) for event in events)


def _rho(event: Event) -> float:
    match event:
        case GaussianEvent(noise_multiplier=multiplier):
            return 0.5 * squared_mu(multiplier)
        case PureEvent(epsilon=epsilon):
            return 0.5 * epsilon * epsilon
        case ApproximateEvent() | NonPrivateEvent():
            return math.inf


@lru_cache(maxsize=256)
def log_factor(gaussian: float, pure: Steps, chance: float) -> float:
    r"""Logarithm of the factor by which the odds of a guess rise, but for a chance; rounded up.

    With the privacy curve δ(ε) it is that of the smallest :math:`e^\varepsilon/(1 -
    \delta(\varepsilon)/c)`; every ε gives a valid bound (docs/proofs/odds.md).
    """
    if not chance:
        return added_epsilon(gaussian, pure, 0.0)
    mu = math.sqrt(gaussian)
    if max(mu, *(step for step, _ in pure), 0.0) > _BEYOND_FLOATS:
        return math.inf
    found = _gaussian_log_factor(math.sqrt(as_one(gaussian, pure)), chance)
    if pure:
        exact = _mixed_log_factor(mu, pure, chance) if mu else _pure_log_factor(pure, chance)
        found = min(found, exact)
    return found * (1 + _ROUNDING) + _ROUNDING


def _gaussian_log_factor(mu: float, chance: float) -> float:
    """ln c/Φ(Φ⁻¹(c) - μ), from the trade-off curve (Dong, Roth, Su 2022)."""
    return float(math.log(chance) - log_ndtr(ndtri(chance) - mu))


def _pure_log_factor(pure: Steps, chance: float) -> float:
    """Pure steps alone: best is the smallest loss that is exceeded with chance c or less."""
    losses, log_odds = pure_loss(pure)
    order = np.argsort(-losses)
    losses, odds = losses[order], np.exp(log_odds[order])
    above = np.concatenate([[0.0], np.cumsum(odds)[:-1]])  # probability of a larger loss
    best = int(np.searchsorted(above, chance, side="right")) - 1
    other = float(odds[:best] @ np.exp(losses[best] - losses[:best]))
    return float(losses[best]) - math.log((other + chance - float(above[best])) / chance)


def _mixed_log_factor(mu: float, pure: Steps, chance: float) -> float:
    """A Gaussian beside pure steps: best is the loss that is exceeded with chance c."""
    losses, log_odds = pure_loss(pure)
    chance = min(chance, 1 - _SOLVER_SLACK)  # closer to 1 the tails of floats are all alike

    def log_tail(epsilon: float) -> float:  # over c
        tails = log_ndtr(mu / 2 - (epsilon - losses) / mu)
        return float(logsumexp(log_odds + tails)) - math.log(chance)

    middle = mu * (mu / 2 - ndtri(chance))  # of the Gaussian alone
    width = sum(step * count for step, count in pure) + _SOLVER_SLACK
    width = width * (1 + _SOLVER_SLACK) + mu
    if log_tail(middle + width) >= 0:  # a loss that was called infinite is as likely
        return math.inf
    root = brentq(log_tail, middle - width, middle + width, xtol=1e-13, rtol=1e-14)
    epsilon = root + 2e-13 + 2e-14 * abs(root)  # to the right of the root the bound is flat
    tails = log_ndtr(-mu / 2 - (epsilon - losses) / mu)  # without the row
    other = float(logsumexp(log_odds - losses + tails)) - math.log(chance)
    return float(epsilon) - math.log(math.exp(epsilon + other) - math.expm1(log_tail(epsilon)))
