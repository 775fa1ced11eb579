"""What engines share: recipes, secret order, sample sizes."""

import numpy as np
import pytest
from scipy import stats

from gdppca import kendall_tau
from gdppca.kernels import Blocks, sign_covariance
from gdppca.noise import OrderKeys, secure_noise, seeded_noise
from gdppca.signs import as_sign
from gdppca.tables.base import (
    LARGEST_SAMPLE,
    Recipe,
    divided,
    key_threshold,
    merged,
    sample_size,
)

KEYS = OrderKeys(bytes(range(32)))


def test_keys_of_a_place_are_always_the_same():
    places = np.array([5, 2_000_000, 1023, 1024])
    whole = KEYS.range(3000, part=2)
    np.testing.assert_array_equal(KEYS.of(places, 2)[[0, 2, 3]], whole[[5, 1023, 1024]])
    np.testing.assert_array_equal(KEYS.of(places[::-1], 2)[::-1], KEYS.of(places, 2))


def test_keys_differ_between_parts_and_secrets():
    other = OrderKeys(bytes(32))
    mine = KEYS.range(1000)
    for theirs in (KEYS.range(1000, part=1), other.range(1000)):
        assert not np.isin(mine, theirs).any()


def test_keys_are_uniform_and_unrelated_to_their_place():
    keys = KEYS.range(100_000) / 2.0**64
    assert stats.kstest(keys, "uniform").pvalue > 1e-4
    assert abs(stats.spearmanr(keys, np.arange(len(keys)))[0]) < 0.015
    assert stats.kstest(keys, lambda x: x**1.1).pvalue < 1e-4  # the test can fail


def test_no_rows_have_no_keys():
    assert KEYS.range(0).shape == (0,)


def test_secret_is_drawn_and_not_shown():
    first, second = (secure_noise().keys() for _ in range(2))
    assert first.secret != second.secret
    assert len(first.secret) == 32
    assert repr(first.secret) not in repr(first)
    assert seeded_noise(3).keys() == seeded_noise(3).keys()


def test_threshold_takes_a_sample_of_about_the_size():
    keys = KEYS.range(200_000)
    taken = int((keys <= key_threshold(20_000, len(keys))).sum())
    assert abs(taken - 20_000) < 6 * np.sqrt(20_000)
    assert (keys <= key_threshold(200_000, len(keys))).all()


def test_sample_fits_into_memory():
    assert sample_size(5) == LARGEST_SAMPLE
    assert sample_size(2000) * 2000 <= 2**24
    assert sample_size(10**9) == 2


def test_scales_never_leave_the_range_of_floats():
    np.testing.assert_array_equal(divided(np.array([[1e308, 4.0]]), np.array([1e-9, 2.0]))[0, 1], 2)
    assert np.isfinite(divided(np.array([[1e308]]), np.array([1e-9]))).all()


@pytest.mark.parametrize("sizes", [[100], [1, 63, 0, 36], [50, 50], [0, 0, 100], [1] * 100])
def test_parts_add_up_to_the_whole(sizes):
    X = np.random.default_rng(0).normal(size=(100, 3))
    parts = np.split(X, np.cumsum(sizes)[:-1])
    around = Recipe(
        as_sign("spherical"), 3, Blocks(64), center=np.ones(3), scale=np.array([1, 2, 3.0])
    )
    total = merged(around, map(around.of, parts))
    expected = sign_covariance(X / [1, 2, 3], np.ones(3))
    np.testing.assert_allclose(total.mean(), expected, atol=1e-14)
    assert not around.ordered
    pairs = Recipe(as_sign("spherical"), 3, Blocks(10))
    total = pairs.empty()
    for part in parts:
        total = pairs.add(total, part)
    np.testing.assert_allclose(total.mean(), kendall_tau(X, pairs=10), atol=1e-14)
    assert pairs.ordered
    assert merged(pairs, map(pairs.of, parts)).n_samples == 100
