"""Arrows of loadings with their regions."""

import io
from dataclasses import replace

import numpy as np
import pytest
from simulate import spiked

from gdppca import DPPCA, ParameterError
from gdppca.plots import biplot_figure
from gdppca.releases import release_intervals, score_map


@pytest.fixture(scope="module")
def fit():
    X, _ = spiked("gaussian", 2000, 6, 0)
    return X, DPPCA(2, random_state=0).fit(X)


def ellipses(axes):
    return [patch for patch in axes.patches if type(patch).__name__ == "Ellipse"]


def test_regions_are_the_intervals(fit):
    release = fit[1].release_.plain()
    figure = biplot_figure(release, level=0.8)
    [axes] = figure.axes
    found = release_intervals(release, 0.8)
    widths = sorted(shape.width for shape in ellipses(axes))
    np.testing.assert_allclose(widths, np.sort(found.upper[0] - found.lower[0]))
    assert "80% regions (privacy noise)" in axes.get_title()
    assert "simulation" in figure.get_supxlabel()
    assert {"x0", "x1"} <= {text.get_text() for text in axes.texts}
    figure.savefig(io.BytesIO())


def test_what_the_noise_hides_has_no_region():
    X = np.random.default_rng(0).normal(size=(300, 5))
    figure = biplot_figure(DPPCA(2, random_state=0).fit(X).release_)
    [axes] = figure.axes
    assert "not above the noise" in " ".join(axes.get_title().split())
    assert not ellipses(axes)


def test_score_map_lies_behind(fit):
    X, pca = fit
    shown = score_map(X, pca, epsilon=1.0, delta=1e-6, random_state=0)
    release = replace(pca.release_, score_map=shown)
    [axes] = biplot_figure(release, sampling=True).axes
    assert axes.collections  # the coloured bins
    assert "score" in axes.get_xlabel()
    assert "sampling" in axes.get_title()
    assert axes.get_xlim() == (shown.x_edges[0], shown.x_edges[-1])
    [other] = biplot_figure(release, components=(1, 0)).axes  # the map is of (0, 1)
    assert "loading" in other.get_xlabel()


@pytest.mark.parametrize("pair", [(0, 0), (0, 2), (-1, 0)])
def test_two_components_must_be_there(fit, pair):
    with pytest.raises(ParameterError, match="components"):
        biplot_figure(fit[1].release_, components=pair)


def test_one_component_has_no_biplot(fit):
    with pytest.raises(ParameterError, match=r"two components. Draw one with `loadings`"):
        biplot_figure(replace(fit[1].release_, components=fit[1].components_[:1]))
