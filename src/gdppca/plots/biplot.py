"""Loadings of two components as arrows with their regions, over the score map if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca._words import listed, plural
from gdppca.plots import style
from gdppca.plots.scores import score_heatmap, together
from gdppca.plots.scree import SHOWN_LOADINGS
from gdppca.releases import Release, heaviest_columns, release_intervals
from gdppca.releases.words import loadings_in_words
from gdppca.theory import LoadingIntervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FILLED = 0.85  # share of the frame that the longest arrow fills
_SIZE = (5.8, 5.6)  # inches
_LABELLED = 0.15  # of the longest arrow; shorter ones have no name


def biplot_figure(
    release: Release,
    *,
    components: tuple[int, int] = (0, 1),
    level: float = 0.9,
    sampling: bool = False,
    size: style.Size = _SIZE,
) -> Figure:
    """Draw a biplot with the guarantee as a caption.

    Parameters
    ----------
    release : Release
        With at least two components and its noisy matrix.
    components : (int, int), default (0, 1)
        Which two, counted from zero.
    level : float, default 0.9
        Share of loadings that the intervals behind the regions are to hold.
    sampling : bool, default False
        Whether the regions are about the population too; see `release_intervals`.
    size : (float, float), default (5.8, 5.6)
        Width and height of the figure, in inches.

    Returns
    -------
    matplotlib.figure.Figure
        It needs no screen; save it with ``savefig``.

    Notes
    -----
    **Privacy.** Post-processing: costs nothing. Points are drawn only as a private score map,
    where the release holds one of the same two components.

    Examples
    --------
    >>> from gdppca import DPPCA, datasets
    >>> from gdppca.plots import biplot_figure
    >>> pca = DPPCA(n_components=2, epsilon=1.0, delta=1e-6)
    >>> release = pca.fit(datasets.make_elliptical(2000, 4).X).release_
    >>> figure = biplot_figure(release)
    >>> figure.savefig("biplot.png")  # doctest: +SKIP
    """
    figure = style.new_figure(figsize=size)
    biplot(release, figure.subplots(), components=components, level=level, sampling=sampling)
    found = release_intervals(release, level, sampling=sampling)
    aim = style.aim_in_words(found, "regions") if found.above_noise > max(components) else ""
    style.caption(figure, aim, str(release.guarantee), loadings_in_words(release))
    return figure


def biplot(
    release: Release,
    ax: Axes | None = None,
    *,
    components: tuple[int, int] = (0, 1),
    level: float = 0.9,
    sampling: bool = False,
    size: style.Size | None = None,
) -> Axes:
    """Arrows of the loadings on two components, each with a region for the loading without noise.

    The ellipse around an arrow's tip has the two intervals as its width and height. A component
    that does not stand above the noise has no region: its arrows are dashed and may point
    anywhere. Columns that are negligible on both have no arrow. Drawn on the axes `ax`, or on those
    of a new figure of this `size` in inches; returns them.
    """
    pair = _pair(release, components)
    found = release_intervals(release, level, sampling=sampling)
    axes = style.axes_for(ax, size, _SIZE)
    scale = _background(release, axes, pair)
    known = max(pair) < found.above_noise
    drawn, lower, upper = (M[list(pair)] for M in (release.components, found.lower, found.upper))
    negligible = np.all(release.negligible[list(pair)], axis=0)
    shown = [j for j in heaviest_columns(drawn, SHOWN_LOADINGS) if not negligible[j]]
    regions = (scale * lower, scale * upper) if known else (scale * drawn, scale * drawn)
    for j in shown:
        _arrow(axes, tuple(scale * drawn[:, j]), dashes="-" if known else "--")
        if known:
            _region(axes, *(ends[:, j] for ends in regions))
    _names(release, axes, scale * drawn, regions, shown)
    axes.axhline(0, color=style.GREY, lw=0.6)
    axes.axvline(0, color=style.GREY, lw=0.6)
    axes.set_aspect("auto" if release.score_map is not None else "equal")
    style.title(axes, _title(found, pair))
    return axes


def _names(
    release: Release,
    axes: Axes,
    tips: np.ndarray,
    regions: tuple[np.ndarray, np.ndarray],
    shown: list[int],
) -> None:
    """Names of the columns beyond their arrows and regions; the shortest arrows have none."""
    from gdppca.plots.labels import name_points

    sizes = np.abs(tips).max(axis=0)
    told = [j for j in shown if sizes[j] >= _LABELLED * sizes.max()]
    lower, upper = regions
    (left, low), (right, high), (x, y) = lower, upper, (lower + upper) / 2
    lines = [
        *(((0.0, 0.0), tips[:, j]) for j in shown),
        *(((left[j], y[j]), (right[j], y[j])) for j in shown),
        *(((x[j], low[j]), (x[j], high[j])) for j in shown),
    ]
    names = style.column_labels(release)
    name_points(axes, tips[:, told].T, [names[j] for j in told], origin=(0.0, 0.0), lines=lines)


def _pair(release: Release, components: tuple[int, int]) -> tuple[int, int]:
    first, second = (_validate.count(components=k, at_least=0) for k in components)
    m = len(release.components)
    if m < 2:
        raise ParameterError("A biplot needs two components. Draw one with `loadings`.")
    if first == second or max(first, second) >= m:
        raise ParameterError(
            f"`components` must be two different ones below {m}, got {(first, second)}."
        )
    return first, second


def _background(release: Release, axes: Axes, pair: tuple[int, int]) -> float:
    """Draw the score map of these components, if any; return what a loading of one is on it."""
    longest = float(np.abs(release.components[list(pair)]).max())
    shown = release.score_map
    if shown is None or tuple(shown.axes) != pair:
        reach = longest / _FILLED
        first, second = (f"loading on component {k + 1}" for k in pair)
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel=first, ylabel=second)
        return 1.0
    score_heatmap(together(shown), axes)
    ends = [np.abs(edges[[0, -1]]).min() for edges in (shown.x_edges, shown.y_edges)]
    return float(_FILLED * min(ends) / longest)


def _arrow(axes: Axes, tip: Any, *, dashes: str) -> None:
    look: dict[str, Any] = {
        "color": style.ORANGE,
        "lw": 1.4,
        "ls": dashes,
        "path_effects": style.halo(),
    }
    head: dict[str, Any] = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=tip, xytext=(0, 0), arrowprops=head | look)


def _region(axes: Axes, lower: np.ndarray, upper: np.ndarray) -> None:
    from matplotlib.patches import Ellipse

    look: dict[str, Any] = {"fc": (style.ORANGE, 0.3), "ec": style.ORANGE, "lw": 1}
    axes.add_patch(Ellipse(tuple((lower + upper) / 2), *(upper - lower), **look))


def _title(found: LoadingIntervals, pair: tuple[int, int]) -> str:
    lost = [str(k + 1) for k in pair if k >= found.above_noise]
    if lost:
        components = f"{plural(len(lost), 'Component')} {listed(lost)}"
        return f"{components} not above the noise: any arrow is possible"
    return style.about_intervals("Loadings with", found, "regions")
