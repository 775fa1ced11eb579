"""Intervals for loadings, from the released matrix alone."""

import numpy as np
import pytest
from simulate import spiked

from gdppca import ParameterError, linalg
from gdppca.kernels import kendall_tau
from gdppca.theory import loading_intervals, spherical_eigenvalues, uncertainty


def noise(d, sd, rng):
    return linalg.vecd_inverse(rng.normal(scale=sd, size=linalg.packed_length(d)))


def rotated(spectrum, rng):
    basis = np.linalg.qr(rng.normal(size=(len(spectrum), len(spectrum))))[0]
    return basis @ np.diag(spectrum) @ basis.T


def covered(found, exact):
    """Which loadings of the exact directions lie in their intervals."""
    turned = exact * np.sign(np.sum(exact * found.components, axis=1))[:, None]
    return (found.lower <= turned) & (turned <= found.upper)


def coverage(spectrum, sd, stated, runs, m=2):
    rng = np.random.default_rng(3)
    seen = []
    for _ in range(runs):
        exact = rotated(spectrum, rng)
        directions = linalg.eigen_descending(exact)[1][:, :m].T
        noisy = exact + noise(len(spectrum), sd, rng)
        seen.append(covered(loading_intervals(noisy, stated, 1000, m), directions))
    return np.mean(seen)


@pytest.mark.parametrize(
    ("spectrum", "sd"),
    [
        ([0.5, 0.3, 0.05, 0.05, 0.05, 0.05], 0.01),
        ([0.3, 0.15, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05], 0.01),  # hard: the second is near the bulk
        ([0.35, 0.34, 0.1, 0.1, 0.11], 0.01),  # two that the noise can swap
    ],
)
def test_intervals_cover_what_they_promise(spectrum, sd):
    assert 0.85 <= coverage(spectrum, sd, sd, 30) <= 0.98


def test_too_little_noise_is_found_out():
    assert coverage([0.5, 0.3, 0.05, 0.05, 0.05, 0.05], 0.01, 0.005, 30) < 0.75


def test_expected_angles_are_seen():
    rng = np.random.default_rng(0)
    spectrum, sd = [0.4, 0.25] + [0.05] * 7, 0.01
    seen, expected = [], []
    for _ in range(40):
        exact = rotated(spectrum, rng)
        found = loading_intervals(exact + noise(9, sd, rng), sd, 1000, 2)
        directions = linalg.eigen_descending(exact)[1][:, :2].T
        cosines = np.sum(directions * found.components, axis=1)
        angles = [*np.sqrt(1 - cosines**2), linalg.sin_theta(directions, found.components)]
        seen.append(angles)
        expected.append([*found.angles, found.subspace_angle])
    np.testing.assert_allclose(np.mean(expected, axis=0), np.mean(seen, axis=0), rtol=0.1)


@pytest.mark.parametrize("sampling", [False, True])
def test_same_release_gives_same_intervals(sampling):
    matrix = np.diag([0.5, 0.3, 0.1, 0.1])
    first, second = (loading_intervals(matrix, 0.01, 500, 2, sampling=sampling) for _ in range(2))
    np.testing.assert_array_equal(first.lower, second.lower)
    assert first.subspace_angle == second.subspace_angle


def test_nothing_is_known_of_what_the_noise_hides():
    found = loading_intervals(np.diag([0.5, 0.1, 0.1, 0.09]), 0.02, 1000, 3)
    assert found.above_noise == 1
    assert (found.lower[1:] == -1).all()
    assert (found.upper[1:] == 1).all()
    assert found.subspace_angle == 1.0
    assert found.angles[1] == pytest.approx(np.sqrt(1 - 1 / 3))


def test_without_noise_an_interval_is_a_point():
    matrix = rotated([0.6, 0.3, 0.1], np.random.default_rng(1))
    found = loading_intervals(matrix, 0.0, 100, 3)
    np.testing.assert_allclose(found.lower, found.components, atol=1e-12)
    np.testing.assert_allclose(found.upper, found.components, atol=1e-12)
    assert found.subspace_angle == 0.0


def test_sampling_widens_and_is_named():
    matrix = np.diag([0.5, 0.3, 0.1, 0.1])
    privacy = loading_intervals(matrix, 0.01, 400, 2)
    both = loading_intervals(matrix, 0.01, 400, 2, sampling=True)
    assert privacy.covers == "privacy noise"
    assert both.covers == "privacy noise and sampling"
    assert (both.angles > 1.2 * privacy.angles).all()
    assert np.mean(both.upper - both.lower) > 1.2 * np.mean(privacy.upper - privacy.lower)


def test_errors_of_scales_and_centre_widen_and_are_named():
    matrix = np.diag([0.5, 0.3, 0.1, 0.1])
    turned = rotated([0.5, 0.3, 0.1, 0.1], np.random.default_rng(2))
    plain = loading_intervals(turned, 0.005, 400, 2)
    scales = loading_intervals(turned, 0.005, 400, 2, scale_error=np.full(4, 0.1))
    centre = loading_intervals(turned, 0.005, 400, 2, centre_bias=0.1)
    for wide in (scales, centre):
        assert np.mean(wide.upper - wide.lower) > 1.5 * np.mean(plain.upper - plain.lower)
    assert plain.about == "the loadings that the same rows have without any noise"
    assert centre.about.endswith("on skewed columns, those around the released centre")
    assert scales.about.endswith("on skewed columns, those with the released scales")
    assert "released scales" in repr(scales)
    known = loading_intervals(matrix, 0.005, 400, 2, scale_error=np.full(4, np.inf))
    np.testing.assert_array_equal(known.lower, loading_intervals(matrix, 0.005, 400, 2).lower)


