"""Private score maps: heat maps, and scatter plots of made-up points."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.plots.style import (
    COLOURS,
    GREY,
    Size,
    axes_for,
    caption,
    legend,
    new_figure,
    short,
)
from gdppca.plots.style import title as titled
from gdppca.releases import Release, ScoreMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

_SIZE = (5.8, 5.0)  # inches, of one panel
STYLES = ("heat", "points")
_MARKERS = "o^sDvP*"  # a second sign of the group, for print
_NOISE_SDS = 2.0  # counts below so many are drawn as noise
_ACROSS = 3
MOST_POINTS = 20_000
_LAYERS = 8  # groups are drawn in turns, so that none lies on top of all others


def score_figure(
    source: Release | ScoreMap,
    *,
    style: str = "heat",
    random_state: int | None = None,
    size: Size | None = None,
) -> Figure:
    """Draw a private score map with its guarantee as a caption.

    Parameters
    ----------
    source : Release or ScoreMap
        A map, or a release that holds one; its guarantee is the one that is printed.
    style : "heat" or "points", default "heat"
        One heat map per group, or made-up points coloured by group.
    random_state : None or int, default None
        Seed of the made-up points; it has nothing to do with privacy.
    size : (float, float), optional
        Width and height of the figure, in inches; as large as its panels need if left out.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per group, or one for all points; save it with ``savefig``.

    Notes
    -----
    **Privacy.** Post-processing: costs nothing. Points are made up from the released counts;
    none is a row.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.plots import score_figure
    >>> from gdppca.releases import score_map
    >>> X = np.random.default_rng(0).normal(size=(2000, 4)) * [5, 3, 1, 1]
    >>> pca = DPPCA(n_components=2, epsilon=1.0, delta=1e-6).fit(X)
    >>> figure = score_figure(score_map(X, pca, epsilon=1.0, delta=1e-6))
    >>> figure.savefig("map.png")  # doctest: +SKIP
    """
    shown = map_of(source)
    if _validate.one_of(STYLES, style=style) == "points":
        usual = _SIZE if shown.groups is None else (_SIZE[0] + 2.0, _SIZE[1])
        figure = new_figure(figsize=size or usual)
        score_points(shown, figure.subplots(), random_state=random_state)
        note = _points_note(shown)
    else:
        figure = _heat_figure(shown, size)
        note = _heat_note(shown)
    alone = "Map alone: " if source is shown else ""
    caption(figure, note, f"{alone}{source.guarantee}")
    return figure


def map_of(source: Release | ScoreMap) -> ScoreMap:
    """The map itself, or that of a release."""
    if isinstance(source, ScoreMap):
        return source
    if not isinstance(source, Release):
        raise ParameterError("`source` must be a Release or a ScoreMap.")
    if source.score_map is None:
        raise ParameterError(
            "The release holds no score map. Make one with gdppca.releases.score_map; "
            "it needs the rows and spends a budget of its own."
        )
    return source.score_map


def together(shown: ScoreMap) -> ScoreMap:
    """The map of all groups in one; noises add up."""
    if shown.groups is None:
        return shown
    return replace(
        shown,
        groups=None,
        counts=shown.counts.sum(axis=0, keepdims=True),
        outside=shown.outside.sum(keepdims=True),
        noise_sd=shown.noise_sd * math.sqrt(len(shown.counts)),
    )


def score_heatmap(
    source: Release | ScoreMap,
    ax: Axes | None = None,
    *,
    group: int = 0,
    highest: float | None = None,
    size: Size | None = None,
) -> ScalarMappable:
    """Noisy counts of one group as colours, darker for more; what may be noise alone is white.

    `highest` is the count of the darkest colour, for panels that share one scale. Drawn on the
    axes `ax`, or on those of a new figure of this `size` in inches. Returns what a colour bar
    needs; its ``axes`` are those drawn on.
    """
    shown = map_of(source)
    if group not in range(len(shown.counts)):
        raise ParameterError(f"`group` must be below {len(shown.counts)}, got {group!r}.")
    axes = axes_for(ax, size, _SIZE)
    counts = shown.counts[group]
    above = np.ma.masked_less(np.maximum(counts, 0), max(_floor(shown), 1e-9))
    mesh = axes.pcolormesh(
        shown.x_edges, shown.y_edges, above.T, cmap=_shades(), vmin=0, vmax=highest, rasterized=True
    )
    if shown.groups is not None:
        titled(axes, short(shown.groups[group]))
    _finish(shown, axes)
    return mesh


def score_points(
    source: Release | ScoreMap,
    ax: Axes | None = None,
    *,
    points: int | None = None,
    jitter: float = 1.0,
    random_state: int | None = None,
    size: Size | None = None,
) -> Axes:
    """Made-up points that are spread as the map says, one colour and marker per group.

    As many `points` as wanted, or about one for each row and 20,000 at most, with the `jitter` of
    `ScoreMap.points`. Drawn on the axes `ax`, or on those of a new figure of this `size` in inches;
    returns them.
    """
    shown = map_of(source)
    axes = axes_for(ax, size, _SIZE)
    wanted = drawn_points(shown) if points is None else points
    points_ = shown.points(random_state, size=wanted, jitter=jitter)
    area = float(np.clip(10_000 / max(len(points_), 1), 3, 16))
    tables = [points_[points_["group"] == k] for k in range(len(shown.counts))]
    for part, (k, own) in itertools.product(range(_LAYERS), enumerate(tables)):
        layer = own[part::_LAYERS]
        look: dict[str, Any] = {
            "color": COLOURS[k % len(COLOURS)],
            "marker": _MARKERS[k % len(_MARKERS)],
        }
        label = str(k) if part == 0 else None
        axes.scatter(
            layer["x"], layer["y"], s=area, alpha=0.6, lw=0, label=label, rasterized=True, **look
        )
    if shown.groups is not None:
        _legend(axes, shown.groups)
    _finish(shown, axes)
    return axes


def _legend(axes: Axes, names: tuple[str, ...]) -> None:
    """Names as they are: matplotlib would hide some of them and read others as formulas."""
    shown = legend(axes, "beside")
    for text, name in zip(shown.get_texts(), names, strict=True):
        text.set(text=short(name), parse_math=False)
    for handle in shown.legend_handles:
        if handle is not None:
            handle.set(sizes=[24], alpha=1)


def _shades() -> Colormap:
    """Light to dark, in colour as in grey print, from a tone that stands out from the paper."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["YlGnBu"](np.linspace(0.15, 1, 256)))


