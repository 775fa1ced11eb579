"""Rows of ordinary size go a plain way, odd ones a careful one: both within the proven bound."""

import mpmath
import numpy as np
import pytest
from hostile import hostile_tables

from gdppca.kernels import OneSample, SignSum, direct_rounding_error
from gdppca.kernels.guard import DIRECT_ROWS, UNIT_ROUNDOFF
from gdppca.kernels.row_loops import (
    LARGEST_SQUARE,
    SMALLEST_SQUARE,
    centred_rows,
    pair_differences,
    unit_rows,
)
from gdppca.sensitivity import REPLACING

LOW, HIGH = np.sqrt(SMALLEST_SQUARE), np.sqrt(LARGEST_SQUARE)  # lengths where the ways part
PRECISION = 4500


def edge_rows(d):
    """Rows on both sides of where the ways part, and rows that lose digits on the way."""
    rng = np.random.default_rng(d)
    usual = rng.normal(size=(12, d))
    usual /= np.linalg.norm(usual, axis=1)[:, None]
    near = [size * (1 + k * 2.0**-50) * usual[0] for size in (LOW, HIGH) for k in (-9, -1, 0, 1, 9)]
    tiny = usual[1].copy()
    tiny[1:] = 5e-324
    mixed = 10.0 ** rng.uniform(-320, 300, size=(20, d)) * rng.choice([-1.0, 1.0], size=(20, d))
    huge = np.sign(usual[2]) * 1.7e308
    ends = [np.full(d, 5e-324), huge, LOW * 2.0**-60 * usual[3], tiny, tiny * LOW, tiny[::-1] * LOW]
    return np.array([*near, *ends, *mixed, *usual, np.zeros(d)])


def exact_units(X, center):
    """Unit vectors in thousands of bits."""
    units = []
    for row in X:
        t = [mpmath.mpf(float(x)) - mpmath.mpf(float(c)) for x, c in zip(row, center, strict=True)]
        length = mpmath.sqrt(sum(each * each for each in t))
        units.append([each / length if length else mpmath.mpf(0) for each in t])
    return units


def far_off(computed, exact):
    """Largest distance between computed vectors and exact ones."""
    return max(
        float(mpmath.sqrt(sum((mpmath.mpf(float(a)) - b) ** 2 for a, b in zip(*pair, strict=True))))
        for pair in zip(computed, exact, strict=True)
    )


@pytest.mark.parametrize("d", [1, 3, 20, 101])
def test_every_unit_vector_is_as_good_as_proven(d):
    centre = np.random.default_rng(0).normal(size=d)
    beside = np.nextafter(centre, np.where(np.arange(d) % 2, 9.0, -9.0))  # all digits cancel
    for center, more in ((np.zeros(d), []), (centre, [centre, beside, -centre])):
        X = np.ascontiguousarray([*edge_rows(d), *more])
        units = np.empty_like(X)
        unit_rows(X, center[None], units)
        with mpmath.workprec(PRECISION):
            assert far_off(units, exact_units(X, center)) <= (d + 8) * UNIT_ROUNDOFF


def test_a_hostile_row_does_not_change_those_beside_it():
    """Which way a row goes, and what comes out, is seen in the row alone."""
    rows = edge_rows(5)
    rng = np.random.default_rng(1)
    shuffled = rows[rng.permutation(len(rows))]
    together, alone = np.empty_like(shuffled), np.empty_like(shuffled)
    unit_rows(shuffled, np.ones((1, 5)), together)
    for i in range(len(shuffled)):
        unit_rows(shuffled[i : i + 1], np.ones((1, 5)), alone[i : i + 1])
    np.testing.assert_array_equal(together, alone)


def test_both_ways_give_the_same_bits():
    X = np.random.default_rng(2).standard_cauchy((4099, 7)) * 2.0**100
    center = X[:1] / 3
    plain, careful = np.empty_like(X), np.empty_like(X)
    lengths, others = np.empty(len(X)), np.empty(len(X))
    none, exponents = np.empty(len(X), dtype=np.int64), np.empty(len(X), dtype=np.int64)
    centred_rows(X, center, plain, lengths, none)
    pair_differences(X, center, careful, others, exponents)
    assert not none.any()
    assert exponents.all()
    np.testing.assert_array_equal(lengths, np.ldexp(others, exponents))
    np.testing.assert_array_equal(plain, np.ldexp(careful, exponents[:, None]))
    units = np.empty_like(X)
    unit_rows(X, center, units)
    np.testing.assert_array_equal(units, careful * (1 / others)[:, None])


def tables():
    """Tables of as many rows as are summed by one product, each full of what may hurt."""
    rng = np.random.default_rng(3)
    yield "equal rows", np.tile(rng.normal(size=(1, 4)), (DIRECT_ROWS, 1))
    yield "edges", np.resize(edge_rows(4), (DIRECT_ROWS, 4))
    yield (
        "one direction",
        np.ones((DIRECT_ROWS, 4)) * 10.0 ** rng.uniform(-300, 300, (DIRECT_ROWS, 1)),
    )
    yield "signs that cancel", rng.choice([-1.0, 1.0], size=(DIRECT_ROWS, 4)) * LOW
    for name, X in hostile_tables():
        yield name, np.resize(X, (DIRECT_ROWS, X.shape[1]))


@pytest.mark.parametrize(
    ("name", "X"), list(tables()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_no_table_beats_the_proven_bound(name, X):
    d = X.shape[1]
    mean = SignSum("spherical", np.zeros(d)).update(X).mean()
    with mpmath.workprec(300):
        kinds, times = np.unique(X, axis=0, return_counts=True)
        units = exact_units(kinds, np.zeros(d))
        squares = mpmath.mpf(0)
        for k in range(d):
            for m in range(d):
                each = (int(t) * u[k] * u[m] for t, u in zip(times, units, strict=True))
                squares += (mpmath.mpf(float(mean[k, m])) - sum(each) / len(X)) ** 2
        assert float(mpmath.sqrt(squares)) <= direct_rounding_error(d)


@pytest.mark.parametrize("size", [1.0, LOW, HIGH, 5e-324, 1.7e308, LOW * (1 - 2.0**-52)])
@pytest.mark.parametrize("other", [1.0, LOW, HIGH, 1.7e308])
def test_one_row_moves_the_mean_by_no_more_than_declared(size, other):
    """Attained to nine digits, from either side of where the ways part."""
    n, d = 1500, 6
    X = np.random.default_rng(4).normal(size=(n, d))
    X[7], Y = size * np.eye(d)[0], X.copy()
    Y[7] = other * np.eye(d)[1]
    center = np.zeros(d)
    first, second = (SignSum("spherical", center).update(each).mean() for each in (X, Y))
    moved, declared = np.linalg.norm(first - second), REPLACING.scatter(OneSample(), 1.0, n, d)
    assert moved <= declared
    assert moved >= declared * (1 - 1e-9)
