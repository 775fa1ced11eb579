"""Totals against event-by-event composition."""

import json
import math
import pickle
import time
import warnings
from collections import defaultdict
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from gdppca.privacy import ApproximateEvent, GaussianEvent, NonPrivateEvent, PureEvent, loss
from gdppca.privacy.accounting import (
    gaussian_deltas,
    gaussian_multiplier,
    multiplier_left,
)
from gdppca.privacy.ledger import Budget
from gdppca.privacy.spending import Spending, epsilon_at

DELTA = 1e-6


def gaussian(multiplier):
    return GaussianEvent(purpose="g", noise_multiplier=multiplier)


def pure(epsilon):
    return PureEvent(purpose="p", epsilon=epsilon)


def approximate(epsilon, delta):
    return ApproximateEvent(purpose="a", epsilon=epsilon, delta=delta)


EVENTS = st.one_of(
    st.floats(1, 100).map(gaussian),
    st.sampled_from([0.01, 0.1, 0.5]).map(pure),
    st.floats(0.01, 1).map(pure),
    st.floats(0.01, 1).map(lambda epsilon: approximate(epsilon, 1e-8)),
)


def by_pld(events, grid=1e-4):
    """ε at δ by dp-accounting's privacy-loss distributions on a grid.

    Its REPLACE_ONE relation would halve our multipliers, which hold that sensitivity already, and
    a count is ignored for some events: so one by one, under its own relation.
    """
    total = pld.identity(value_discretization_interval=grid)
    for event in events:
        if isinstance(event, GaussianEvent):
            part = pld.from_gaussian_mechanism(
                event.noise_multiplier, value_discretization_interval=grid
            )
        else:
            private = DifferentialPrivacyParameters(event.epsilon, 0)
            part = pld.from_privacy_parameters(private, value_discretization_interval=grid)
        total = total.compose(part)
    return total.get_epsilon_for_delta(DELTA)


COMPOSED = (
    [pure(0.5)] * 2,
    [pure(0.1)] * 20,
    [pure(0.3)] * 20,
    [pure(0.05)] * 200,
    [pure(0.2), pure(0.05), gaussian(4.0)],
    [gaussian(3.0), gaussian(7.0), *[pure(0.1)] * 14],
    [gaussian(5.0), *(pure(0.0123 * k) for k in range(1, 20))],
    [pure(0.0123 * k) for k in range(1, 25)],
)


@pytest.mark.parametrize("events", COMPOSED, ids=range(len(COMPOSED)))
def test_numbers_agree_with_privacy_loss_distributions(events):
    ours, theirs, grid = epsilon_at(tuple(events), DELTA), by_pld(events), 1e-4
    assert ours <= theirs * (1 + 1e-9)  # theirs is rounded up to a grid, step by step
    assert theirs <= ours + grid * (len(events) + 1)


def exact_delta(multipliers, steps, epsilon):
    """δ at ε in 40 digits, over all patterns of randomised response, without any rounding."""
    with mpmath.workdps(40):
        law = {mpmath.mpf(0): mpmath.mpf(1)}
        for step in map(mpmath.mpf, steps):
            after, right = defaultdict(mpmath.mpf), 1 / (1 + mpmath.exp(-step))
            for loss_, odds in law.items():
                after[loss_ + step] += odds * right
                after[loss_ - step] += odds * (1 - right)
            law = after
        mu = mpmath.sqrt(sum(1 / mpmath.mpf(m) ** 2 for m in multipliers))

        def alone(x):
            if not mu:
                return max(1 - mpmath.exp(x), mpmath.mpf(0))
            return mpmath.ncdf(mu / 2 - x / mu) - mpmath.exp(x) * mpmath.ncdf(-mu / 2 - x / mu)

        return sum(odds * alone(mpmath.mpf(epsilon) - loss_) for loss_, odds in law.items())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.2, 100), max_size=2),
    st.lists(st.one_of(st.sampled_from([0.01, 0.1, 0.5]), st.floats(0.01, 2)), max_size=7),
    st.sampled_from([1e-10, DELTA, 1e-2]),
)
@example([], [0.1] * 20, DELTA)
@example([], [0.3] * 20, DELTA)
@example([2.0], [0.05] * 200, DELTA)
@example([], [0.05] * 200, 1e-10)
def test_numbers_are_exact_and_never_below(multipliers, steps, delta):
    if not steps:
        return
    events = (*map(gaussian, multipliers), *map(pure, steps))
    epsilon = epsilon_at(events, delta)
    assert exact_delta(multipliers, steps, epsilon) <= delta
    if len(events) > 1 and epsilon > 0:
        assert exact_delta(multipliers, steps, epsilon * (1 - 1e-9)) > delta


