"""Expected error against ε, drawn from a plan alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gdppca.planning import Plan
from gdppca.plots._style import BLACK, BLUE, GREEN, GREY, ORANGE, caption, new_figure, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = {  # a dash pattern too, for who sees no colour at all
    "pairs of rows": (BLUE, "-"),
    "private centre": (ORANGE, "--"),
    "public centre": (GREEN, ":"),
}
_REACH = 16.0  # from ε over this to ε times this
_POINTS = {True: 17, False: 7}  # few where there are many columns and each point takes a second
_MANY = 200


def plan_figure(plan: Plan, target: float | None = None) -> Figure:
    """Error against ε for every way to compare rows, with the plan's numbers as a caption."""
    figure = new_figure(figsize=(6.4, 4.4), dpi=150)
    error_curve(plan, figure.subplots(), target)
    caption(
        figure,
        f"{plan.n_samples} rows, {plan.n_features} columns, delta = {plan.delta:g}; "
        f"for {plan.spectrum.words}",
    )
    return figure


def error_curve(plan: Plan, axes: Axes, target: float | None = None) -> None:
    """Expected sin Θ against ε, one line per way to compare rows; the plan's own is marked."""
    epsilons = plotted_epsilons(plan)
    for way, other in plan.compare().items():
        colour, dashes = _STYLES[way]
        axes.plot(epsilons, other.curve(epsilons), color=colour, ls=dashes, lw=2, label=way)
    if math.isfinite(plan.epsilon):
        axes.plot([plan.epsilon], [plan.sin_theta], "o", color=BLACK, ms=7, zorder=3)
        axes.annotate(
            f"this plan: {plan.sin_theta:.2g}",
            (plan.epsilon, plan.sin_theta),
            xytext=(8, 8),
            textcoords="offset points",
            fontsize=8,
        )
    if target is not None:
        axes.axhline(target, color=GREY, lw=1)
        axes.annotate(
            f"target {target:g}",
            (0.0, target),
            xycoords=("axes fraction", "data"),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=8,
            color=GREY,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(
        xlabel="privacy ε",
        ylabel="expected error sin Θ",
        ylim=(0, 1.03),
        title="What a budget buys",
    )
    axes.legend(frameon=False, fontsize=8, loc="best")
    open_frame(axes)


def plotted_epsilons(plan: Plan) -> np.ndarray:
    """Budgets around the plan's own, evenly spread on the logarithm."""
    middle = plan.epsilon if math.isfinite(plan.epsilon) else 1.0
    points = _POINTS[plan.n_features <= _MANY]
    return np.geomspace(max(middle / _REACH, 1e-3), middle * _REACH, points)
