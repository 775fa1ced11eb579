"""Packing, eigenvectors and angles."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from gdppca import ParameterError, sin_theta
from gdppca.linalg import (
    LARGEST,
    directions,
    eigen_descending,
    packed_length,
    packed_order,
    vecd,
    vecd_inverse,
    with_stable_signs,
)


@pytest.mark.parametrize("d", [1, 2, 3, 17])
def test_packing_keeps_lengths_and_comes_back(d, rng):
    M = rng.normal(size=(d, d))
    M = M + M.T
    packed = vecd(M)
    assert len(packed) == packed_length(d)
    assert packed_order(len(packed)) == d
    assert np.linalg.norm(packed) == pytest.approx(np.linalg.norm(M))
    np.testing.assert_allclose(vecd_inverse(packed), M, rtol=1e-15)
    np.testing.assert_array_equal(vecd_inverse(packed), vecd_inverse(packed).T)


@pytest.mark.parametrize("d", [1, 100, 2000, 46_340])
def test_packed_order_is_exact_for_large_matrices(d):
    assert packed_order(packed_length(d)) == d


def test_eigenvectors_come_largest_first_with_stable_signs(rng):
    M = rng.normal(size=(6, 6))
    M = M @ M.T
    values, vectors = eigen_descending(M)
    assert np.all(np.diff(values) <= 0)
    np.testing.assert_allclose(M @ vectors, vectors * values, atol=1e-12)
    heaviest = np.abs(vectors).argmax(axis=0)
    assert np.all(vectors[heaviest, range(6)] > 0)
    np.testing.assert_array_equal(with_stable_signs(-vectors), vectors)


@pytest.mark.parametrize("m", [1, 2, 4])
def test_sin_theta_is_the_sine_of_the_largest_angle(m, rng):
    a, b = rng.normal(size=(2, m, 7))
    assert sin_theta(a, b) == pytest.approx(np.sin(subspace_angles(a.T, b.T).max()))
    assert sin_theta(a, b) == pytest.approx(sin_theta(b, a))
    assert sin_theta(a, rng.normal(size=(m, m)) @ a) == pytest.approx(0, abs=1e-12)


def test_sin_theta_keeps_its_digits_at_small_angles():
    assert sin_theta([[1.0, 0.0]], [[1.0, 1e-9]]) == pytest.approx(1e-9, rel=1e-6)


def test_sin_theta_takes_single_vectors():
    assert sin_theta([1.0, 0.0], [0.0, 2.0]) == 1.0


def test_sin_theta_refuses_what_has_no_angle():
    with pytest.raises(ParameterError, match="one shape"):
        sin_theta(np.eye(3)[:1], np.eye(3)[:2])
    with pytest.raises(ParameterError, match="independent"):
        sin_theta([[1.0, 0.0], [2.0, 0.0]], np.eye(2))
    with pytest.raises(ParameterError, match="finite"):
        sin_theta([[np.nan, 0.0]], [[1.0, 0.0]])


def test_directions_survive_the_whole_range_of_floats():
    rows = np.array([[3e-324, 4e-324], [3e307, 4e307], [LARGEST, LARGEST], [0, 0], [5e-324, 0]])
    unit, length = directions(rows)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), [1, 1, 1, 0, 1])
    assert length[1] == pytest.approx(5e307)
    assert length[2] == LARGEST
