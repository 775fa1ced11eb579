"""The kernels on hostile input, against thousands of bits."""

import numpy as np
import pytest
from hostile import SIGNS, exact_pairs, frobenius_error, hostile_tables, sign_id

from gdppca import kendall_tau
from gdppca.kernels import (
    AllPairs,
    Blocks,
    guard,
    layout,
    pair_loops,
    pair_rounding_error,
    pair_sum,
    row_loops,
)
from gdppca.signs import Ball, Shell, Spherical, Trimmed

TABLES = dict(hostile_tables())


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("sign", SIGNS, ids=sign_id)
def test_hostile_input_is_summed_to_twelve_digits(name, sign):
    X = TABLES[name]
    for size in (None, 2, 7):
        K = kendall_tau(X, sign, "all" if size is None else size)
        assert frobenius_error(K, exact_pairs(X, sign, size), sign) <= 1e-12


@pytest.mark.parametrize("name", TABLES)
def test_many_tiles_agree_with_direct_sums(name, rng):
    # Large enough for several tiles; rows of the hostile table repeated with noise of its own size.
    X = np.repeat(TABLES[name], 30, axis=0)[:500]
    X = X * (1 + 1e-3 * rng.integers(-1, 2, size=X.shape))
    X = np.clip(X, -1.7e308, 1.7e308)
    i, j = np.tril_indices(len(X), k=-1)
    for sign in (Spherical(), Trimmed(1.0)):
        direct = guard.direct_scatter(X[i], X[j], sign) / len(i)
        assert np.linalg.norm(kendall_tau(X, sign) - direct) <= 1e-12


def test_clusters_take_every_way_through_the_guard(monkeypatch, rng):
    ways = set()
    for name in ("laplacian", "direct_scatter"):
        original = getattr(guard, name)

        def spy(*args, _name=name, _original=original, **kwargs):
            ways.add(_name)
            return _original(*args, **kwargs)

        monkeypatch.setattr(guard, name, spy)
    centres = rng.choice([0.0, 1.0, 2.0], size=(400, 1))
    kendall_tau(1e6 * centres + 1e-6 * rng.normal(size=(400, 20)))
    assert "laplacian" in ways
    ways.clear()
    X = rng.normal(size=(400, 4))
    X[1] = np.nextafter(X[0], 9)
    kendall_tau(X)
    assert ways == {"direct_scatter"}


def test_plain_data_never_leaves_the_product(monkeypatch, rng):
    def fail(*args):
        raise AssertionError("a plain table was sent to the slow path")

    monkeypatch.setattr(guard, "laplacian", fail)
    monkeypatch.setattr(guard, "direct_scatter", fail)
    for X in (rng.normal(size=(600, 30)), 1e8 + rng.normal(size=(600, 30))):
        kendall_tau(X)
        kendall_tau(X, pairs=64)
        kendall_tau(np.concatenate([X, X]), pairs=64)  # equal rows are no reason either


@pytest.mark.parametrize("d", [1, 37, 300])
def test_a_pair_distance_has_the_same_bits_everywhere(d, rng):
    """The distance of two rows must not depend on other rows: signs with an edge rely on it."""
    rows = rng.normal(size=(9, d)) * 10.0 ** rng.integers(-3, 4, size=(9, d))

    def lengths(stack, exponent=0):
        n, d = stack.shape
        on_side = np.zeros((d, layout.whole(n, layout.BLOCK_PADDING)))
        on_side[:, :n] = np.ldexp(stack, exponent).T
        squares = np.zeros((on_side.shape[1], on_side.shape[1]))
        pair_loops.pair_squares(on_side, on_side, False, squares)
        return np.ldexp(np.sqrt(squares[:n, :n]), -exponent)

    alone = np.array([[lengths(rows[[i, j]])[0, 1] for j in range(9)] for i in range(9)])
    together = lengths(rows)
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together, together.T)
    np.testing.assert_array_equal(lengths(rows, -400), alone)
    np.testing.assert_array_equal(lengths(np.repeat(rows, 7, axis=0))[::7, ::7], alone)
    i, j = np.indices((9, 9)).reshape(2, -1)
    differences, direct = np.empty((81, d)), np.empty(81)
    exponents = np.empty(81, dtype=np.int64)
    row_loops.pair_differences(rows[i], rows[j], differences, direct, exponents)
    np.testing.assert_array_equal(np.ldexp(direct, exponents), alone.ravel())


