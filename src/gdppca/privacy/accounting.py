"""From events to ε, ρ and μ.

Everything is computed, never looked up: a Gaussian alone exactly (Balle and Wang 2018), several
Gaussians as one, a few pure steps beside them as an exact mixture, anything else by composing
privacy-loss distributions (dp-accounting).

Two traps of dp-accounting are kept out. Its REPLACE_ONE relation is never used: our multipliers
hold the replace-one sensitivity already, and its RDP and PLD accountants disagree by a factor of
two there. And events are composed one by one, since a count is ignored for some of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_ndtr, logsumexp, ndtri
from scipy.stats import norm

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.privacy.events import (
    ApproximateEvent,
    Event,
    GaussianEvent,
    NonPrivateEvent,
    PureEvent,
)

_GRID = (1e-5, 1e-4)  # finest and coarsest step of the privacy loss; rounding errs upwards
_EXACT_PURE_STEPS = 12  # beyond, the number of sign patterns grows too large
_SOLVER_SLACK = 1e-9  # relative; the root finder may stop short of the root
_BEYOND_FLOATS = 1e3  # μ or ε whose factor no float can hold
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
    from dp_accounting import get_epsilon_gaussian

    return float(get_epsilon_gaussian(noise_multiplier, delta))


def gaussian_delta(noise_multiplier: float, epsilon: float) -> float:
    """Exact δ of one Gaussian at ε: Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) with μ = 1/multiplier."""
    return float(gaussian_deltas(noise_multiplier, np.array([epsilon]))[0])


def gaussian_deltas(noise_multiplier: float, epsilons: np.ndarray) -> np.ndarray:
    """Exact δ of one Gaussian at each ε."""
    mu = 1 / noise_multiplier
    first = log_ndtr(mu / 2 - epsilons / mu)
    second = epsilons + log_ndtr(-mu / 2 - epsilons / mu)
    deltas: np.ndarray = np.exp(first) * -np.expm1(np.minimum(second - first, 0.0))
    return deltas


def mixed_delta(noise_multiplier: float, pure: tuple[float, ...], epsilon: float) -> float:
    """Exact δ at ε of a Gaussian beside ε-private steps.

    A pure step is dominated by randomised response, whose privacy loss is ±ε_k with odds e^ε_k
    (Kairouz, Oh, Viswanath 2015); δ is the mean of the Gaussian's over all sign patterns.
    """
    losses, log_odds = _pure_losses(pure)
    return float(np.exp(log_odds) @ gaussian_deltas(noise_multiplier, epsilon - losses))


def _pure_losses(pure: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Privacy loss of randomised response for each pattern of signs, and its log-probability."""
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=len(pure))))
    steps = np.array(pure)
    return signs @ steps, -np.logaddexp(0.0, -signs * steps).sum(axis=1)


@lru_cache(maxsize=256)
def multiplier_beside(epsilon: float, delta: float, pure: tuple[float, ...]) -> float:
    """Smallest noise multiplier that gives (ε, δ) together with pure steps; rounded up."""
    if not pure:
        return gaussian_multiplier(epsilon, delta)
    if sum(pure) >= epsilon:
        raise ParameterError(
            "The other steps spend all of `epsilon`; nothing is left for this one."
        )
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
    if not gaussians:
        return whole
    left = 1 - sum((whole / event.noise_multiplier) ** 2 for event in gaussians)
    if left <= 0:
        raise ParameterError(
            "The other steps spend all of `epsilon`; nothing is left for this one."
        )
    return whole / math.sqrt(left)


def gdp_mu(events: Iterable[Event]) -> float:
    """μ of Gaussian differential privacy, √Σμ².

    An ε-private step counts as the smallest μ whose trade-off curve lies below its own,
    2 Φ⁻¹(e^ε/(1 + e^ε)) (Liu et al. 2022).
    """
    return math.sqrt(sum(_mu(event) ** 2 for event in events))


def _mu(event: Event) -> float:
    match event:
        case GaussianEvent(noise_multiplier=multiplier):
            return 1 / multiplier
        case PureEvent(epsilon=epsilon):
            return float(2 * norm.isf(expit(-epsilon)))
        case ApproximateEvent() | NonPrivateEvent():
            return math.inf  # no trade-off curve of a Gaussian lies below


