"""What counts hold under noise of a known size, and what may be noise alone."""

import numpy as np
import pytest

from gdppca.theory.noisy_counts import smoothed_counts


def test_without_noise_counts_stay_as_they_are():
    counts = np.array([[3.0, -2.0], [0.0, 7.0]])
    np.testing.assert_array_equal(smoothed_counts(counts, 0.0), [[3, 0], [0, 7]])


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_noise_alone_is_seldom_taken_for_something(law):
    rng = np.random.default_rng(0)
    wide = 5.0 if law == "normal" else 5.0 / np.sqrt(2)
    maps = getattr(rng, law)(scale=wide, size=(400, 20, 15))
    seen = [smoothed_counts(counts, 5.0).any() for counts in maps]
    assert 0 < np.mean(seen) < 0.1  # a few in a hundred; never would be a bound that hides people


def test_what_is_there_comes_nearer():
    rng = np.random.default_rng(1)
    truth = 60 * np.exp(-0.5 * (np.linspace(-4, 4, 25)[:, None] ** 2 + np.linspace(-4, 4, 25) ** 2))
    for _ in range(5):
        noisy = truth + rng.laplace(scale=6 / np.sqrt(2), size=truth.shape)
        off, before = (np.abs(m - truth).sum() for m in (smoothed_counts(noisy, 6.0), noisy))
        assert off < 0.4 * before


def test_a_lonely_full_cell_is_kept():
    counts = np.zeros((9, 9))
    counts[4, 4] = 500.0
    assert smoothed_counts(counts, 6.0)[4, 4] == pytest.approx(500, rel=0.05)


def test_more_cells_elsewhere_ask_for_more():
    counts = np.zeros((5, 5))
    counts[2, 2] = 40.0
    assert smoothed_counts(counts, 7.0)[2, 2] > 0
    assert smoothed_counts(counts, 7.0, out_of=1_000_000)[2, 2] == 0
