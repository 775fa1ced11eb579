"""Spectrum above the noise floor, and loadings, drawn from a release alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca._errors import ParameterError
from gdppca.plots import style
from gdppca.releases import Release, heaviest_columns, release_intervals, seen_spectrum
from gdppca.releases.words import loadings_in_words
from gdppca.theory import LoadingIntervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_LOADINGS = 12  # columns
_LEGENDS = {  # place, anchor, and distance in letters: below stand ticks and a label
    "below": ("upper center", (0.5, 0.0), 4.5),
    "above": ("lower center", (0.5, 1.0), 0.5),
}
NEGLIGIBLE = "negligible"  # loadings that are zero with a high probability
BAND = "remaining components and noise"  # what the band of a spectrum holds


def release_figure(release: Release, *, level: float | None = None) -> Figure:
    """Scree plot and loadings side by side, with the guarantee as a caption.

    With a `level`, such as 0.9, the loadings have intervals for what the noise may have moved.
    """
    panels: list[Any] = [scree] if release.scatter is not None else []
    panels += [loadings] if len(release.components) else []
    if not panels:
        raise ParameterError("The release holds neither a matrix nor components to draw.")
    figure = style.new_figure(figsize=(1 + 4.5 * len(panels), 4.2), dpi=150)
    for panel, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True):
        panel(release, axes, **({"level": level} if panel is loadings else {}))
    style.caption(figure, str(release.guarantee), *filter(None, [loadings_in_words(release)]))
    return figure


def scree(release: Release, axes: Axes, *, titled: bool = True) -> None:
    """Eigenvalues of the released matrix against the band of those that chance could explain.

    The band lies around the mean of the eigenvalues that do not stand above the noise: it is what
    the noise makes of remaining components that are all alike, and not noise around zero.
    """
    seen = seen_spectrum(release)
    if seen is None:
        raise ParameterError("The release holds no matrix, so it has no spectrum to draw.")
    kept = len(release.components)
    ranks = np.arange(1, len(seen.values) + 1)
    axes.axhspan(seen.low, seen.high, color=style.ORANGE, alpha=0.18, lw=0, label=BAND)
    axes.plot(ranks, seen.values, "o-", color=style.BLUE, ms=4, lw=1, label="released eigenvalue")
    if kept:
        axes.plot(ranks[:kept], seen.values[:kept], "o", color=style.BLUE, ms=8, label="kept")
    axes.set(xlabel="component", ylabel="eigenvalue")
    if titled:
        axes.set_title("Spectrum and noise floor")
    axes.locator_params(axis="x", integer=True)
    style.legend(axes)
    style.open_frame(axes)


def loadings(
    release: Release, axes: Axes, *, level: float | None = None, sampling: bool = False
) -> None:
    """Loadings of the first two components; the heaviest columns where there are many.

    With a `level` each has an interval for the loading without noise, or for that of the
    population with `sampling`; a component that does not stand above the noise is pale.
    """
    found = None if level is None else release_intervals(release, level, sampling=sampling)
    loadings_with_intervals(release, found, axes)
    title = "Loadings" if release.n_features <= SHOWN_LOADINGS else "Largest loadings"
    if found is None:
        axes.set_title(title)
        return
    axes.set_title(style.about_intervals(f"{title},", found, "intervals"), fontsize=8)


def loadings_with_intervals(
    release: Release, found: LoadingIntervals | None, axes: Axes, *, legend: str = "below"
) -> None:
    """Loadings as bars without a title, with a line for each interval; pale where in doubt.

    The legend stands below or above: bars may be anywhere.
    """
    shown = release.components[:2]
    heaviest = heaviest_columns(shown, SHOWN_LOADINGS)[::-1]
    places = np.arange(len(heaviest))
    height = 0.8 / len(shown)
    for k, colour in enumerate((style.BLUE, style.ORANGE)[: len(shown)]):
        middle = places + (len(shown) / 2 - k - 0.5) * height
        hidden = found is not None and k >= found.above_noise
        small = release.negligible[k, heaviest]
        axes.barh(
            middle[~small],
            shown[k, heaviest][~small],
            height,
            color=colour,
            alpha=1.0 if found is None else 0.25 if hidden else 0.65,
            label=f"component {k + 1}" + " (not above the noise)" * hidden,
        )
        _negligible(axes, middle[small], shown[k, heaviest][small], height)
        if found is not None and not hidden:
            _lines(axes, middle, found.lower[k, heaviest], found.upper[k, heaviest])
    names = style.column_labels(release)
    axes.set_yticks(places, [names[j] for j in heaviest], fontsize=8, parse_math=False)
    axes.axvline(0, color=style.GREY, lw=0.8)
    axes.set(xlabel="loading")
    style.open_frame(axes)
    in_one_line = found is None or found.above_noise >= len(shown)
    where, at, apart = _LEGENDS[legend]
    style.legend(axes, ncols=1 + in_one_line, loc=where, bbox_to_anchor=at, borderaxespad=apart)


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
