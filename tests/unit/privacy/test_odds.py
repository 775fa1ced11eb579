"""How far the odds of a guess rise, against independent numbers and simulated guesses."""

import math
from collections import defaultdict

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from gdppca import Guarantee, ParameterError
from gdppca.privacy import ApproximateEvent, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.privacy.spending import epsilon_at, odds_factor

CHANCE = 1e-2
RUNS = 400_000
ABOVE = 4 * math.sqrt(CHANCE / RUNS)  # what luck may add to a simulated share


def gaussian(multiplier):
    return GaussianEvent(purpose="test", noise_multiplier=multiplier)


def pure(epsilon):
    return PureEvent(purpose="test", epsilon=epsilon)


def exact_log_factor(multiplier, steps, chance):
    """The same in 60 digits: the loss s with P(loss > s) = c, then ln c/Q(loss > s)."""
    with mpmath.workdps(60):
        mu = 1 / mpmath.mpf(multiplier)
        losses = {mpmath.mpf(0): mpmath.mpf(1)}
        for step in map(mpmath.mpf, steps):
            right, before, losses = 1 / (1 + mpmath.exp(-step)), losses, defaultdict(mpmath.mpf)
            for loss, odds in before.items():
                losses[loss + step] += odds * right
                losses[loss - step] += odds * (1 - right)

        def tail(s, mean):
            return sum(
                odds * mpmath.exp(-loss if mean < 0 else 0) * mpmath.ncdf(mean - (s - loss) / mu)
                for loss, odds in losses.items()
            )

        low, high = -60 * mu - sum(steps), mu * mu / 2 + 60 * mu + sum(steps)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if tail(middle, mu / 2) > chance else (low, middle)
        return float(mpmath.log(chance / tail(low, -mu / 2)))


def agrees(found, exact):
    """Never below the true value, and hardly above."""
    return exact <= math.log(found) <= exact * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 5, 50])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
def test_factor_of_a_gaussian_is_exact(epsilon, delta):
    multiplier = gaussian_multiplier(epsilon, delta)
    for chance in (delta, 0.05):
        exact = exact_log_factor(multiplier, (), chance)
        assert agrees(odds_factor((gaussian(multiplier),), chance), exact)
    assert odds_factor((gaussian(multiplier),), delta) > math.exp(epsilon)


@pytest.mark.parametrize("steps", [(1e-9,), (0.3,), (0.1, 0.1, 0.7), (6.0,)])
@pytest.mark.parametrize("chance", [1e-12, 1e-6, 0.05, 0.7])
@pytest.mark.parametrize("multiplier", [0.3, 4.0, 60.0])
def test_factor_beside_pure_steps_is_exact(multiplier, steps, chance):
    exact = exact_log_factor(multiplier, steps, chance)
    assert agrees(odds_factor((gaussian(multiplier), *map(pure, steps)), chance), exact)


def test_factor_against_quadrature_of_the_privacy_curve():
    """δ(ε) summed from densities of a Gaussian and two answers; then the best of many ε."""
    mu, steps = 0.8, (0.5, 0.2)
    x = np.linspace(-12, 12, 48_001)
    first = second = np.ones(1)
    for step in steps:
        first = np.multiply.outer(first, expit([step, -step])).ravel()
        second = np.multiply.outer(second, expit([-step, step])).ravel()
    p, q = np.outer(first, norm.pdf(x - mu)), np.outer(second, norm.pdf(x))
    epsilons = np.linspace(1.0, 4.0, 601)
    deltas = [np.maximum(p - math.exp(e) * q, 0).sum() * (x[1] - x[0]) for e in epsilons]
    best = min(
        math.exp(e) / (1 - d / CHANCE) for e, d in zip(epsilons, deltas, strict=True) if d < CHANCE
    )
    found = odds_factor((gaussian(1 / mu), *map(pure, steps)), CHANCE)
    assert found == pytest.approx(best, rel=1e-4)


