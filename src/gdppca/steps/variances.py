"""Variances of the scores on released components, robustly: bounds by bisection, then squares."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from gdppca import _validate
from gdppca.linalg import LARGEST, SQRT2, directions
from gdppca.noise import Noise, calibrated_sigma, noised
from gdppca.privacy import Event
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.steps.base import Public, Rows, State
from gdppca.steps.bisection import bisected, bisection_events
from gdppca.steps.clipped_squares import gaussian_ratio, square_sums
from gdppca.steps.likely import Likely
from gdppca.steps.pairing import halved_differences
from gdppca.tables.base import divided

METHODS = ("huber", "winsorized", "clipped")
PURPOSE, BOUNDS_PURPOSE = "variances", "bounds of the variances"

_OCTAVES, _FINE = 7, 3  # halvings over the powers of two from 2⁻⁶⁴ to 2⁶⁴, then inside one of them
_LEVELS = _OCTAVES + _FINE
_BOUNDS_SHARE = 0.4  # of μ²; the sums get the rest
_REACH = {"huber": 1.345, "clipped": 3.0}  # bound in standard deviations, found from the median
_MEDIAN = float(norm.ppf(0.75))  # median of |Z|
_TRIM = (0.1, 0.4)  # smallest and largest share of scores beyond the bound of "winsorized"


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
    released centre, from that row alone, and one row moves one of n.
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
        return bisection_events(_LEVELS, (BOUNDS_PURPOSE, count), (PURPOSE, sums))

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
        n = self.public.n_seen // 2
        if 4 * self._count_sigma <= _TRIM[1] * n:
            return None
        return (
            f"{n} pairs of {self.public.those} are few for the variances of "
            f"{self.n_components} components: they may be mere noise. "
            "More of them, more budget or fewer components help."
        )

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """Variances of the components that are known."""
        noise = noise.stream(PURPOSE) if self.joint else noise
        sample = table.sample(self.public.n_seen)
        n, told = sample.number // 2, None
        if state.rates is None:
            sizes = paired_sizes(divided(sample.single, state.scale), state.components, noise)
        else:
            law, n = Likely.of(state), sample.number
            sizes, told = np.abs(law.scores(sample.single, state)), law.reliabilities(state.rates)
        m = sizes.shape[1]
        bounds = self._bounds(sizes, n, noise)
        squares, bound = square_sums(sizes, bounds), self.public.moves.bounded_sums(m)
        sums, sd = noised(squares, self._multipliers[1], bound, noise)
        variances, up, down = (
            self._variances((sums + move) / n, bounds, told) for move in (0.0, sd, -sd)
        )
        found = DrawnVariances(variances, np.maximum(up - variances, variances - down))
        return state.with_(variances=found, events=self.events)

    def _bounds(self, sizes: np.ndarray, n: float, noise: Noise) -> np.ndarray:
        """Where to pull the scores in, per component."""
        m = sizes.shape[1]
        quantile = 0.5
        if self.method == "winsorized":  # not so far that the noise of a count reaches the end
            quantile = 1 - min(_TRIM[1], max(_TRIM[0], 4 * self._count_sigma / n))
        start = np.full(m, -(2 ** (_LEVELS - 1)))  # in steps of 2^(1/8)
        count, _ = self._multipliers
        index = bisected(
            sizes, quantile * n, _grid, start, _LEVELS, count, noise, self.public.moves
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


def paired_sizes(X: np.ndarray, components: np.ndarray, noise: Noise) -> np.ndarray:
    """|V (x_i - x_j)|/√2 for random disjoint pairs, (⌊n/2⌋, m); finite for all finite rows."""
    unit, length = directions(halved_differences(X, noise))
    # einsum and not a matrix product: each pair's bits are then its own whatever the others are.
    cosines = np.minimum(np.abs(np.einsum("nd,md->nm", unit, components)), 1.0)
    with np.errstate(over="ignore"):
        return np.minimum(cosines * np.minimum(SQRT2 * length, LARGEST)[:, None], LARGEST)


def _grid(index: np.ndarray) -> np.ndarray:
    return np.exp2(index / 2**_FINE)
