"""Spectrum above the noise floor, and loadings, drawn from a release alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca._errors import ParameterError
from gdppca.plots import style
from gdppca.releases import Release, heaviest_columns, release_intervals, seen_spectrum
from gdppca.releases.words import NOT_ABOVE, loadings_in_words
from gdppca.theory import LoadingIntervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_LOADINGS = 12  # columns
_SIZE = (5.5, 4.2)  # inches, of one panel
NEGLIGIBLE = "negligible"  # loadings that are zero with a high probability
BAND = "noise around components that are alike"  # what the band of a spectrum holds


def release_figure(
    release: Release, *, level: float | None = None, size: style.Size | None = None
) -> Figure:
    """Scree plot and loadings side by side, with the guarantee as a caption.

    With a `level`, such as 0.9, the loadings have intervals for what the noise may have moved. The
    `size` is in inches.
    """
    panels: list[Any] = [scree] if release.scatter is not None else []
    panels += [loadings] if len(release.components) else []
    if not panels:
        raise ParameterError("The release holds neither a matrix nor components to draw.")
    figure = style.new_figure(figsize=size or (1 + 4.5 * len(panels), _SIZE[1]))
    for panel, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True):
        panel(release, axes, **({"level": level} if panel is loadings else {}))
    aim = ""
    if level is not None and loadings in panels:
        aim = style.aim_in_words(release_intervals(release, level), "intervals")
    style.caption(figure, aim, str(release.guarantee), loadings_in_words(release))
    return figure


def scree(
    release: Release,
    ax: Axes | None = None,
    *,
    titled: bool = True,
    size: style.Size | None = None,
    legend: str = "below",
) -> Axes:
    """Eigenvalues of the released matrix against the band of those that chance could explain.

    The band lies around the mean of the eigenvalues that do not stand above the noise: it is what
    the noise makes of remaining components that are all alike, and not noise around zero. Drawn on
    the axes `ax`, or on those of a new figure of this `size` in inches; returns them.
    """
    seen = seen_spectrum(release)
    if seen is None:
        raise ParameterError("The release holds no matrix, so it has no spectrum to draw.")
    axes = style.axes_for(ax, size, _SIZE)
    kept = len(release.components)
    ranks = np.arange(1, len(seen.values) + 1)
    axes.axhspan(seen.low, seen.high, color=style.ORANGE, alpha=0.18, lw=0, label=BAND)
    axes.plot(ranks, seen.values, "o-", color=style.BLUE, ms=4, lw=1, label="released eigenvalue")
    clear = min(seen.clear, kept)
    if clear:
        axes.plot(ranks[:clear], seen.values[:clear], "o", color=style.BLUE, ms=8, label="kept")
    if clear < kept:
        rings: dict[str, Any] = {
            "mfc": "none",
            "mec": style.BLUE,
            "ms": 8,
            "label": f"kept, {NOT_ABOVE}",
        }
        axes.plot(ranks[clear:kept], seen.values[clear:kept], "o", **rings)
    axes.set(xlabel="component", ylabel="eigenvalue")
    if titled:
        style.title(axes, "Spectrum and noise floor")
    axes.locator_params(axis="x", integer=True)
    style.legend(axes, legend, ncols=2)
    style.open_frame(axes)
    return axes


def loadings(
    release: Release,
    ax: Axes | None = None,
    *,
    level: float | None = None,
    sampling: bool = False,
    size: style.Size | None = None,
) -> Axes:
    """Loadings of the first two components; the heaviest columns where there are many.

    With a `level` each has an interval for the loading without noise, or for that of the
    population with `sampling`; a component that does not stand above the noise is pale. Drawn on
    the axes `ax`, or on those of a new figure of this `size` in inches; returns them.
    """
    found = None if level is None else release_intervals(release, level, sampling=sampling)
    axes = style.axes_for(ax, size, _SIZE)
    loadings_with_intervals(release, found, axes)
    many = release.n_features > SHOWN_LOADINGS
    words = f"Loadings of {SHOWN_LOADINGS} of {release.n_features} columns" if many else "Loadings"
    if found is not None:
        words = style.about_intervals(f"{words},", found, "intervals")
    style.title(axes, words)
    return axes


def loadings_with_intervals(
    release: Release, found: LoadingIntervals | None, axes: Axes, *, legend: str = "below"
) -> None:
    """Loadings as bars without a title, with a line for each interval; pale where in doubt.

    The legend stands below or above: bars may be anywhere.
    """
    shown, seen = release.components[:2], seen_spectrum(release)
    clear = len(shown) if seen is None else seen.clear
    heaviest = heaviest_columns(shown, SHOWN_LOADINGS)[::-1]
    places = np.arange(len(heaviest))
    height = 0.8 / len(shown)
    for k, colour in enumerate((style.BLUE, style.ORANGE)[: len(shown)]):
        middle = places + (len(shown) / 2 - k - 0.5) * height
        hidden = k >= (clear if found is None else found.above_noise)
        small = release.negligible[k, heaviest]
        axes.barh(
            middle[~small],
            shown[k, heaviest][~small],
            height,
            color=colour,
            hatch=None if k == 0 else "////",  # told apart in grey print
            ec="white",
            lw=0,
            alpha=0.25 if hidden else 1.0 if found is None else 0.65,
            label=f"component {k + 1}" + f" ({NOT_ABOVE})" * hidden,
        )
        _negligible(axes, middle[small], shown[k, heaviest][small], height)
        if found is not None and not hidden:
            _lines(axes, middle, found.lower[k, heaviest], found.upper[k, heaviest])
    names = style.column_labels(release)
    axes.set_yticks(places, [names[j] for j in heaviest], fontsize=style.SMALL, parse_math=False)
    axes.axvline(0, color=style.GREY, lw=0.8)
    axes.set(xlabel="loading")
    style.open_frame(axes)
    in_one_line = (clear if found is None else found.above_noise) >= len(shown)
    style.legend(axes, legend, ncols=1 + in_one_line)


def _negligible(axes: Axes, middle: np.ndarray, loadings: np.ndarray, height: float) -> None:
    """Bars without colour, and an empty ring where they would not be seen; named once."""
    named = NEGLIGIBLE in axes.get_legend_handles_labels()[1]
    if len(middle):
        axes.barh(middle, loadings, height, fill=False, ec=style.GREY, lw=0.6)
        label = "_nolegend_" if named else NEGLIGIBLE
        axes.plot(loadings, middle, "o", mfc="none", mec=style.GREY, ms=4, ls="none", label=label)


def _lines(axes: Axes, middle: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Intervals as thin lines with ends, which are seen where a line is too short to be."""
    axes.hlines(middle, lower, upper, color=style.BLACK, lw=1.2, capstyle="butt")
    for end in (lower, upper):
        axes.plot(end, middle, "|", color=style.BLACK, ms=4, mew=1.2)