def test_a_reader_who_is_told_only_the_test_meets_the_factor():
    """The bound is attained: told only that the loss is above s, the odds rise by all of it."""
    mu = 1.3
    s = mu * mu / 2 + mu * norm.isf(CHANCE)
    told, wrongly = norm.cdf(mu / 2 - s / mu), norm.cdf(-mu / 2 - s / mu)
    assert told == pytest.approx(CHANCE)
    assert odds_factor((gaussian(1 / mu),), CHANCE) == pytest.approx(told / wrongly)


def test_odds_pass_e_to_the_epsilon_often_and_the_factor_hardly_ever():
    multiplier = gaussian_multiplier(1.0, CHANCE)
    mu, rng = 1 / multiplier, np.random.default_rng(0)
    odds = np.exp(mu * (mu + rng.standard_normal(RUNS)) - mu * mu / 2)
    assert np.mean(odds > odds_factor((gaussian(multiplier),), CHANCE)) <= CHANCE + ABOVE
    assert np.mean(odds > math.e) > 5 * CHANCE
    assert np.mean(odds > odds_factor((gaussian(multiplier),), 0.05)) <= 0.05


def test_odds_beside_randomised_response():
    steps, mu, rng = (0.8, 0.4), 0.5, np.random.default_rng(1)
    events = (gaussian(1 / mu), *map(pure, steps))
    loss = mu * (mu + rng.standard_normal(RUNS)) - mu * mu / 2
    for step in steps:
        loss += np.where(rng.random(RUNS) < expit(step), step, -step)
    assert np.mean(np.exp(loss) > odds_factor(events, CHANCE)) <= CHANCE + ABOVE
    assert np.mean(loss > epsilon_at(events, CHANCE)) > 3 * CHANCE


def test_odds_of_a_guess_that_leaves_several_rows_open():
    """One of three rows against one of two others, all within μ of each other."""
    mu, rng = 1.0, np.random.default_rng(2)
    corners = mu / math.sqrt(3) * np.exp(2j * np.pi * np.arange(3) / 3)
    true, prior = np.array([*corners[:2], 0.3 * mu]), np.array([0.5, 0.3, 0.2])
    other = np.array([corners[2], 0.9 * corners[2]])
    assert np.abs(true[:, None] - other).max() <= mu + 1e-12
    row = true[rng.choice(3, size=RUNS, p=prior)]
    seen = row + rng.standard_normal(RUNS) + 1j * rng.standard_normal(RUNS)

    def density(rows, weights):
        return np.exp(-(np.abs(seen[:, None] - rows) ** 2) / 2) @ weights

    odds = density(true, prior) / density(other, [0.5, 0.5])
    factor = odds_factor((gaussian(1 / mu),), CHANCE)
    assert np.mean(odds > factor) <= CHANCE + ABOVE
    assert np.mean(odds > factor / 4) > CHANCE  # the guess is not an easy one


def test_pure_steps_alone_have_a_factor_that_never_fails():
    assert odds_factor((pure(1.0),), 0.0) == pytest.approx(math.e)
    assert odds_factor((pure(1.0),), 1e-6) == pytest.approx(math.e)
    assert odds_factor((pure(1.0),) * 20, 0.0) == pytest.approx(math.exp(20))
    # Right with chance 0.9 where e/(1 + e) = 0.731 would be so at no cost.
    assert odds_factor((pure(1.0),), 0.9) == pytest.approx(
        0.9 / (expit(-1) + (0.9 - expit(1)) * math.e)
    )


def test_several_pure_steps_compose():
    """Against the test that takes the likeliest answers first, a share of the last ones."""
    answers = [(expit(a) * expit(b), expit(-a) * expit(-b)) for a in (1, -1) for b in (0.5, -0.5)]
    answers.sort(key=lambda pair: pair[1] / pair[0])
    for chance in (1e-9, 0.3, 0.55, 0.8, 0.95):
        left, wrongly = chance, 0.0
        for right, wrong in answers:
            taken = min(left, right)
            left, wrongly = left - taken, wrongly + wrong * taken / right
        assert odds_factor((pure(1.0), pure(0.5)), chance) == pytest.approx(chance / wrongly)


