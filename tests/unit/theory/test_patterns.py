"""Mean of the corrected matrix over all patterns of missing cells."""

import itertools

import numpy as np
import pytest

from gdppca import linalg
from gdppca.theory import corrected, spherical_eigenvalues, variance_shares
from gdppca.theory.patterns import mean_over_patterns

RATES = np.array([0.4, 0.7, 0.9, 1.0])


def test_mean_is_that_over_all_patterns(rng):
    unit = linalg.directions(rng.normal(size=(6, 4)))[0]
    expected = np.zeros((4, 4))
    for pattern in itertools.product([0, 1], repeat=4):
        chance = np.prod(np.where(pattern, RATES, 1 - RATES))
        seen = linalg.directions(unit * pattern)[0]
        expected += chance * corrected(seen.T @ seen / 6, RATES)
    np.testing.assert_allclose(mean_over_patterns(unit, RATES), expected, atol=2e-3)


@pytest.mark.parametrize("rates", [np.full(8, 0.6), np.linspace(0.4, 1.0, 8)])
def test_shares_are_found_where_cells_are_missing(rates, rng):
    variances = np.r_[10.0, 5.0, np.ones(6)]
    basis = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    rows = (rng.normal(size=(100_000, 8)) * np.sqrt(variances)) @ basis.T
    unit = linalg.directions(np.where(rng.random(rows.shape) < rates, rows, 0.0))[0]
    values = linalg.eigenvalues_descending(corrected(unit.T @ unit / len(rows), rates))
    true = variances / variances.sum()
    np.testing.assert_allclose(variance_shares(values, rates)[:2], true[:2], atol=0.03)
    assert variance_shares(values)[0] < true[0] - 0.04  # as if no cell were missing


def test_without_rates_it_is_the_map_of_whole_rows():
    values = spherical_eigenvalues(np.array([4.0, 2.0, 1.0]))
    np.testing.assert_allclose(variance_shares(values), np.array([4, 2, 1]) / 7, rtol=1e-6)
    np.testing.assert_array_equal(variance_shares(values, np.ones(3)), variance_shares(values))


@pytest.mark.parametrize("rates", [None, np.array([0.5, 0.8, 1.0])])
def test_shares_of_nothing_are_all_alike(rates):
    for nothing in (np.zeros(3), np.array([0.0, 0.0, -1.0])):
        np.testing.assert_allclose(variance_shares(nothing, rates), 1 / 3)
