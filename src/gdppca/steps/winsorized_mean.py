"""A private centre, the winsorised mean of each column: bounds by bisection, then a mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gdppca.linalg import SQRT2
from gdppca.noise import Noise, calibrated_sigma, noised
from gdppca.privacy import Event, NonPrivateEvent
from gdppca.sensitivity import REPLACING, Moves
from gdppca.steps.base import Public, Rows, State
from gdppca.steps.bisection import bisected, bisection_events

PURPOSE, BOUNDS_PURPOSE = "location", "bounds of the location"

_LOG_LEVELS = 8  # halvings over the grid 0, ±2⁻⁶³, ±2⁻⁶², …, ±2⁶³
_LINEAR_LEVELS = 8  # halvings between two neighbours of that grid
_LEVELS = _LOG_LEVELS + _LINEAR_LEVELS
_BOUNDS_SHARE = 0.75  # of the budget; the mean itself needs less
_TRIM = (0.01, 0.40)  # smallest and largest share of rows beyond each bound
_STEPS = 24  # bits kept of a winsorised value


@dataclass(frozen=True, kw_only=True)
class WinsorizedMean:
    r"""A winsorised mean of each column, without bounds from the user.

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

    """

    public: Public
    zcdp_rho: float  # infinite: no noise
    needs_sample = True

    @property
    def _multipliers(self) -> tuple[float, float]:
        """Noise over sensitivity of a count and of the mean."""
        count = _multiplier(_BOUNDS_SHARE * self.zcdp_rho / _LEVELS)
        return count, _multiplier((1 - _BOUNDS_SHARE) * self.zcdp_rho)

    @property
    def events(self) -> tuple[Event, ...]:
        """Sixteen counts and a mean."""
        count, mean = self._multipliers
        return bisection_events(_LEVELS, (BOUNDS_PURPOSE, count), (PURPOSE, mean))

    @property
    def doubt(self) -> str | None:
        """Whether the noise of a count may carry a bound away; from public numbers."""
        n, d = self.public.n_seen, self.public.n_features
        if 4 * _count_sigma(self._multipliers[0], d, self.public.moves) <= _TRIM[1] * n:
            return None
        return (
            f"{n} rows are few for a private centre of {d} columns: its bounds may be mere noise. "
            "More rows, more budget or a public centre help."
        )

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """A centre, and the bounds that rows were winsorised to."""
        X = table.sample(self.public.n_seen).single
        count, mean = self._multipliers
        bounds = winsorized_bounds(X, count, noise, self.public.moves)
        center = winsorized_mean(X, *bounds, mean, noise, self.public.moves)
        return state.with_(location=center, bounds=bounds, events=self.events)


def _multiplier(rho: float) -> float:
    """Noise sd over sensitivity of a ρ-zCDP Gaussian mechanism, 1/√(2ρ)."""
    return 1 / math.sqrt(2 * rho)


def _count_sigma(multiplier: float, d: int, moves: Moves) -> float:
    """Noise of one of the 2d counts of a halving."""
    if multiplier == 0:
        return 0.0
    return calibrated_sigma(multiplier, moves.counts_below(2 * d), 2 * d)


def trimmed_share(n_samples: int, sigma: float) -> float:
    """Share of rows beyond each bound, from public numbers; σ is the noise of a count."""
    smallest, largest = _TRIM
    return min(largest, max(smallest, 10 / n_samples, 4 * sigma / n_samples))


def winsorized_bounds(
    X: np.ndarray, multiplier: float, noise: Noise, moves: Moves = REPLACING
) -> tuple[np.ndarray, np.ndarray]:
    """A lower and an upper quantile of each column, by powers of two and then in between."""
    n, d = X.shape
    share = trimmed_share(n, _count_sigma(multiplier, d, moves))
    wanted = n * np.array([[share], [1 - share]])
    start = np.full((2, d), -(2**_LOG_LEVELS) // 2)
    index = bisected(X, wanted, _grid, start, _LOG_LEVELS, multiplier, noise, moves)
    left, width = _grid(index), _grid(index + 1) - _grid(index)

    def between(k: np.ndarray) -> np.ndarray:
        return left + width * (k / 2**_LINEAR_LEVELS)  # exact: widths are powers of two

    k = bisected(X, wanted, between, np.zeros_like(index), _LINEAR_LEVELS, multiplier, noise, moves)
    low, high = between(k)[0], between(k + 1)[1]
    return np.minimum(low, high), np.maximum(low, high)


def _grid(index: np.ndarray) -> np.ndarray:
    """0 for index 0, else ± a power of two: 2⁻⁶³ for ±1, 2⁶⁴ for ±128."""
    return np.sign(index) * np.ldexp(1.0, np.abs(index) - 64)


def winsorized_mean(
    X: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    multiplier: float,
    noise: Noise,
    moves: Moves = REPLACING,
) -> np.ndarray:
    """Noisy mean of the rows winsorised to the bounds."""
    n, d = X.shape
    sums = np.array([_way(X[:, k], lower[k], upper[k]) for k in range(d)])
    noisy = noised(sums, multiplier, moves.bounded_sums(d), noise).values
    return lower + (upper - lower) * np.clip(noisy / n, 0.0, 1.0)


def _way(column: np.ndarray, lower: float, upper: float) -> float:
    """Sum of the ways from lower (0) to upper (1), each rounded to 2⁻²⁴; exact for n < 2²⁹."""
    if not lower < upper:
        return 0.0
    ways = np.clip((np.clip(column, lower, upper) - lower) / (upper - lower), 0.0, 1.0)
    return math.ldexp(float(np.rint(ways * 2**_STEPS).sum()), -_STEPS)


_LADDER = 1.01  # ratio of the published thresholds
PUBLISHED_LIMIT = 40.0  # the published code is given an interval; this one is in its simulations


@dataclass(frozen=True, kw_only=True)
class PublishedWinsorizedMean:
    """The winsorised mean as it is published, for comparisons; its promise is not proven."""

    public: Public
    zcdp_rho: float
    events = (NonPrivateEvent(purpose=PURPOSE),)
    needs_sample = True

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """A centre."""
        X = table.sample(self.public.n_seen).single
        center = published_winsorized_mean(X, self.zcdp_rho, noise)
        return state.with_(location=center, events=self.events)


def published_winsorized_mean(
    X: np.ndarray, zcdp_rho: float, noise: Noise, limit: float = PUBLISHED_LIMIT
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
    order = noise.permutation(n)
    third = zcdp_rho / (3 * d)
    trim = min(max(10 / n, 0.01), 0.1)
    center = np.empty(d)
    for k in range(d):
        searched, averaged = X[order[:half], k], X[order[half:], k]
        upper = min(_climbed(searched, 1 - trim, third / 2, limit, noise), limit)
        lower = max(-_climbed(-searched, 1 - trim, third / 2, limit, noise), -limit)
        if not lower < upper:
            lower, upper = -limit, limit
        mean = np.array([np.clip(averaged, lower, upper).mean()])
        width = (upper - lower) / (n - half)
        center[k] = _with_noise(mean, width, _multiplier(third), noise)[0]
    return center


def _with_noise(exact: np.ndarray, moved: float, multiplier: float, noise: Noise) -> np.ndarray:
    """Noise as published: no more than the multiplier times what is moved."""
    return noise.gaussian(exact, multiplier * moved, sensitivity=moved) if multiplier else exact


def _climbed(values: np.ndarray, q: float, rho: float, limit: float, noise: Noise) -> float:
    """First threshold above -limit whose noisy count passes the noisy target."""
    steps = np.arange(1, math.ceil(math.log(2 * limit + 1) / math.log(_LADDER)) + 1)
    thresholds = np.expm1(steps * math.log(_LADDER)) - limit
    counts = np.searchsorted(np.sort(values), thresholds, side="right").astype(float)
    sd = SQRT2 * _multiplier(rho)
    target = _with_noise(np.array([q * len(values)]), 1.0, sd, noise)[0]
    passed = _with_noise(counts, 1.0, sd, noise) > target
    return float(thresholds[np.argmax(passed)]) if passed.any() else limit
