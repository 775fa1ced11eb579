"""Variances of the scores on released components, robustly: bounds by bisection, then squares."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from gdppca import _validate
from gdppca._words import counted
from gdppca.linalg import LARGEST, SQRT2, directions
from gdppca.noise import Noise, calibrated_sigma, noised
from gdppca.privacy import Event
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.sensitivity import Moves
from gdppca.steps.base import Public, Rows, State
from gdppca.steps.bisection import bisected, bisection_events
from gdppca.steps.clipped_squares import gaussian_ratio, gaussian_share, gaussian_slope, square_sums
from gdppca.steps.likely import Likely
from gdppca.steps.pairing import halved_differences
from gdppca.tables.base import divided

METHODS = ("huber", "winsorized", "clipped")
PURPOSE, BOUNDS_PURPOSE = "variances", "bounds of the variances"
# What the sums are drawn for, by method: a release tells by its events how sure its variances are.
PURPOSES = {method: PURPOSE if method == "huber" else f"{PURPOSE}, {method}" for method in METHODS}

_OCTAVES, _FINE = 7, 3  # halvings over the powers of two from 2⁻⁶⁴ to 2⁶⁴, then inside one of them
_LEVELS = _OCTAVES + _FINE
_BOUNDS_SHARE = 0.4  # of μ²; the sums get the rest
_REACH = {"huber": 1.345, "clipped": 3.0}  # bound in standard deviations, found from the median
_MEDIAN = float(norm.ppf(0.75))  # median of |Z|
_REACH_OF_QUANTILE = float(norm.ppf(0.95))  # of "winsorized", where counts have little noise
_STEPS = 2**10  # of a share, so that shares of whole numbers are exact
_TRIM = (0.1, 0.4)  # smallest and largest share of scores beyond the bound of "winsorized"


@dataclass(frozen=True)
class Looks:
    """How many scores the variances of a component are made of: differences in pairs, or rows."""

    number: int
    paired: bool

    @classmethod
    def of(cls, n_seen: int, *, paired: bool) -> Looks:
        """Of so many rows or persons."""
        return cls(n_seen // 2 if paired else n_seen, paired)

    def doubt(self, count_sd: float, m: int, those: str) -> str | None:
        """Whether the noise of a count may carry a bound away, in words."""
        if 4 * count_sd <= _TRIM[1] * self.number:
            return None
        return (
            f"{self.number} {'pairs of ' * self.paired}{those} are few for the variances of "
            f"{counted(m, 'component')}: they may be mere noise. "
            "More of them, more budget or fewer components help."
        )

    def relative_noise(self, multiplier: float, m: int, moves: Moves, method: str) -> float:
        """Noise of a variance over the variance, for scores about normal.

        To first order: bounds were found, and the noise of the sums of clipped squares is left. A
        share s of the squares at the bound gives a variance σ², and a share s + δ one of
        σ² (1 + 2δ/s'), where s' is how s changes with log σ; as it is, σ² (1 + δ/s).
        """
        ratio = np.array(1 / _REACH.get(method, _REACH_OF_QUANTILE))
        slope = gaussian_slope(ratio) if method != "clipped" else 2 * gaussian_share(ratio)
        return float(2 * multiplier * moves.bounded_sums(m) / (self.number * slope))


@dataclass(frozen=True, eq=False)
class DrawnVariances:
    """One variance per component, and the noise of each to first order."""

    variances: np.ndarray
    noise_sd: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Variances:
    r"""The variance of the scores on each released component.

    **Privacy.** (ε, δ). Rows, one random one of each person, are paired at random, each in one
    pair, so one row moves one of the ⌊n/2⌋ score vectors :math:`y = V(x_i - x_j)/\sqrt2`. Ten
    noisy counts per component find its bound b (`Moves.counts_below`). Then
    :math:`\sum \min(y^2/b^2, 1)`, each term rounded to 2⁻²⁴ so that the sum is exact
    (`Moves.bounded_sums`). Eleven Gaussian events that compose to exactly (ε, δ);
    docs/proofs/spectrum.md. Where cells may be missing y is the likely score of one row around the
    released centre, from that row alone, and one row moves one of n. Where rows have weights, pairs
    of two rows that secret coins counted are left, and their number is drawn beside the sums, as a
    sum of ones (docs/proofs/persons.md, Theorem 5).
    """

    public: Public
    epsilon: float
    delta: float
    n_components: int
    method: str = "huber"
    joint: bool = False  # a part of a release with others, whose noise is independent of theirs
    needs_sample = True

    def __post_init__(self) -> None:
        """Check what was asked for."""
        _validate.budget(epsilon=self.epsilon)
        _validate.fraction(delta=self.delta)
        _validate.one_of(METHODS, method=self.method)

    @property
    def _multipliers(self) -> tuple[float, float]:
        """Noise over sensitivity of a count and of the sums; μ² is what they share."""
        if math.isinf(self.epsilon):
            return 0.0, 0.0
        whole = gaussian_multiplier(self.epsilon, self.delta)
        return whole * math.sqrt(_LEVELS / _BOUNDS_SHARE), whole / math.sqrt(1 - _BOUNDS_SHARE)

    @property
    def events(self) -> tuple[Event, ...]:
        """Ten counts and the sums."""
        count, sums = self._multipliers
        return bisection_events(_LEVELS, (BOUNDS_PURPOSE, count), (PURPOSES[self.method], sums))

    @property
    def _count_sigma(self) -> float:
        m, multiplier = self.n_components, self._multipliers[0]
        return (
            calibrated_sigma(multiplier, self.public.moves.counts_below(m), m)
            if multiplier
            else 0.0
        )

    @property
    def doubt(self) -> str | None:
        """Whether the noise of a count may carry a bound away; from public numbers."""
        looks = Looks.of(self.public.n_seen, paired=not self.public.gaps)
        return looks.doubt(self._count_sigma, self.n_components, self.public.those)

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """Variances of the components that are known."""
        noise = noise.stream(PURPOSE) if self.joint else noise
        sample = table.sample(self.public.n_seen)
        n, told = sample.number // 2, None
        counted = sample.tossed
        assert (counted is not None) == self.public.weighted
        if state.rates is None:
            X = divided(sample.single, state.scale)
            sizes = paired_sizes(X, state.components, noise, counted)
        else:
            law, n = Likely.of(state), sample.number
            sizes, told = np.abs(law.scores(sample.single, state)), law.reliabilities(state.rates)
            sizes = sizes if counted is None else sizes[counted]
        bounds = self._bounds(sizes, n, noise)
        shares, sd = self._shares(sizes, bounds, n, noise)
        variances, up, down = (
            self._variances(shares + move, bounds, told) for move in (0.0, sd, -sd)
        )
        found = DrawnVariances(variances, np.maximum(up - variances, variances - down))
        return state.with_(variances=found, events=self.events)

    def _shares(
        self, sizes: np.ndarray, bounds: np.ndarray, n: float, noise: Noise
    ) -> tuple[np.ndarray, np.ndarray | float]:
        """Noisy means of min(y²/b², 1) over n sizes, and the sd of their noise to first order.

        Where rows have weights n is secret, and drawn with the sums.
        """
        squares, bound = square_sums(sizes, bounds), self.public.moves.bounded_sums
        if not self.public.weighted:
            sums, sd = noised(squares, self._multipliers[1], bound(len(squares)), noise)
            return sums / n, sd / n
        ones = np.append(squares, float(len(sizes)))
        sums, sd = noised(ones, self._multipliers[1], bound(len(ones)), noise)
        number = max(float(sums[-1]), 1.0)
        shares = sums[:-1] / number
        return shares, sd * np.sqrt(1 + np.minimum(shares**2, 1.0)) / number

    def _bounds(self, sizes: np.ndarray, n: float, noise: Noise) -> np.ndarray:
        """Where to pull the scores in, per component."""
        m = sizes.shape[1]
        quantile = 0.5
        if self.method == "winsorized":  # not so far that the noise of a count reaches the end
            quantile = 1 - min(_TRIM[1], max(_TRIM[0], 4 * self._count_sigma / n))
        start = np.full(m, -(2 ** (_LEVELS - 1)))  # in steps of 2^(1/8)
        count, _ = self._multipliers
        wanted, less = quantile * n, 0.0
        if self.public.weighted:
            wanted, less = 0.0, math.floor(_STEPS * quantile) / _STEPS
        index = bisected(
            sizes, wanted, _grid, start, _LEVELS, count, noise, self.public.moves, less
        )
        found = _grid(index + 0.5)
        return found if self.method == "winsorized" else found * _REACH[self.method] / _MEDIAN

    def _variances(
        self, shares: np.ndarray, bounds: np.ndarray, told: np.ndarray | None
    ) -> np.ndarray:
        """Variances from the noisy means of min(y²/b², 1), where rows tell so much of them."""
        shares = np.clip(shares, 0.0, 1.0)
        if self.method == "clipped":
            return bounds**2 * shares / (1.0 if told is None else np.mean(told, axis=0))
        ratio = gaussian_ratio(shares, None if told is None else np.sqrt(told))
        return (bounds * ratio) ** 2


def paired_sizes(
    X: np.ndarray, components: np.ndarray, noise: Noise, counted: np.ndarray | None = None
) -> np.ndarray:
    """|V (x_i - x_j)|/√2 for random disjoint pairs, (⌊n/2⌋, m); finite for all finite rows."""
    unit, length = directions(halved_differences(X, noise, counted))
    # einsum and not a matrix product: each pair's bits are then its own whatever the others are.
    cosines = np.minimum(np.abs(np.einsum("nd,md->nm", unit, components)), 1.0)
    with np.errstate(over="ignore"):
        return np.minimum(cosines * np.minimum(SQRT2 * length, LARGEST)[:, None], LARGEST)


def _grid(index: np.ndarray) -> np.ndarray:
    return np.exp2(index / 2**_FINE)
