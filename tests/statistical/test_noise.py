"""The law of the released noise, with the power to tell a wrong scale."""

import numpy as np
import pytest
from scipy import stats

from gdppca import DPPCA
from gdppca.linalg import vecd
from gdppca.noise import gaussian, secure_noise, seeded_noise
from gdppca.noise.bits import secure_bits
from gdppca.noise.gaussian import add_gaussian
from gdppca.releases import private_scatter

pytestmark = pytest.mark.slow

LEVEL = 1e-6  # a true law is rejected once in a million runs


def standardised_noise():
    """Packed noise of secure fits over its stated standard deviation."""
    X = np.random.default_rng(0).normal(size=(30, 40))
    exact = DPPCA(1, epsilon=np.inf).fit(X).scatter_
    fits = [DPPCA(1, epsilon=1.0).fit(X) for _ in range(50)]
    return np.concatenate([vecd(fit.scatter_ - exact) / fit.noise_sd_ for fit in fits])


def test_noise_is_gaussian_of_the_stated_scale_and_of_no_other():
    noise = standardised_noise()
    assert len(noise) == 50 * 820
    assert stats.kstest(noise, "norm").pvalue > LEVEL
    for wrong in (0.9, 1.1):
        assert stats.kstest(noise, "norm", args=(0, wrong)).pvalue < LEVEL


def test_noise_of_a_wide_matrix_is_gaussian_of_the_stated_scale_and_of_no_other():
    X = np.random.default_rng(3).normal(size=(30, 300))
    exact = DPPCA(1, epsilon=np.inf, location=None).fit(X).scatter_
    fit = DPPCA(1, epsilon=1.0, location=None).fit(X)
    noise = vecd(fit.scatter_ - exact) / fit.noise_sd_
    assert len(noise) == 45_150 > gaussian._SHORT  # so many that both wrong scales show
    assert stats.kstest(noise, "norm").pvalue > LEVEL
    for wrong in (0.9, 1.1):
        assert stats.kstest(noise, "norm", args=(0, wrong)).pvalue < LEVEL


@pytest.mark.parametrize("sigma", [1.0, 1.5, 2.0 - 2.0**-52])  # the lattice from coarse to fine
def test_long_noise_has_its_law_to_the_third_digit(sigma):
    noise = add_gaussian(np.zeros(2_000_000), sigma, secure_bits()) / sigma
    assert stats.kstest(noise, "norm").pvalue > LEVEL
    for wrong in (0.98, 1.02):
        assert stats.kstest(noise, "norm", args=(0, wrong)).pvalue < LEVEL
    for far in (3.0, 4.0, 4.5):
        beyond = [np.sum(noise > far), np.sum(noise < -far)]
        expected = len(noise) * stats.norm.sf(far)
        assert np.abs(np.array(beyond) - expected).max() < 6 * np.sqrt(expected) + 6
    for lag in (1, 2, 64):
        assert abs(np.mean(noise[lag:] * noise[:-lag])) < 6 / np.sqrt(len(noise))


def test_both_samplers_have_one_law(monkeypatch):
    samples = []
    for short in (10**9, -1):
        monkeypatch.setattr(gaussian, "_SHORT", short)
        samples.append(add_gaussian(np.zeros(80_000), 1.3, secure_bits()))
    assert stats.ks_2samp(*samples).pvalue > LEVEL
    assert stats.ks_2samp(samples[0], 1.1 * samples[1]).pvalue < LEVEL


def test_entries_of_the_noise_are_uncorrelated():
    X = np.random.default_rng(1).normal(size=(10, 3))
    exact = DPPCA(1, epsilon=np.inf).fit(X).scatter_
    noise = []
    for _ in range(3000):
        fit = DPPCA(1, epsilon=1.0).fit(X)
        noise.append(vecd(fit.scatter_ - exact) / fit.noise_sd_)
    correlation = np.corrcoef(np.array(noise).T) - np.eye(6)
    assert np.abs(correlation).max() < 6 / np.sqrt(3000)


@pytest.mark.parametrize("source", [secure_noise(), seeded_noise(2)])
def test_spectrum_of_the_noise_ends_at_the_floor(source):
    from gdppca.privacy import GaussianEvent
    from gdppca.releases import ScatterNoise
    from gdppca.theory import noise_edge

    event = GaussianEvent(purpose="test", noise_multiplier=1.0)
    noise = ScatterNoise(noise_sd=1.0, sensitivity=1.0, event=event)
    tops = [
        np.linalg.eigvalsh(private_scatter(np.zeros((150, 150)), noise, source).matrix)[-1]
        for _ in range(4)
    ]
    # The mean of the Tracy-Widom law of order one is -1.2065; four tops have an sd of 0.011.
    expected = noise_edge(1.0, 150) - 1.2065 * np.sqrt(0.5) * 150 ** (-1 / 6)
    assert np.mean(tops) == pytest.approx(expected, rel=0.08)
