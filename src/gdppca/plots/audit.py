"""What an audit saw: scores on two tables, and the trade-off of the two errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gdppca.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = (5.6, 4.6)  # inches, of one panel
_BINS = 60
Curves = tuple[np.ndarray, np.ndarray, np.ndarray]  # rates, claimed, bound


def audit_figure(
    first: np.ndarray,
    second: np.ndarray,
    curves: Curves,
    said: str,
    *,
    band: np.ndarray | None = None,
    size: style.Size = (10.0, 4.8),
) -> Figure:
    """Score distributions and trade-off curves side by side, with the result as a caption."""
    figure = style.new_figure(figsize=size)
    left, right = figure.subplots(1, 2)
    score_distributions(first, second, left)
    trade_off(first, second, curves, right, band=band)
    style.caption(figure, said)
    return figure


def score_distributions(
    first: np.ndarray,
    second: np.ndarray,
    ax: Axes | None = None,
    *,
    size: style.Size | None = None,
) -> Axes:
    """Histograms of the scores on both tables; the attacker guesses by the side of zero.

    Drawn on the axes `ax`, or on those of a new figure of this `size` in inches; returns them.
    """
    axes = style.axes_for(ax, size, _SIZE)
    bins = np.histogram_bin_edges(np.concatenate([first, second]), bins=_BINS)
    for scores, colour, dashes, label in (
        (first, style.BLUE, "-", "first table"),
        (second, style.ORANGE, "--", "second table"),
    ):
        density, _ = np.histogram(scores, bins=bins, density=True)
        axes.stairs(density, bins, color=colour, ls=dashes, lw=1.6, label=label)
    axes.axvline(0.0, color=style.GREY, lw=1)
    axes.set(xlabel="score of a run", ylabel="density")
    style.title(axes, "Can the tables be told apart?")
    style.legend(axes, "below", ncols=2)
    style.open_frame(axes)
    return axes


def trade_off(
    first: np.ndarray,
    second: np.ndarray,
    curves: Curves,
    ax: Axes | None = None,
    *,
    band: np.ndarray | None = None,
    size: style.Size | None = None,
) -> Axes:
    """Missed against false alarms: as seen, as bounded, and the least that the claim allows.

    What was seen is moved by chance and may cross the claimed curve; the bound allows for chance,
    and a bound in the shade refutes the claim. Drawn on the axes `ax`, or on those of a new figure
    of this `size` in inches; returns them.
    """
    axes = style.axes_for(ax, size, _SIZE)
    axes.plot(*empirical_curve(first, second), color=style.BLUE, lw=0.8, alpha=0.5, label="seen")
    return bound_and_claim(curves, axes, band)


def bound_and_claim(
    curves: Curves, axes: Axes, band: np.ndarray | None = None, *, legend: str = "beside"
) -> Axes:
    """The bound against the claim; from it to the lower curve of a band what was seen may lie."""
    rates, claimed, bound = curves
    if band is not None:
        reached = "what the attacker reaches"
        axes.fill_between(rates, band, bound, color=style.BLUE, alpha=0.25, lw=0, label=reached)
    axes.plot(rates, bound, color=style.BLUE, lw=1.8, label="bound, allowing for chance")
    axes.plot(rates, claimed, color=style.ORANGE, ls="--", lw=1.6, label="claimed")
    shade = "bound in here: claim refuted"
    axes.fill_between(rates, claimed, color=style.ORANGE, alpha=0.12, lw=0, label=shade)
    axes.plot([0, 1], [1, 0], color=style.GREY, lw=1, ls=":", label="perfect privacy")
    axes.set(xlabel="second table taken for the first", ylabel="first table taken for the second")
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    style.title(axes, "Trade-off of the two errors")
    style.legend(axes, legend)
    style.open_frame(axes)
    return axes


def empirical_curve(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rates of false alarms and misses when every score above a threshold is called the first."""
    thresholds = np.concatenate([[-np.inf], np.unique(np.concatenate([first, second]))])
    false = 1 - np.searchsorted(np.sort(second), thresholds, side="right") / len(second)
    missed = np.searchsorted(np.sort(first), thresholds, side="right") / len(first)
    return false, missed
