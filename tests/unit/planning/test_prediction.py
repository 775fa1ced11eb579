"""The law of the noisy matrix, and the angles that follow from it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate

from gdppca.planning.prediction import (
    Law,
    expected_angles,
    expected_count,
    pair_ratio,
    sign_moments,
    sign_ratios,
)
from gdppca.signs import Spherical, Trimmed, Winsor
from gdppca.theory import spherical_eigenvalues, winsor_eigenvalues


def law(phi, noise_sd=0.0, sampling=0.0, centre_error=0.0):
    phi = np.asarray(phi, dtype=float)
    square = np.full((len(phi), len(phi)), float(sampling))
    return Law(eigenvalues=phi, sampling=square, noise_sd=noise_sd, centre_error=centre_error)


def test_moments_of_equal_variances_are_those_of_the_sphere():
    d = 7
    expected = 1 / (d * (d + 2))  # E[u_j² u_k²]; E[u_j⁴] is three times that
    np.testing.assert_allclose(sign_moments(np.ones(d)), expected, rtol=1e-10)


@pytest.mark.parametrize("variances", [[4.0, 1.0], [9.0, 3.0, 1.0, 0.2], [1.0, 1e-4, 1e-8]])
def test_moments_add_up_to_the_eigenvalues(variances):
    # Σ_k E[u_j² u_k²] = E[u_j²], with three times the diagonal.
    moments = sign_moments(np.array(variances))
    rows = moments.sum(axis=1) + 2 * np.diagonal(moments)
    np.testing.assert_allclose(rows, spherical_eigenvalues(variances), rtol=1e-9)


def test_moments_in_two_columns_by_quadrature():
    a, b = 4.0, 1.0

    def squares(angle):
        x, y = a * np.cos(angle) ** 2, b * np.sin(angle) ** 2
        return x * y / (x + y) ** 2 / (2 * np.pi)

    exact = integrate.quad(squares, 0, 2 * np.pi)[0]
    assert sign_moments(np.array([a, b]))[0, 1] == pytest.approx(exact, rel=1e-8)


def test_pair_ratio_lies_between_gaussian_and_cauchy_rows():
    # 0.67 and 1.02 at five columns, 0.98 and 1.2 at a hundred, from 400,000 triples.
    few, many = np.ones(5), np.ones(100)
    few[:2] = many[:2] = 10, 5
    assert 0.75 < pair_ratio(few) < 0.92
    assert 1.02 < pair_ratio(many) < 1.16
    assert pair_ratio(np.ones(1)) == 1.0


def test_without_any_noise_there_is_no_error():
    angles = expected_angles(law([0.5, 0.3, 0.2]), 2)
    assert angles.sin_theta == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(angles.per_component, 0.0, atol=1e-6)


def test_all_components_span_everything():
    assert expected_angles(law([0.5, 0.3, 0.2], noise_sd=0.1), 3).sin_theta == 0.0


def test_small_noise_follows_first_order_theory():
    # One component: sin² ≈ Σ_k v / (φ_1 - φ_k)², v = σ²/2 + sampling.
    d, gap, noise_sd, sampling = 60, 0.3, 1e-3, 1e-6
    phi = np.append(0.4, np.full(d - 1, 0.1))
    expected = np.sqrt((d - 1) * (noise_sd**2 / 2 + sampling)) / gap
    angles = expected_angles(law(phi, noise_sd, sampling), 1)
    assert angles.sin_theta == pytest.approx(expected, rel=0.03)
    assert angles.sin_theta == pytest.approx(angles.per_component[0], rel=1e-6)


def test_overwhelming_noise_leaves_a_random_direction():
    d = 40
    angles = expected_angles(law(np.full(d, 1 / d) + np.eye(d)[0] * 1e-3, noise_sd=100.0), 1)
    expected = 1 - 0.5 / d  # a random direction's
    assert angles.sin_theta == pytest.approx(expected, abs=0.02)


def test_error_is_a_smooth_falling_curve_of_the_noise():
    phi = spherical_eigenvalues(np.append([10.0, 5.0], np.ones(13)))
    sines = [expected_angles(law(phi, s), 2).sin_theta for s in np.geomspace(0.1, 0.001, 20)]
    assert (np.diff(sines) < 0).all()
    slopes = np.diff(np.log(sines))
    assert (np.abs(np.diff(slopes)) < 0.1).all()
    assert sines[0] == expected_angles(law(phi, 0.1), 2).sin_theta


def test_centre_off_its_place_adds_to_the_error():
    phi = [0.4, 0.2, 0.1, 0.1, 0.1, 0.1]
    right, off = (expected_angles(law(phi, 0.01, centre_error=e), 2).sin_theta for e in (0.0, 0.2))
    assert off > 1.5 * right


def test_large_and_small_matrices_take_different_ways_to_one_answer(monkeypatch):
    phi = spherical_eigenvalues(np.append([10.0, 5.0], np.ones(18)))
    together = expected_angles(law(phi, 0.01), 2)
    monkeypatch.setattr("gdppca.planning.prediction._SMALL", 0)
    one_by_one = expected_angles(law(phi, 0.01), 2)
    assert one_by_one.sin_theta == pytest.approx(together.sin_theta, rel=1e-9)
    np.testing.assert_allclose(one_by_one.per_component, together.per_component, rtol=1e-6)


@pytest.mark.parametrize(("noise_sd", "count"), [(1e-4, 2), (0.02, 1), (1.0, 0)])
def test_count_falls_with_the_noise(noise_sd, count):
    assert expected_count(law([0.5, 0.2, 0.1, 0.1, 0.1], noise_sd), 10**6) == count


def test_small_errors_of_scales_follow_first_order_theory():
    # DΣD - Σ has entries (λ_1 + λ_k) G_1k in the basis of the directions, and G_1k = Σ_i τ z_i
    # Q_i1 Q_ik has the variance τ²/(d + 2) for a random basis Q.
    d, top, error = 60, 5.0, 1e-3
    variances = np.append(top, np.ones(d - 1))
    known = law(spherical_eigenvalues(variances))
    off = replace(known, variances=variances, scale_error=error)
    expected = error * np.sqrt((d - 1) / (d + 2)) * (top + 1) / (top - 1)
    assert expected_angles(off, 1).sin_theta == pytest.approx(expected, rel=0.03)
    assert expected_angles(known, 1).sin_theta == pytest.approx(0.0, abs=1e-6)


def test_wild_errors_of_scales_leave_a_finite_answer():
    variances = np.array([1e100, 1.0, 0.0])
    off = replace(law(spherical_eigenvalues(variances)), variances=variances, scale_error=2.0)
    assert 0 < expected_angles(off, 1).sin_theta <= 1


def test_signs_relative_to_the_spherical_one():
    variances = np.array([9.0, 4.0, 1.0, 1.0])
    phi = spherical_eigenvalues(variances)
    for sign in (Spherical(), Trimmed(radius=1e6)):
        for ratio in sign_ratios(sign, variances):
            np.testing.assert_allclose(ratio, 1.0)
    # Eq 3.2 by quadrature.
    first, second = sign_ratios(Winsor(radius=2.0), variances)
    np.testing.assert_allclose(first * phi, winsor_eigenvalues(variances, 2.0), rtol=0.01)
    # A radius below every length is the spherical sign times the radius.
    first, second = sign_ratios(Winsor(radius=1e-6), variances)
    np.testing.assert_allclose(first, 1e-12)
    np.testing.assert_allclose(second, 1e-24)


def test_column_that_does_not_vary_is_no_error():
    first, second = sign_ratios(Winsor(radius=1.0), np.array([1.0, 1.0, 0.0]))
    assert np.isfinite(first).all()
    assert np.isfinite(second).all()
