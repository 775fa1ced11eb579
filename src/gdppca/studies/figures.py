"""One figure per study, in the paper's arrangement, for the screen and for print."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca.plots import style
from gdppca.studies.experiments import Study
from gdppca.studies.looks import LABELS, Look, look_of, shown_name, shown_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

_KINDS = {"png": 200, "svg": 110, "pdf": 200}  # dots per inch of what is not drawn by lines
_PANEL = 2.35  # inches: three of them fill the width of a page
_LEAST_WIDTH = 4.9
_LEGEND_COLUMN = 2.4  # inches


def draw_study(
    study: Study, about: Row, summary: list[Row], europe: Path | None
) -> dict[str, bytes]:
    """The study's figure as PNG, SVG and PDF; `europe` is the folder of the map's files."""
    from gdppca.studies.maps import map_figure

    words = _caption(study, about)
    figure = map_figure(study, summary, europe) if europe else curves(study, summary, words)
    if not figure.legends:
        style.caption(figure, words)
    return {f"figure.{kind}": style.picture(figure, kind, dpi=dpi) for kind, dpi in _KINDS.items()}


def _caption(study: Study, about: Row) -> str:
    """What the marks and bands of a figure are."""
    runs = about["runs"]
    drawn = [f"{study.name}, {about['form']} form, version {about['version']}."]
    if study.name == "E6":
        drawn.append(f"Every map is one draw; sin Θ is the mean of {runs} draws.")
    elif runs > 1:
        drawn.append(f"Points: means of {runs} runs. Bands: two standard errors either side.")
    if any(name.endswith(", exact") for name in study.methods):
        drawn.append("Dotted lines: the method of that colour without noise (ε = ∞).")
    if study.name == "E12":
        drawn.append("Points are simulated, lines are exact.")
    return " ".join(drawn)


def curves(study: Study, summary: list[Row], caption: str = "") -> Figure:
    """Mean losses against the study's x, a panel per value, with bands of two standard errors."""
    columns = _values(summary, study.panels)
    rows = _values(summary, study.rows) if study.rows else [None]
    width = max(_LEAST_WIDTH, 0.4 + _PANEL * len(columns))
    direct = study.x == "d"  # lines that never cross are named where they end
    lines = 0 if direct else math.ceil(len(study.methods) / int(width / _LEGEND_COLUMN))
    height = 0.8 + 0.16 * lines + (2.3 if len(rows) == 1 else 1.75) * len(rows)
    figure = style.new_figure(figsize=(width, height))
    axes = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey=True)
    for r, row in enumerate(rows):
        for c, column in enumerate(columns):
            where = ({study.rows: row} if study.rows else {}) | {study.panels: column}
            members = [entry for entry in summary if where.items() <= entry.items()]
            _panel(study, members, axes[r, c], direct)
            title = ", ".join(shown_value(k, v) for k, v in where.items())
            axes[r, c].set_title(title, fontsize=8)
    for panel in axes[-1]:
        panel.set_xlabel(LABELS[study.x], fontsize=8)
    for panel in axes[:, 0]:
        panel.set_ylabel(study.loss, fontsize=8)
    if not direct:
        _legend(
            figure, axes[0, 0], int(width / _LEGEND_COLUMN), style.wrapped(caption, int(17 * width))
        )
    axes[0, 0].set_ylim(*_range(study, summary))
    figure.suptitle(f"{study.title} (Fig {study.figure})", fontsize=9)
    return figure


def _range(study: Study, summary: list[Row]) -> tuple[float, float]:
    """What the axes of all panels show of the loss: from zero to where the highest band ends."""
    top = 1.0 if study.loss == "sin Θ" else max(row["mean"] + 2 * row["se"] for row in summary)
    return (0.0, 1.03 * top) if study.x != "d" else (0.7, 1.2 * top)


def _legend(figure: Figure, axes: Axes, columns: int, caption: str) -> None:
    """Below all panels, where it covers nothing, with the small print above it."""
    handles, labels = axes.get_legend_handles_labels()
    drawn = figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=7,
        handlelength=2.6, columnspacing=1.2, labelspacing=0.3,
        title=caption, title_fontsize=6.5,
    )  # fmt: skip
    drawn.get_title().set_color(style.GREY)


def _values(summary: list[Row], name: str) -> list[Any]:
    return list(dict.fromkeys(row[name] for row in summary))


def _panel(study: Study, members: list[Row], axes: Axes, direct: bool) -> None:
    for name in study.methods:
        entries = [row for row in members if row["method"] == name]
        look = look_of(name, study.methods)
        if study.x == "epsilon" and entries and math.isinf(entries[0]["epsilon"]):
            _level(axes, entries, look)
        elif direct:
            _named_line(axes, name, entries, study.x)
        else:
            _curve(axes, entries, study.x, look)
    xs = [row[study.x] for row in members if math.isfinite(row[study.x])]
    if study.x == "epsilon" or max(xs) > 100 * min(xs):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    if direct:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
    axes.tick_params(labelsize=7)
    style.open_frame(axes)
    axes.grid(alpha=0.25, lw=0.5)


def _curve(axes: Axes, entries: list[Row], x: str, look: Look) -> None:
    xs = sorted({row[x] for row in entries})
    mean, se = np.array([_pooled(entries, x, value) for value in xs]).T
    axes.plot(
        xs, mean, color=look.colour, ls=look.line, marker=look.marker, mfc=look.filled,
        ms=3.5, mew=0.9, lw=1.1, label=look.label,
    )  # fmt: skip
    axes.fill_between(xs, mean - 2 * se, mean + 2 * se, color=look.colour, alpha=0.15, lw=0)


def _level(axes: Axes, entries: list[Row], look: Look) -> None:
    """A method without noise, which does not know of ε, as a level line."""
    mean = float(np.mean([row["mean"] for row in entries]))
    axes.axhline(mean, color=look.colour, ls=look.line, lw=1.0, label=look.label)


def _named_line(axes: Axes, name: str, entries: list[Row], x: str) -> None:
    """What was simulated as points, what is exact as a line with its name at the end."""
    for source, line, marker in (("exact", "-", ""), ("simulated", "", "o")):
        found = sorted((row[x], row["mean"]) for row in entries if row["source"] == source)
        xs, ys = zip(*found, strict=True)
        axes.plot(xs, ys, color=style.BLUE, ls=line, marker=marker, ms=3.5, lw=1.1)
        if source == "exact":
            axes.annotate(
                shown_name(name), (xs[-1], ys[-1]), (6, 0), textcoords="offset points",
                fontsize=7, va="center", annotation_clip=False,
            )  # fmt: skip


def _pooled(entries: list[Row], name: str, value: Any) -> tuple[float, float]:
    """Mean and standard error over the settings of a panel that share an x."""
    members = [row for row in entries if row[name] == value]
    variance = np.sum([row["se"] ** 2 for row in members]) / len(members) ** 2
    return float(np.mean([row["mean"] for row in members])), float(np.sqrt(variance))
