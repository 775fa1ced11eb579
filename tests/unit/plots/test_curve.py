"""Pictures of plans."""

import io
import math

import numpy as np
import pytest

from gdppca import MissingExtraError
from gdppca.planning import plan
from gdppca.plots.curve import plan_figure, plotted_epsilons


def test_figure_shows_every_way_the_plan_and_the_target():
    planned = plan(500, 5, epsilon=0.5, location=None)
    figure = plan_figure(planned, target=0.2)
    [axes] = figure.axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert {"pairs of rows", "private centre", "public centre"} <= set(lines)
    pairs = lines["pairs of rows"]
    np.testing.assert_allclose(pairs.get_ydata(), planned.curve(pairs.get_xdata()))
    styles = {lines[way].get_linestyle() for way in planned.compare()}
    assert len(styles) == 3  # told apart without colour
    told = {text.get_text() for text in axes.texts}
    assert told == {f"this plan: {planned.sin_theta:.2g}", "target 0.2"}
    assert "500 rows, 5 columns" in figure.get_supxlabel()
    figure.savefig(io.BytesIO())


def test_plan_without_noise_has_a_curve_but_no_mark():
    figure = plan_figure(plan(500, 5, epsilon=math.inf))
    assert not figure.axes[0].texts


@pytest.mark.parametrize("epsilon", [0.002, 1.0, math.inf])
def test_epsilons_surround_the_plan(epsilon):
    epsilons = plotted_epsilons(plan(500, 3, epsilon=epsilon))
    assert epsilons[0] < min(epsilon, 1.0) < epsilons[-1]
    assert (np.diff(epsilons) > 0).all()


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install matplotlib"):
        plan_figure(plan(500, 3))
