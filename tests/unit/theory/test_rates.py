"""What missing cells make of the noise."""

import numpy as np
import pytest

from gdppca import ParameterError, linalg
from gdppca.theory import (
    components_above_noise,
    corrected,
    denoised_eigenvalues,
    entry_sd,
    even_noise,
    noise_band,
    noise_edge,
    rate_errors,
    shrunk_rates,
)
from gdppca.theory import rates as room

UNEVEN = np.linspace(0.4, 1.0, 10)


def noise(sd, d, rng):
    return linalg.vecd_inverse(rng.normal(scale=sd, size=linalg.packed_length(d)))


def zero_filled(rows, rates, rng):
    """Matrix of the signs and rates of the rows, cells missing completely at random."""
    seen = rng.random(rows.shape) < rates
    unit = linalg.directions(np.where(seen, rows, 0.0))[0]
    return unit.T @ unit / len(rows), seen.mean(axis=0)


def test_no_rates_change_nothing():
    matrix = np.diag([0.6, 0.4])
    assert corrected(matrix, None) is matrix
    assert even_noise(0.1, None, 2) == even_noise(0.1, np.ones(2), 2) == 0.1
    np.testing.assert_allclose(entry_sd(0.1, None, 2), [[0.1, 0.1 / 2**0.5], [0.1 / 2**0.5, 0.1]])


def test_correction_finds_the_matrix_of_whole_rows(rng):
    basis = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    rows = (rng.normal(size=(200_000, 12)) * np.r_[4, 2, np.ones(10)]) @ basis
    whole = zero_filled(rows, np.ones(12), rng)[0]
    holed, rates = zero_filled(rows, np.linspace(0.6, 1.0, 12), rng)
    found = corrected(holed, rates)
    np.testing.assert_allclose(found / np.trace(found), whole, atol=0.02)
    assert np.abs(holed - whole).max() > 0.03


def test_entries_of_the_noise_have_these_deviations(rng):
    draws = np.array([corrected(noise(0.1, 10, rng), UNEVEN) for _ in range(4000)])
    np.testing.assert_allclose(draws.std(axis=0), entry_sd(0.1, UNEVEN, 10), rtol=0.06)