def drawn_points(shown: ScoreMap) -> int:
    """About one for each row inside the frame, and not more than a picture can show."""
    return min(round(float(shown.estimate().sum())), MOST_POINTS)


def _floor(shown: ScoreMap) -> float:
    """Smallest count that is drawn as more than noise."""
    return shown.threshold if shown.kind == "sparse" else _NOISE_SDS * shown.noise_sd


def _finish(shown: ScoreMap, axes: Axes) -> None:
    first, second = (axis + 1 for axis in shown.axes)
    axes.set(xlabel=f"score on component {first}", ylabel=f"score on component {second}")
    axes.set(xlim=shown.x_edges[[0, -1]], ylim=shown.y_edges[[0, -1]])
    axes.spines[:].set_color(GREY)  # all four: they are the frame


def _heat_figure(shown: ScoreMap, size: Size | None) -> Figure:
    tables = len(shown.counts)
    across = min(tables, _ACROSS)
    lines = math.ceil(tables / across)
    usual = _SIZE if tables == 1 else (1.2 + 3.3 * across, 0.9 + 3.1 * lines)
    figure = new_figure(figsize=size or usual)
    heat_maps(shown, figure)
    return figure


def heat_maps(
    shown: ScoreMap, figure: Figure, *, across: int = _ACROSS, most: int | None = None
) -> None:
    """The first `most` groups as small multiples on one scale, so many beside each other."""
    drawn = len(shown.counts[:most])
    across = min(drawn, across)
    lines = math.ceil(drawn / across)
    panels = figure.subplots(lines, across, squeeze=False, sharex=True, sharey=True)
    highest = max(float(shown.counts.max()), 1.0)
    for group, axes in enumerate(panels.ravel()):
        if group >= drawn:
            axes.set_visible(False)
            continue
        mesh = score_heatmap(shown, axes, group=group, highest=highest)
        _label_outer(axes, left=group % across == 0, bottom=group + across >= drawn)
    bar = figure.colorbar(mesh, ax=panels, shrink=0.8, pad=0.02)
    bar.set_label(f"{shown.guarantee.unit}s in a cell" + (", with noise" if shown.noise_sd else ""))
    bar.outline.set_visible(False)


def _label_outer(axes: Axes, *, left: bool, bottom: bool) -> None:
    """Labels at the rim only; unlike matplotlib's own, also where the panel below is missing."""
    axes.tick_params(labelleft=left, labelbottom=bottom)
    axes.xaxis.label.set_visible(bottom)
    axes.yaxis.label.set_visible(left)


def _heat_note(shown: ScoreMap) -> str:
    if shown.noise_sd == 0:
        return "Counts without noise."
    white = f"counts below {_NOISE_SDS:g} noise sd, negative ones too."
    if shown.kind == "sparse":
        white = f"no count, or one below {shown.threshold}."
    return f"Noise sd {shown.noise_sd:.2g} {shown.guarantee.unit}s. White: {white}"


def _points_note(shown: ScoreMap) -> str:
    inside = float(shown.estimate().sum())
    part = f" About 1 in {inside / MOST_POINTS:.2g} is drawn." if inside > MOST_POINTS else ""
    source = "noisy counts" if shown.noise_sd else "counts without noise"
    return f"Made-up points, spread as {source} say; none is a person.{part}"
