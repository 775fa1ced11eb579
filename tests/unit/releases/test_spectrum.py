"""Private variances of scores, and intervals for a release."""

import math
from dataclasses import replace

import numpy as np
import pytest
from gdppca.releases.spectrum import METHODS, variance_events
from simulate import spiked

from gdppca import DPPCA, DataError, ParameterError, ReleaseError
from gdppca.noise.bits import seeded_rng
from gdppca.privacy import NonPrivateEvent
from gdppca.privacy.spending import epsilon_at
from gdppca.releases import private_variances, release_intervals, spectrum
from gdppca.steps.clipped_squares import square_sums
from gdppca.theory import loading_intervals


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


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_events_compose_to_the_budget(epsilon):
    assert epsilon_at(variance_events(epsilon, 1e-6), 1e-6) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*pairs of rows")
def test_noise_has_the_recorded_ratio_to_the_sensitivity(release, monkeypatch):
    """What reaches the mechanism: m numbers, each of which one row moves by at most 1."""
    seen = []

    def spy(values, sigma, rng):
        seen.append((values.size, sigma))
        return values

    monkeypatch.setattr(spectrum, "add_gaussian", spy)
    X, _ = spiked("gaussian", 500, 10, 1)
    found = private_variances(X, release, 1.0, 1e-6, random_state=0)
    assert len(seen) == len(found.guarantee.events) == 11
    for (size, sigma), event in zip(seen, found.guarantee.events, strict=True):
        assert size == 2
        assert sigma / math.sqrt(size) == pytest.approx(event.noise_multiplier, rel=1e-9)


@pytest.mark.parametrize("value", [0.0, 1e-300, 3.0, 1e150, 1.7e308])
def test_one_row_moves_every_sum_by_at_most_one(release, value):
    X, _ = spiked("t1", 400, 10, 2)
    other = X.copy()
    other[7] = value
    before, after = (spectrum._paired_sizes(rows, release, seeded_rng(5)) for rows in (X, other))
    assert (before != after).any(axis=1).sum() <= 1
    assert np.isfinite(after).all()
    for bounds in (np.full(2, 1e-19), np.full(2, 1.5), np.full(2, 1e19)):
        moved = square_sums(after, bounds) - square_sums(before, bounds)
        assert np.abs(moved).max() <= 1.0


def test_sums_are_exact(release):
    """Whole numbers of 2⁻²⁴: order cannot matter."""
    sizes = np.random.default_rng(0).exponential(size=(5000, 2))
    bounds = np.array([0.7, 2.0])
    shuffled = np.random.default_rng(1).permutation(sizes)
    forwards, back = (square_sums(part, bounds) for part in (sizes, shuffled))
    np.testing.assert_array_equal(forwards, back)
    assert (forwards * 2**24 == np.rint(forwards * 2**24)).all()


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
    with pytest.warns(UserWarning, match="50 pairs of rows are few"):
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
    monkeypatch.setattr(spectrum, "add_gaussian", lambda *_: pytest.fail("drawn"))
    given = {"epsilon": 1.0, "delta": 1e-6} | change
    with pytest.raises(ParameterError):
        private_variances(np.zeros((9, 10)), release, **given)


def test_no_components_no_variances(release):
    with pytest.raises(ParameterError, match="components"):
        private_variances(
            np.zeros((9, 10)), replace(release, components=np.zeros((0, 10))), 1.0, 1e-6
        )


@pytest.fixture(scope="module")
def fitted():
    X, _ = spiked("gaussian", 2000, 6, 0)
    return DPPCA(2, location=None, random_state=0).fit(X).release_


def test_intervals_are_those_of_its_matrix(fitted):
    found = release_intervals(fitted, 0.8)
    expected = loading_intervals(fitted.scatter, fitted.noise_sd, 2000, 2, 0.8)
    np.testing.assert_array_equal(found.lower, expected.lower)
    assert (found.lower <= fitted.components).all()
    assert (fitted.components <= found.upper).all()


def test_intervals_turn_with_the_components(fitted):
    turned = replace(fitted, components=fitted.components * [[1.0], [-1.0]])
    before, after = release_intervals(fitted), release_intervals(turned)
    np.testing.assert_array_equal(after.lower[1], -before.upper[1])
    np.testing.assert_array_equal(after.upper[0], before.upper[0])


@pytest.mark.parametrize(
    ("scheme", "rows"), [({"name": "halves"}, 1000), ({"name": "blocks", "size": 4}, 1500)]
)
def test_pairs_that_waste_rows_count_for_fewer(fitted, scheme, rows):
    found = release_intervals(replace(fitted, scheme=scheme), sampling=True)
    expected = loading_intervals(fitted.scatter, fitted.noise_sd, rows, 2, sampling=True)
    np.testing.assert_allclose(found.angles, expected.angles)


def test_sampling_needs_the_spherical_sign(fitted):
    other = replace(fitted, sign={"name": "winsor", "parameters": {"radius": 1.0}, "sup_norm": 1.0})
    assert release_intervals(other).covers == "privacy noise"
    with pytest.raises(ParameterError, match="spherical"):
        release_intervals(other, sampling=True)


def test_intervals_need_a_matrix(fitted):
    with pytest.raises(ReleaseError, match="matrix"):
        release_intervals(replace(fitted, scatter=None))
