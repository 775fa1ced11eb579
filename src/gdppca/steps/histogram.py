r"""Where data meets noise: the counts behind score maps, and the frame that they are counted in.

A histogram sees the data through whole numbers alone. Replacing one row takes one from a cell and
adds one to another, whatever the number of cells, so a fine map needs no more noise per cell than
a coarse one. The frame is chosen from public grids that span all floats, by noisy scores, so no
bounds come from the user. Proofs: docs/proofs/histogram.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import norm

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.linalg import LARGEST
from gdppca.noise import Noise
from gdppca.privacy import ApproximateEvent, Event, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.privacy.accounting import multiplier_beside
from gdppca.sensitivity import REPLACING, Moves
from gdppca.steps.quantile import quantile_grid

MOST_CELLS = 10**6
KINDS = ("dense", "sparse")
NOISES = ("auto", "laplace", "gaussian")
FRAME_PURPOSE, PURPOSE, THRESHOLD_PURPOSE = "score map frame", "score map", "score map threshold"

_LARGEST_STEP = 50.0  # ε; a discrete Laplace of this ε is zero but for once in 10²¹ draws
_THRESHOLD_SHARE = 0.5  # of δ; what is left composes with other steps
_NEXT_TO_NOTHING = 1e-9  # the ε of an event that only needs its δ

_LEAST_SHARE = 0.02  # of ε, for each step of the frame
_CENTER_NEED, _CENTER_SHARE = 150.0, 0.06  # rows times ε that find any centre; largest share
_WIDTH_SHARE, _WIDTH_ROWS, _WIDTH_POWER = 0.18, 200.0, 0.4  # share at so many rows, and its fall
_FINE_NEED = 120.0  # rows times ε from which a centre is found in two steps
_QUANTILE_ROOM = 26.0  # ε times the ranks beyond a quantile; with fewer it may escape the data
_QUANTILES = (0.5, 0.95)
_SHOWN = 0.998  # of a Gaussian's rows on one axis; small clusters lie far out
_FINE = 2**17  # candidates for a centre within 9 % of its size

_BIN_RANGE = (4, 100)  # what "auto" may choose, per axis
_STRUCTURE = 8.0  # curvature of what people look for, over that of one Gaussian
_FRAME_WIDTH = 7.0  # in standard deviations


# --- The frame ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AxisBudget:
    """ε of the two steps that find an interval; a known centre costs nothing."""

    center: float | None
    width: float

    @property
    def steps(self) -> tuple[float, ...]:
        """What is spent, in order."""
        return (self.width,) if self.center is None else (self.center, self.width)


def axis_budget(n_samples: int, epsilon: float, *, known_center: bool) -> AxisBudget:
    """Budget of one axis of the frame, from public numbers: less of ε the more rows there are."""

    def step(share: float, most: float) -> float:
        return min(epsilon * min(max(share, _LEAST_SHARE), most), _LARGEST_STEP)

    rows = n_samples * epsilon  # as many rows at ε = 1 would be as hard
    center = None if known_center else step(_CENTER_NEED / rows, _CENTER_SHARE)
    falling = _WIDTH_SHARE * (_WIDTH_ROWS / rows) ** _WIDTH_POWER
    return AxisBudget(center=center, width=step(falling, _WIDTH_SHARE))


def private_interval(
    values: np.ndarray, budget: AxisBudget, noise: Noise, number: float | None = None
) -> tuple[float, float]:
    """Release an interval that holds nearly all of the values, without bounds from the user.

    A private median, then a private quantile of the distances from it, widened to where a Gaussian
    would have nearly all of its rows. Each step is pure: `budget.steps` in all. `number` is about
    how many values there are, where that is secret.
    """
    number = len(values) if number is None else number
    center = 0.0
    if budget.center is not None:
        center = _private_center(values, budget.center, noise, number)
    q = _safe_quantile(number, budget.width)
    # Halves first: the difference of two floats near the largest one is still a float.
    with np.errstate(over="ignore"):
        distances = np.minimum(2 * np.abs(0.5 * values - 0.5 * center), LARGEST)
    edges, log_prior = _distance_cells()
    cell = _private_cell(distances, q, edges, log_prior, budget.width, noise)
    return _interval(center, float(edges[cell + 1]), q)


def exact_interval(values: np.ndarray, *, known_center: bool) -> tuple[float, float]:
    """The same without noise, for ε = ∞; not private."""
    center = 0.0 if known_center else 2 * float(np.median(0.5 * values))
    q = _QUANTILES[1]
    with np.errstate(over="ignore"):
        distances = np.minimum(2 * np.abs(0.5 * values - 0.5 * center), LARGEST)
    return _interval(center, float(np.quantile(distances, q)), q)


def _safe_quantile(n_samples: float, epsilon: float) -> float:
    """The largest quantile that the noise will not push past the last row."""
    low, high = _QUANTILES
    return float(np.clip(1 - _QUANTILE_ROOM / (n_samples * epsilon), low, high))


def _interval(center: float, distance: float, q: float) -> tuple[float, float]:
    """Widen to where a Gaussian would have nearly all of its rows; never of no width."""
    half = distance * float(norm.ppf((1 + _SHOWN) / 2) / norm.ppf((1 + q) / 2))
    if half == 0:  # most rows are equal
        half = abs(center) or 1.0
    half = max(half, abs(center) * 2.0**-30, 1e-300)
    end = LARGEST / 4  # leaves room for sums of two
    low, high = max(center - half, -end), min(center + half, end)
    return (low, high) if low < high else (-end, end)


def _private_center(values: np.ndarray, epsilon: float, noise: Noise, number: float) -> float:
    """A median: half of ε for a cell of 9 % of its size, half for a point inside that cell.

    The middle of the cell would be off by thousands of spreads where the centre is far from zero.
    With few rows it is all that ε can buy, and the cell gets the whole of it.
    """
    edges, log_prior = _center_cells()
    few = number * epsilon < _FINE_NEED
    cell = _private_cell(values, 0.5, edges, log_prior, epsilon if few else 0.5 * epsilon, noise)
    low, high = edges[cell], edges[cell + 1]
    if few:
        return float(0.5 * low + 0.5 * high)
    candidates = np.linspace(low, high, _FINE)
    below = np.searchsorted(np.sort(values), candidates, side="right")
    scores = -np.abs(below - 0.5 * len(values))
    return float(candidates[noise.argmax(scores, 0.5 * epsilon)])


def _private_cell(
    values: np.ndarray,
    q: float,
    edges: np.ndarray,
    log_prior: np.ndarray,
    epsilon: float,
    noise: Noise,
) -> int:
    """Choose k such that the quantile is in (edges[k], edges[k + 1]], ε-differentially private.

    A cell's score is how many ranks it lies beside the quantile. One value moves each count by at
    most one, and so each score. Cells instead of points: values that all lie between two
    neighbouring candidates would leave no candidate better than any other.
    """
    n = len(values)
    below = np.searchsorted(np.sort(values), edges, side="right")
    below[0] = 0  # the first edge stands for minus infinity
    beside = np.maximum(0.0, np.maximum(below[:-1] - q * n, q * n - below[1:]))
    return noise.argmax(-beside + 2 / epsilon * log_prior, epsilon)


@cache
def _center_cells() -> tuple[np.ndarray, np.ndarray]:
    """Edges over all floats and a log-prior: half for the cells at zero, whatever the scale."""
    candidates, log_weight = quantile_grid(nonnegative=False)
    edges = np.concatenate([[-LARGEST], candidates, [LARGEST]])
    between = np.logaddexp(log_weight[1:], log_weight[:-1])
    weights = np.exp(np.concatenate([log_weight[:1], between, log_weight[-1:]]))
    at_zero = (edges[:-1] == 0) | (edges[1:] == 0)
    weights[at_zero] = weights[~at_zero].sum() / at_zero.sum()
    return edges, np.log(weights / weights.sum())


@cache
def _distance_cells() -> tuple[np.ndarray, np.ndarray]:
    """Edges over all lengths; the first cell is zero itself."""
    candidates, log_weight = quantile_grid(nonnegative=True)
    edges = np.concatenate([[-1.0], candidates, [LARGEST]])
    between = np.logaddexp(log_weight[1:], log_weight[:-1])
    between[0] = log_weight[1]  # the weight of zero is the first cell's
    weights = np.exp(np.concatenate([log_weight[:1], between, log_weight[-1:]]))
    return edges, np.log(weights / weights.sum())


# --- The counts -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class HistogramNoise:
    """How much noise every count gets, from public numbers alone.

    `threshold` is zero for a dense histogram; a sparse one shows no count below it.
    """

    law: str
    noise_sd: float
    threshold: int
    events: tuple[Event, ...]


def histogram_noise(
    *,
    epsilon: float,
    delta: float,
    kind: str = "dense",
    noise: str = "auto",
    beside: tuple[float, ...] = (),
    moves: Moves = REPLACING,
) -> HistogramNoise:
    r"""Noise that makes a histogram (ε, δ)-private, together with the pure steps `beside` it.

    Parameters
    ----------
    epsilon, delta : float
        The budget of everything; ε may be infinite.
    kind : "dense" or "sparse", default "dense"
        All counts get noise, or only those of cells that hold a row, above a threshold.
    noise : "auto", "laplace" or "gaussian", default "auto"
        Law of the noise; "auto" takes the one of smaller standard deviation.
    beside : tuple of float
        ε of pure steps that share the budget.
    moves : Moves
        How many counts one row moves.

    Returns
    -------
    HistogramNoise
        Standard deviation, threshold and events.

    Notes
    -----
    **Privacy.** Nothing is spent: no row is seen. One row leaves a cell and enters another, or does
    one of both where rows are added or removed. A discrete Laplace of scale b is a pure step of 1/b
    for each of the two, so there are two pure events, or one; a Gaussian sees one move of length
    √2, or 1. A cell that holds one row is shown with
    probability :math:`\tau = p^{T-1}/(1+p)`, :math:`p = e^{-1/b}`, in a sparse histogram, and τ is
    what δ pays for.

    Examples
    --------
    >>> from gdppca.steps.histogram import histogram_noise
    >>> round(histogram_noise(epsilon=1.0, delta=1e-6).noise_sd, 2)
    2.8
    >>> histogram_noise(epsilon=1.0, delta=1e-6, kind="sparse").threshold
    30
    """
    epsilon = _validate.budget(epsilon=epsilon)
    delta = _validate.fraction(delta=delta)
    kind = _validate.one_of(KINDS, kind=kind)
    noise = _validate.one_of(NOISES, noise=noise)
    if kind == "sparse" and noise == "gaussian":
        raise ParameterError("`noise='gaussian'` is for dense maps; a sparse one takes 'laplace'.")
    if math.isinf(epsilon):
        event = NonPrivateEvent(purpose=PURPOSE)
        return HistogramNoise(law="none", noise_sd=0.0, threshold=0, events=(event,))
    if noise == "gaussian":
        return _gaussian(epsilon, delta, beside, moves)
    laplace = _laplace(epsilon, delta, kind, beside, moves)
    if noise == "laplace" or kind == "sparse":
        return laplace
    try:
        gaussian = _gaussian(epsilon, delta, beside, moves)
    except ParameterError:  # beside a frame, less than the least ε of a Gaussian is left
        return laplace
    return min(laplace, gaussian, key=lambda one: one.noise_sd)


def _laplace(
    epsilon: float, delta: float, kind: str, beside: tuple[float, ...], moves: Moves
) -> HistogramNoise:
    left = (epsilon - sum(beside)) * (1 - 1e-12)  # sums of floats must not exceed ε
    if kind == "sparse":
        left -= 2 * _NEXT_TO_NOTHING
    if left <= 0:
        raise ParameterError("The other steps spend all of `epsilon`; nothing is left for the map.")
    step = min(left / moves.moved_cells, _LARGEST_STEP)
    events: tuple[Event, ...] = (PureEvent(purpose=PURPOSE, epsilon=step),) * moves.moved_cells
    threshold = 0
    if kind == "sparse":
        threshold = sparse_threshold(step, _THRESHOLD_SHARE * delta)
        shown = ApproximateEvent(
            purpose=THRESHOLD_PURPOSE,
            epsilon=_NEXT_TO_NOTHING,
            delta=shown_probability(step, threshold),
        )
        events = (*events, shown)
    return HistogramNoise(
        law="laplace", noise_sd=laplace_sd(step), threshold=threshold, events=events
    )


def _gaussian(
    epsilon: float, delta: float, beside: tuple[float, ...], moves: Moves
) -> HistogramNoise:
    multiplier = multiplier_beside(epsilon, delta, beside)
    event = GaussianEvent(purpose=PURPOSE, noise_multiplier=multiplier)
    # Whole numbers lie on the noise's lattice while σ < 2⁴¹, so rounding to it adds nothing.
    sigma = multiplier * moves.cells()
    return HistogramNoise(law="gaussian", noise_sd=sigma, threshold=0, events=(event,))


def laplace_sd(step: float) -> float:
    """Standard deviation of the discrete Laplace whose ratio of neighbours is e^-step."""
    return math.sqrt(2 * math.exp(-step)) / -math.expm1(-step)


def shown_probability(step: float, threshold: int) -> float:
    """Probability τ that a cell with one row reaches the threshold, P(1 + Z ≥ T)."""
    return math.exp(-step * (threshold - 1)) / (1 + math.exp(-step))


def sparse_threshold(step: float, delta: float) -> int:
    """Smallest T ≥ 1 with τ ≤ δ."""
    threshold = max(1, 1 + math.floor(-math.log(delta * (1 + math.exp(-step))) / step))
    while shown_probability(step, threshold) > delta:
        threshold += 1
    return threshold


def cell_counts(
    scores: np.ndarray, codes: np.ndarray, x_edges: np.ndarray, y_edges: np.ndarray, groups: int
) -> np.ndarray:
    """Exact counts, not private: all bins of all groups, then one count per group of rows outside.

    A row's cell depends on that row alone. Rows with a negative code are counted nowhere.
    """
    across, up = len(x_edges) - 1, len(y_edges) - 1
    x, y = _bins_of(scores[:, 0], x_edges), _bins_of(scores[:, 1], y_edges)
    inside = (x >= 0) & (y >= 0)
    cell = np.where(inside, (codes * across + x) * up + y, groups * across * up + codes)
    return np.bincount(cell[codes >= 0], minlength=groups * (across * up + 1))


def _bins_of(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Index of the bin [low, high) that holds a value, the last one closed; -1 outside."""
    found = np.searchsorted(edges, values, side="right") - 1
    found[values == edges[-1]] = len(edges) - 2
    return np.where(found < len(edges) - 1, found, -1)


