"""Law of a matrix that is corrected for missing cells."""

import numpy as np
import pytest

from gdppca import linalg
from gdppca.planning.gaps import GapLaw
from gdppca.planning.prediction import sign_moments
from gdppca.theory import corrected, entry_sd, spherical_eigenvalues

VARIANCES = np.r_[10.0, 5.0, np.ones(4)]


def law(rates, error=0.0):
    return GapLaw(
        rates=rates,
        rate_error=np.full(6, error),
        variances=VARIANCES,
        moments=sign_moments(VARIANCES),
    )


def test_whole_rows_are_the_usual_law():
    found = law(np.ones(6)).corrected
    np.testing.assert_allclose(
        found.means,
        np.broadcast_to(np.diag(spherical_eigenvalues(VARIANCES)), (10, 6, 6)),
        atol=2e-4,  # the rule of the integral
    )


def simulated(basis, rates, n, rng):
    rows = (rng.normal(size=(n, 6)) * np.sqrt(VARIANCES)) @ basis.T
    seen = rng.random(rows.shape) < rates
    unit = linalg.directions(np.where(seen, rows, 0.0))[0]
    return basis.T @ corrected(unit.T @ unit / n, seen.mean(axis=0)) @ basis


def test_mean_is_that_of_simulated_rows(rng):
    rates = np.linspace(0.4, 1.0, 6)
    found = law(rates).corrected
    seen = simulated(found.bases[0], rates, 300_000, rng)
    np.testing.assert_allclose(found.means[0], seen, atol=0.012)
    assert np.abs(found.means[0] - np.diag(np.diag(seen))).max() > 0.02  # there is something left


def test_sampling_is_that_of_simulated_rows(rng):
    rates = np.full(6, 0.6)
    found = law(rates).corrected
    draws = [
        simulated(basis, rates, 500, rng)
        for basis in np.linalg.qr(rng.normal(size=(60, 6, 6)))[0]
        for _ in range(10)
    ]
    within = np.array(draws).reshape(60, 10, 6, 6).var(axis=1, ddof=1).mean(axis=0) * 500
    expected = found.sampling * (1 + np.eye(6))
    np.testing.assert_allclose(within.sum(), expected.sum(), rtol=0.1)
    np.testing.assert_allclose(within[0, 2:].mean(), expected[0, 2:].mean(), rtol=0.15)


def test_noise_is_uneven_in_the_columns(rng):
    rates = np.linspace(0.4, 1.0, 6)
    known = law(rates)
    exact = np.zeros((4000, 6, 6))
    turned = known.drawn(exact, 0.1, rng.standard_normal)
    basis = known.corrected.bases[np.arange(4000) % 10]
    own = basis @ turned @ basis.transpose(0, 2, 1)
    np.testing.assert_allclose(own.std(axis=0), entry_sd(0.1, rates, 6), rtol=0.07)


@pytest.mark.parametrize("error", [0.02, 0.1])
def test_errors_of_rates_turn_directions(error, rng):
    exact = np.broadcast_to(np.diag(spherical_eigenvalues(VARIANCES)), (500, 6, 6))
    rates = np.full(6, 0.8)
    without, with_errors = (
        np.abs(law(rates, e).drawn(exact, 0.0, rng.standard_normal)[:, 0, 1:]).mean()
        for e in (0.0, error)
    )
    assert with_errors > without
