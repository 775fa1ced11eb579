"""A private score map as it is published: counts of two components' scatter plot."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ReleaseError
from gdppca.design import Design
from gdppca.ledgers import Reference
from gdppca.noise.bits import generator_for
from gdppca.privacy import (
    ApproximateEvent,
    GaussianEvent,
    Guarantee,
    Neighbors,
    NonPrivateEvent,
    PureEvent,
    Unit,
)
from gdppca.privacy.assumptions import (
    COMPONENTS_APART,
    DESIGN_WEIGHTS,
    MAPS_UNCOUNTED,
    PUBLIC_FRAME,
    PUBLIC_GROUPS,
    UNCOUNTED,
)
from gdppca.releases.files import as_plain, frozen
from gdppca.sensitivity import Moves
from gdppca.steps import histogram
from gdppca.steps.base import State
from gdppca.steps.histogram import PURPOSE, THRESHOLD_PURPOSE
from gdppca.steps.score_map import MapCounts
from gdppca.theory.noisy_counts import smoothed_counts

_ARRAYS = {"x_edges": float, "y_edges": float, "counts": np.int64, "outside": np.int64}


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
        Noisy numbers of rows, or of persons where they are the unit; they may be negative. One
        table where there are no groups.
    outside : array of shape (groups,)
        Noisy numbers of rows, or of persons, outside the frame.
    n_samples : int
        Number of rows, or of persons; an estimate where the neighbours are add-remove.
    kind : "dense" or "sparse"
        Whether all counts are shown, or only those above `threshold`.
    noise_sd : float
        Standard deviation of the noise on every count.
    threshold : int
        Smallest count that a sparse map shows; zero for a dense one.
    guarantee : Guarantee
        The promise about the map alone. That of the components is to be added.
    entries : tuple of Reference
        The entry of a ledger that paid for it, where it was drawn on its own.

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
    >>> shown.points(size=300, jitter=0.5).shape                # made-up rows, to draw
    (300,)
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
    entries: tuple[Reference, ...] = ()

    def __post_init__(self) -> None:
        """Make the arrays read-only: what is published does not change."""
        for name, kind in _ARRAYS.items():
            object.__setattr__(self, name, frozen(_array(name, getattr(self, name), kind)))

    def __repr__(self) -> str:
        first, second = (axis + 1 for axis in self.axes)
        across, up = self.counts.shape[1:]
        groups = "" if self.groups is None else f"{len(self.groups)} groups, "
        return (
            f"ScoreMap(components {first} and {second}, {across} × {up} bins, {groups}{self.kind}, "
            f"noise sd {self.noise_sd:.2g}; {self.guarantee})"
        )

    @property
    def weighted(self) -> bool:
        """Whether rows were counted by chance, each with its weight over the largest one."""
        return DESIGN_WEIGHTS in self.guarantee.assumptions

    def estimate(self) -> np.ndarray:
        """Counts without negative ones, as near to the noisy ones as may be, with a known total.

        Returns
        -------
        array of shape (groups, bins along x, bins along y)
            Numbers that are not negative and not whole. Without groups they total the number of
            rows less those outside; with groups or weights, each table keeps the sum of its noisy
            counts.

        Notes
        -----
        **Privacy.** Post-processing: costs nothing. The nearest such table takes one number from
        every count and cuts at zero, which sweeps away most of the noise in empty cells. A sparse
        map has no such noise; its counts are only rescaled.
        """
        if self.groups is None and not self.weighted:
            totals = np.clip([self.n_samples - self.outside.sum()], 0, self.n_samples)
        else:
            totals = np.clip(self.counts.sum(axis=(1, 2)), 0, self.n_samples)
        fit = _rescaled if self.kind == "sparse" else _nearest_with_total
        return np.stack(
            [fit(table, float(total)) for table, total in zip(self.counts, totals, strict=True)]
        )

    def points(
        self, random_state: int | None = None, *, size: int | None = None, jitter: float = 1.0
    ) -> np.ndarray:
        """Made-up rows that are spread as the map says, for scatter plots.

        Parameters
        ----------
        random_state : None or int, default None
            A seed draws the same points again. That is harmless: no noise depends on it.
        size : None or int, default None
            How many points; about one for each row inside the frame if left out.
        jitter : float, default 1.0
            How far a point may lie from the middle of its bin, in bins. With one, points mix with
            those of the next bins and no square is seen; with zero all are in the middle.

        Returns
        -------
        structured array
            Fields ``x``, ``y`` and ``group`` (an index into `groups`). No point is a person. None
            where no count stands above the noise.

        Notes
        -----
        **Privacy.** Post-processing: costs nothing. Counts that may be noise alone have no points,
        and others are averaged with their neighbours as far as the noise asks for it
        (`gdppca.theory.noisy_counts`), so that points do not clump where nobody is.
        """
        wanted = None if size is None else _validate.count(size=size, at_least=0)
        reach = _validate.share(jitter=jitter)
        generator, shares = generator_for(random_state), self._shares()
        total = shares.sum()
        wanted = round(total) if wanted is None else wanted * bool(total)
        # Evenly along the cells, so that chance makes no clumps of its own.
        steps = (np.arange(wanted) + generator.random()) * (total / max(wanted, 1))
        cells = np.searchsorted(np.cumsum(shares), steps, side="right").clip(max=shares.size - 1)
        group, across, up = np.unravel_index(cells, shares.shape)
        drawn = np.empty(wanted, dtype=[("x", float), ("y", float), ("group", np.int64)])
        # Steps that fade to nothing one bin away: triangles that overlap to a line.
        ways = reach * (generator.random((2, 2, wanted)).sum(axis=0) - 1.0)
        drawn["x"] = _around(self.x_edges, across, ways[0])
        drawn["y"] = _around(self.y_edges, up, ways[1])
        drawn["group"] = group
        return drawn

    def _shares(self) -> np.ndarray:
        """Counts to draw points from: those of `estimate` in total, none that may be noise."""
        estimate = self.estimate()
        if self.kind == "sparse":  # has no noise in empty cells
            return estimate
        cells = self.counts.size
        seen = [smoothed_counts(table, self.noise_sd, out_of=cells) for table in self.counts]
        return np.stack(
            [
                _rescaled(table, float(total))
                for table, total in zip(seen, estimate.sum(axis=(1, 2)), strict=True)
            ]
        )

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
        """Plain form, as it stands in a release, which names its entries."""
        return {name: as_plain(getattr(self, name)) for name in _names()}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> ScoreMap:
        """Read what `to_dict` wrote; shapes, edges, noise and guarantee must agree."""
        _check_plain_shapes(plain)
        read = {
            "axes": tuple(plain["axes"]),
            "groups": None if plain["groups"] is None else tuple(plain["groups"]),
            "n_samples": int(plain["n_samples"]),
            "noise_sd": float(plain["noise_sd"]),
            "threshold": int(plain["threshold"]),
            "guarantee": Guarantee.from_dict(plain["guarantee"]),
        }
        shown = cls(**{name: plain[name] for name in _names()} | read)
        _check_noise(shown)
        return shown


def _names() -> list[str]:
    """Fields that stand in a file."""
    return [field.name for field in fields(ScoreMap) if field.name != "entries"]


def _array(name: str, values: Any, kind: type) -> np.ndarray:
    try:
        return np.array(values, dtype=kind)
    except (OverflowError, TypeError, ValueError):
        raise ReleaseError(f"The score map's `{name}` cannot be read.") from None


def _around(edges: np.ndarray, bins: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Places so many bins from the middle of their bins; what leaves the frame is turned back."""
    places = (edges[bins] + edges[bins + 1]) / 2 + steps * np.diff(edges)[bins]
    places = np.where(places < edges[0], 2 * edges[0] - places, places)
    return np.where(places > edges[-1], 2 * edges[-1] - places, places)


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
    return shown * (total / (shown.sum() or 1))


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
    least, most, threshold = _noise_of_events(shown.guarantee)
    if not least * (1 - 1e-6) <= shown.noise_sd <= most * (1 + 1e-6):
        raise ReleaseError("The score map's noise does not follow from its events.")
    if shown.threshold != threshold:
        raise ReleaseError("The score map's noise does not follow from its events.")
    sparse_fits = shown.kind == "sparse" or threshold == 0
    dense_fits = shown.kind == "dense" or threshold > 0 or least == 0
    if not (sparse_fits and dense_fits):
        raise ReleaseError("The score map's kind does not follow from its events.")