def private_counts(
    counts: np.ndarray, level: HistogramNoise, noise: Noise, moves: Moves = REPLACING
) -> np.ndarray:
    """Whole counts with their noise.

    Every row must be in one cell at most. A sparse histogram draws as many numbers as a dense one,
    so its run time does not tell how many cells hold a row.
    """
    counts = np.asarray(counts, dtype=np.int64)
    match level.law:
        case "none":
            return counts
        case "gaussian":
            exact = counts.astype(float)
            noisy = noise.gaussian(exact, level.noise_sd, sensitivity=moves.cells())
            return np.rint(noisy).astype(np.int64)
    step = next(event.epsilon for event in level.events if isinstance(event, PureEvent))
    noisy = noise.laplace(counts, 1 / step)
    if level.threshold == 0:
        return noisy
    return np.where((counts > 0) & (noisy >= level.threshold), noisy, 0)


def automatic_bins(rows: float, noise_sd: float, groups: int = 1) -> int:
    r"""Bins per axis that balance blur, chance and noise, from public numbers.

    No more than `MOST_CELLS` over all groups allow: a number of rows that was counted before must
    not end in a refusal.

    The integrated squared error of a histogram of a Gaussian with k bins on each side of a frame
    of width W is about :math:`BW^2/(48\pi k^2) + k^2/(nW^2) + k^4 s^2/(n^2W^2)` (Scott 1979, and
    the noise); B > 1 since clusters are finer than one Gaussian.
    """
    k = np.arange(_BIN_RANGE[0], _BIN_RANGE[1] + 1, dtype=float)
    blur = _STRUCTURE * _FRAME_WIDTH**2 / (48 * math.pi * k**2)
    chance = k**2 / (rows * _FRAME_WIDTH**2)
    error = blur + chance + (k**2 * noise_sd / (rows * _FRAME_WIDTH)) ** 2
    most = math.isqrt(max(MOST_CELLS // groups - 1, 0))
    return min(int(k[np.argmin(error)]), max(most, _BIN_RANGE[0]))
