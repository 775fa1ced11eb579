"""What an audit saw: scores on two tables, and the trade-off of the two errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gdppca.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BINS = 60
Curves = tuple[np.ndarray, np.ndarray, np.ndarray]  # rates, claimed, bound


def audit_figure(first: np.ndarray, second: np.ndarray, curves: Curves, said: str) -> Figure:
    """Score distributions and trade-off curves side by side, with the result as a caption."""
    figure = style.new_figure(figsize=(10.0, 4.4), dpi=150)
    left, right = figure.subplots(1, 2)
    score_distributions(first, second, left)
    trade_off(first, second, curves, right)
    style.caption(figure, said)
    return figure


def score_distributions(first: np.ndarray, second: np.ndarray, axes: Axes) -> None:
    """Histograms of the scores on both tables; the attacker guesses by the side of zero."""
    bins = np.histogram_bin_edges(np.concatenate([first, second]), bins=_BINS)
    for scores, colour, dashes, label in (
        (first, style.BLUE, "-", "first table"),
        (second, style.ORANGE, "--", "second table"),
    ):
        density, _ = np.histogram(scores, bins=bins, density=True)
        axes.stairs(density, bins, color=colour, ls=dashes, lw=1.6, label=label)
    axes.axvline(0.0, color=style.GREY, lw=1)
    axes.set(xlabel="score of a run", ylabel="density", title="Can the tables be told apart?")
    style.legend(axes)
    style.open_frame(axes)


def trade_off(first: np.ndarray, second: np.ndarray, curves: Curves, axes: Axes) -> None:
    """Missed against false alarms: as seen, as bounded, and the least that the claim allows.

    What was seen is moved by chance and may cross the claimed curve; the bound allows for chance,
    and a bound in the shade refutes the claim.
    """
    rates, claimed, bound = curves
    axes.plot(*empirical_curve(first, second), color=style.BLUE, lw=0.8, alpha=0.5, label="seen")
    axes.plot(rates, bound, color=style.BLUE, lw=1.8, label="bound, allowing for chance")
    axes.plot(rates, claimed, color=style.ORANGE, ls="--", lw=1.6, label="claimed")
    shade = "bound in here: claim refuted"
    axes.fill_between(rates, claimed, color=style.ORANGE, alpha=0.12, lw=0, label=shade)
    axes.plot([0, 1], [1, 0], color=style.GREY, lw=1, ls=":", label="perfect privacy")
    axes.set(xlabel="second table taken for the first", ylabel="first table taken for the second")
    axes.set(title="Trade-off of the two errors", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    style.legend(axes)
    style.open_frame(axes)


def empirical_curve(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rates of false alarms and misses when every score above a threshold is called the first."""
    thresholds = np.concatenate([[-np.inf], np.unique(np.concatenate([first, second]))])
    false = 1 - np.searchsorted(np.sort(second), thresholds, side="right") / len(second)
    missed = np.searchsorted(np.sort(first), thresholds, side="right") / len(first)
    return false, missed