def _noise_of_events(guarantee: Guarantee) -> tuple[float, float, int]:
    """Smallest and largest standard deviation of a count that events allow, and its threshold."""
    noise = [e for e in guarantee.events if e.purpose in (PURPOSE, THRESHOLD_PURPOSE)]
    match noise:
        case [NonPrivateEvent()]:
            return 0.0, 0.0, 0
        case [GaussianEvent(noise_multiplier=multiplier)]:
            sd = multiplier * Moves(guarantee.neighbors).cells()
            return sd, sd, 0
    steps = [event for event in noise if isinstance(event, PureEvent)]
    needed = 1 if guarantee.neighbors is Neighbors.ADD_REMOVE else 2  # cells that a row moves
    if len(set(steps)) == 1 and needed <= len(steps) <= 2:
        step = steps[0].epsilon
        sd = histogram.laplace_sd(step)
        # Parts of a person's count have noise on a finer lattice than whole numbers.
        most = math.sqrt(2) / step if guarantee.unit is Unit.PERSON else sd
        match noise[len(steps) :]:
            case []:
                return sd, most, 0
            case [ApproximateEvent(delta=delta)]:
                return sd, most, histogram.sparse_threshold(step, delta * (1 + 1e-9))
    raise ReleaseError("The score map's events are not those of a score map.")


def published_map(
    step: MapCounts, design: Design, state: State, entered: bool, seeded: bool
) -> ScoreMap:
    """The map that a step drew, with a promise about the map alone."""
    grouped = (PUBLIC_GROUPS,) if step.names is not None else ()
    framed = tuple(line for line in design.assumptions if line in (PUBLIC_FRAME, DESIGN_WEIGHTS))
    alone = replace(design, delta=step.delta, assumptions=(COMPONENTS_APART, *grouped, *framed))
    promise = alone.guarantee(step.events, entered=entered, seeded=seeded)
    said = (MAPS_UNCOUNTED if each == UNCOUNTED else each for each in promise.assumptions)
    return ScoreMap(
        **vars(state.score_map),
        axes=step.axes,
        groups=step.names,
        n_samples=step.public.n_samples if state.estimate is None else state.estimate,
        kind=step.kind,
        noise_sd=step.level.noise_sd,
        threshold=step.level.threshold,
        guarantee=replace(promise, assumptions=tuple(said)),
    )
