"""Sums of unit vectors are exact, whatever the sizes of the rows."""

import numpy as np
import pytest

from gdppca.kernels.directions import STEP, direction_sum, look_sum, rounded_length
from gdppca.kernels.weights import exact_sums
from gdppca.linalg import directions


@pytest.mark.parametrize("size", [1.0, 1e-310, 1e307, 1e200, 1e-200])
def test_sum_and_lengths_of_any_size(size):
    X = np.random.default_rng(0).normal(size=(700, 3)) * size
    total, lengths = direction_sum(X, np.zeros(3))
    unit, expected = directions(X)
    np.testing.assert_allclose(total, unit.sum(axis=0), atol=700 * STEP)
    np.testing.assert_allclose(lengths, expected, rtol=1e-12, atol=5e-324)


def test_far_centre_and_a_row_at_the_centre():
    center = np.array([1e308, -1e308])
    total, lengths = direction_sum(np.stack([center, -center]), center)
    np.testing.assert_allclose(total, [-np.sqrt(0.5), np.sqrt(0.5)], atol=STEP)
    assert lengths[0] == 0
    assert np.isfinite(lengths).all()


def test_one_row_moves_the_sum_by_its_own_rounded_vectors():
    rng = np.random.default_rng(1)
    X = rng.standard_cauchy((40_000, 4)) * 10.0 ** rng.uniform(-200, 200, size=(40_000, 1))
    neighbour = X.copy()
    neighbour[17] = -1e5
    first, second = direction_sum(X, np.ones(4))[0], direction_sum(neighbour, np.ones(4))[0]
    own = direction_sum(X[17:18], np.ones(4))[0] - direction_sum(neighbour[17:18], np.ones(4))[0]
    np.testing.assert_array_equal(first - second, own)  # to the last bit


def test_exact_sum_is_exact():
    values = np.random.default_rng(2).uniform(-1, 1, size=10_000)
    assert exact_sums(values, None) == exact_sums(values[::-1], None)
    assert exact_sums(values, None) == pytest.approx(values.sum(), abs=10_000 * STEP)


def test_rounded_length_covers_the_rounding():
    unit = directions(np.random.default_rng(3).normal(size=(2000, 9)))[0]
    rounded = np.rint(unit / STEP) * STEP
    assert np.linalg.norm(rounded, axis=1).max() <= rounded_length(1.0, 9)


@pytest.mark.parametrize("parts", [None, np.arange(40_000) * 1000], ids=["whole", "weighted"])
def test_a_look_is_the_sum_with_a_number_beside_it(parts):
    X = np.random.default_rng(4).standard_cauchy((40_000, 3))
    total, lengths = direction_sum(X, np.ones(3), parts)
    looked = look_sum(X, np.ones(3), np.tanh, parts)
    np.testing.assert_array_equal(looked[:3], total)
    assert looked[3] == exact_sums(np.tanh(lengths), parts)


def test_missing_cells_are_at_the_centre():
    X = np.random.default_rng(5).normal(size=(1003, 4)) * 10.0 ** np.arange(0, 400, 100)
    X[::3, 1], X[5], center = np.nan, np.nan, np.full(4, 0.3)
    total, lengths = direction_sum(X, center)
    expected, others = direction_sum(np.where(np.isnan(X), center, X), center)
    np.testing.assert_array_equal(total, expected)
    np.testing.assert_array_equal(lengths, others)
