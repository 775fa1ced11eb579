"""What an error of the centre does to the matrix, against simulated rows."""

import numpy as np
import pytest

from gdppca.theory import components_above_noise, spherical_eigenvalues
from gdppca.theory.shifted import centre_rise, shifted_matrix, typical_distance

LAM = np.array([4.0, 1.0, 0.5])


def test_without_an_error_it_is_the_matrix_itself():
    matrix = shifted_matrix(LAM, np.zeros(3))
    np.testing.assert_allclose(matrix, np.diag(spherical_eigenvalues(LAM)), atol=1e-12)


@pytest.mark.parametrize("shift", [[0.1, 0.2, 0.3], [0.0, 2.0, -1.0], [5.0, 0.0, 0.0]])
def test_shifted_matrix_is_that_of_shifted_rows(shift):
    rows = np.random.default_rng(0).normal(size=(400_000, 3)) * np.sqrt(LAM) + shift
    units = rows / np.linalg.norm(rows, axis=1)[:, None]
    matrix = shifted_matrix(LAM, np.array(shift))
    np.testing.assert_allclose(matrix, units.T @ units / len(units), atol=3e-3)
    assert np.trace(matrix) == pytest.approx(1.0)


def test_typical_distance_is_the_inverse_of_the_mean_inverse():
    rows = np.random.default_rng(1).normal(size=(400_000, 3)) * np.sqrt(LAM)
    seen = 1 / np.mean(1 / np.linalg.norm(rows, axis=1))
    assert typical_distance(LAM) == pytest.approx(seen, rel=0.01)


def test_beside_one_wide_direction_the_rise_is_of_the_order_of_the_error():
    narrow, wide = (centre_rise(np.array([1.0]), length) for length in (0.01, 0.02))
    assert wide == pytest.approx(2 * narrow, rel=0.05)
    narrow, wide = (centre_rise(np.ones(8), length) for length in (0.01, 0.02))
    assert wide == pytest.approx(4 * narrow, rel=0.05)


def test_what_the_centre_made_does_not_stand_above_the_noise():
    """One wide column, and a second eigenvalue that an error of a hundredth explains."""
    values = np.array([0.985, 0.012, 0.001, 0.001, 0.001])
    assert components_above_noise(values, 1e-4, 20_000) >= 2
    assert components_above_noise(values, 1e-4, 20_000, centre_bias=5 * 0.005**2) == 1


def test_nothing_depends_on_how_numpy_takes_underflow():
    with np.errstate(all="raise"):
        assert 0 < centre_rise(np.array([1.0, 1e-6]), 0.01) < 1
        components_above_noise(np.array([0.98, 0.01, 0.01]), 1e-4, 5000, centre_bias=1e-4)
