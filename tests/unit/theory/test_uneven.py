"""Uneven noise in the basis of eigenvectors."""

import numpy as np
import pytest

from gdppca import ParameterError, linalg
from gdppca.theory import corrected, entry_sd, loading_intervals, rate_errors, shrunk_rates
from gdppca.theory.uneven import RateNoise, UnevenNoise

RATES = np.array([0.4, 0.6, 0.8, 1.0, 0.5])


@pytest.fixture
def basis(rng):
    return np.linalg.qr(rng.normal(size=(5, 5)))[0]


def test_variances_are_those_of_the_draws(basis, rng):
    noise = UnevenNoise(entry_sd(0.1, RATES, 5), basis, np.full((5, 5), 1e-3))
    draws = np.array([noise.drawn(rng) for _ in range(8000)])
    np.testing.assert_allclose(draws, draws.transpose(0, 2, 1))
    np.testing.assert_allclose(draws.var(axis=0), noise.variances, rtol=0.1)


def test_errors_of_rates_move_the_matrix_as_it_says(basis):
    values = np.array([0.9, 0.5, 0.2, 0.2, 0.1])
    exact = basis @ np.diag(values) @ basis.T
    eta = 1e-5 * np.array([1.0, -2.0, 3.0, 0.0, 1.0])
    raw = exact / corrected(np.ones((5, 5)), RATES)

    class Given:
        def normal(self, size):
            return eta

    off = RateNoise(np.ones(5), values, basis)
    moved = basis.T @ (corrected(raw, RATES * (1 + eta)) - exact) @ basis
    np.testing.assert_allclose(off.added(Given()), moved, atol=1e-9)


def test_variances_of_what_rates_add_are_those_of_draws(basis, rng):
    off = RateNoise(0.05 * RATES, np.array([0.9, 0.5, 0.2, 0.2, 0.1]), basis)
    draws = np.array([off.added(rng) for _ in range(8000)])
    np.testing.assert_allclose(draws.var(axis=0), off.variances, rtol=0.1)


def covered(found, exact):
    turned = exact * np.sign(np.sum(exact * found.components, axis=1))[:, None]
    return np.mean((found.lower <= turned) & (turned <= found.upper))


@pytest.mark.parametrize(("d", "low"), [(5, 0.4), (10, 0.4), (8, 0.7)])
def test_intervals_cover_where_cells_are_missing(d, low):
    rng = np.random.default_rng(4)
    rates, n, sigma, rate_sd, seen = np.linspace(low, 1.0, d), 5000, 0.0013, 0.01, []
    for _ in range(30):
        basis = np.linalg.qr(rng.normal(size=(d, d)))[0]
        rows = (rng.normal(size=(n, d)) * np.sqrt(np.r_[10, 5, np.ones(d - 2)])) @ basis
        there = rng.random((n, d)) < rates
        unit = linalg.directions(np.where(there, rows, 0.0))[0]
        exact, own = unit.T @ unit / n, there.mean(axis=0)
        noise = linalg.vecd_inverse(rng.normal(scale=sigma, size=linalg.packed_length(d)))
        found = shrunk_rates(own + rate_sd * rng.normal(size=d), rate_sd)
        intervals = loading_intervals(
            exact + noise, sigma, n, 2, rates=found, rate_error=rate_errors(found, rate_sd, n)
        )
        truth = linalg.eigen_descending(corrected(exact, own))[1][:, :2].T
        seen.append(covered(intervals, truth))
    assert 0.85 <= np.mean(seen) <= 0.97


def test_what_is_said_names_the_gaps():
    matrix = np.diag([0.5, 0.3, 0.1, 0.1])
    rates = np.full(4, 0.9)
    found = loading_intervals(matrix, 0.01, 400, 2, rates=rates)
    assert found.about.endswith("corrected for the cells that are missing")
    both = loading_intervals(matrix, 0.01, 400, 2, rates=rates, sampling=True)
    assert both.about.endswith("if cells are missing completely at random")
    assert (both.angles > found.angles).all()


def test_bad_errors_of_rates_are_named():
    with pytest.raises(ParameterError, match="`rate_error` must hold 2 numbers >= 0"):
        loading_intervals(np.eye(2), 0.1, 10, 1, rates=np.ones(2), rate_error=np.array([-1.0, 0]))
