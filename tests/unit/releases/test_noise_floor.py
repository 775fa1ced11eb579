"""The spectrum that a release shows, against its noise."""

from dataclasses import replace

import numpy as np
import pytest
from gappy import fitted_with_gaps, with_gaps

from gdppca import DPPCA
from gdppca.privacy import GaussianEvent
from gdppca.releases import release_intervals, seen_spectrum
from gdppca.releases.noise_floor import rate_error
from gdppca.theory import corrected, noise_band, noise_edge


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


def test_spectrum_of_a_release_with_gaps_is_that_of_the_corrected_matrix():
    rates = np.linspace(0.4, 1.0, 5)
    release, _ = fitted_with_gaps(5000, rates, 3)
    seen = seen_spectrum(release)
    matrix = corrected(release.scatter, rates)
    np.testing.assert_allclose(seen.values, np.linalg.eigvalsh(matrix)[::-1])
    assert seen.clear == 2
    np.testing.assert_allclose(seen.without_noise.sum(), seen.values.sum())
    adopted = DPPCA(2)._adopt(release)
    np.testing.assert_allclose(adopted.eigenvalues_, seen.values)
    assert adopted.noise_floor_ == noise_edge(release.noise_sd, 5, rates)
    assert adopted.noise_floor_ > 2 * noise_edge(release.noise_sd, 5)
    share = adopted.explained_variance_ratio_
    np.testing.assert_allclose(share, [10 / 18, 5 / 18], atol=0.06)


def test_errors_of_rates_follow_from_their_draw():
    rates = np.linspace(0.4, 1.0, 5)
    release, _ = fitted_with_gaps(5000, rates, 3)
    chance = rate_error(release)
    drawn = GaussianEvent(purpose="rates", noise_multiplier=20.0)
    guarantee = replace(release.guarantee, events=(drawn, *release.guarantee.events))
    noisy = with_gaps(replace(release, guarantee=guarantee), release.scatter, rates)
    assert (rate_error(noisy) > chance).all()
    np.testing.assert_allclose(rate_error(noisy), 20 * 5**0.5 / 5000, rtol=0.1)


def test_intervals_of_a_release_with_gaps_know_the_uneven_noise():
    rates = np.linspace(0.4, 1.0, 5)
    release, truth = fitted_with_gaps(20_000, rates, 4)
    found = release_intervals(release)
    assert found.about.endswith("corrected for the cells that are missing")
    even = release_intervals(with_gaps(release, corrected(release.scatter, rates), np.ones(5)))
    assert found.subspace_angle > 1.5 * even.subspace_angle
    turned = truth * np.sign(np.sum(truth * release.components, axis=1))[:, None]
    assert np.abs(turned - release.components).max() < 0.2