@pytest.mark.parametrize("d", [2, 5, 30, 250])
def test_even_noise_ends_where_the_uneven_one_does(d, rng):
    rates = rng.permutation(np.linspace(0.4, 1.0, d))
    draws = max(4, 3000 // d)
    tops = np.array(
        [
            (np.linalg.eigvalsh(corrected(one, rates))[-1], np.linalg.eigvalsh(one)[-1])
            for one in (noise(1.0, d, rng) for _ in range(draws))
        ]
    )
    ratio = tops.mean(axis=0)[0] / tops.mean(axis=0)[1]
    assert even_noise(1.0, rates, d) == pytest.approx(ratio, rel=0.06)


def test_even_noise_is_smooth_and_scales():
    moved = UNEVEN + np.r_[1e-6, np.zeros(9)]
    assert even_noise(1.0, moved, 10) == pytest.approx(even_noise(1.0, UNEVEN, 10), rel=1e-5)
    assert even_noise(1e-200, UNEVEN, 10) == pytest.approx(1e-200 * even_noise(1.0, UNEVEN, 10))
    assert even_noise(1.0, UNEVEN[::-1], 10) == pytest.approx(even_noise(1.0, UNEVEN, 10))
    assert noise_edge(0.1, 10, UNEVEN) == pytest.approx(even_noise(0.1, UNEVEN, 10) * 20**0.5)


def test_one_column_has_its_own_noise():
    assert even_noise(0.1, np.array([0.5]), 1) == pytest.approx(0.2)


def test_what_the_correction_leaves_of_equal_variances_is_known(rng):
    rates = np.linspace(0.4, 1.0, 5)
    matrix, seen = zero_filled(rng.normal(size=(400_000, 5)), rates, rng)
    own = np.diag(corrected(matrix, seen))
    np.testing.assert_allclose(own / own.mean() - 1, room._left_over(rates), atol=0.01)


@pytest.mark.parametrize("sigma", [0.001, 0.01])
def test_equal_variances_hide_where_cells_are_missing(sigma, rng):
    rates, counts, plain = np.linspace(0.4, 1.0, 8), [], []
    for _ in range(150):
        matrix, seen = zero_filled(rng.normal(size=(2000, 8)), rates, rng)
        noisy = corrected(matrix + noise(sigma, 8, rng), seen)
        values = linalg.eigenvalues_descending(noisy)
        counts.append(components_above_noise(values, sigma, 2000, rates=seen))
        plain.append(components_above_noise(values, sigma, 2000))
    assert np.mean(np.array(counts) > 0) <= 0.03
    assert np.mean(np.array(plain) > 0) > 0.1  # the floor of whole rows would not do


def test_spikes_stand_out_where_cells_are_missing(rng):
    rates, counts = np.linspace(0.4, 1.0, 10), []
    basis = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    for _ in range(40):
        rows = (rng.normal(size=(4000, 10)) * np.sqrt(np.r_[10, 5, np.ones(8)])) @ basis
        matrix, seen = zero_filled(rows, rates, rng)
        values = linalg.eigenvalues_descending(corrected(matrix + noise(0.002, 10, rng), seen))
        counts.append(components_above_noise(values, 0.002, 4000, rates=seen))
        low, high = noise_band(values, 0.002, 4000, rates=seen)
        assert low < values[5] < high
    assert np.mean(np.array(counts) == 2) > 0.95


def test_errors_of_rates_raise_the_floor():
    values = np.array([0.3, 0.2, 0.15, 0.15])
    rates = np.full(4, 0.5)
    exact, noisy = (
        noise_band(values, 0.01, 10**6, rates=rates, rate_error=error)
        for error in (None, np.full(4, 0.05))
    )
    assert noisy[1] > exact[1]


def test_denoising_knows_the_uneven_noise(rng):
    exact = np.diag([4.0, 2.0, *[0.1] * 18])
    basis = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    rates = np.linspace(0.4, 1.0, 20)
    raw, freed = [], []
    for _ in range(100):
        noisy = basis @ exact @ basis.T + corrected(noise(0.07, 20, rng), rates)
        values = linalg.eigenvalues_descending(noisy)
        raw.append(values[1])
        freed.append(denoised_eigenvalues(values, 0.07, 10**9, rates=rates)[1])
    assert np.mean(raw) - 2 > 0.08
    assert abs(np.mean(freed) - 2) < 0.5 * (np.mean(raw) - 2)


def test_shrunk_rates_are_nearer(rng):
    truth = np.full(20, 0.7)
    noisy = truth + 0.05 * rng.normal(size=20)
    assert np.abs(shrunk_rates(noisy, 0.05) - truth).mean() < 0.5 * np.abs(noisy - truth).mean()
    apart = np.linspace(0.2, 1.0, 20)
    np.testing.assert_allclose(shrunk_rates(apart, 0.01), apart, atol=0.005)
    assert shrunk_rates(np.array([-0.3, 0.5]), 0.0).tolist() == [0.05, 0.5]


@pytest.mark.parametrize("truth", [np.full(20, 0.6), np.linspace(0.4, 0.9, 20)])
def test_errors_of_rates_are_not_below_those_that_are_seen(truth, rng):
    seen, expected = [], []
    for _ in range(300):
        found = shrunk_rates(truth + 0.03 * rng.normal(size=20), 0.03)
        seen.append(np.mean((found - truth) ** 2))
        expected.append(np.mean(rate_errors(found, 0.03, 10**9) ** 2))
    assert 0.9 < np.mean(expected) / np.mean(seen) < 1.7


@pytest.mark.parametrize("rates", [[0.5], [0.5, 0.0], [0.5, 1.1], [0.5, np.nan], "ab"])
def test_what_cannot_be_rates_is_refused(rates):
    with pytest.raises(ParameterError, match=r"`rates` must hold 2 numbers in \(0, 1\]"):
        noise_edge(0.1, 2, rates)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_spectra_of_any_size_are_treated_alike(size):
    values, rates = np.array([0.5, 0.2, 0.101, 0.1, 0.099]), np.linspace(0.6, 1.0, 5)
    np.testing.assert_allclose(
        np.array(noise_band(size * values, size * 0.01, 10_000, rates=rates)) / size,
        noise_band(values, 0.01, 10_000, rates=rates),
    )


@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_columns_are_fine(d):
    low, high = noise_band(np.full(d, 1 / d), 0.01, 100, rates=np.full(d, 0.5))
    assert low < 1 / d < high