def zcdp_rho(events: Iterable[Event]) -> float:
    """ρ of zero-concentrated differential privacy: Σ 1/(2 multiplier²), and ε²/2 for pure steps."""
    return sum(_rho(event) for event in events)


def _rho(event: Event) -> float:
    match event:
        case GaussianEvent(noise_multiplier=multiplier):
            return 0.5 / multiplier**2
        case PureEvent(epsilon=epsilon):
            return 0.5 * epsilon**2
        case ApproximateEvent() | NonPrivateEvent():
            return math.inf


@lru_cache(maxsize=256)
def epsilon_at(events: tuple[Event, ...], delta: float) -> float:
    """ε at δ of all events together; zero where nothing was drawn.

    Approximate events are added up, ε to ε and δ to δ; the rest must do with what is left of δ.
    """
    if any(isinstance(event, NonPrivateEvent) for event in events):
        return math.inf
    approximate = [event for event in events if isinstance(event, ApproximateEvent)]
    if approximate:
        rest = tuple(event for event in events if not isinstance(event, ApproximateEvent))
        left = delta - sum(event.delta for event in approximate)
        if left < 0 or (rest and left == 0):
            return math.inf
        added = sum(event.epsilon for event in approximate)
        return added + (epsilon_at(rest, left) if rest else 0.0)
    gaussians = [event for event in events if isinstance(event, GaussianEvent)]
    pure = [event for event in events if isinstance(event, PureEvent)]
    if not pure:
        return gaussian_epsilon(1 / gdp_mu(gaussians), delta) if gaussians else 0.0
    if not gaussians and len(pure) == 1:
        return pure[0].epsilon
    if gaussians and len(pure) <= _EXACT_PURE_STEPS:
        return _mixed_epsilon(1 / gdp_mu(gaussians), tuple(e.epsilon for e in pure), delta)
    return _composed_epsilon(gaussians, pure, delta)


def _mixed_epsilon(noise_multiplier: float, pure: tuple[float, ...], delta: float) -> float:
    added = gaussian_epsilon(noise_multiplier, delta) + sum(pure)
    if mixed_delta(noise_multiplier, pure, 0.0) <= delta:
        return 0.0

    def excess(epsilon: float) -> float:
        return mixed_delta(noise_multiplier, pure, epsilon) / delta - 1

    return float(brentq(excess, 0.0, added * (1 + 1e-9), xtol=1e-13, rtol=1e-13)) * (1 + 1e-11)


def _composed_epsilon(gaussians: list[GaussianEvent], pure: list[PureEvent], delta: float) -> float:
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    smallest = min([event.epsilon for event in pure] + [_mu(event) for event in gaussians])
    grid = min(max(smallest / 20, _GRID[0]), _GRID[1])
    parts = [
        pld.from_privacy_parameters(
            common.DifferentialPrivacyParameters(event.epsilon, 0),
            value_discretization_interval=grid,
        )
        for event in pure
    ]
    if gaussians:
        parts.append(
            pld.from_gaussian_mechanism(1 / gdp_mu(gaussians), value_discretization_interval=grid)
        )
    total = parts[0]
    for part in parts[1:]:
        total = total.compose(part)
    added = sum(event.epsilon for event in pure)  # simple composition can only be worse
    if gaussians:
        added += gaussian_epsilon(1 / gdp_mu(gaussians), delta)
    if delta < 1e-12:  # the convolution's own rounding would matter
        return added
    return min(float(total.get_epsilon_for_delta(delta - 1e-15)), added)


