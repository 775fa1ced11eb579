"""Pictures of releases."""

import io

import numpy as np
import pytest

from gdppca import DPPCA, MissingExtraError
from gdppca.plots import release_figure
from gdppca.plots.scree import BAND


def release(n_components, d=20):
    X = np.random.default_rng(0).normal(size=(200, d))
    return DPPCA(n_components, random_state=0).fit(X).release_


@pytest.mark.parametrize(("m", "panels"), [(1, 2), (2, 2), (20, 2)])
def test_figure_shows_spectrum_loadings_and_promise(m, panels):
    figure = release_figure(release(m))
    assert len(figure.axes) == panels
    assert "simulation" in figure.get_supxlabel()
    assert figure.axes[0].get_ylabel() == "eigenvalue"
    assert len(figure.axes[1].get_yticklabels()) == 12
    figure.savefig(io.BytesIO())


def test_band_is_called_what_it_holds():
    X = np.random.default_rng(0).normal(size=(5000, 6)) * [9, 3, 1, 1, 1, 1]
    axes = release_figure(DPPCA(2, random_state=0).fit(X).release_).axes[0]
    [band] = [patch for patch in axes.patches if patch.get_label() == BAND]
    low, high = band.get_y(), band.get_y() + band.get_height()
    seen = axes.get_lines()[0].get_ydata()
    assert all(low < value < high for value in seen[2:])  # the other components, not noise alone
    assert low > 0
    said = [text.get_text() for text in axes.get_legend().get_texts()]
    assert BAND in said
    assert not any("noise alone" in words for words in said)


@pytest.mark.filterwarnings("ignore:No direction")
def test_release_without_components_has_a_spectrum_only():
    assert len(release_figure(release("auto")).axes) == 1


def test_intervals_are_drawn_and_named():
    X = np.random.default_rng(0).normal(size=(2000, 4)) * [5, 3, 1, 1]
    axes = release_figure(DPPCA(2, random_state=0).fit(X).release_, level=0.9).axes[1]
    assert "90% intervals" in axes.get_title()
    assert "privacy noise" in axes.get_title()
    spans = [segment for bars in axes.collections for segment in bars.get_segments()]
    assert len(spans) == 8  # one per loading
    bare = release_figure(DPPCA(2, random_state=0).fit(X).release_).axes[1]
    assert not bare.collections


def test_loadings_that_the_noise_hides_have_no_interval():
    axes = release_figure(release(2), level=0.9).axes[1]
    assert not axes.collections
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert all("not above the noise" in label for label in labels)


def test_one_column_can_be_drawn():
    release_figure(release(1, d=1)).savefig(io.BytesIO())


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install matplotlib"):
        release_figure(release(1))
