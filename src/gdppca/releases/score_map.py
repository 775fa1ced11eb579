"""Private score maps: what can be shown of the scatter plot of two components."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError, ParameterError, PrivacyWarning, ReleaseError
from gdppca.linalg import LARGEST
from gdppca.privacy import (
    ApproximateEvent,
    Event,
    GaussianEvent,
    Guarantee,
    NonPrivateEvent,
    PureEvent,
)
from gdppca.randomness import Rng, rng_for
from gdppca.releases import histogram
from gdppca.releases.histogram import FRAME_PURPOSE, PURPOSE, THRESHOLD_PURPOSE, HistogramNoise
from gdppca.releases.rows import rows_of

if TYPE_CHECKING:
    from gdppca.releases.release import Release

_SHOWN_SDS = 3.0  # of a frame from released variances
_ASSUMED = (
    "Each person is in one row only.",
    "The number of rows and the column names are public.",
    "Parameters were chosen without looking at the data.",
    "Nothing counts repeated maps: each one spends its own budget.",
)
ASSUMED_APART = "The components come from a release, whose own guarantee is to be added."
_ASSUMED_GROUPS = "The names of the groups are public."
_ASSUMED_FRAME = "The frame was chosen without looking at the data."

Span = tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreMap:
    """A private histogram of the scores on two components, maybe by group.

    Plain data: everything in it can be published. Made by `score_map`.

    Parameters
    ----------
    axes : (int, int)
        The two components, counted from zero.
    x_edges, y_edges : array
        Edges of the bins.
    groups : tuple of str or None
        Names of the groups.
    counts : array of shape (groups, bins along x, bins along y)
        Noisy numbers of rows; they may be negative. One table where there are no groups.
    outside : array of shape (groups,)
        Noisy numbers of rows outside the frame.
    n_samples : int
        Number of rows; public.
    kind : "dense" or "sparse"
        Whether all counts are shown, or only those above `threshold`.
    noise_sd : float
        Standard deviation of the noise on every count.
    threshold : int
        Smallest count that a sparse map shows; zero for a dense one.
    guarantee : Guarantee
        The promise about the map alone. That of the components is to be added.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.releases import score_map
    >>> X = np.random.default_rng(0).normal(size=(5000, 4)) * [5, 3, 1, 1]
    >>> pca = DPPCA(n_components=2, epsilon=1.0, delta=1e-6).fit(X)
    >>> shown = score_map(X, pca, bins=20, epsilon=1.0, delta=1e-6)
    >>> shown.counts.shape
    (1, 20, 20)
    >>> bool(shown.counts[0, 10, 10] > 5 * shown.noise_sd)      # the middle stands out
    True
    """

    axes: tuple[int, int]
    x_edges: np.ndarray
    y_edges: np.ndarray
    groups: tuple[str, ...] | None
    counts: np.ndarray
    outside: np.ndarray
    n_samples: int
    kind: str
    noise_sd: float
    threshold: int
    guarantee: Guarantee

    def __post_init__(self) -> None:
        """Make the arrays read-only: what is published does not change."""
        for name, kind in (
            ("x_edges", float),
            ("y_edges", float),
            ("counts", np.int64),
            ("outside", np.int64),
        ):
            frozen = _array(name, getattr(self, name), kind)
            frozen.setflags(write=False)
            object.__setattr__(self, name, frozen)

    def __repr__(self) -> str:
        first, second = (axis + 1 for axis in self.axes)
        across, up = self.counts.shape[1:]
        groups = "" if self.groups is None else f"{len(self.groups)} groups, "
        return (
            f"ScoreMap(components {first} and {second}, {across} × {up} bins, {groups}{self.kind}, "
            f"noise sd {self.noise_sd:.2g}; {self.guarantee})"
        )

    def estimate(self) -> np.ndarray:
        """Counts without negative ones, as near to the noisy ones as may be, with a known total.

        Returns
        -------
        array of shape (groups, bins along x, bins along y)
            Numbers that are not negative and not whole. Without groups they total the number of
            rows less those outside; with groups, each table keeps the sum of its noisy counts.

        Notes
        -----
        **Privacy.** Post-processing: costs nothing. The nearest such table takes one number from
        every count and cuts at zero, which sweeps away most of the noise in empty cells. A sparse
        map has no such noise; its counts are only rescaled.
        """
        if self.groups is None:
            totals = np.clip([self.n_samples - self.outside.sum()], 0, self.n_samples)
        else:
            totals = np.clip(self.counts.sum(axis=(1, 2)), 0, self.n_samples)
        fit = _rescaled if self.kind == "sparse" else _nearest_with_total
        return np.stack(
            [fit(table, float(total)) for table, total in zip(self.counts, totals, strict=True)]
        )

    def points(self, random_state: int | None = None) -> np.ndarray:
        """Made-up rows that are spread as the map says, for scatter plots.

        Parameters
        ----------
        random_state : None or int, default None
            A seed draws the same points again. That is harmless: no noise depends on it.

        Returns
        -------
        structured array
            Fields ``x``, ``y`` and ``group`` (an index into `groups`), about one entry per row
            inside the frame. No point is a person.

        Notes
        -----
        **Privacy.** Post-processing of `estimate`: costs nothing. Points are uniform inside bins.
        """
        generator = rng_for(random_state).generator()
        estimate = self.estimate()
        # Rounded at random, so that many small numbers do not all round to zero.
        whole = np.floor(estimate + generator.random(estimate.shape)).astype(np.int64)
        group, across, up = (
            np.repeat(index, whole.ravel()) for index in np.indices(whole.shape).reshape(3, -1)
        )
        drawn = np.empty(len(group), dtype=[("x", float), ("y", float), ("group", np.int64)])
        drawn["x"] = _inside(self.x_edges, across, generator.random(len(group)))
        drawn["y"] = _inside(self.y_edges, up, generator.random(len(group)))
        drawn["group"] = group
        return drawn

    def to_columns(self) -> dict[str, np.ndarray]:
        """One line per cell, as columns that ``pandas.DataFrame`` or ``polars.DataFrame`` takes.

        Returns
        -------
        dict of array
            ``group`` (where there are groups), ``x_low``, ``x_high``, ``y_low``, ``y_high`` and
            ``count``.
        """
        group, across, up = np.indices(self.counts.shape).reshape(3, -1)
        named = {} if self.groups is None else {"group": np.array(self.groups)[group]}
        return named | {
            "x_low": self.x_edges[across],
            "x_high": self.x_edges[across + 1],
            "y_low": self.y_edges[up],
            "y_high": self.y_edges[up + 1],
            "count": self.counts.ravel(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain form, as it stands in a release."""
        return {
            "axes": list(self.axes),
            "x_edges": self.x_edges.tolist(),
            "y_edges": self.y_edges.tolist(),
            "groups": None if self.groups is None else list(self.groups),
            "counts": self.counts.tolist(),
            "outside": self.outside.tolist(),
            "n_samples": self.n_samples,
            "kind": self.kind,
            "noise_sd": self.noise_sd,
            "threshold": self.threshold,
            "guarantee": self.guarantee.to_dict(),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> ScoreMap:
        """Read what `to_dict` wrote; shapes, edges, noise and guarantee must agree."""
        _check_plain_shapes(plain)
        shown = cls(
            axes=(plain["axes"][0], plain["axes"][1]),
            x_edges=plain["x_edges"],
            y_edges=plain["y_edges"],
            groups=None if plain["groups"] is None else tuple(plain["groups"]),
            counts=plain["counts"],
            outside=plain["outside"],
            n_samples=int(plain["n_samples"]),
            kind=plain["kind"],
            noise_sd=float(plain["noise_sd"]),
            threshold=int(plain["threshold"]),
            guarantee=Guarantee.from_dict(plain["guarantee"]),
        )
        _check_noise(shown)
        return shown


def _array(name: str, values: Any, kind: type) -> np.ndarray:
    try:
        return np.array(values, dtype=kind)
    except (OverflowError, TypeError, ValueError):
        raise ReleaseError(f"The score map's `{name}` cannot be read.") from None


def _inside(edges: np.ndarray, bins: np.ndarray, way: np.ndarray) -> np.ndarray:
    return edges[bins] + way * np.diff(edges)[bins]


def _nearest_with_total(counts: np.ndarray, total: float) -> np.ndarray:
    """The nearest table, in squares, of numbers ≥ 0 with this total: max(count - t, 0)."""
    if total <= 0:
        return np.zeros(counts.shape)
    falling = np.sort(counts.ravel())[::-1].astype(float)
    shifts = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    shift = shifts[np.flatnonzero(falling > shifts)[-1]]
    return np.maximum(counts - shift, 0.0)


def _rescaled(counts: np.ndarray, total: float) -> np.ndarray:
    shown = np.maximum(counts, 0)
    return shown * (total / max(shown.sum(), 1))


# --- Reading a map back ---------------------------------------------------------------------------


def _check_plain_shapes(plain: dict[str, Any]) -> None:
    edges = [np.asarray(plain[name], dtype=float) for name in ("x_edges", "y_edges")]
    if any(len(e) < 2 or not np.isfinite(e).all() or not (np.diff(e) > 0).all() for e in edges):
        raise ReleaseError("The score map's edges must be finite and rise.")
    groups = plain["groups"]
    if groups is not None and (not groups or len(set(groups)) < len(groups)):
        raise ReleaseError("The score map's groups must have different names.")
    tables = 1 if groups is None else len(groups)
    across, up = (len(e) - 1 for e in edges)
    rectangular = len(plain["counts"]) == len(plain["outside"]) == tables and all(
        len(table) == across and all(len(row) == up for row in table) for table in plain["counts"]
    )
    if not rectangular:
        raise ReleaseError("The score map's counts do not fit its edges and groups.")
    first, second = plain["axes"]
    if first == second:
        raise ReleaseError("The score map's axes must differ.")


def _check_noise(shown: ScoreMap) -> None:
    """Noise and threshold must be what the recorded events say."""
    noise = [e for e in shown.guarantee.events if e.purpose in (PURPOSE, THRESHOLD_PURPOSE)]
    match noise:
        case [NonPrivateEvent()]:
            sd, threshold = 0.0, 0
        case [GaussianEvent(noise_multiplier=multiplier)]:
            sd, threshold = multiplier * math.sqrt(2), 0
        case [PureEvent(epsilon=step), PureEvent(epsilon=again)] if step == again:
            sd, threshold = histogram.laplace_sd(step), 0
        case [
            PureEvent(epsilon=step),
            PureEvent(epsilon=again),
            ApproximateEvent(delta=delta),
        ] if step == again:
            sd = histogram.laplace_sd(step)
            threshold = histogram.sparse_threshold(step, delta * (1 + 1e-9))
        case _:
            raise ReleaseError("The score map's events are not those of a score map.")
    sparse_fits = shown.kind == "sparse" or threshold == 0
    dense_fits = shown.kind == "dense" or threshold > 0 or sd == 0
    if not math.isclose(sd, shown.noise_sd, rel_tol=1e-6) or shown.threshold != threshold:
        raise ReleaseError("The score map's noise does not follow from its events.")
    if not (sparse_fits and dense_fits):
        raise ReleaseError("The score map's kind does not follow from its events.")


# --- Making a map ---------------------------------------------------------------------------------


@np.errstate(all="ignore")  # no error or warning may depend on a cell
def score_map(
    X: Any,
    pca: Any,
    bins: Any = "auto",
    epsilon: float = 1.0,
    delta: float = 1e-6,
    groups: Any = None,
    *,
    axes: tuple[int, int] = (0, 1),
    categories: Any = None,
    frame: Any = None,
    kind: str = "dense",
    noise: str = "auto",
    use_location: bool = True,
    random_state: int | None = None,
) -> ScoreMap:
    r"""Release a private map of the scores on two components.

    What people show of a principal component analysis is the scatter plot of its scores, where
    every point is a person. This is what can be shown instead: noisy counts of the rows in the
    bins of a frame that is found privately.

    Parameters
    ----------
    X : table of shape (n, d)
        Rows with the columns of the fit.
    pca : DPPCA or Release
        Fitted estimator, or what it published.
    bins : "auto", int or (int, int), default "auto"
        Bins along each axis; "auto" follows from the number of rows and the noise.
    epsilon, delta : float
        Budget of the map: frame and counts together. Infinite ε adds no noise.
    axes : (int, int), default (0, 1)
        Which components, counted from zero.
    groups : None or sequence of n labels, default None
        One map per group. A pandas Categorical or a polars Enum brings its categories along.
    categories : None or sequence, default None
        The groups that there are, for labels that do not say so themselves; public. Rows with
        other labels, or none, are counted nowhere.
    frame : None, ((x0, x1), (y0, y1)) or "variances", default None
        None finds the frame privately. Public numbers cost nothing. "variances" takes three
        released standard deviations around the released centre and costs nothing either.
    kind : "dense" or "sparse", default "dense"
        Noise on all counts, or only on those of cells that hold a row, shown above a threshold.
    noise : "auto", "laplace" or "gaussian", default "auto"
        Law of the noise. "auto" takes the smaller noise, which is the discrete Laplace unless δ is
        huge. The Gaussian composes better with a fit that takes most of a common budget.
    use_location : bool, default True
        Put the middle of a private frame at the release's own centre, if it has one; else the
        middle is found too.
    random_state : None or int, default None
        None draws from the system's secure source. A seed makes a simulation that protects
        nobody, and the guarantee says so.

    Returns
    -------
    ScoreMap
        Counts, edges and guarantee.

    Notes
    -----
    **Privacy.** (ε, δ)-differential privacy for replace-one neighbours, n public: two pure events
    per axis for the frame (one where the release has a centre), then two pure events or a Gaussian
    one for the counts. One row leaves one cell and enters another, over all groups together. Rows
    outside the frame are counted in `outside`, in no bin. The guarantee is about the map alone:
    add that of the components.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.releases import score_map
    >>> X = np.random.default_rng(0).normal(size=(3000, 4)) * [5, 3, 1, 1]
    >>> sex = np.where(np.arange(3000) % 3, "female", "male")
    >>> pca = DPPCA(n_components=2, epsilon=1.0, delta=1e-6).fit(X)
    >>> shown = score_map(X, pca, groups=sex, categories=["female", "male"], epsilon=0.5)
    >>> shown.groups
    ('female', 'male')
    >>> round((pca.guarantee_ + shown.guarantee).epsilon, 1)
    1.4
    """
    release = _release_of(pca)
    rows = rows_of(X, release)
    first, second = _checked_axes(axes, release)
    codes, names = _group_codes(groups, categories, len(rows))
    rng = rng_for(random_state)
    spans = _free_spans(frame, release, (first, second))
    known_center = use_location and release.location is not None
    plan = _plan(known_center, len(rows), epsilon, delta, spans, kind, noise)
    shape = _shape(bins, 1 if names is None else len(names), len(rows), plan.noise)
    _warn_of_large_delta(delta, len(rows))
    scores = _scores(rows, release, (first, second))  # not private
    x_edges, y_edges = (
        np.linspace(*_span(scores[:, k], plan, k, rng), size + 1)  # spends
        for k, size in enumerate(shape[1:])
    )
    exact = histogram.cell_counts(scores, codes, x_edges, y_edges, shape[0])  # not private
    noisy = histogram.private_counts(exact, plan.noise, rng)  # spends
    inside = math.prod(shape)
    return ScoreMap(
        axes=(first, second),
        x_edges=x_edges,
        y_edges=y_edges,
        groups=names,
        counts=noisy[:inside].reshape(shape),
        outside=noisy[inside:],
        n_samples=len(rows),
        kind=kind,
        noise_sd=plan.noise.noise_sd,
        threshold=plan.noise.threshold,
        guarantee=Guarantee(
            events=plan.events,
            delta=delta,
            assumptions=_assumptions(names, frame),
            seeded=rng.seeded,
            reason="epsilon is infinite, so no noise was added" if math.isinf(epsilon) else "",
        ),
    )


def _assumptions(names: tuple[str, ...] | None, frame: Any) -> tuple[str, ...]:
    public_frame = frame is not None and not isinstance(frame, str)
    return (
        *_ASSUMED,
        ASSUMED_APART,
        *([_ASSUMED_GROUPS] if names is not None else []),
        *([_ASSUMED_FRAME] if public_frame else []),
    )


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """Everything that is settled before any row is seen."""

    spans: tuple[Span, Span] | None
    axis: histogram.AxisBudget | None
    known_center: bool
    noise: HistogramNoise

    @property
    def events(self) -> tuple[Event, ...]:
        """What will be drawn, in order."""
        steps: tuple[Event, ...] = ()
        if self.axis is not None:
            per_axis = [PureEvent(purpose=FRAME_PURPOSE, epsilon=e) for e in self.axis.steps]
            steps = tuple(per_axis * 2)
        elif self.spans is None:
            steps = (NonPrivateEvent(purpose=FRAME_PURPOSE),)
        return steps + self.noise.events


def score_map_events(
    n_samples: int,
    epsilon: float,
    delta: float,
    *,
    known_center: bool,
    bins: Any = "auto",
    groups: Any = None,
    categories: Any = None,
) -> tuple[Event, ...]:
    """What a dense map with a private frame draws, from public numbers; checks the wish too."""
    _, names = _group_codes(groups, categories, n_samples)
    plan = _plan(known_center, n_samples, epsilon, delta, None, "dense", "auto")
    _shape(bins, 1 if names is None else len(names), n_samples, plan.noise)
    return plan.events


def _plan(
    known_center: bool,
    n: int,
    epsilon: float,
    delta: float,
    spans: tuple[Span, Span] | None,
    kind: str,
    noise: str,
) -> _Plan:
    epsilon = _validate.budget(epsilon=epsilon)
    axis = None
    if spans is None and math.isfinite(epsilon):
        axis = histogram.axis_budget(n, epsilon, known_center=known_center)
    beside = () if axis is None else axis.steps * 2
    return _Plan(
        spans=spans,
        axis=axis,
        known_center=known_center,
        noise=histogram.histogram_noise(
            epsilon=epsilon, delta=delta, kind=kind, noise=noise, beside=beside
        ),
    )


def _release_of(pca: Any) -> Release:
    from gdppca.releases.release import Release

    release = getattr(pca, "release_", pca)
    if not isinstance(release, Release):
        raise ParameterError("`pca` must be a fitted estimator or a Release: call fit first.")
    return release


def _checked_axes(axes: Any, release: Release) -> tuple[int, int]:
    m = len(release.components)
    try:
        first, second = axes
    except (TypeError, ValueError):
        raise ParameterError("`axes` must be two components, such as (0, 1).") from None
    chosen = tuple(_validate.count(axes=axis, at_least=0) for axis in (first, second))
    if chosen[0] == chosen[1] or max(chosen) >= m:
        raise ParameterError(
            f"`axes` must be two different components below {m}, got {chosen}. "
            "Fit more components for a map of them."
        )
    return chosen[0], chosen[1]


def _free_spans(frame: Any, release: Release, axes: tuple[int, int]) -> tuple[Span, Span] | None:
    """The frame where it costs nothing, or None where it is to be found privately."""
    if frame is None:
        return None
    if isinstance(frame, str):
        _validate.one_of(("variances",), frame=frame)
        if release.variances is None or release.location is None:
            raise ParameterError(
                "`frame='variances'` needs a release with variances and a location. "
                "Leave `frame` out, or give public numbers."
            )
        half = _SHOWN_SDS * np.sqrt(release.variances[list(axes)])
        spans = np.stack([-half, half], axis=1)
    else:
        spans = _numbers(frame)
    size = np.abs(spans).max(axis=1)
    if not (size <= LARGEST / 4).all() or not (np.diff(spans)[:, 0] > 1e-9 * size).all():
        raise ParameterError(
            "`frame` must hold finite spans (low, high), low < high by a billionth of their size."
        )
    return tuple(spans[0].tolist()), tuple(spans[1].tolist())


def _numbers(frame: Any) -> np.ndarray:
    try:
        spans = np.array(frame, dtype=float)
    except (TypeError, ValueError):
        spans = np.empty(0)
    if spans.shape != (2, 2):
        raise ParameterError("`frame` must be ((x0, x1), (y0, y1)), 'variances' or None.")
    return spans


def _shape(bins: Any, groups: int, n: int, noise: HistogramNoise) -> tuple[int, int, int]:
    """Groups, bins along x and bins along y; too many cells are refused."""
    if isinstance(bins, str):
        _validate.one_of(("auto",), bins=bins)
        across = up = histogram.automatic_bins(n / groups, noise.noise_sd)
    elif np.ndim(bins) == 0:
        across = up = _validate.count(bins=bins)
    elif np.shape(bins) == (2,):
        across, up = (_validate.count(bins=size) for size in bins)
    else:
        raise ParameterError("`bins` must be 'auto', a whole number or two of them.")
    cells = groups * (across * up + 1)
    if cells > histogram.MOST_CELLS:
        raise ParameterError(
            f"`bins` must make at most {histogram.MOST_CELLS} cells over all groups, got {cells}. "
            "Take fewer bins or groups."
        )
    return groups, across, up


def _group_codes(groups: Any, categories: Any, n: int) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """For every row the index of its group, -1 for rows of none, and the groups' names."""
    if groups is None:
        if categories is not None:
            raise ParameterError("`categories` needs `groups`: one label per row.")
        return np.zeros(n, dtype=np.int64), None
    labels = _labels(groups)
    if len(labels) != n:
        raise DataError(f"`groups` must hold one label per row: {n}, got {len(labels)}.")
    try:
        declared = _declared(groups) if categories is None else list(categories)
        place = {category: k for k, category in enumerate(declared)}
    except TypeError:
        raise ParameterError("`categories` must be a sequence of names.") from None
    names = tuple(str(category) for category in declared)
    if not names or len(set(names)) < len(names):
        raise ParameterError("`categories` must hold at least one name, and no name twice.")
    codes = (_place(place, label) for label in labels)
    return np.fromiter(codes, dtype=np.int64, count=n), names


def _place(place: dict[Any, int], label: Any) -> int:
    """Index of a label; anything undeclared, even what is no name at all, is in no group."""
    try:
        return place.get(label, -1)
    except TypeError:
        return -1


def _labels(groups: Any) -> list[Any]:
    """Labels as plain objects; an error says nothing about any of them."""
    if isinstance(groups, str) or getattr(groups, "ndim", 1) != 1:
        raise ParameterError("`groups` must be a sequence of labels, one per row.")
    for name in ("to_pylist", "to_list", "tolist"):  # arrow, pandas and polars, numpy
        if hasattr(groups, name):
            return list(getattr(groups, name)())
    try:
        return list(groups)
    except TypeError:
        raise ParameterError("`groups` must be a sequence of labels, one per row.") from None


def _declared(groups: Any) -> list[Any]:
    """Categories that the labels' type declares: pandas Categorical, polars Enum."""
    dtype = getattr(groups, "dtype", None)
    if type(dtype).__name__ not in ("CategoricalDtype", "Enum"):
        raise ParameterError(
            "`categories` is missing. Name the groups without looking at the data, "
            "such as categories=['A', 'B'], or give a pandas Categorical."
        )
    assert dtype is not None
    if type(dtype).__name__ == "CategoricalDtype":
        warnings.warn(
            "The categories of `groups` are published. Where they were taken from the rows, as by "
            "astype('category'), a rare one tells of a person: declare them with `categories`.",
            PrivacyWarning,
            stacklevel=5,
        )
    return list(dtype.categories)


def _scores(rows: np.ndarray, release: Release, axes: tuple[int, int]) -> np.ndarray:
    """Scores on two components, each from its own row alone; never NaN.

    What leaves the range of floats stays at its end.
    """
    with np.errstate(over="ignore", under="ignore"):
        if release.location is not None:
            rows = np.clip(rows - release.location, -LARGEST, LARGEST)
        if release.scale is not None:
            rows = np.clip(rows / release.scale, -LARGEST, LARGEST)
        # Every row is scaled by its own power of two, so that no sum overflows.
        _, exponent = np.frexp(np.max(np.abs(rows), axis=1))
        scores = np.ldexp(rows, -exponent[:, None]) @ release.components[list(axes)].T
        return np.clip(np.ldexp(scores, exponent[:, None]), -LARGEST, LARGEST)


def _span(values: np.ndarray, plan: _Plan, axis: int, rng: Rng) -> Span:
    if plan.spans is not None:
        return plan.spans[axis]
    if plan.axis is None:
        return histogram.exact_interval(values, known_center=plan.known_center)
    return histogram.private_interval(values, plan.axis, rng)


def _warn_of_large_delta(delta: float, n: int) -> None:
    if delta >= 1 / n:
        warnings.warn(
            f"`delta` = {delta:g} is not below 1/n with n = {n} rows: publishing one person's "
            "whole row could pass as private. Choose it far smaller.",
            PrivacyWarning,
            stacklevel=3,
        )
