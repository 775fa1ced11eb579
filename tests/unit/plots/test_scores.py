"""Pictures of private score maps."""

import dataclasses
import io
import math

import numpy as np
import pytest

from gdppca import DPPCA, MissingExtraError, ParameterError
from gdppca.plots import score_figure, score_heatmap, score_points
from gdppca.plots.scores import MOST_POINTS
from gdppca.plots.style import new_figure
from gdppca.releases import score_map

N = 2000


@pytest.fixture(scope="module")
def fitted():
    X = np.random.default_rng(0).normal(size=(N, 4)) * [5, 3, 1, 1]
    return X, DPPCA(2, random_state=0).fit(X)


def drawn(figure):
    """The caption, after the figure proved that it can be drawn."""
    figure.savefig(io.BytesIO())
    return figure.get_supxlabel().replace("\n", " ")


def test_heat_map_shows_counts_above_the_noise_and_says_so(fitted):
    X, pca = fitted
    shown = score_map(X, pca, bins=12, random_state=0)
    figure = score_figure(shown)
    caption = drawn(figure)
    assert "White: counts below 2 noise sd" in caption
    assert "Map alone: no protection: a simulation" in caption
    axes = figure.axes[0]
    assert axes.get_xlabel() == "score on component 1"
    cells = axes.collections[0].get_array()
    counts, floor = shown.counts[0].T, 2 * shown.noise_sd
    np.testing.assert_array_equal(np.ma.getmaskarray(cells), counts < floor)
    np.testing.assert_array_equal(cells.compressed(), counts[counts >= floor])


def test_sparse_map_names_its_threshold(fitted):
    X, pca = fitted
    shown = score_map(X, pca, bins=8, kind="sparse")
    assert f"one below {shown.threshold}" in drawn(score_figure(shown))


def test_map_without_noise_says_so(fitted):
    X, pca = fitted
    shown = score_map(X, pca, epsilon=math.inf)
    assert "Counts without noise" in drawn(score_figure(shown))
    assert "counts without noise" in drawn(score_figure(shown, style="points"))
    assert score_figure(shown).axes[-1].get_ylabel() == "rows in a cell"
    noisy = score_figure(score_map(X, pca, random_state=0))
    assert noisy.axes[-1].get_ylabel() == "rows in a cell, with noise"


@pytest.mark.parametrize("groups", [2, 5, 8])
def test_groups_are_small_multiples_on_one_scale(fitted, groups):
    X, pca = fitted
    shown = score_map(X, pca, groups=np.arange(N) % groups, categories=range(groups))
    figure = score_figure(shown)
    drawn(figure)
    panels = [axes for axes in figure.axes if axes.get_visible() and axes.get_title()]
    assert [axes.get_title() for axes in panels] == [str(k) for k in range(groups)]
    assert {axes.collections[0].get_clim() for axes in panels} == {(0, shown.counts.max())}


def test_points_have_a_colour_and_a_marker_per_group(fitted):
    X, pca = fitted
    shown = score_map(X, pca, groups=np.arange(N) % 3, categories=range(3), random_state=0)
    figure = score_figure(shown, style="points", random_state=1)
    assert "none is a person" in drawn(figure)
    legend = figure.axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["0", "1", "2"]
    colours = {tuple(handle.get_facecolor()[0]) for handle in legend.legend_handles}
    assert len(colours) == 3
    points = sum(len(drawing.get_offsets()) for drawing in figure.axes[0].collections)
    assert points == len(shown.points(random_state=1))


def test_any_name_can_be_drawn_as_it_is(fitted):
    X, pca = fitted
    names = ["_hidden", "$\\frac{$", "x" * 80, "two\nlines"]
    labels = np.array(names)[np.arange(N) % 4]
    shown = score_map(X, pca, groups=labels, categories=names, bins=4, random_state=0)
    figure = score_figure(shown)
    drawn(figure)
    assert [axes.get_title() for axes in figure.axes[:2]] == names[:2]
    figure = score_figure(shown, style="points")
    drawn(figure)
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == [*names[:2], "x" * 31 + "…", "two lines"]


def test_many_points_are_thinned_and_the_caption_says_how(fitted):
    X, pca = fitted
    rows = np.tile(X, (25, 1))
    shown = score_map(rows, pca, random_state=0)
    figure = score_figure(shown, style="points", random_state=0)
    assert "About 1 in 2.5 is drawn" in drawn(figure)
    points = sum(len(drawing.get_offsets()) for drawing in figure.axes[0].collections)
    assert points <= MOST_POINTS


def test_release_with_a_map_states_the_whole_promise(fitted):
    X, _ = fitted
    private = DPPCA(2, epsilon=1.0).fit(X)
    shown = score_map(X, private, epsilon=0.5)
    whole = private.release_.guarantee + shown.guarantee
    release = dataclasses.replace(private.release_, score_map=shown, guarantee=whole)
    caption = drawn(score_figure(release))
    assert str(whole) in caption
    assert "Map alone" not in caption


def test_empty_map_can_be_drawn(fitted):
    X, pca = fitted
    shown = score_map(X, pca, frame=((1e6, 2e6), (0, 1)), kind="sparse", bins=3)
    assert not shown.counts.any()
    for style in ("heat", "points"):
        drawn(score_figure(shown, style=style))


def test_refusals_name_the_remedy(fitted):
    X, pca = fitted
    with pytest.raises(ParameterError, match="holds no score map"):
        score_figure(pca.release_)
    with pytest.raises(ParameterError, match="Release or a ScoreMap"):
        score_figure(X)
    shown = score_map(X, pca, random_state=0)
    with pytest.raises(ParameterError, match="`style`"):
        score_figure(shown, style="rows")
    with pytest.raises(ParameterError, match="`group`"):
        score_heatmap(shown, new_figure().subplots(), group=1)


def test_panels_can_be_drawn_into_figures_of_ones_own(fitted):
    X, pca = fitted
    shown = score_map(X, pca, random_state=0)
    left, right = new_figure().subplots(1, 2)
    assert score_heatmap(shown, left).get_clim()[0] == 0
    score_points(shown, right)
    assert right.get_xlim() == tuple(shown.x_edges[[0, -1]])


def test_without_matplotlib_the_extra_is_named(fitted, monkeypatch):
    X, pca = fitted
    shown = score_map(X, pca, random_state=0)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install matplotlib"):
        score_figure(shown)