def test_equal_errors_of_all_scales_would_move_nothing():
    scales = uncertainty.ScaleNoise.of(
        np.array([0.5, 0.3, 0.2]), np.eye(3), np.array([0.1, 0.1, 0.1])
    )

    class Ones:
        def normal(self, size):
            return np.ones(size)

    np.testing.assert_allclose(scales.added(Ones()), 0.0, atol=1e-15)


def test_errors_of_scales_move_the_matrix_as_the_law_says():
    lam = np.array([4.0, 2.0, 1.0, 1.0])
    basis = np.linalg.qr(np.random.default_rng(5).normal(size=(4, 4)))[0]
    eta = np.array([1e-5, -2e-5, 3e-5, 0.0])

    def matrix(covariance):
        values, vectors = np.linalg.eigh(covariance)
        return vectors @ np.diag(spherical_eigenvalues(values)) @ vectors.T

    Sigma = basis @ np.diag(lam) @ basis.T
    D = np.diag(np.exp(eta))
    expected = basis.T @ (matrix(D @ Sigma @ D) - matrix(Sigma)) @ basis
    scales = uncertainty.ScaleNoise.of(spherical_eigenvalues(lam), basis, np.ones(4))

    class Given:
        def normal(self, size):
            return eta

    np.testing.assert_allclose(scales.added(Given()), expected, atol=1e-9)


def test_higher_level_is_wider():
    matrix = np.diag([0.5, 0.3, 0.1, 0.1])
    narrow, wide = (loading_intervals(matrix, 0.01, 400, 2, level) for level in (0.5, 0.99))
    assert (wide.lower <= narrow.lower).all()
    assert (wide.upper >= narrow.upper).all()
    assert np.mean(wide.upper - wide.lower) > 2 * np.mean(narrow.upper - narrow.lower)


def testsign_moments_of_a_sphere_are_known():
    d = 7
    moments = uncertainty.sign_moments(np.full(d, 3.0))
    expected = (np.ones((d, d)) + 2 * np.eye(d)) / (d * (d + 2))
    np.testing.assert_allclose(moments, expected, rtol=1e-10)


def testsign_moments_add_up_to_the_eigenvalues():
    lam = np.array([10.0, 5.0, 1.0, 0.1, 0.0])
    phi = uncertainty.sign_moments(lam).sum(axis=1)
    np.testing.assert_allclose(phi, spherical_eigenvalues(lam), rtol=1e-9, atol=1e-14)


def test_many_columns_take_the_sparse_way_to_the_same_end(monkeypatch):
    spectrum = np.array([0.4, 0.2] + [0.4 / 38] * 38)
    matrix = np.diag(spectrum) + noise(40, 0.002, np.random.default_rng(0))
    dense = loading_intervals(matrix, 0.002, 1000, 2)
    monkeypatch.setattr(uncertainty, "DENSE", 4)
    sparse = loading_intervals(matrix, 0.002, 1000, 2)
    np.testing.assert_allclose(sparse.lower, dense.lower, atol=1e-5)
    np.testing.assert_allclose(sparse.angles, dense.angles, rtol=1e-4)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_whole_space_has_no_subspace_angle(d):
    found = loading_intervals(np.diag(np.arange(d, 0.0, -1.0)), 0.01, 100, d)
    assert found.subspace_angle == 0.0
    assert found.above_noise == d


def test_matrix_of_nothing_is_no_error():
    found = loading_intervals(np.zeros((3, 3)), 0.1, 50, 2, sampling=True)
    assert (found.upper == 1).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scatter": np.zeros((2, 3))}, "scatter"),
        ({"scatter": np.full((2, 2), np.nan)}, "scatter"),
        ({"n_components": 3}, "n_components"),
        ({"n_components": 0}, "n_components"),
        ({"level": 1.0}, "level"),
        ({"sampling": True, "n_samples": 0}, "n_samples"),
        ({"scale_error": [0.1]}, "scale_error"),
        ({"scale_error": [0.1, -0.1]}, "scale_error"),
    ],
)
def test_bad_parameters_are_named(change, message):
    given = {"scatter": np.eye(2), "noise_sd": 0.1, "n_samples": 10, "n_components": 1}
    with pytest.raises(ParameterError, match=message):
        loading_intervals(**(given | change))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "t1"])
@pytest.mark.parametrize(
    ("n", "d", "sd"), [(2000, 5, 0.0114), (2000, 25, 0.0114), (2000, 25, 0.0032), (6000, 10, 0.001)]
)
def test_coverage_on_tables(kind, n, d, sd):
    """The noise of ε = 0.5 and ε = 2 at n = 2000, δ = 1e-6."""
    rng = np.random.default_rng(1)
    privacy, both = [], []
    for run in range(40):
        X, truth = spiked(kind, n, d, run)
        exact = kendall_tau(X)
        directions = linalg.eigen_descending(exact)[1][:, :2].T
        noisy = exact + noise(d, sd, rng)
        privacy.append(covered(loading_intervals(noisy, sd, n, 2), directions))
        both.append(covered(loading_intervals(noisy, sd, n, 2, sampling=True), truth))
    assert 0.85 <= np.mean(privacy) <= 0.97
    assert 0.83 <= np.mean(both) <= 0.97