def test_one_row_cannot_flip_pairs_it_is_not_part_of(rng):
    """All distances at the edge of a trimmed sign; one row changes centre and scale of the rest."""
    X = rng.integers(0, 2, size=(240, 8)).astype(float)
    sign = Trimmed(np.sqrt(2.0))  # pairs at squared distance 4 sit on the edge exactly
    K = kendall_tau(X, sign)
    for replacement in (1e300, 1e-300, 12345.678):
        neighbour = X.copy()
        neighbour[0] = replacement * rng.normal(size=8)
        moved = np.linalg.norm(kendall_tau(neighbour, sign) - K)
        assert moved <= 2 * np.sqrt(2) / len(X)


def test_one_row_cannot_flip_pairs_through_underflow():
    """Squares of tiny coordinates break a tie, unless a huge row makes them underflow."""
    n = 200
    tiny = np.array([2.0**-58, 100000001.0, 8.0])
    X = np.where(np.arange(n)[:, None] % 2 == 0, 0.0, tiny)
    neighbour = X.copy()
    neighbour[0] = [2.0**484, 0.0, 0.0]
    edge = np.sqrt(float(100000001**2 + 64 - 1)) * (1 / np.sqrt(2.0))
    for sign in (Trimmed(edge), Ball(edge), Shell(edge / 2, edge), Shell(edge, 2 * edge)):
        for pairs in ("all", 64):
            moved = kendall_tau(X, sign, pairs) - kendall_tau(neighbour, sign, pairs)
            assert np.linalg.norm(moved) <= 2 * np.sqrt(2) * sign.sup_norm**2 / n


def test_huge_weights_are_kept_out_of_the_sums():
    weights = np.array([[9.0, 2.0**-1004, 4.0], [9.0, 9.0, 0.0], [9.0, 9.0, 9.0]])
    norms = np.zeros(3)
    refused = pair_loops.weigh(
        weights, None, 1.0, 3, 3, norms, norms, 100.0, guard.LARGEST_WEIGHT, True
    )
    assert refused == 1
    np.testing.assert_array_equal(weights, [[0, -1, 0.25], [0, 0, 0], [0, 0, 0]])


def test_equal_rows_weigh_nothing_unless_digits_may_be_lost():
    for norm, expected, count in ((1.0, 0.0, 0), (np.inf, -1.0, 1)):
        weights, norms = np.zeros((2, 2)), np.array([1.0, norm])
        refused = pair_loops.weigh(
            weights, None, 1.0, 2, 2, norms, norms, 100.0, guard.LARGEST_WEIGHT, True
        )
        assert refused == count
        assert weights[0, 1] == expected


@pytest.mark.parametrize("sign", [Spherical(), Trimmed(1.0)])
@pytest.mark.parametrize("size", [3, 16, 17, 64, 300])
@pytest.mark.parametrize("room", [2**14, 2])
def test_blocks_of_clusters_agree_with_direct_sums(sign, size, room, monkeypatch, rng):
    """Some pairs of every block are refused and some are not; the list of them may overflow."""
    monkeypatch.setattr(pair_sum, "LISTED", room)
    X = 1e6 * rng.integers(0, 2, size=(600, 1)) + rng.normal(size=(600, 5))
    X[::7] = X[3]
    i, j = np.tril_indices(600, k=-1)
    same = i // size == j // size
    direct = guard.direct_scatter(X[i[same]], X[j[same]], sign) * 2 / (600 * (size - 1))
    short = 600 % size
    if short:
        last = i[same] >= 600 - short
        extra = guard.direct_scatter(X[i[same][last]], X[j[same][last]], sign)
        direct += extra * 2 / 600 * (1 / max(1, short - 1) - 1 / (size - 1))
    assert np.linalg.norm(kendall_tau(X, sign, size) - direct) <= 1e-12


@pytest.mark.parametrize("scheme", [AllPairs(), Blocks(64), Blocks(500)])
def test_rounding_bound_stays_below_a_thousandth_of_the_sensitivity(scheme):
    largest = {"all": 10**6, "blocks": 10**8}[scheme.name]
    for n in (2, 100, 10**4, largest):
        assert 2 * pair_rounding_error(scheme, n, 1000) <= 1e-3 * 2 * np.sqrt(2) / n


def test_observed_error_stays_below_the_proven_bound(rng):
    X = rng.standard_cauchy((300, 5))
    i, j = np.tril_indices(300, k=-1)
    direct = guard.direct_scatter(X[i], X[j], Spherical()) / len(i)
    error = np.linalg.norm(kendall_tau(X) - direct)
    assert error <= pair_rounding_error(AllPairs(), 300, 5)


def test_sign_that_breaks_its_bound_is_held_to_it(rng):
    class Liar(Spherical):
        def radial(self, s):
            return np.where(s > 1.5, 1e9, np.where(s > 1.0, np.nan, 0.5))

    K = pair_sum.all_pairs_sum(rng.normal(size=(50, 3)), Liar())
    assert np.trace(K) <= 50 * 49 / 2
