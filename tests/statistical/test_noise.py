"""The law of the released noise, with the power to tell a wrong scale."""

import numpy as np
import pytest
from scipy import stats

from gdppca import DPPCA
from gdppca.linalg import vecd
from gdppca.randomness import secure_rng, seeded_rng
from gdppca.releases import private_scatter

pytestmark = pytest.mark.slow

LEVEL = 1e-6  # a true law is rejected once in a million runs


def standardised_noise():
    """Packed noise of secure fits over its stated standard deviation."""
    X = np.random.default_rng(0).normal(size=(30, 40))
    exact = DPPCA(1, epsilon=np.inf).fit(X).scatter_
    fits = [DPPCA(1, epsilon=1.0).fit(X) for _ in range(25)]
    return np.concatenate([vecd(fit.scatter_ - exact) / fit.noise_sd_ for fit in fits])


def test_noise_is_gaussian_of_the_stated_scale_and_of_no_other():
    noise = standardised_noise()
    assert len(noise) == 25 * 820
    assert stats.kstest(noise, "norm").pvalue > LEVEL
    for wrong in (0.9, 1.1):
        assert stats.kstest(noise, "norm", args=(0, wrong)).pvalue < LEVEL


def test_entries_of_the_noise_are_uncorrelated():
    X = np.random.default_rng(1).normal(size=(10, 3))
    exact = DPPCA(1, epsilon=np.inf).fit(X).scatter_
    noise = []
    for _ in range(3000):
        fit = DPPCA(1, epsilon=1.0).fit(X)
        noise.append(vecd(fit.scatter_ - exact) / fit.noise_sd_)
    correlation = np.corrcoef(np.array(noise).T) - np.eye(6)
    assert np.abs(correlation).max() < 6 / np.sqrt(3000)


@pytest.mark.parametrize("source", [secure_rng(), seeded_rng(2)])
def test_spectrum_of_the_noise_ends_at_the_floor(source):
    from gdppca.privacy import GaussianEvent
    from gdppca.releases import ScatterNoise
    from gdppca.theory import noise_edge

    noise = ScatterNoise(noise_sd=1.0, event=GaussianEvent(purpose="test", noise_multiplier=1.0))
    tops = [
        np.linalg.eigvalsh(private_scatter(np.zeros((150, 150)), noise, source).matrix)[-1]
        for _ in range(4)
    ]
    assert np.mean(tops) == pytest.approx(noise_edge(1.0, 150), rel=0.05)
