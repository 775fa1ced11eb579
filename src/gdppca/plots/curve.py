"""Expected error against ε, drawn from a plan alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca.planning import Plan
from gdppca.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = {  # a dash pattern too, for who sees no colour at all
    "pairs of rows": (style.BLUE, "-"),
    "private centre": (style.ORANGE, "--"),
    "public centre": (style.GREEN, ":"),
}
_NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": style.SMALL}
_SIZE = (6.4, 4.4)  # inches
_REACH = 16.0  # from ε over this to ε times this
_POINTS = {True: 17, False: 7}  # few where there are many columns and each point takes a second
_MANY = 200


def plan_figure(plan: Plan, target: float | None = None, *, size: style.Size = _SIZE) -> Figure:
    """Error against ε for every way to compare rows, with the plan's numbers as a caption."""
    figure = style.new_figure(figsize=size)
    error_curve(plan, figure.subplots(), target)
    style.caption(
        figure,
        f"{plan.n_samples} {plan.who}, {plan.n_features} columns, delta = {plan.delta:g}; "
        f"for {plan.spectrum.words}",
    )
    return figure


def error_curve(
    plan: Plan,
    ax: Axes | None = None,
    target: float | None = None,
    *,
    size: style.Size | None = None,
) -> Axes:
    """Expected sin Θ against ε, one line per way to compare rows; the plan's own is marked.

    Drawn on the axes `ax`, or on those of a new figure of this `size` in inches; returns them.
    """
    axes = style.axes_for(ax, size, _SIZE)
    epsilons = plotted_epsilons(plan)
    for way, other in plan.compare().items():
        colour, dashes = _STYLES[way]
        axes.plot(epsilons, other.curve(epsilons), color=colour, ls=dashes, lw=2, label=way)
    if math.isfinite(plan.epsilon):
        axes.plot([plan.epsilon], [plan.sin_theta], "o", color=style.BLACK, ms=7, zorder=3)
        at = (plan.epsilon, plan.sin_theta)
        said = axes.annotate(f"this plan: {plan.sin_theta:.2g}", at, (8, 8), **_NOTE)
        said.set_path_effects(style.halo())
    if target is not None:
        axes.axhline(target, color=style.GREY, lw=1)
        look = _NOTE | {"xycoords": ("axes fraction", "data"), "color": style.GREY}
        axes.annotate(f"target {target:g}", (0.0, target), (4, 3), **look)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="privacy ε", ylabel="expected error sin Θ", ylim=(0, 1.03))
    style.title(axes, "What a budget buys")
    style.legend(axes, "below", ncols=3)
    style.open_frame(axes)
    return axes


def plotted_epsilons(plan: Plan) -> np.ndarray:
    """Budgets around the plan's own, evenly spread on the logarithm."""
    middle = plan.epsilon if math.isfinite(plan.epsilon) else 1.0
    points = _POINTS[plan.n_features <= _MANY]
    return np.geomspace(max(middle / _REACH, 1e-3), middle * _REACH, points)
