"""What the data owner may look at, and nobody else."""

import io

import numpy as np
import pytest
from simulate import spiked

from gdppca import DPPCA, NSGGD, MissingExtraError, ParameterError, PrivacyWarning
from gdppca.estimators.diagnostics import breakdown_of, outlier_figure, outlier_map
from gdppca.theory import breakdown_bound, denoised_eigenvalues


@pytest.fixture(scope="module")
def clean():
    X, _ = spiked("gaussian", 3000, 10, 1)
    return X, DPPCA(2, random_state=0).fit(X)


def test_it_says_that_it_is_not_private(clean):
    X, pca = clean
    with pytest.warns(PrivacyWarning, match="not private"):
        found = outlier_map(X, pca)
    assert "NOT PRIVATE" in repr(found)
    assert "data owner only" in repr(found)


@pytest.mark.parametrize("level", [0.9, 0.975])
def test_clean_rows_pass_the_cut_offs(clean, level):
    found = outlier_map(*clean, level=level)
    far = (found.score_distance > found.cutoffs[0]).mean()
    off = (found.orthogonal_distance > found.cutoffs[1]).mean()
    assert far == pytest.approx(1 - level, abs=0.02)
    assert off == pytest.approx(1 - level, abs=0.02)


def test_each_kind_of_row_is_found():
    X, truth = spiked("gaussian", 2000, 6, 1)
    aside = np.eye(6)[5]
    X[:10] = 40 * truth[0]
    X[10:20] = 20 * aside
    X[20:30] = 40 * truth[1] + 20 * aside
    kinds = outlier_map(X, DPPCA(2, epsilon=4.0, random_state=0).fit(X)).kinds
    # 40 long and sin Θ near 0.05: two off the plane, below the cut-off
    assert set(kinds[:10]) == {"good leverage"}
    assert set(kinds[10:20]) == {"orthogonal outlier"}
    assert set(kinds[20:30]) == {"bad leverage"}


def test_distances_are_what_they_say(clean):
    X, pca = clean
    found = outlier_map(X, pca)
    center = np.median(X, axis=0) if pca.mean_ is None else pca.mean_
    scores = (X - center) @ pca.components_.T
    outside = X - center - scores @ pca.components_
    np.testing.assert_allclose(found.orthogonal_distance, np.linalg.norm(outside, axis=1))
    middle = np.median(scores, axis=0)
    spread = np.median(np.abs(scores - middle), axis=0) / 0.6744897501960817
    np.testing.assert_allclose(found.score_distance, np.linalg.norm(scores / spread, axis=1))


def test_scales_and_pairs_are_followed():
    X, _ = spiked("gaussian", 1000, 5, 1)
    plain = outlier_map(X, DPPCA(2, location=None, random_state=0).fit(X))
    scaled = outlier_map(3 * X, DPPCA(2, location=None, scale=[3.0] * 5, random_state=0).fit(3 * X))
    np.testing.assert_allclose(scaled.score_distance, plain.score_distance, rtol=1e-6)
    np.testing.assert_allclose(scaled.orthogonal_distance, plain.orthogonal_distance, rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e308])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_finite_table_gives_finite_distances(value):
    X = value * np.random.default_rng(0).choice([-1.0, 1.0], size=(60, 3))
    found = outlier_map(X, DPPCA(1, random_state=0).fit(X))
    assert np.isfinite(found.score_distance).all()
    assert np.isfinite(found.orthogonal_distance).all()
    assert np.isfinite(found.cutoffs).all()


def test_whole_space_leaves_nothing_outside():
    X, _ = spiked("gaussian", 300, 4, 1)
    found = outlier_map(X, DPPCA(4, random_state=0).fit(X))
    assert (found.orthogonal_distance == 0).all()
    assert set(found.kinds) <= {"regular", "good leverage"}


def test_other_estimators_have_a_map_too():
    X, _ = spiked("gaussian", 200, 4, 1)
    assert len(outlier_map(X, NSGGD(1, random_state=0).fit(X)).kinds) == 200


def test_breakdown_follows_from_the_release(clean):
    _, pca = clean
    release = pca.release_
    noise = release.noise_sd, release.n_samples, release.centre_bias
    phi = denoised_eigenvalues(pca.eigenvalues_, *noise)
    assert breakdown_of(pca) == pytest.approx(breakdown_bound(phi, 2, 1.0))
    assert 0 < breakdown_of(pca) < 0.125
    X = np.random.default_rng(0).normal(size=(300, 4))
    assert breakdown_of(DPPCA(2, random_state=0).fit(X)) == 0.0


def test_refusals():
    X, _ = spiked("gaussian", 200, 4, 1)
    with pytest.raises(ParameterError, match="pca"):
        outlier_map(X, "model")
    with pytest.raises(ParameterError, match="pca"):
        breakdown_of(None)
    with pytest.raises(ParameterError, match="level"):
        outlier_map(X, DPPCA(2, random_state=0).fit(X), level=2.0)
    with pytest.raises(ParameterError, match="matrix"):
        breakdown_of(NSGGD(1, random_state=0).fit(X))


def test_picture_says_that_it_is_not_private(clean):
    figure = outlier_figure(outlier_map(*clean))
    assert "NOT PRIVATE" in figure.get_suptitle()
    assert "data owner only" in figure.get_suptitle()
    figure.savefig(io.BytesIO())


def test_without_matplotlib_the_extra_is_named(clean, monkeypatch):
    found = outlier_map(*clean)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install matplotlib"):
        outlier_figure(found)
