"""Spectrum above the noise floor, and loadings, drawn from a release alone."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca._errors import MissingExtraError, ParameterError
from gdppca.linalg import eigenvalues_descending
from gdppca.releases import Release, marked_names, release_intervals
from gdppca.theory import noise_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#6E6E6E"  # Okabe and Ito: safe for the colour-blind
_SHOWN_LOADINGS = 12
BAND = "remaining components and noise"  # what the band of a spectrum holds


def new_figure(**options: Any) -> Figure:
    """A figure that needs no screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("Plots need matplotlib: pip install matplotlib.") from None
    return Figure(layout="constrained", **options)


def wrapped(sentence: str, width: int = 56) -> str:
    """A sentence in lines that fit above a panel."""
    return "\n".join(textwrap.wrap(sentence, width))


def release_figure(release: Release, *, level: float | None = None) -> Figure:
    """Scree plot and loadings side by side, with the guarantee as a caption.

    With a `level`, such as 0.9, the loadings have intervals for what the noise may have moved.
    """
    panels: list[Any] = [scree] if release.scatter is not None else []
    panels += [loadings] if len(release.components) else []
    if not panels:
        raise ParameterError("The release holds neither a matrix nor components to draw.")
    figure = new_figure(figsize=(1 + 4.5 * len(panels), 4.2), dpi=150)
    for panel, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True):
        panel(release, axes, **({"level": level} if panel is loadings else {}))
    figure.supxlabel(str(release.guarantee), fontsize=8, color=_GREY)
    return figure


def scree(release: Release, axes: Axes) -> None:
    """Eigenvalues of the released matrix against the band of those that chance could explain.

    The band lies around the mean of the eigenvalues that do not stand above the noise: it is what
    the noise makes of remaining components that are all alike, and not noise around zero.
    """
    if release.scatter is None:
        raise ParameterError("The release holds no matrix, so it has no spectrum to draw.")
    values = eigenvalues_descending(release.scatter)
    kept = len(release.components)
    low, high = noise_band(values, release.noise_sd, release.n_samples, release.centre_bias)
    ranks = np.arange(1, len(values) + 1)
    axes.axhspan(low, high, color=_ORANGE, alpha=0.18, lw=0, label=BAND)
    axes.plot(ranks, values, "o-", color=_BLUE, ms=4, lw=1, label="released eigenvalue")
    if kept:
        axes.plot(ranks[:kept], values[:kept], "o", color=_BLUE, ms=8, label="kept")
    axes.set(xlabel="component", ylabel="eigenvalue", title="Spectrum and noise floor")
    axes.locator_params(axis="x", integer=True)
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def loadings(
    release: Release, axes: Axes, *, level: float | None = None, sampling: bool = False
) -> None:
    """Loadings of the first two components; the heaviest columns where there are many.

    With a `level` each has an interval for the loading without noise, or for that of the
    population with `sampling`; a component that does not stand above the noise is pale.
    """
    shown = release.components[:2]
    heaviest = heaviest_columns(shown)[::-1]
    names = marked_names(release)
    places = np.arange(len(heaviest))
    height = 0.8 / len(shown)
    found = None if level is None else release_intervals(release, level, sampling=sampling)
    for k, (component, colour) in enumerate(zip(shown, (_BLUE, _ORANGE), strict=False)):
        middle = places + (len(shown) / 2 - k - 0.5) * height
        known = found is None or k < found.above_noise
        axes.barh(
            middle,
            component[heaviest],
            height,
            color=colour,
            alpha=1.0 if known else 0.3,
            label=f"component {k + 1}" + ("" if known else " (not above the noise)"),
        )
        if found is not None and known:
            ends = found.lower[k, heaviest], found.upper[k, heaviest]
            axes.hlines(middle, *ends, color="black", lw=1.2, capstyle="butt")
            for end in ends:
                axes.plot(end, middle, "|", color="black", ms=4, mew=1.2)
    axes.set_yticks(places, [names[j] for j in heaviest], fontsize=8)
    axes.axvline(0, color=_GREY, lw=0.8)
    title = "Loadings" if release.n_features <= _SHOWN_LOADINGS else "Largest loadings"
    if found is not None:
        title += f", {found.level:.0%} intervals ({found.covers}) for"
    axes.set(xlabel="loading", title=title)
    if found is not None:
        axes.set_title(f"{title}\n{wrapped(found.about)}", fontsize=8)
    axes.legend(
        frameon=False, fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.13)
    )  # below: bars may be anywhere
    axes.spines[["top", "right"]].set_visible(False)


def heaviest_columns(components: np.ndarray) -> np.ndarray:
    """Columns with the largest loadings, heaviest first, as many as can be shown."""
    return np.argsort(-np.abs(components).max(axis=0))[:_SHOWN_LOADINGS]
