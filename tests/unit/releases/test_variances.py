"""Private variances of scores."""

import math
from dataclasses import replace

import numpy as np
import pytest
from simulate import spiked

from gdppca import DPPCA, DataError, ParameterError, PrivacyWarning
from gdppca.noise import FreshNoise, Overheard, seeded_noise
from gdppca.privacy import NonPrivateEvent
from gdppca.releases import private_variances
from gdppca.steps.variances import METHODS


@pytest.fixture(scope="module")
def release():
    """A release of ten columns, its components set to the true ones."""
    X, truth = spiked("gaussian", 500, 10, 0)
    made = DPPCA(2, location=np.zeros(10), random_state=0).fit(X).release_
    return replace(made, components=truth)


@pytest.mark.parametrize("method", METHODS)
def test_without_noise_a_gaussian_has_its_variances(release, method):
    X, _ = spiked("gaussian", 40_000, 10, 1)
    found = private_variances(X, release, math.inf, 1e-6, method=method, random_state=0)
    np.testing.assert_allclose(found.variances, [10, 5], rtol=0.04)
    assert isinstance(found.guarantee.events[0], NonPrivateEvent)
    assert not found.guarantee.protects
    assert (found.noise_sd == 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_with_noise_they_are_close(release, method):
    X, _ = spiked("gaussian", 20_000, 10, 1)
    found = private_variances(X, release, 0.5, 1e-6, method=method, random_state=0)
    np.testing.assert_allclose(found.variances, [10, 5], rtol=0.12)


def test_centre_does_not_matter(release):
    X, _ = spiked("gaussian", 5000, 10, 1)
    here = private_variances(X, release, 1.0, 1e-6, random_state=0).variances
    there = private_variances(X + 1e6, release, 1.0, 1e-6, random_state=0).variances
    np.testing.assert_allclose(there, here, rtol=1e-3)


def test_scales_of_the_release_are_used(release):
    X, _ = spiked("gaussian", 5000, 10, 1)
    scaled = replace(release, scale=np.full(10, 4.0))
    found = private_variances(4 * X, scaled, 1.0, 1e-6, random_state=0).variances
    expected = private_variances(X, release, 1.0, 1e-6, random_state=0).variances
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_heavy_tails_keep_the_ratio(release):
    X, _ = spiked("t1", 20_000, 10, 1)
    found = private_variances(X, release, 1.0, 1e-6, random_state=0).variances
    assert found[0] / found[1] == pytest.approx(2.0, rel=0.2)


def test_bad_rows_move_it_less_than_the_mean_square(release):
    X, truth = spiked("gaussian", 10_000, 10, 1)
    X[:500] = 250 * truth[0]
    huber = private_variances(X, release, 1.0, 1e-6, random_state=0).variances[0]
    assert 9 < huber < 16
    assert np.var(X @ truth[0]) > 1000


@pytest.mark.filterwarnings("ignore:.*pairs of rows")
def test_noise_has_the_recorded_ratio_to_the_sensitivity(release):
    """What reaches the mechanism: m numbers, each of which one row moves by at most 1."""
    heard = Overheard(seeded_noise(0))
    X, _ = spiked("gaussian", 500, 10, 1)
    found = private_variances(X, release, 1.0, 1e-6, random_state=heard)
    assert [draw.kind for draw in heard.draws] == ["permutation"] + ["gaussian"] * 11
    for draw, event in zip(heard.draws[1:], found.guarantee.events, strict=True):
        assert draw.exact.size == 2
        assert draw.sensitivity == math.sqrt(2)
        assert draw.scale / math.sqrt(2) == pytest.approx(event.noise_multiplier, rel=1e-9)
        assert draw.scale >= math.sqrt(2) * event.noise_multiplier


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [0.0, 1e-320, 1e308])
@pytest.mark.filterwarnings("ignore:.*pairs of rows")
def test_any_finite_table_gives_finite_variances(release, method, value):
    rng = np.random.default_rng(0)
    X = value * rng.choice([-1.0, 1.0], size=(100, 10))
    found = private_variances(X, release, 1.0, 1e-6, method=method, random_state=0)
    assert np.isfinite(found.variances).all()
    assert (found.variances >= 0).all()
    assert np.isfinite(found.noise_sd).all()


def test_secure_source_is_the_default(release):
    X, _ = spiked("gaussian", 3000, 10, 1)
    found = private_variances(X, release, 1.0, 1e-6)
    assert found.guarantee.epsilon == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(found.variances, [10, 5], rtol=0.5)
    assert private_variances(X, release, 1.0, 1e-6, random_state=1).guarantee.seeded


def test_guarantee_adds_to_that_of_the_release(release):
    X, _ = spiked("gaussian", 3000, 10, 1)
    found = private_variances(X, release, 1.0, 1e-6)
    both = release.guarantee + found.guarantee
    assert both.seeded  # the release here is a simulation
    assert both.assumptions == release.guarantee.assumptions
    assert both.nominal_epsilon > 1.2


def test_twelve_components_are_no_special_case():
    X = np.random.default_rng(0).normal(size=(60_000, 12)) * np.arange(12, 0, -1)
    made = DPPCA(12, location=np.zeros(12), random_state=0).fit(X[:500]).release_
    made = replace(made, components=np.eye(12))
    found = private_variances(X, made, 1.0, 1e-6, random_state=0)
    np.testing.assert_allclose(found.variances, np.arange(12, 0, -1) ** 2, rtol=0.15)
    assert found.guarantee.nominal_epsilon == pytest.approx(1.0, rel=1e-6)


def test_few_rows_warn_from_public_numbers(release):
    with pytest.warns(PrivacyWarning, match="50 pairs of rows are few"):
        private_variances(np.ones((100, 10)), release, 1.0, 1e-6, random_state=0)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((5, 3)), "10 columns"),
        (np.zeros((1, 10)), "two rows"),
        (np.full((5, 10), np.nan), "NaN"),
        ([["a"] * 10] * 4, "numbers"),
    ],
)
def test_bad_rows_are_refused_without_their_values(release, X, message):
    with pytest.raises(DataError, match=message) as refusal:
        private_variances(X, release, 1.0, 1e-6, random_state=0)
    assert "'a'" not in str(refusal.value)


@pytest.mark.parametrize(
    "change", [{"epsilon": -1.0}, {"delta": 0.0}, {"method": "mean"}, {"random_state": -1}]
)
def test_bad_parameters_are_refused_before_any_draw(release, change, monkeypatch):
    for name in ("gaussian", "permutation"):
        monkeypatch.setattr(FreshNoise, name, lambda *_, **__: pytest.fail("drawn"))
    given = {"epsilon": 1.0, "delta": 1e-6} | change
    with pytest.raises(ParameterError):
        private_variances(np.zeros((9, 10)), release, **given)


def test_no_components_no_variances(release):
    with pytest.raises(ParameterError, match="components"):
        private_variances(
            np.zeros((9, 10)), replace(release, components=np.zeros((0, 10))), 1.0, 1e-6
        )
