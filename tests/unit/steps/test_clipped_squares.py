"""Sums of clipped squares."""

import numpy as np

from gdppca.steps.clipped_squares import square_sums


def test_sums_are_exact():
    """Whole numbers of 2⁻²⁴: order cannot matter."""
    sizes = np.random.default_rng(0).exponential(size=(5000, 2))
    bounds = np.array([0.7, 2.0])
    shuffled = np.random.default_rng(1).permutation(sizes)
    forwards, back = (square_sums(part, bounds) for part in (sizes, shuffled))
    np.testing.assert_array_equal(forwards, back)
    assert (forwards * 2**24 == np.rint(forwards * 2**24)).all()