@given(st.lists(EVENTS, max_size=8), st.lists(EVENTS, max_size=8))
def test_order_and_grouping_do_not_matter_beyond_rounding(first, second):
    together = Spending().plus(first + second)
    apart = Spending().plus(second).plus(first)
    assert together.pure == apart.pure
    assert math.isclose(together.gaussian, apart.gaussian, rel_tol=1e-12)


@given(st.lists(EVENTS, max_size=10))
def test_the_bound_is_one(events):
    spent = Spending().plus(events)
    assert spent.epsilon(DELTA) <= spent.bound(DELTA) * (1 + 1e-9) + 1e-12


@given(st.lists(EVENTS, max_size=6), st.floats(0.1, 10))
def test_what_is_left_fits_and_more_does_not(events, cap):
    spent, cap = Spending().plus(events), Budget(cap, DELTA)
    left = spent.left(cap)
    if not spent.fits(cap):
        assert left == 0
    elif left > 1e-3:
        fitting = gaussian(gaussian_multiplier(left.epsilon, DELTA))
        assert spent.plus([fitting]).fits(cap)
        too_much = gaussian(gaussian_multiplier(left.epsilon * 1.001, DELTA))
        assert not spent.plus([too_much]).fits(cap)


def reached_by_looking(rule, cap, share, other):
    """δ of somebody who looks at Gaussian noise, then goes on with more of it or with `other`.

    The loss of the first release is Gaussian; given it, they take whichever of the largest two
    spends that the rule allows has the larger part in δ.
    """
    whole = gaussian_multiplier(cap.epsilon, cap.delta) ** -2
    first = Spending().plus([gaussian((share * whole) ** -0.5)])
    low, high = 0.0, cap.epsilon
    for _ in range(40):
        middle = (low + high) / 2
        allowed = rule(first.plus([other(middle)]), cap)
        low, high = (middle, high) if allowed else (low, middle)
    normal = np.linspace(-9, 9, 100_001)
    weights = norm.pdf(normal) * (normal[1] - normal[0])
    loss = share * whole / 2 + math.sqrt(share * whole) * normal

    def excess(loss):
        return -np.expm1(np.minimum(cap.epsilon - loss, 0.0))

    pure_part = expit(low) * excess(loss + low) + expit(-low) * excess(loss - low)
    rest = ((1 - share) * whole) ** -0.5
    return float(weights @ np.maximum(pure_part, gaussian_deltas(rest, cap.epsilon - loss)))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("other", [pure, lambda epsilon: approximate(epsilon, 1e-30)])
def test_nobody_gets_beyond_a_cap_by_looking_first(share, other):
    cap = Budget(1.0, DELTA)
    assert reached_by_looking(Spending.fits, cap, share, other) <= DELTA * (1 + 1e-6)
    assert reached_by_looking(Spending.fitted, cap, share, other) > 1.1 * DELTA  # as it was


def test_the_first_spend_counts_exactly():
    cap = Budget(1.0, DELTA)
    beside = (pure(0.05), pure(0.1))
    last = gaussian(multiplier_left(1.0, DELTA, beside))
    spent = Spending().plus([*beside, last])
    assert spent.fits(cap)
    assert math.isclose(spent.held(DELTA), 1.0, rel_tol=1e-6)
    assert spent.bound(DELTA) > 1.05
    assert not Spending().plus([last]).plus(beside).fits(cap)  # chosen later, they cost more
    assert not replace(spent, first=None).fits(cap)  # nor where the first spend is not known


def test_pure_steps_alone_add_up():
    spent = Spending()
    for _ in range(4):
        spent = spent.plus([pure(0.25)])
    assert spent.held(DELTA) == 1.0
    assert spent.fits(Budget(1.0, DELTA))
    assert not spent.plus([pure(1e-3)]).fits(Budget(1.0, DELTA))


def test_steps_known_by_one_pair_add_up_only_where_they_came_first():
    cap, step = Budget(1.0, DELTA), approximate(0.3, 2e-7)
    alone = Spending().plus([step]).plus([step]).plus([pure(0.3)])
    assert alone.held(DELTA) == pytest.approx(0.9)
    assert alone.fits(cap)
    assert alone.left(cap) == 0
    assert not alone.plus([step]).fits(cap)
    assert not alone.plus([gaussian(500.0)]).fits(cap)
    for first in ([gaussian(50.0)], [pure(0.1)], [gaussian(50.0), step]):
        assert Spending().plus(first).fits(cap)
        assert not Spending().plus(first).plus([step]).fits(cap)
    beside = Spending().plus([gaussian(50.0), step])
    assert beside.plus([gaussian(50.0)]).fits(cap)


@given(st.lists(st.lists(EVENTS, min_size=1, max_size=3), max_size=4))
def test_what_is_held_is_never_below_the_exact_number(spends):
    spent = Spending()
    for events in spends:
        spent = spent.plus(events)
    assert spent.epsilon(DELTA) <= spent.held(DELTA) * (1 + 1e-9) + 1e-12


