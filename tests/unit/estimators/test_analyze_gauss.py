"""Analyze Gauss: the printed form, which is not private, and the true one."""

import math

import numpy as np
import pytest
from simulate import mean_loss

from gdppca import DataError, ParameterError, PrivacyWarning, Release, sin_theta
from gdppca.estimators import AnalyzeGauss
from gdppca.steps.printed import printed_covariance


@pytest.fixture
def X(rng):
    return 3 + rng.standard_t(3, size=(400, 4)) * [9, 3, 1, 1]


def test_printed_matrix_is_the_covariance_over_the_largest_squared_norm(X):
    Z = X - X.mean(axis=0)
    expected = np.cov(X, rowvar=False) / (np.linalg.norm(Z, axis=1).max() ** 2)
    np.testing.assert_allclose(printed_covariance(X), expected, rtol=1e-12)
    np.testing.assert_allclose(printed_covariance(1e300 * X), expected, rtol=1e-12)


def test_printed_noise_is_the_formula_of_the_paper(X):
    pca = AnalyzeGauss(2, epsilon=0.5, delta=1e-5, random_state=0).fit(X)
    expected = 6 * math.sqrt(2 * math.log(1.25e5)) / (400 * 0.5)
    assert pca.noise_sd_ == pytest.approx(expected, rel=1e-12)


def test_printed_form_promises_nothing_and_says_why(X):
    guarantee = AnalyzeGauss(2).fit(X).guarantee_
    assert guarantee.status == "none"
    assert math.isinf(guarantee.epsilon)
    assert "largest norm" in str(guarantee)


def test_one_row_moves_the_printed_matrix_far_beyond_its_stated_sensitivity():
    n, d = 1000, 10
    X = np.zeros((n, d))
    X[:, 0] = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    neighbour = X.copy()
    neighbour[0] = 0.0
    neighbour[0, 1] = 1e6
    moved = np.linalg.norm(printed_covariance(X) - printed_covariance(neighbour))
    assert moved == pytest.approx(1.001, abs=1e-3)
    assert moved > 100 * 6 / n


def test_public_ball_is_the_clipped_second_moment(X):
    center, norm = np.full(4, 3.0), 5.0
    exact = AnalyzeGauss(2, epsilon=math.inf, norm=norm, center=center).fit(X)
    Z = X - center
    Z *= np.minimum(1, norm / np.linalg.norm(Z, axis=1))[:, None]
    np.testing.assert_allclose(exact.scatter_, Z.T @ Z / len(Z), rtol=1e-12)
    assert exact.guarantee_.status == "none"


def test_public_ball_promises_what_was_asked(X):
    pca = AnalyzeGauss(2, epsilon=0.7, delta=1e-5, norm=5.0, center=np.zeros(4)).fit(X)
    assert pca.guarantee_.status == "proven"
    assert pca.guarantee_.epsilon == pytest.approx(0.7, rel=1e-6)
    assert pca.guarantee_.epsilon <= 0.7
    assert pca.noise_sd_ == pytest.approx(
        pca.guarantee_.events[0].noise_multiplier * math.sqrt(2) * 25 / 400, rel=1e-6
    )
    np.testing.assert_array_equal(pca.mean_, np.zeros(4))


def test_exact_printed_form_is_sample_covariance_pca(X):
    pca = AnalyzeGauss(2, epsilon=math.inf).fit(X)
    vectors = np.linalg.eigh(np.cov(X, rowvar=False))[1]
    assert sin_theta(pca.components_, vectors[:, ::-1][:, :2].T) < 1e-7
    assert "infinite" in pca.guarantee_.reason


def test_seeds_reproduce_and_secure_fits_differ(X):
    def scatter(seed):
        return AnalyzeGauss(2, random_state=seed).fit(X).scatter_

    np.testing.assert_array_equal(scatter(5), scatter(5))
    assert not np.array_equal(scatter(None), scatter(None))


@pytest.mark.parametrize("parameters", [{}, {"norm": 5.0, "center": np.zeros(4)}])
def test_release_survives_the_disk(parameters, X, tmp_path):
    release = AnalyzeGauss(2, **parameters).fit(X).release_
    release.save(tmp_path / "r.json")
    loaded = Release.load(tmp_path / "r.json")
    np.testing.assert_array_equal(loaded.components, release.components)
    assert loaded.guarantee == release.guarantee


def test_own_mean_is_not_in_the_release(X):
    assert AnalyzeGauss(2).fit(X).release_.location is None


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"norm": 1.0}, "center"),
        ({"center": np.zeros(4)}, "norm"),
        ({"norm": -1.0, "center": np.zeros(4)}, "norm"),
        ({"norm": math.inf, "center": np.zeros(4)}, "norm"),
        ({"norm": 1.0, "center": np.zeros(3)}, "center"),
        ({"n_components": 5}, "n_components"),
        ({"n_components": "auto"}, "n_components"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 0.0}, "delta"),
    ],
)
def test_bad_parameters_are_named(parameters, word, X):
    with pytest.raises(ParameterError, match=word):
        AnalyzeGauss(**parameters).fit(X)


def test_one_row_is_refused_and_equal_rows_are_not():
    with pytest.raises(DataError, match="2 rows"):
        AnalyzeGauss(1).fit(np.ones((1, 3)))
    assert AnalyzeGauss(1).fit(np.zeros((5, 3))).components_.shape == (1, 3)


def test_large_delta_is_warned_of(X):
    with pytest.warns(PrivacyWarning, match="delta"):
        AnalyzeGauss(2, delta=0.01).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "d", "expected"),
    [
        ("gaussian", 5, 0.756),
        ("gaussian", 10, 0.940),
        ("t1", 5, 0.901),
        ("contaminated", 5, 0.938),
        ("gaussian", 25, 0.977),
    ],
)
def test_mean_loss_is_that_of_the_trial_run(kind, d, expected):
    loss = mean_loss(AnalyzeGauss, kind, 2000, d, runs=50)
    assert loss == pytest.approx(expected, abs=0.08 if expected < 0.8 else 0.05)
