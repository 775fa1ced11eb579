"""How DPPCA shows a release: shrunken loadings, shares of variance, whitening, few columns."""

import warnings

import narwhals as nw
import numpy as np
import pytest

from gdppca import DPPCA, ParameterError, Release, datasets


@pytest.fixture(scope="module")
def X():
    return datasets.make_elliptical(4000, 25, location=5.0, random_state=3).X


@pytest.fixture(scope="module")
def wide():
    """Most of the variance lies along three directions."""
    return np.random.default_rng(0).normal(size=(8000, 8)) * [20, 10, 6, 1, 1, 1, 1, 1] + 5


def fitted(X, **parameters):
    return DPPCA(**{"epsilon": 1.0, "random_state": 0} | parameters).fit(X)


class TestLoadings:
    """Plain or shrunken, which costs nothing."""

    def test_shrunken_loadings_are_those_of_the_release(self, X):
        plain, shrunk = fitted(X, loadings="plain"), fitted(X)
        assert np.array_equal(shrunk.components_, plain.release_.shrunk().components)
        assert np.array_equal(shrunk.release_.plain_components, plain.components_)
        assert shrunk.negligible_.any()
        assert not plain.negligible_.any()
        assert shrunk.guarantee_ == plain.guarantee_
        assert (DPPCA().loadings, DPPCA().target) == ("shrunk", "rows")

    def test_the_papers_calibration_stays_plain(self, X):
        assert fitted(X, calibration="paper").release_.loadings is None

    @pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
    def test_variances_and_map_are_about_the_directions_shown(self, X, neighbors):
        pca = DPPCA(epsilon=4.0, loadings="shrunk", random_state=0, neighbors=neighbors)
        release = pca.fit_release(X, variances=0.2, score_map=0.2)
        assert release.loadings.shrunk
        assert np.array_equal(release.components, release.shrunk().components)
        assert release.score_map is not None
        exact = ((X - np.median(X, axis=0)) @ release.components.T).var(axis=0)
        assert np.allclose(release.variances, exact, rtol=0.15)
        assert Release.from_dict(release.to_dict()).variances is not None

    def test_batches_keep_the_parameters_of_the_first(self, X):
        pca = DPPCA(epsilon=2.0, loadings="shrunk", random_state=0).partial_fit(X[:2000])
        pca.set_params(loadings="plain").partial_fit(X[2000:])
        assert pca.finalize().release_.loadings.shrunk

    def test_from_release_knows_how_it_was_shown(self, X):
        pca = fitted(X, loadings="shrunk", max_loadings=4)
        again = DPPCA.from_release(pca.release_)
        assert (again.loadings, again.target, again.max_loadings) == ("shrunk", "rows", 4)
        assert np.array_equal(again.negligible_, pca.negligible_)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"loadings": "small"},
            {"target": "people"},
            {"loadings": "shrunk", "target": "population", "sign": "winsor"},
            {"max_loadings": 26},
            {"max_loadings": 0},
            {"whiten": "yes"},
            {"n_components": 1.5},
            {"n_components": 0.0},
            {"n_components": 0.5, "sign": "winsor"},
        ],
    )
    def test_wishes_that_make_no_sense_are_refused_unspent(self, X, wrong):
        with pytest.raises(ParameterError) as refused:
            fitted(X, **wrong)
        assert not hasattr(refused.value, "__notes__")  # that something was spent


class TestShare:
    """As many components as carry a share of the variance."""

    def test_so_many_as_carry_it(self, wide):
        assert [fitted(wide, n_components=share).n_components_ for share in (0.5, 0.9, 0.95)] == [
            1,
            2,
            3,
        ]

    def test_those_above_the_noise_where_more_would_be_needed(self, X):
        with pytest.warns(UserWarning, match="less than 90% of the variance"):
            pca = fitted(X, n_components=0.9)
        assert pca.n_components_ == 2

    def test_no_warning_where_it_is_carried(self, wide):
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            fitted(wide, n_components=0.9)

    def test_with_variances_the_number_must_be_known(self, wide):
        with pytest.raises(ParameterError, match="whole number"):
            DPPCA(n_components=0.9).fit_release(wide, variances=0.1)

    def test_shares_and_shrinking_go_together(self, X):
        pca = fitted(X, n_components=0.2, loadings="shrunk")
        assert pca.n_components_ == 1
        assert pca.release_.loadings.plain.shape == (1, 25)


class TestWhitening:
    """Scores over the roots of variances, and back."""

    def test_paid_variances_make_unit_scores(self, wide):
        pca = DPPCA(n_components=3, epsilon=8.0, whiten=True, random_state=0)
        pca.fit_release(wide, variances=0.3)
        assert np.allclose(pca.transform(wide).std(axis=0), 1, atol=0.1)
        assert np.array_equal(pca.explained_variance_, pca.release_.variances)
        assert pca.noise_variance_ == pytest.approx(1.0, rel=0.3)

    def test_free_variances_make_scores_of_one_size(self, wide):
        sizes = fitted(wide, n_components=3, epsilon=8.0, whiten=True).transform(wide).std(axis=0)
        assert np.allclose(sizes / sizes[0], 1, atol=0.1)

    def test_there_and_back(self, wide):
        pca = fitted(wide, n_components=8, whiten=True)
        assert np.allclose(pca.inverse_transform(pca.transform(wide)), wide)

    def test_variances_that_were_not_paid_for_are_not_there(self, wide):
        pca = fitted(wide)
        assert not hasattr(pca, "explained_variance_")
        assert not hasattr(pca, "noise_variance_")


def test_few_columns_stand_beside_the_components(X):
    pca = fitted(X, max_loadings=3)
    assert ((pca.sparse_components_ != 0).sum(axis=1) == 3).all()
    assert (pca.components_ != 0).all()
    assert Release.from_dict(pca.release_.to_dict()).max_loadings == 3
    assert not hasattr(fitted(X), "sparse_components_")


@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow"])
def test_components_as_a_frame(wide, backend):
    pca = fitted(wide)
    frame = nw.from_native(pca.components_frame(backend))
    assert frame.columns == ["column", "component 1", "component 2"]
    assert np.allclose(frame["component 2"].to_numpy(), pca.components_[1])


def test_a_frame_of_nobody_is_refused(wide):
    with pytest.raises(ParameterError, match="backend"):
        fitted(wide).components_frame("excel")
