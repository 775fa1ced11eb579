"""Where data meets noise: a private centre, the winsorised mean of each column."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from gdppca import _validate
from gdppca.ledgers import enter
from gdppca.noise.bits import Rng
from gdppca.noise.gaussian import add_gaussian, calibrated_sigma
from gdppca.privacy import Event, GaussianEvent, NonPrivateEvent

_LOG_LEVELS = 8  # halvings over the grid 0, ±2⁻⁶³, ±2⁻⁶², …, ±2⁶³
_LINEAR_LEVELS = 8  # halvings between two neighbours of that grid
_LEVELS = _LOG_LEVELS + _LINEAR_LEVELS
_BOUNDS_SHARE = 0.75  # of the budget; the mean itself needs less
_TRIM = (0.01, 0.40)  # smallest and largest share of rows beyond each bound
_STEPS = 24  # bits kept of a winsorised value


@dataclass(frozen=True, kw_only=True)
class NoisyLocation:
    """A private centre, the private bounds that rows were winsorised to, and what was drawn."""

    center: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    events: tuple[Event, ...]


def private_winsorized_mean(
    X: np.ndarray, zcdp_rho: float, rng: Rng, *, ledger: str | None = None
) -> NoisyLocation:
    r"""Release a winsorised mean of each column, without bounds from the user.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite numbers.
    zcdp_rho : float
        Budget ρ of zero-concentrated differential privacy; infinity draws no noise.
    rng : Rng
        Source of bits.
    ledger : None or str, default None
        Where the spend is entered before anything is drawn: "sqlite:///budget.db#patients".

    Returns
    -------
    NoisyLocation
        Centre and bounds, all of them private.

    Notes
    -----
    **Privacy.** ρ-zCDP, replace-one, n public: three quarters of ρ for the bounds, one quarter
    for the mean.

    Bounds: sixteen noisy counts of the rows below a point, for 2 bounds in each of d columns. One
    row changes each count by at most 1, so the 2d counts move by at most :math:`\sqrt{2d}`. Counts
    are whole numbers and therefore exact.

    Mean: given the bounds, each value becomes a whole number of :math:`2^{-24}` parts of the way
    from the lower bound to the upper one, by a rule that looks at its own row alone. Sums of whole
    numbers are exact, so d sums move by at most :math:`\sqrt d` ways, in floating point as on
    paper.

    **Paper.** Stands in for the private modified winsorized mean (PMWM) of Ramsay and Spicker
    (2025), which App B.1 uses, and differs from it. Theirs finds a bound by comparing one count
    after another, on a geometric grid from a given lower end, with a noisy threshold; halving
    here needs no end, takes sixteen counts always, and is zCDP by plain composition. Theirs
    trims max(10/n, 1 %) of the rows at each end; so does this one, unless the noise of a count
    asks for more: four of its standard deviations, at most 40 %. Theirs splits the rows between
    bounds and mean; here all rows serve both.

    A bound is found to 1/256 of its own size, so the mean of a column may be a thousand times its
    spread but not a million times: subtract a public value first. Values beyond ±2⁶⁴ count as if
    they were there.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.noise.bits import seeded_rng
    >>> from gdppca.steps.winsorized_mean import private_winsorized_mean
    >>> X = np.random.default_rng(0).normal(loc=[1000.0, -3.0], size=(5000, 2))
    >>> private_winsorized_mean(X, 0.5, seeded_rng(1)).center.round(1)
    array([1000.,   -3.])
    """
    zcdp_rho = _validate.positive(rho=zcdp_rho)
    n, d = X.shape
    warn_of_few_rows(n, d, zcdp_rho, stacklevel=2)
    enter(ledger, location_events(zcdp_rho), seeded=rng.seeded)
    return drawn_winsorized_mean(X, zcdp_rho, rng)


def drawn_winsorized_mean(X: np.ndarray, zcdp_rho: float, rng: Rng) -> NoisyLocation:
    """The same for a spend that is entered already, after the warning."""
    lower, upper = _private_bounds(X, _BOUNDS_SHARE * zcdp_rho, rng)
    center = _private_mean(X, lower, upper, (1 - _BOUNDS_SHARE) * zcdp_rho, rng)
    return NoisyLocation(center=center, lower=lower, upper=upper, events=location_events(zcdp_rho))


def warn_of_few_rows(n: int, d: int, zcdp_rho: float, stacklevel: int) -> None:
    """Warn where the noise of a count may carry a bound away; from public numbers."""
    sigma = _sigma(_BOUNDS_SHARE * zcdp_rho / _LEVELS, math.sqrt(2 * d), 2 * d)
    if 4 * sigma > _TRIM[1] * n:
        warnings.warn(
            f"{n} rows are few for a private centre of {d} columns: its bounds may be mere noise. "
            "More rows, more budget or a public centre help.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def location_events(zcdp_rho: float) -> tuple[Event, ...]:
    """What `private_winsorized_mean` draws, from its budget alone."""
    if math.isinf(zcdp_rho):
        return (NonPrivateEvent(purpose="location"),)
    bound = GaussianEvent(
        purpose="bounds of the location",
        noise_multiplier=_multiplier(_BOUNDS_SHARE * zcdp_rho / _LEVELS),
    )
    mean = GaussianEvent(
        purpose="location", noise_multiplier=_multiplier((1 - _BOUNDS_SHARE) * zcdp_rho)
    )
    return (bound,) * _LEVELS + (mean,)


def _multiplier(rho: float) -> float:
    """Noise sd over sensitivity of a ρ-zCDP Gaussian mechanism, 1/√(2ρ)."""
    return 1 / math.sqrt(2 * rho)


def _sigma(rho: float, sensitivity: float, length: int) -> float:
    if math.isinf(rho):
        return 0.0
    return calibrated_sigma(_multiplier(rho), sensitivity, length)


def _noised(values: np.ndarray, sigma: float, rng: Rng) -> np.ndarray:
    return add_gaussian(values, sigma, rng) if sigma > 0 else values


def trimmed_share(n_samples: int, sigma: float) -> float:
    """Share of rows beyond each bound, from public numbers; σ is the noise of a count."""
    smallest, largest = _TRIM
    return min(largest, max(smallest, 10 / n_samples, 4 * sigma / n_samples))


def _private_bounds(X: np.ndarray, rho: float, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Noisy bisection for a lower and an upper quantile of each column."""
    n, d = X.shape
    sigma = _sigma(rho / _LEVELS, math.sqrt(2 * d), 2 * d)
    share = trimmed_share(n, sigma)
    wanted = n * np.array([[share], [1 - share]])

    def reached(points: np.ndarray) -> np.ndarray:
        counts = np.stack([np.count_nonzero(point >= X, axis=0) for point in points])
        return _noised(counts.astype(float), sigma, rng) >= wanted

    index = np.full((2, d), -(2**_LOG_LEVELS) // 2)  # left end of the bracket, on the grid
    for level in reversed(range(_LOG_LEVELS)):
        middle = index + 2**level
        index = np.where(reached(_grid(middle)), index, middle)
    left, right = _grid(index), _grid(index + 1)
    for _ in range(_LINEAR_LEVELS):
        middle = 0.5 * (left + right)
        low = reached(middle)
        left, right = np.where(low, left, middle), np.where(low, middle, right)
    return np.minimum(left[0], right[1]), np.maximum(left[0], right[1])


def _grid(index: np.ndarray) -> np.ndarray:
    """0 for index 0, else ± a power of two: 2⁻⁶³ for ±1, 2⁶⁴ for ±128."""
    return np.sign(index) * np.ldexp(1.0, np.abs(index) - 64)


def _private_mean(
    X: np.ndarray, lower: np.ndarray, upper: np.ndarray, rho: float, rng: Rng
) -> np.ndarray:
    """Noisy mean of the rows winsorised to the bounds."""
    n, d = X.shape
    sums = np.array([_way(X[:, k], lower[k], upper[k]) for k in range(d)])
    noisy = _noised(sums, _sigma(rho, math.sqrt(d), d), rng)
    return lower + (upper - lower) * np.clip(noisy / n, 0.0, 1.0)


def _way(column: np.ndarray, lower: float, upper: float) -> float:
    """Sum of the ways from lower (0) to upper (1), each rounded to 2⁻²⁴; exact for n < 2²⁹."""
    if not lower < upper:
        return 0.0
    ways = np.clip((np.clip(column, lower, upper) - lower) / (upper - lower), 0.0, 1.0)
    return math.ldexp(float(np.rint(ways * 2**_STEPS).sum()), -_STEPS)


_LADDER = 1.01  # ratio of the published thresholds
PUBLISHED_LIMIT = 40.0  # the published code is given an interval; this one is in its simulations


def published_winsorized_mean(
    X: np.ndarray, zcdp_rho: float, rng: Rng, limit: float = PUBLISHED_LIMIT
) -> np.ndarray:
    """Winsorised mean of each column as Ramsay and Spicker (2025) publish it, for comparisons.

    On half of the rows, climb thresholds :math:`1.01^i - 1` from the end of ±`limit` until a noisy
    count passes a noisy target, once upwards and once downwards; on the other half, a noisy mean
    of what lies between. A third of the budget each for targets, counts and mean, an equal part
    per column.

    Not proven here: the climb compares many counts and pays for one. That is known to be sound
    with Laplace noise, not with Gaussian noise. It also needs `limit` from the user.
    """
    n, d = X.shape
    half = n // 2
    order = rng.permutation(n)
    third = zcdp_rho / (3 * d)
    trim = min(max(10 / n, 0.01), 0.1)
    center = np.empty(d)
    for k in range(d):
        searched, averaged = X[order[:half], k], X[order[half:], k]
        upper = min(_climbed(searched, 1 - trim, third / 2, limit, rng), limit)
        lower = max(-_climbed(-searched, 1 - trim, third / 2, limit, rng), -limit)
        if not lower < upper:
            lower, upper = -limit, limit
        sigma = (upper - lower) / (n - half) * _multiplier(third)
        mean = np.array([np.clip(averaged, lower, upper).mean()])
        center[k] = _noised(mean, sigma, rng)[0]
    return center


def _climbed(values: np.ndarray, q: float, rho: float, limit: float, rng: Rng) -> float:
    """First threshold above -limit whose noisy count passes the noisy target."""
    steps = np.arange(1, math.ceil(math.log(2 * limit + 1) / math.log(_LADDER)) + 1)
    thresholds = np.expm1(steps * math.log(_LADDER)) - limit
    counts = np.searchsorted(np.sort(values), thresholds, side="right").astype(float)
    sigma = 0.0 if math.isinf(rho) else 1 / math.sqrt(rho)
    target = _noised(np.array([q * len(values)]), sigma, rng)[0]
    passed = _noised(counts, sigma, rng) > target
    return float(thresholds[np.argmax(passed)]) if passed.any() else limit
