"""One figure per study, in the paper's arrangement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca.datasets import load_europe
from gdppca.plots import style
from gdppca.studies.experiments import Study
from gdppca.studies.methods import (
    BEYOND,
    CENTRED,
    DEFAULT,
    DEFAULT_ZCDP,
    METHODS,
    NO_PRIVACY,
    TIGHT,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

# What the paper does not have is black.
_PAPERS = (style.BLUE, style.SKY, style.YELLOW, style.ORANGE, style.GREEN, style.PINK)
_COLOURS = (*_PAPERS, "#8C564B", "#7F7F7F", "#BCBD22")
_MARKERS = "os^Dv<>PX"
_LEGEND = {"sph": "sph: pairs with the paper's noise", "wins": "wins: pairs with the paper's noise"}
_LABELS = {
    "n": "rows n", "d": "columns d", "epsilon": "ε", "shift": "c⊥", "fraction": "share of bad rows",
}  # fmt: skip


def draw_study(study: Study, summary: list[Row], europe: Path | None) -> dict[str, bytes]:
    """The study's figure as PNG and SVG; `europe` is the folder of the map's files."""
    figure = _map_figure(study, summary, europe) if europe else curves(study, summary)
    return {f"figure.{kind}": style.picture(figure, kind) for kind in ("png", "svg")}


def curves(study: Study, summary: list[Row]) -> Figure:
    """Mean losses against the study's x, a panel per value, with bands of two standard errors."""
    columns = _values(summary, study.panels)
    rows = _values(summary, study.rows) if study.rows else [None]
    figure = style.new_figure(figsize=(3.4 + 3.4 * len(columns), 0.9 + 2.9 * len(rows)), dpi=130)
    axes = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey=True)
    for r, row in enumerate(rows):
        for c, column in enumerate(columns):
            where = {study.panels: column} | ({study.rows: row} if study.rows else {})
            members = [entry for entry in summary if all(entry[k] == v for k, v in where.items())]
            _panel(study, members, axes[r, c])
            axes[r, c].set_title(", ".join(_named(k, v) for k, v in where.items()), fontsize=9)
    for panel in axes[-1]:
        panel.set_xlabel(_LABELS[study.x])
    for panel in axes[:, 0]:
        panel.set_ylabel(study.loss)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=8)
    figure.suptitle(f"{study.name}: {study.title} (Fig {study.figure})", fontsize=11)
    return figure


def _values(summary: list[Row], name: str) -> list[Any]:
    return list(dict.fromkeys(row[name] for row in summary))


def _named(name: str, value: Any) -> str:
    return str(value) if name in ("kind", "case") else f"{_LABELS[name].split()[-1]} = {value:g}"


def _panel(study: Study, members: list[Row], axes: Axes) -> None:
    plain = [name for name in study.methods if name not in BEYOND]
    for name in study.methods:
        entries = [row for row in members if row["method"] == name and row.get("source") != "exact"]
        xs = sorted({row[study.x] for row in entries})
        mean, se = np.array([_pooled(entries, study.x, x) for x in xs]).T
        colour, marker, line = _style(name, plain)
        label = _LEGEND.get(name, name)
        axes.plot(xs, mean, line, color=colour, marker=marker, ms=4, lw=1.3, label=label)
        axes.fill_between(xs, mean - 2 * se, mean + 2 * se, color=colour, alpha=0.13, lw=0)
    if study.x == "epsilon":
        axes.set_xscale("log")
    style.open_frame(axes)
    axes.grid(alpha=0.2)


def _pooled(entries: list[Row], name: str, value: Any) -> tuple[float, float]:
    """Mean and standard error over the settings of a panel that share an x."""
    members = [row for row in entries if row[name] == value]
    variance = np.sum([row["se"] ** 2 for row in members]) / len(members) ** 2
    return float(np.mean([row["mean"] for row in members])), float(np.sqrt(variance))


def _style(name: str, plain: list[str]) -> tuple[str, str, str]:
    if name in (DEFAULT, DEFAULT_ZCDP):
        return style.BLACK, "*", "-"
    if name in BEYOND:
        return style.BLACK, "", ":" if name == CENTRED else "--"
    base = name.removesuffix(", exact")
    k = plain.index(base if base in plain else name)
    exact = base != name and base in plain
    marker, line = ("", ":") if exact else (_MARKERS[k % len(_MARKERS)], "-")
    return _COLOURS[k % len(_COLOURS)], marker, line


def _map_figure(study: Study, summary: list[Row], folder: Path) -> Figure:
    """The maps side by side: scores of public people on private directions."""
    europe = load_europe(folder)
    setting = {"epsilon": 2.0, "delta": 1e-4, "kind": "europe", "d": 20}
    means = {row["method"]: row["mean"] for row in summary}
    exact = METHODS[NO_PRIVACY](europe.X, setting, 0)
    figure = style.new_figure(figsize=(20, 4.3), dpi=110)
    panels = {"no privacy (covariance)": exact}
    for name in ("sph", "NSGGD", TIGHT, DEFAULT):
        panels[name] = METHODS[name](europe.X, setting, 1)
    for axes, (name, V) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
        _map(europe, _aligned(V, exact), axes)
        mean = f", mean sin Θ {means[name]:.2f}" if name in means else ""
        axes.set_title(f"{_LEGEND.get(name, name)}{mean}", fontsize=8)
    figure.suptitle(f"{study.name}: {study.title}, (ε, δ) = (2, 1e-4) (Fig {study.figure})")
    return figure


def _aligned(V: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Each axis flipped to point as in the exact map, so that maps can be compared by eye."""
    signs = np.sign(np.sum(V * exact, axis=1))
    return V * np.where(signs == 0, 1.0, signs)[:, None]


def _map(europe: Any, V: np.ndarray, axes: Axes) -> None:
    from gdppca.plots.labels import name_points

    scores = (europe.X - europe.X.mean(axis=0)) @ V.T
    axes.scatter(scores[:, 0], scores[:, 1], c=europe.colors, s=5, lw=0, alpha=0.7)
    countries = np.array(europe.countries)
    often = [name for name in sorted(set(europe.countries)) if (countries == name).sum() >= 15]
    middles = [np.median(scores[countries == name], axis=0) for name in often]
    name_points(axes, middles, often, fontsize=6, weight="bold")
    axes.set(xlabel="component 1", ylabel="component 2")
    style.open_frame(axes)
