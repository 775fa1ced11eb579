"""The spectrum that a release shows, against its noise."""

from dataclasses import replace

import numpy as np
import pytest

from gdppca import DPPCA
from gdppca.releases import seen_spectrum
from gdppca.theory import noise_band


@pytest.fixture(scope="module")
def release():
    X = np.random.default_rng(0).normal(size=(2000, 5)) * [9, 1, 1, 1, 1]
    return DPPCA(2, epsilon=2.0, random_state=0).fit(X).release_


def test_band_and_count_agree(release):
    seen = seen_spectrum(release)
    np.testing.assert_allclose(seen.values, np.linalg.eigvalsh(release.scatter)[::-1])
    noise = (release.noise_sd, release.n_samples, release.centre_bias)
    assert release.centre_bias > 0  # a private centre widens the band
    assert (seen.low, seen.high) == noise_band(seen.values, *noise)
    assert [seen.is_clear(k) for k in range(5)] == [True, False, False, False, False]
    assert seen.clear == 1
    assert seen.without_noise.sum() == pytest.approx(seen.values.sum())


def test_without_a_matrix_there_is_no_spectrum(release):
    assert seen_spectrum(replace(release, scatter=None)) is None