def odds_factor(events: tuple[Event, ...], chance: float) -> float:
    r"""Largest factor by which the odds of a guess about one row rise, but for a chance.

    With the privacy curve δ(ε) of all events together it is the smallest of
    :math:`e^\varepsilon/(1 - \delta(\varepsilon)/c)`, for any guess and any knowledge of the other
    rows; every ε gives a valid bound (docs/proofs/odds.md). Rounded up.
    """
    if any(isinstance(event, NonPrivateEvent) for event in events):
        return math.inf
    approximate = [event for event in events if isinstance(event, ApproximateEvent)]
    left = chance - sum(event.delta for event in approximate)
    if approximate and left <= chance * _ROUNDING:
        return math.inf
    exact = tuple(event for event in events if not isinstance(event, ApproximateEvent))
    log_factor = _log_factor(exact, left)
    if approximate:  # their curve is known at one point only: ε adds to ε, and δ to δ
        log_factor += sum(event.epsilon for event in approximate) + math.log(chance / left)
    rounded = log_factor * (1 + _ROUNDING) + _ROUNDING
    return math.exp(rounded) if rounded < 709 else math.inf


@lru_cache(maxsize=256)
def _log_factor(events: tuple[Event, ...], chance: float) -> float:
    """Logarithm of the factor for Gaussian and pure events alone."""
    mu = gdp_mu(event for event in events if isinstance(event, GaussianEvent))
    steps = sorted(event.epsilon for event in events if isinstance(event, PureEvent))
    if not chance:
        return sum(steps) if len(steps) == len(events) else math.inf
    if max(mu, *steps, 0.0) > _BEYOND_FLOATS:
        return math.inf
    if not steps:
        return _gaussian_log_factor(mu, chance)
    rest, pure = steps[:-_EXACT_PURE_STEPS], tuple(steps[-_EXACT_PURE_STEPS:])
    exact = _mixed_log_factor(mu, pure, chance) if mu else _pure_log_factor(pure, chance)
    if not rest:
        return exact
    return min(exact + sum(rest), _gaussian_log_factor(gdp_mu(events), chance))  # both are above


def _gaussian_log_factor(mu: float, chance: float) -> float:
    """ln c/Φ(Φ⁻¹(c) - μ), from the trade-off curve (Dong, Roth, Su 2022)."""
    return float(math.log(chance) - log_ndtr(ndtri(chance) - mu))


def _pure_log_factor(pure: tuple[float, ...], chance: float) -> float:
    """Pure steps alone: best is the smallest loss that is exceeded with chance c or less."""
    losses, log_odds = _pure_losses(pure)
    order = np.argsort(-losses)
    losses, odds = losses[order], np.exp(log_odds[order])
    above = np.concatenate([[0.0], np.cumsum(odds)[:-1]])  # probability of a larger loss
    best = int(np.searchsorted(above, chance, side="right")) - 1
    other = float(odds[:best] @ np.exp(losses[best] - losses[:best]))
    return float(losses[best]) - math.log((other + chance - float(above[best])) / chance)


def _mixed_log_factor(mu: float, pure: tuple[float, ...], chance: float) -> float:
    """A Gaussian beside pure steps: best is the loss that is exceeded with chance c."""
    losses, log_odds = _pure_losses(pure)
    chance = min(chance, 1 - _SOLVER_SLACK)  # closer to 1 the tails of floats are all alike

    def log_tail(epsilon: float) -> float:  # over c
        tails = log_ndtr(mu / 2 - (epsilon - losses) / mu)
        return float(logsumexp(log_odds + tails)) - math.log(chance)

    middle = mu * (mu / 2 - ndtri(chance))  # of the Gaussian alone
    width = (sum(pure) + _SOLVER_SLACK) * (1 + _SOLVER_SLACK) + mu
    root = brentq(log_tail, middle - width, middle + width, xtol=1e-13, rtol=1e-14)
    epsilon = root + 2e-13 + 2e-14 * abs(root)  # to the right of the root the bound is flat
    tails = log_ndtr(-mu / 2 - (epsilon - losses) / mu)  # without the row
    other = float(logsumexp(log_odds - losses + tails)) - math.log(chance)
    return float(epsilon) - math.log(math.exp(epsilon + other) - math.expm1(log_tail(epsilon)))


def require_neighbors_agree(first: str, second: str) -> None:
    """Refuse to compose promises about different neighbours."""
    if first != second:
        raise ParameterError(
            f"Guarantees about different neighbours do not compose: {first} and {second}."
        )
