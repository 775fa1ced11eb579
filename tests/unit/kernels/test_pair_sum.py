"""Pair sums: all pairs, halves, blocks, merging."""

import numpy as np
import pytest

from gdppca import DataError, PairSum, ParameterError, kendall_tau
from gdppca.kernels import AllPairs, Blocks, Halves, as_scheme
from gdppca.signs import Spherical, Trimmed, Winsor


def by_definition(X, sign, blocks):
    """The sum over pairs as it is written, one outer product at a time."""
    K = 0
    for block in blocks:
        for a, i in enumerate(block):
            for j in block[:a]:
                g = sign((X[i] - X[j]) / np.sqrt(2))
                K = K + np.outer(g, g) * 2 / (len(block) - 1)
    return K / sum(map(len, blocks))


@pytest.mark.parametrize("sign", [Spherical(), Winsor(2.0), Trimmed(3.0)])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (65, 3), (250, 5), (490, 17)])
def test_all_pairs_are_the_definition(sign, n, d, rng):
    X = rng.standard_t(2, size=(n, d))
    np.testing.assert_allclose(kendall_tau(X, sign), by_definition(X, sign, [range(n)]), atol=1e-14)


@pytest.mark.parametrize("size", [2, 3, 8, 64])
def test_blocks_are_the_definition(size, rng):
    X = rng.standard_t(2, size=(150, 4))
    blocks = [range(s, min(150, s + size)) for s in range(0, 150, size)]
    expected = by_definition(X, Spherical(), [b for b in blocks if len(b) > 1])
    weight = sum(len(b) for b in blocks if len(b) > 1) / 150
    np.testing.assert_allclose(kendall_tau(X, pairs=size), weight * expected, atol=1e-14)


@pytest.mark.parametrize("n", [8, 9])
def test_halves_pair_row_i_with_row_i_plus_half(n, rng):
    X = rng.normal(size=(n, 3))
    signs = Spherical()((X[4:8] - X[:4]) / np.sqrt(2))
    np.testing.assert_allclose(kendall_tau(X, pairs="halves"), signs.T @ signs / 4, atol=1e-15)


def test_large_blocks_equal_all_pairs_of_each(rng):
    X = rng.normal(size=(1300, 3))
    expected = (600 * kendall_tau(X[:600]) + 600 * kendall_tau(X[600:1200])) / 1300
    expected += 100 * kendall_tau(X[1200:]) / 1300
    np.testing.assert_allclose(kendall_tau(X, pairs=600), expected, atol=1e-14)


def test_order_is_the_order_of_rows(rng):
    X = rng.normal(size=(100, 3))
    order = rng.permutation(100)
    for pairs in (8, "halves"):
        np.testing.assert_allclose(
            kendall_tau(X, pairs=pairs, order=order), kendall_tau(X[order], pairs=pairs), atol=1e-15
        )


@pytest.mark.parametrize("cuts", [[], [1], [7, 8, 63], [64], [100, 100, 150]])
def test_batches_add_up_to_the_whole(cuts, rng):
    X = rng.normal(size=(200, 3))
    sums = PairSum(pairs=16)
    for batch in np.split(X, cuts):
        sums.update(batch)
    np.testing.assert_allclose(sums.mean(), kendall_tau(X, pairs=16), atol=1e-15)


def test_merge_of_whole_blocks_equals_the_whole(rng):
    X = rng.normal(size=(192, 3))
    parts = [PairSum(pairs=32).update(part) for part in np.split(X, 3)]
    merged = parts[2].merge(parts[0]).merge(parts[1])
    assert merged.n_samples == 192
    np.testing.assert_allclose(merged.mean(), kendall_tau(X, pairs=32), atol=1e-15)


def test_merge_keeps_the_rows_of_unfinished_blocks(rng):
    X = rng.normal(size=(50, 3))
    merged = PairSum(pairs=32).update(X[:20]).merge(PairSum(pairs=32).update(X[20:]))
    assert merged.n_samples == 50
    np.testing.assert_allclose(merged.mean(), kendall_tau(X, pairs=32), atol=1e-15)


def test_merge_refuses_another_sign_or_block_size(rng):
    X = rng.normal(size=(10, 3))
    mine = PairSum(pairs=4).update(X)
    for other in (PairSum(pairs=8), PairSum("winsor", pairs=4)):
        with pytest.raises(ParameterError, match="merge"):
            mine.merge(other.update(X))


def test_threads_do_not_change_a_bit(monkeypatch, rng):
    X = rng.normal(size=(900, 6))
    big = rng.normal(size=(70_000, 3))
    several = kendall_tau(X), kendall_tau(big, pairs=64)
    monkeypatch.setattr("gdppca.kernels.parallel.usable_cores", lambda: 1)
    one = kendall_tau(X), kendall_tau(big, pairs=64)
    for a, b in zip(several, one, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("pairs", ["all", 64])
def test_progress_counts_to_the_end(pairs, rng):
    seen = []
    X = rng.normal(size=(600, 2))
    kendall_tau(X, pairs=pairs, progress=lambda *step: seen.append(step))
    assert seen[-1][0] == seen[-1][1] == len(seen)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_rows_are_refused(bad, rng):
    X = rng.normal(size=(10, 2))
    X[3, 1] = bad
    with pytest.raises(DataError, match="NaN or inf"):
        kendall_tau(X)


def test_too_few_rows_and_wrong_shapes_are_refused(rng):
    with pytest.raises(DataError, match="two rows"):
        kendall_tau(np.ones((1, 3)))
    with pytest.raises(DataError, match="matrix"):
        kendall_tau(np.ones(5))
    with pytest.raises(DataError, match="two rows"):
        PairSum().mean()
    with pytest.raises(DataError, match="columns"):
        PairSum(n_features=2).update(np.ones((4, 3)))


def test_scheme_follows_the_shape_alone():
    assert as_scheme("auto", 2000, 25) == AllPairs()
    assert as_scheme("auto", 10**6, 25) == Blocks(64)
    assert as_scheme("all", 10**6, 25) == AllPairs()
    assert as_scheme("halves", 10, 2) == Halves()
    assert as_scheme(np.int64(16), 10, 2) == Blocks(16)
    for bad in ("some", 1, 0, -3, 2.5, True, None):
        with pytest.raises(ParameterError, match="pairs"):
            as_scheme(bad, 10, 2)


def test_repr_holds_no_data(rng):
    assert repr(PairSum(pairs=8).update(rng.normal(size=(5, 2)))) == (
        "PairSum(n_samples=5, n_features=2, pairs=8)"
    )


@pytest.mark.parametrize("exponent", [-496, -300, 300, 490])
@pytest.mark.parametrize("pairs", ["all", "halves", 16])
@pytest.mark.parametrize("name", ["winsor", "ball", "quad", "shell", "lr"])
def test_units_do_not_matter_however_small_or_large(name, pairs, exponent, rng):
    X, unit = rng.normal(size=(300, 3)), 2.0**exponent
    small = kendall_tau(X, name, pairs, radius=1.25)
    large = kendall_tau(X * unit, name, pairs, radius=1.25 * unit)
    np.testing.assert_allclose(large / unit / unit, small, rtol=1e-13)


def test_mean_of_many_pairs_with_the_largest_radius_is_finite(rng):
    X = rng.choice([-1e150, 1e150], size=(20_000, 1))  # their sum would be no float
    mean = kendall_tau(X, "winsor", "all", radius=1e150)
    assert mean[0, 0] / 1e300 == pytest.approx(0.5, abs=0.02)
