"""E6: the map of Europe, without privacy and with each kind of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca.datasets import load_europe
from gdppca.plots import style
from gdppca.studies.experiments import Study
from gdppca.studies.looks import shown_name
from gdppca.studies.methods import DEFAULT, METHODS, NO_PRIVACY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = (NO_PRIVACY, "sph", "NSGGD", DEFAULT)
_FEWEST = 15  # people of a country that is named


def map_figure(study: Study, summary: list[dict[str, Any]], folder: Path) -> Figure:
    """The paper's three maps and one of the default: scores of public people, equal axes."""
    europe = load_europe(folder)
    setting = study.settings(False)[0] | {"d": europe.X.shape[1]}
    means = {row["method"]: row["mean"] for row in summary}
    exact = METHODS[NO_PRIVACY](europe.X, setting, 0)
    figure = style.new_figure(figsize=(7.4, 6.6))
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, name in zip(panels.flat, _SHOWN, strict=True):
        _map(europe, _aligned(METHODS[name](europe.X, setting, 1), exact), axes)
        mean = f", sin Θ {means[name]:.2f}" if name in means else ""
        axes.set_title(shown_name(name) + mean, fontsize=8)
    for axes in panels[-1]:
        axes.set_xlabel("component 1", fontsize=8)
    for axes in panels[:, 0]:
        axes.set_ylabel("component 2", fontsize=8)
    budget = f"(ε, δ) = ({setting['epsilon']:g}, {setting['delta']:g})"
    figure.suptitle(f"{study.title}, {budget} (Fig {study.figure})", fontsize=9)
    return figure


def _aligned(V: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Each axis flipped to point as in the exact map, so that maps can be compared by eye."""
    signs = np.sign(np.sum(V * exact, axis=1))
    return V * np.where(signs == 0, 1.0, signs)[:, None]


def _map(europe: Any, V: np.ndarray, axes: Axes) -> None:
    from gdppca.plots.labels import name_points

    scores = (europe.X - europe.X.mean(axis=0)) @ V.T
    axes.scatter(scores[:, 0], scores[:, 1], c=europe.colors, s=5, lw=0, alpha=0.7, rasterized=True)
    countries = np.array(europe.countries)
    often = [name for name in sorted(set(europe.countries)) if (countries == name).sum() >= _FEWEST]
    middles = [np.median(scores[countries == name], axis=0) for name in often]
    name_points(axes, middles, often, fontsize=6.5, weight="bold")
    axes.tick_params(labelsize=7)
    style.open_frame(axes)
