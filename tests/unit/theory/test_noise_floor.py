"""What pure noise looks like, and what stands above it."""

import numpy as np
import pytest

from gdppca.linalg import packed_length, vecd_inverse
from gdppca.theory import components_above_noise, denoised_eigenvalues, noise_band, noise_edge


def noisy_eigenvalues(phi, sigma, rng):
    noise = vecd_inverse(rng.normal(scale=sigma, size=packed_length(len(phi))))
    return np.linalg.eigvalsh(np.diag(phi) + noise)[::-1]


def test_edge_is_where_the_spectrum_of_the_noise_ends(rng):
    tops = [noisy_eigenvalues(np.zeros(200), 1.0, rng)[0] for _ in range(20)]
    # The mean of the Tracy-Widom law, -1.2065, on its scale.
    expected = noise_edge(1.0, 200) - 1.2065 * np.sqrt(0.5) * 200 ** (-1 / 6)
    assert np.mean(tops) == pytest.approx(expected, rel=0.01)


def test_equal_eigenvalues_hide_in_the_noise_ninety_nine_times_in_a_hundred(rng):
    phi = np.full(20, 0.05)
    found = [
        components_above_noise(noisy_eigenvalues(phi, 0.01, rng), 0.01, 10**9) for _ in range(2000)
    ]
    assert 0.002 < np.mean(np.array(found) > 0) < 0.03


def test_spikes_are_counted(rng):
    phi = np.array([0.3, 0.2] + [0.5 / 18] * 18)
    found = [
        components_above_noise(noisy_eigenvalues(phi, 0.01, rng), 0.01, 5000) for _ in range(200)
    ]
    assert np.mean(np.array(found) == 2) > 0.95


def test_sampling_noise_counts_too():
    slightly_above = np.array([0.06] + [0.94 / 19] * 19)
    assert components_above_noise(slightly_above, 0.0, 10**8) == 1
    assert components_above_noise(slightly_above, 0.0, 100) == 0


@pytest.mark.parametrize("values", [[1.0], [0.5, 0.5], [-0.1, -0.2, -0.3]])
def test_small_and_negative_spectra_are_fine(values):
    assert components_above_noise(np.array(values), 1.0, 10) == 0
    assert np.all(denoised_eigenvalues(np.array(values), 1.0, 10) >= 0)


def test_denoising_removes_the_bias_of_the_noise(rng):
    phi = np.array([0.3, 0.2] + [0.5 / 48] * 48)
    raw = np.array([noisy_eigenvalues(phi, 0.015, rng) for _ in range(300)])
    freed = np.array([denoised_eigenvalues(values, 0.015, 10**6) for values in raw])
    bias, left = raw.mean(axis=0)[:2] - phi[:2], freed.mean(axis=0)[:2] - phi[:2]
    assert np.all(bias > 0.015)
    assert np.all(np.abs(left) < bias / 4)
    np.testing.assert_allclose(freed.sum(axis=1), raw.sum(axis=1))


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e80, 1e170, 1e300])
def test_spectra_of_any_size_are_treated_alike(size):
    values, sd = np.array([0.5, 0.2, 0.101, 0.1, 0.099]), 0.01
    grown = values * size
    assert components_above_noise(grown, sd * size, 10_000) == 2
    np.testing.assert_allclose(
        np.array(noise_band(grown, sd * size, 10_000)) / size, noise_band(values, sd, 10_000)
    )
    np.testing.assert_allclose(
        denoised_eigenvalues(grown, sd * size, 10_000) / size,
        denoised_eigenvalues(values, sd, 10_000),
    )
