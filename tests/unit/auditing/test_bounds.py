"""Bounds on μ and ε from guesses."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from gdppca.auditing.bounds import (
    claimed_curve,
    epsilon_from_guesses,
    epsilon_of_mu,
    mu_from_guesses,
    mu_if_normal,
    rate_at_most,
)
from gdppca.privacy.accounting import gaussian_multiplier

ALARM = 0.05


@pytest.mark.parametrize(("hits", "runs"), [(0, 50), (7, 50), (30, 50)])
def test_rate_is_where_so_few_hits_are_just_a_false_alarm(hits, runs):
    assert binom.cdf(hits, runs, rate_at_most(hits, runs, ALARM)) == pytest.approx(ALARM)


def test_all_hits_bound_nothing():
    assert rate_at_most(50, 50, ALARM) == 1.0
    assert mu_from_guesses(50, 50, ALARM) == 0.0
    assert epsilon_from_guesses(50, 50, 50, 1e-6, ALARM) == 0.0


@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
def test_bound_on_mu_misses_as_rarely_as_it_says(mu):
    wrong = np.random.default_rng(0).binomial(400, norm.cdf(-mu / 2), size=4000)
    bounds = np.array([mu_from_guesses(w, 400, ALARM) for w in wrong])
    assert np.mean(bounds > mu) < ALARM + 4 * math.sqrt(ALARM / 4000)
    assert np.median(bounds) > mu - 0.35


@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
def test_normal_bound_misses_as_rarely_as_it_says_and_is_tighter(mu):
    rng = np.random.default_rng(1)
    pairs = rng.normal(size=(4000, 2, 200)) * 7.0
    bounds = np.array([mu_if_normal(x + 7 * mu, y, ALARM) for x, y in pairs])
    assert np.mean(bounds > mu) == pytest.approx(ALARM, abs=4 * math.sqrt(ALARM / 4000))
    wrong = round(400 * norm.cdf(-mu / 2))
    assert np.median(bounds) > mu_from_guesses(wrong, 400, ALARM)


def test_normal_bound_of_too_few_or_equal_scores_is_zero():
    assert mu_if_normal(np.ones(1), np.zeros(5), ALARM) == 0.0
    assert mu_if_normal(np.ones(5), np.zeros(5), ALARM) == 0.0


def test_bound_on_epsilon_misses_as_rarely_as_it_says():
    """Randomised response: both errors have probability 1/(1 + exp ε)."""
    epsilon = 1.0
    wrong = np.random.default_rng(2).binomial(600, 1 / (1 + math.e), size=4000)
    bounds = np.array([epsilon_from_guesses(w, 600, 600, 0.0, ALARM) for w in wrong])
    assert np.mean(bounds > epsilon) < ALARM + 4 * math.sqrt(ALARM / 4000)
    assert np.median(bounds) > 0.75


def test_bound_on_epsilon_holds_where_guesses_are_held_back():
    """A promise of (ε, δ) that is used up: with probability δ everything is told."""
    epsilon, delta, runs, told = 1.0, 0.05, 600, 0.3
    rng = np.random.default_rng(3)
    clear = rng.binomial(runs, delta, size=4000)
    made = rng.binomial(runs - clear, told)
    wrong = rng.binomial(made, 1 / (1 + math.e))
    bounds = np.array(
        [
            epsilon_from_guesses(w, g, runs, delta, ALARM)
            for w, g in zip(wrong, clear + made, strict=True)
        ]
    )
    assert np.mean(bounds > epsilon) < ALARM
    assert np.median(bounds) > 0.5


def test_delta_excuses_as_much():
    without = epsilon_from_guesses(100, 600, 1000, 0.0, ALARM)
    assert 0 < epsilon_from_guesses(100, 600, 1000, 0.2, ALARM) < without
    assert epsilon_from_guesses(0, 600, 1000, 0.6, ALARM) == 0.0


def test_no_guess_bounds_nothing():
    assert epsilon_from_guesses(0, 0, 1000, 1e-6, ALARM) == 0.0


def test_epsilon_of_mu_inverts_the_calibration():
    assert epsilon_of_mu(1 / gaussian_multiplier(4.0, 1e-5), 1e-5) == pytest.approx(4.0)
    assert epsilon_of_mu(0.0, 1e-5) == 0.0


def test_claimed_curve_is_the_gaussian_one_and_that_of_epsilon_and_delta():
    rates = np.array([0.0, 0.1, 0.5, 1.0])
    gaussian = claimed_curve(rates, 1.0, 4.0, 1e-5)
    np.testing.assert_allclose(gaussian[1:3], norm.cdf(norm.isf(rates[1:3]) - 1.0))
    direct = claimed_curve(rates, math.inf, math.log(2), 0.1)
    np.testing.assert_allclose(direct, [0.9, 0.7, 0.2, 0.0], atol=1e-12)
