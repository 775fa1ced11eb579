"""Loadings of two components as arrows with their regions, over the score map if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca._words import listed, plural
from gdppca.plots import style
from gdppca.plots.scores import score_heatmap
from gdppca.plots.scree import SHOWN_LOADINGS
from gdppca.releases import Release, heaviest_columns, release_intervals
from gdppca.releases.words import loadings_in_words
from gdppca.theory import LoadingIntervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FILLED = 0.85  # share of the frame that the longest arrow fills
_LABELLED = 0.15  # of the longest arrow; shorter ones have no name


def biplot_figure(
    release: Release,
    *,
    components: tuple[int, int] = (0, 1),
    level: float = 0.9,
    sampling: bool = False,
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
    figure = style.new_figure(figsize=(5.8, 5.6), dpi=150)
    biplot(release, figure.subplots(), components=components, level=level, sampling=sampling)
    style.caption(figure, str(release.guarantee), *filter(None, [loadings_in_words(release)]))
    return figure


def biplot(
    release: Release,
    axes: Axes,
    *,
    components: tuple[int, int] = (0, 1),
    level: float = 0.9,
    sampling: bool = False,
) -> None:
    """Arrows of the loadings on two components, each with a region for the loading without noise.

    The ellipse around an arrow's tip has the two intervals as its width and height. A component
    that does not stand above the noise has no region: its arrows are dashed and may point
    anywhere. Columns that are negligible on both have no arrow.
    """
    pair = _pair(release, components)
    found = release_intervals(release, level, sampling=sampling)
    scale = _background(release, axes, pair)
    known = max(pair) < found.above_noise
    drawn, lower, upper = (M[list(pair)] for M in (release.components, found.lower, found.upper))
    sizes = np.abs(drawn).max(axis=0)
    negligible = np.all(release.negligible[list(pair)], axis=0)
    for j in heaviest_columns(drawn, SHOWN_LOADINGS):
        if negligible[j]:
            continue
        tip = tuple(scale * drawn[:, j])
        _arrow(axes, tip, dashes="-" if known else "--")
        if known:
            _region(axes, scale * lower[:, j], scale * upper[:, j])
        if sizes[j] >= _LABELLED * sizes.max():
            _label(axes, tip, style.column_labels(release)[j])
    axes.axhline(0, color=style.GREY, lw=0.6)
    axes.axvline(0, color=style.GREY, lw=0.6)
    axes.set_aspect("auto" if release.score_map is not None else "equal")
    axes.set_title(_title(found, pair), fontsize=10)


def _pair(release: Release, components: tuple[int, int]) -> tuple[int, int]:
    first, second = (_validate.count(components=k, at_least=0) for k in components)
    m = len(release.components)
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
    score_heatmap(release, axes)
    ends = [np.abs(edges[[0, -1]]).min() for edges in (shown.x_edges, shown.y_edges)]
    return float(_FILLED * min(ends) / longest)


def _halo() -> list[Any]:
    """A white rim: arrows may lie on a dark map."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3, foreground="white")]


def _arrow(axes: Axes, tip: Any, *, dashes: str) -> None:
    look: dict[str, Any] = {"color": style.ORANGE, "lw": 1.4, "ls": dashes, "path_effects": _halo()}
    head: dict[str, Any] = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=tip, xytext=(0, 0), arrowprops=head | look)


def _region(axes: Axes, lower: np.ndarray, upper: np.ndarray) -> None:
    from matplotlib.patches import Ellipse

    look: dict[str, Any] = {"fc": (style.ORANGE, 0.3), "ec": style.ORANGE, "lw": 1}
    axes.add_patch(Ellipse(tuple((lower + upper) / 2), *(upper - lower), **look))


def _label(axes: Axes, tip: Any, name: str) -> None:
    away: Any = tuple(9 if entry >= 0 else -9 for entry in tip)
    look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "path_effects": _halo()}
    axes.annotate(name, tip, away, textcoords="offset points", parse_math=False, **look)


def _title(found: LoadingIntervals, pair: tuple[int, int]) -> str:
    lost = [str(k + 1) for k in pair if k >= found.above_noise]
    if lost:
        components = f"{plural(len(lost), 'Component')} {listed(lost)}"
        return f"{components} not above the noise: any arrow is possible"
    return style.about_intervals("Loadings with", found, "regions")
