"""Signs around a private or public centre."""

import math
import warnings

import numpy as np
import pytest
from simulate import spiked

from gdppca import DPPCA, ParameterError, PrivacyWarning, Release, sin_theta
from gdppca.estimators import SignCovariancePCA
from gdppca.kernels import sign_covariance
from gdppca.steps.scatter import Scatter
from gdppca.steps.winsorized_mean import WinsorizedMean


@pytest.fixture
def X(rng):
    return 3 + rng.standard_t(3, size=(900, 4)) * [9, 3, 1, 1]


def test_exact_matrix_is_the_sign_covariance_around_its_centre(X):
    pca = SignCovariancePCA(2, epsilon=math.inf, sign="winsor", radius=2.0).fit(X)
    np.testing.assert_allclose(pca.scatter_, sign_covariance(X, pca.mean_, "winsor", radius=2.0))
    assert np.abs(pca.mean_ - 3).max() < 1
    assert pca.guarantee_.status == "none"
    assert "infinite" in pca.guarantee_.reason


def test_rho_is_spent_in_two_halves(X):
    guarantee = SignCovariancePCA(2, rho=0.4, delta=1e-5).fit(X).guarantee_
    assert guarantee.status == "proven"
    assert guarantee.zcdp_rho == pytest.approx(0.4, rel=1e-9)
    assert 0.5 / guarantee.events[-1].noise_multiplier ** 2 == pytest.approx(0.2, rel=1e-9)


@pytest.mark.parametrize("location", ["pmwm", np.full(4, 3.0)])
def test_epsilon_is_spent_as_asked(location, X):
    pca = SignCovariancePCA(2, epsilon=0.7, delta=1e-5, location=location).fit(X)
    assert pca.guarantee_.epsilon == pytest.approx(0.7, rel=1e-6)
    assert pca.guarantee_.epsilon <= 0.7 * (1 + 1e-9)


def test_public_centre_is_that_of_dppca(X):
    center = np.full(4, 3.0)
    ours = SignCovariancePCA(2, epsilon=0.7, delta=1e-5, location=center, random_state=1).fit(X)
    theirs = DPPCA(2, epsilon=0.7, delta=1e-5, location=center, random_state=1).fit(X)
    np.testing.assert_allclose(ours.scatter_, theirs.scatter_, rtol=1e-6, atol=1e-9)
    assert any("centre" in str(words) for words in ours.guarantee_.assumptions)


def test_price_of_printed_noise_is_told_before_anything_is_drawn(X, monkeypatch):
    drawn = []
    for step in (WinsorizedMean, Scatter):
        monkeypatch.setattr(step, "draw", lambda *_: drawn.append(True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(PrivacyWarning, match="printed noise spends"):
            SignCovariancePCA(2, rho=0.4, noise="printed").fit(X)
    assert not drawn


def test_printed_noise_is_the_formula_and_its_true_price_is_stated(X):
    with pytest.warns(PrivacyWarning, match="printed noise spends"):
        pca = SignCovariancePCA(2, rho=0.4, noise="printed", sign="winsor", radius=2.0).fit(X)
    assert pca.noise_sd_ == pytest.approx(2 * 4 / (900 * math.sqrt(1.6)), rel=1e-12)
    assert pca.guarantee_.status == "proven"
    assert pca.guarantee_.zcdp_rho == pytest.approx(0.6, rel=1e-6)


def test_accounted_noise_is_the_tight_one(X):
    pca = SignCovariancePCA(2, rho=0.4).fit(X)
    assert pca.noise_sd_ == pytest.approx(math.sqrt(2) / 900 / math.sqrt(0.4), rel=1e-6)


def test_seeds_reproduce_and_secure_fits_differ(X):
    def scatter(seed):
        return SignCovariancePCA(2, random_state=seed).fit(X).scatter_

    np.testing.assert_array_equal(scatter(5), scatter(5))
    assert not np.array_equal(scatter(None), scatter(None))


def test_release_survives_the_disk(X, tmp_path):
    release = SignCovariancePCA(2).fit(X).release_
    release.save(tmp_path / "r.json")
    loaded = Release.load(tmp_path / "r.json")
    assert loaded.guarantee == release.guarantee
    np.testing.assert_array_equal(loaded.location, release.location)


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"location": None}, "location"),
        ({"location": "mean"}, "location"),
        ({"location": np.zeros(3)}, "location"),
        ({"rho": 0.0}, "rho"),
        ({"noise": "tight"}, "noise"),
        ({"sign": "spherical", "radius": 1.0}, "radius"),
        ({"n_components": 5}, "n_components"),
    ],
)
def test_bad_parameters_are_named(parameters, word, X):
    with pytest.raises(ParameterError, match=word):
        SignCovariancePCA(**parameters).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "t1"])
def test_private_centre_costs_little_where_rows_are_many(kind):
    losses = {"pmwm": [], "public": []}
    for seed in range(20):
        X, V = spiked(kind, 1500, 10, seed)
        for name, location in (("pmwm", "pmwm"), ("public", np.full(10, 20.0))):
            pca = SignCovariancePCA(2, rho=0.5, location=location, random_state=seed)
            losses[name].append(sin_theta(pca.fit(X + 20).components_, V))
    assert np.mean(losses["pmwm"]) < 1.3 * np.mean(losses["public"])


def test_published_centre_is_labelled_as_unproven(X):
    pca = SignCovariancePCA(1, rho=0.5, location="pmwm-published").fit(X)
    assert pca.guarantee_.status == "none"
    assert "pmwm" in pca.guarantee_.reason
    assert math.isinf(pca.guarantee_.epsilon)