def test_a_spent_cap_is_told_without_a_warning():
    with warnings.catch_warnings(action="error"):
        for left in np.geomspace(1e-13, 1e-9, 60):
            whole = gaussian_multiplier(1.0, DELTA) ** -2
            spent = Spending().plus([gaussian((whole - left) ** -0.5)])
            assert 0 <= spent.left(Budget(1.0, DELTA)) < 1e-3


def test_fits_is_epsilon_under_the_cap():
    for events in ([gaussian(4.0)], [pure(0.3)] * 30, [gaussian(4.0), *[pure(0.01)] * 50]):
        spent = Spending().plus(events)
        epsilon = spent.epsilon(DELTA)
        assert spent.fits(Budget(epsilon * (1 + 1e-6), DELTA))
        assert not spent.fits(Budget(epsilon * (1 - 1e-6), DELTA))


def test_nothing_and_everything():
    assert Spending().epsilon(DELTA) == 0
    assert Spending().fits(Budget(0.1, DELTA))
    naked = Spending().plus([NonPrivateEvent(purpose="n")])
    assert math.isinf(naked.epsilon(DELTA))
    assert math.isinf(naked.bound(DELTA))
    assert not naked.fits(Budget(1e6, 0.5))
    assert naked.left(Budget(1.0, DELTA)) == 0


def test_approximate_steps_use_up_delta():
    spent = Spending().plus([approximate(0.1, DELTA)])
    assert spent.fits(Budget(0.1, DELTA))
    assert not spent.plus([gaussian(100.0)]).fits(Budget(50.0, DELTA))
    assert not spent.fits(Budget(1.0, DELTA / 2))


def test_many_different_steps_stay_fast_and_are_never_understated():
    steps = np.geomspace(0.001, 0.02, 3000)
    spent = Spending().plus([gaussian(5.0), *map(pure, steps)])
    started = time.process_time()
    epsilon = spent.epsilon(DELTA)
    assert time.process_time() - started < 5
    mean, variance = (steps**2).sum() / 2, (steps**2).sum() + 1 / 25
    clt = mean + 1 / 50 + 4.4 * math.sqrt(variance)  # a little below δ = 1e-6's quantile
    assert 0.9 * clt < epsilon < spent.bound(DELTA)


def test_losses_on_a_grid_err_upwards(monkeypatch):
    events = [gaussian(5.0), *(pure(0.01 * k) for k in range(1, 9))]
    loss.pure_loss.cache_clear()
    exact = Spending().plus(events).epsilon(DELTA)
    monkeypatch.setattr(loss, "_PATTERNS", 64)
    loss.pure_loss.cache_clear()
    rounded = Spending().plus(events).epsilon(DELTA)
    loss.pure_loss.cache_clear()
    assert exact < rounded < 1.2 * exact


def test_totals_survive_json():
    spent = Spending().plus([gaussian(3.7), pure(0.1), pure(0.1), approximate(0.2, 1e-9)])
    assert Spending.from_dict(json.loads(json.dumps(spent.to_dict()))) == spent


def test_a_budget_is_a_number_that_knows_its_delta():
    budget = pickle.loads(pickle.dumps(Budget(0.5, DELTA)))
    assert (budget, budget.epsilon, budget.delta) == (0.5, 0.5, DELTA)


@pytest.mark.parametrize("count", [1, 65, 5000])
def test_binomial_losses_are_a_distribution(count):
    losses, log_odds = loss.pure_loss(((0.01, count),))
    odds = np.exp(log_odds)
    assert math.isclose(odds.sum(), 1.0, rel_tol=1e-9)
    assert math.isclose(float(odds @ np.exp(-losses)), 1.0, rel_tol=1e-6)  # a loss, both ways


@pytest.mark.parametrize("multiplier", [5e-324, 1e-200, 1e-155, 1e-140, 1e140, 1e155, 1e308])
def test_noise_of_any_size_has_totals(multiplier):
    spent = Spending().plus([gaussian(multiplier)] * 2)
    assert spent.gaussian > 0
    assert spent.epsilon(DELTA) == (math.inf if multiplier < 1e-150 else spent.bound(DELTA))
    assert spent.fits(Budget(1.0, DELTA)) is (multiplier > 1)
    assert spent.held(DELTA) == spent.epsilon(DELTA)
    assert (spent.left(Budget(1.0, DELTA)) == 0) is (multiplier < 1)


def test_steps_of_any_size_have_totals():
    with warnings.catch_warnings(action="error"):
        for step in (1e-300, 1e-12, 800.0, 1e5, 1e308):
            spent = Spending().plus([pure(step), pure(step), gaussian(1e9)])
            assert spent.epsilon(DELTA) <= spent.added(DELTA)
            assert spent.fits(Budget(1.0, DELTA)) is (step < 1)
