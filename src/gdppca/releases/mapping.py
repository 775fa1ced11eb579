"""Making a private score map: the frame, the noise and the counts."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError, PrivacyWarning
from gdppca.ledgers import enter
from gdppca.linalg import LARGEST
from gdppca.noise.bits import Rng, rng_for
from gdppca.privacy import Assumption, Event, Guarantee, NonPrivateEvent, PureEvent, assumptions
from gdppca.releases.groups import group_codes
from gdppca.releases.rows import Pay, ledger_of, release_of, rows_of
from gdppca.releases.score_map import ScoreMap
from gdppca.steps import histogram
from gdppca.steps.histogram import FRAME_PURPOSE, HistogramNoise

if TYPE_CHECKING:
    from gdppca.releases.release import Release

_SHOWN_SDS = 3.0  # of a frame from released variances

Span = tuple[float, float]


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
    ledger: str | None = None,
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
    ledger : None or str, default None
        Where the spend is entered before anything is drawn: "sqlite:///budget.db#patients". None
        takes that of a fitted estimator, if it has one; a Release has none.
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
    return paid_map(
        X,
        release_of(pca),
        lambda events: enter(ledger_of(pca, ledger), events, seeded=random_state is not None),
        bins=bins,
        epsilon=epsilon,
        delta=delta,
        groups=groups,
        axes=axes,
        categories=categories,
        frame=frame,
        kind=kind,
        noise=noise,
        use_location=use_location,
        random_state=random_state,
    )


@np.errstate(all="ignore")  # no error or warning may depend on a cell
def paid_map(
    X: Any,
    release: Release,
    pay: Pay,
    *,
    epsilon: float,
    delta: float,
    bins: Any = "auto",
    groups: Any = None,
    axes: tuple[int, int] = (0, 1),
    categories: Any = None,
    frame: Any = None,
    kind: str = "dense",
    noise: str = "auto",
    use_location: bool = True,
    random_state: int | None = None,
) -> ScoreMap:
    """A score map that `pay` is asked for after the last check and before the first draw."""
    rows = rows_of(X, release)
    first, second = _checked_axes(axes, release)
    codes, names = group_codes(groups, categories, len(rows))
    rng = rng_for(random_state)
    spans = _free_spans(frame, release, (first, second))
    known_center = use_location and release.location is not None
    plan = _plan(known_center, len(rows), epsilon, delta, spans, kind, noise)
    shape = _shape(bins, 1 if names is None else len(names), len(rows), plan.noise)
    _warn_of_large_delta(delta, len(rows))
    scores = _scores(rows, release, (first, second))  # not private
    entered = pay(plan.events)
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
            assumptions=_assumptions(names, frame, entered=entered),
            seeded=rng.seeded,
            reason="epsilon is infinite, so no noise was added" if math.isinf(epsilon) else "",
        ),
    )


def _assumptions(
    names: tuple[str, ...] | None, frame: Any, *, entered: bool
) -> tuple[Assumption, ...]:
    public_frame = frame is not None and not isinstance(frame, str)
    return (
        *assumptions.EVERYWHERE,
        assumptions.ENTERED if entered else assumptions.MAPS_UNCOUNTED,
        assumptions.COMPONENTS_APART,
        *([assumptions.PUBLIC_GROUPS] if names is not None else []),
        *([assumptions.PUBLIC_FRAME] if public_frame else []),
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
    _, names = group_codes(groups, categories, n_samples)
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
    spans = _validate.floats(frame)
    if spans is None or spans.shape != (2, 2):
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
            stacklevel=5,  # past `paid_map`, numpy's wrapper and `score_map`
        )
