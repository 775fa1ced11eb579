"""A private centre: what it draws."""

import math

import numpy as np
import pytest

from gdppca.noise import Overheard, seeded_noise
from gdppca.privacy.accounting import zcdp_rho
from gdppca.steps.base import Public
from gdppca.steps.winsorized_mean import (
    WinsorizedMean,
    published_winsorized_mean,
    winsorized_bounds,
    winsorized_mean,
)


def test_events_spend_the_budget_exactly():
    events = WinsorizedMean(public=Public.of(500, 3), zcdp_rho=0.3).events
    assert zcdp_rho(events) == pytest.approx(0.3, rel=1e-12)
    assert len(events) == 17


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e10, 1e300])
def test_one_row_moves_each_statistic_by_at_most_its_sensitivity(rng, scale):
    X = scale * rng.standard_cauchy(size=(50, 4)).clip(-1e8, 1e8)
    lower, upper = np.array([[-1.0], [2.0]]) * np.ones(4)
    for _ in range(50):
        neighbour = X.copy()
        neighbour[rng.integers(50)] = rng.choice([-1.7e308, 0.0, 5e-324, 1.0, 1.7e308], size=4)
        first, second = (ways(table, lower, upper) for table in (X, neighbour))
        assert np.abs(first.exact - second.exact).max() <= 1
        assert first.moved_by(second.exact) <= 1


def ways(table, lower, upper):
    """What the noise of the mean is added to."""
    heard = Overheard(seeded_noise(0))
    winsorized_mean(table, lower, upper, 0.1, heard)
    [draw] = heard.draws
    return draw


def test_bounds_without_noise_hold_all_but_a_small_share(rng):
    X = rng.standard_t(2, size=(2000, 3))
    lower, upper = winsorized_bounds(X, 0.0, seeded_noise(0))
    assert ((lower > X).mean(axis=0) <= 0.01).all()
    assert ((upper < X).mean(axis=0) <= 0.01).all()


def test_published_mean_is_a_winsorised_mean_with_enough_budget(rng):
    X = rng.normal(loc=[1.0, -2.0, 5.0], size=(20_000, 3))
    for rho in (50.0, math.inf):
        found = published_winsorized_mean(X, rho, seeded_noise(0))
        np.testing.assert_allclose(found, [1.0, -2.0, 5.0], atol=0.1)


def test_published_mean_stays_in_its_interval_whatever_the_noise(rng):
    X = 1e6 * rng.standard_cauchy((60, 2))
    for seed in range(5):
        assert np.isfinite(published_winsorized_mean(X, 0.01, seeded_noise(seed))).all()