def test_many_pure_steps_are_bounded_from_above():
    many = odds_factor((gaussian(2.0),) + (pure(0.05),) * 13, 1e-6)
    exact = exact_log_factor(2.0, (0.05,) * 13, 1e-6)
    assert exact <= math.log(many) <= exact + 0.05
    far = math.log(odds_factor((pure(0.1),) * 500, 1e-6))
    assert math.sqrt(500) * 0.1 * 4.75 < far < 500 * 0.1 / 2


def test_step_known_at_one_point_only_needs_more_than_its_delta():
    step = ApproximateEvent(purpose="test", epsilon=1.0, delta=1e-6)
    assert odds_factor((step,), 1e-6) == math.inf
    assert odds_factor((step,), 2e-6) == pytest.approx(2 * math.e)
    assert odds_factor((step, step, step), 3e-6) == math.inf
    beside = odds_factor((step, gaussian(4.0)), 3e-6)
    assert beside == pytest.approx(1.5 * math.e * odds_factor((gaussian(4.0),), 2e-6))


def test_nothing_drawn_moves_no_odds_and_no_noise_moves_them_without_limit():
    assert odds_factor((), 1e-6) == pytest.approx(1.0)
    assert odds_factor((NonPrivateEvent(purpose="test"), gaussian(9.0)), 0.5) == math.inf
    assert odds_factor((gaussian(9.0),), 0.0) == math.inf
    assert odds_factor((gaussian(0.01), pure(800.0)), 1e-6) == math.inf


@pytest.mark.parametrize("multiplier", [1e-100, 1e-3, 0.02, 1e9, 1e100, 1e300])
@pytest.mark.parametrize("steps", [(), (0.1, 0.1), (1e-300,), (700.0,), (1e308, 1e308)])
@pytest.mark.parametrize("chance", [1e-300, 1e-12, 0.05, 1 - 1e-12, 1 - 1e-16])
def test_extreme_events_have_a_factor_too(multiplier, steps, chance):
    events = (gaussian(multiplier), *map(pure, steps))
    found = odds_factor(events, chance)
    assert found >= 1
    if multiplier >= 1e9 and sum(steps) < 1:
        alone = odds_factor(tuple(map(pure, steps)), chance)
        assert found == pytest.approx(alone, rel=1e-6)
    assert odds_factor(events, 0.0) == math.inf


def test_guarantee_states_its_factor_where_it_protects():
    promise = Guarantee(events=(gaussian(4.0),), delta=1e-6)
    assert promise.odds_factor() == odds_factor(promise.events, 1e-6)
    assert promise.odds_factor(0.05) == odds_factor(promise.events, 0.05)
    assert promise.odds_factor(0) == math.inf
    seeded = Guarantee(events=promise.events, delta=1e-6, seeded=True)
    assert seeded.odds_factor() == math.inf
    for bad in (-0.1, 1, math.nan, "often"):
        with pytest.raises(ParameterError, match="chance"):
            promise.odds_factor(bad)


EVENTS = st.lists(
    st.one_of(
        st.floats(0.05, 1e4).map(gaussian),
        st.floats(1e-6, 20.0).map(pure),
    ),
    min_size=1,
    max_size=6,
)
CHANCES = st.floats(-12, -0.2).map(lambda power: 10.0**power)


@settings(max_examples=150, deadline=None)
@given(EVENTS, CHANCES, CHANCES)
def test_factor_falls_with_the_chance_and_grows_with_events(events, one, two):
    small, large = sorted((one, two))
    whole = odds_factor(tuple(events), small)
    assert whole >= 1
    assert whole * (1 + 1e-8) >= odds_factor(tuple(events), large)
    assert whole * (1 + 1e-8) >= odds_factor(tuple(events[1:]), small)


@settings(max_examples=100, deadline=None)
@given(st.floats(0.05, 1e4), CHANCES)
def test_factor_is_no_smaller_than_for_two_fixed_rows(multiplier, chance):
    mu = 1 / multiplier
    fixed = mu * mu / 2 + mu * norm.isf(chance)  # P(loss > fixed) = chance
    assert math.log(odds_factor((gaussian(multiplier),), chance)) >= fixed - 1e-9
