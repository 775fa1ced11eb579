"""A search for a row or person that moves what lies across directions further than stated."""

import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gdppca import ParameterError
from gdppca.kernels import Cross, CrossSum
from gdppca.kernels.weights import WHOLE, whole_parts
from gdppca.privacy import Neighbors
from gdppca.sensitivity import Moves

entries = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 2.0, 1e6, 1e-6, 1e300, 1.7e308, -1.7e308, 5e-324, -5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
)
REPLACING, ADDING = Moves(), Moves(Neighbors.ADD_REMOVE)


@st.composite
def crosses(draw):
    """Directions of any kind: axes, random ones, and some that are orthonormal up to rounding."""
    d = draw(st.integers(2, 6))
    m = draw(st.integers(1, d - 1))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    if draw(st.booleans()):
        V = np.eye(d)[rng.permutation(d)]
    factors = draw(arrays(float, m, elements=st.floats(1e-3, 1.0)))
    clip = draw(st.sampled_from([1e-4, 0.01, 0.1, 0.3, 0.5, 1.0]))
    return Cross(np.ascontiguousarray(V[:m]), factors, clip)


def rows_for(draw, cross, n):
    """Any rows, and those that lie along the directions, beside them, or halfway."""
    d = cross.directions.shape[1]
    X = draw(arrays(float, (n, d), elements=entries))
    beside = np.linalg.svd(cross.directions)[2][-1]
    size = draw(st.sampled_from([1.0, 1e300, 1e-300, 5e-324]))
    special = [cross.directions[0], beside, cross.directions[0] + beside]
    for i, kind in enumerate(draw(arrays(int, n, elements=st.integers(0, 5)))):
        if kind < 3:
            X[i] = special[kind] * size
    return X


def mean(X, cross, centre, parts=None, number=None):
    with np.errstate(all="ignore"):
        return CrossSum(centre, cross).add_rows(X, parts=parts).mean(number)


@settings(max_examples=500)
@given(data=st.data(), cross=crosses())
def test_no_replaced_row_moves_it_further_than_stated(data, cross):
    m, d = cross.directions.shape
    n = data.draw(st.integers(1, 6))
    X = rows_for(data.draw, cross, n)
    neighbour = X.copy()
    neighbour[0] = rows_for(data.draw, cross, 1)
    centre = data.draw(st.sampled_from([np.zeros(d), np.linspace(-1, 1, d)]))
    moved = np.linalg.norm(mean(X, cross, centre) - mean(neighbour, cross, centre))
    bound = REPLACING.cross(cross.clip, n, d, m)
    target(moved / bound)
    assert moved <= bound
    less = np.linalg.norm(mean(X, cross, centre, number=9) - mean(X[1:], cross, centre, number=9))
    assert less <= ADDING.cross(cross.clip, 9, d, m)


@settings(max_examples=200)
@given(data=st.data(), cross=crosses())
def test_no_person_moves_it_further_than_one_row_can(data, cross):
    """Rows of one person share whole-number weights that never add up to more than one."""
    m, d = cross.directions.shape
    many, few = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 3))
    first, second = rows_for(data.draw, cross, many), rows_for(data.draw, cross, few)
    shares = data.draw(arrays(float, many, elements=st.floats(0, 1)))
    parts = whole_parts(many, shares)
    assert parts.sum() <= WHOLE
    before = mean(first, cross, np.zeros(d), parts, number=1)
    after = mean(second, cross, np.zeros(d), whole_parts(np.full(few, few)), number=1)
    assert np.linalg.norm(before - after) <= REPLACING.cross(cross.clip, 1, d, m)
    assert np.linalg.norm(before) <= ADDING.cross(cross.clip, 1, d, m)


def test_a_climb_reaches_the_bound_and_not_beyond():
    """Rows halfway between a direction and another one: the bound is met to nine digits."""
    rng, d, best = np.random.default_rng(5), 12, 0.0
    V = np.linalg.qr(rng.standard_normal((d, 2)))[0].T.copy()
    cross = Cross(V, np.array([0.4, 1.0]), 0.5)
    row = rng.standard_normal(d)
    bound = REPLACING.cross(cross.clip, 1, d, 2)
    size = 1.0
    for _ in range(4000):
        tried = row + size * rng.standard_normal(d)
        along = V.T @ (V @ tried)
        mirrored = tried - 2 * along  # the opposite part, as long
        moved = np.linalg.norm(
            mean(tried[None], cross, np.zeros(d)) - mean(mirrored[None], cross, np.zeros(d))
        )
        assert moved <= bound
        if moved > best:
            row, best = tried, moved
        else:
            size = max(size * 0.995, 1e-9)
    assert best > 0.999 * bound


def test_a_row_s_part_has_the_same_bits_wherever_it_stands():
    rng = np.random.default_rng(1)
    X = rng.standard_t(1, size=(1030, 9))
    cross = Cross(np.linalg.qr(rng.standard_normal((9, 3)))[0].T.copy(), np.ones(3), 0.2)
    alone = mean(X[:1], cross, np.zeros(9))
    for place in (1, 3, 4, 1029):
        zeros = np.zeros((1030, 9))
        zeros[place] = X[0]
        np.testing.assert_array_equal(mean(zeros, cross, np.zeros(9), number=1), alone)


@pytest.mark.parametrize(
    ("directions", "factors", "clip"),
    [
        (np.eye(3)[:2], [1.0, 0.0], 0.1),
        (np.eye(3)[:2], [1.0, 1.5], 0.1),
        (np.eye(3)[:2], [1.0], 0.1),
        (2 * np.eye(3)[:1], [1.0], 0.1),
        (np.full((1, 3), np.nan), [1.0], 0.1),
        (np.eye(3)[:1], [1.0], 0.0),
        (np.eye(3)[:1], [1.0], np.nan),
    ],
)
def test_what_the_bound_does_not_hold_for_is_refused(directions, factors, clip):
    with pytest.raises(ParameterError, match="out of range"):
        Cross(directions, np.array(factors), clip)
