"""From events to ε, against independent numbers."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from gdppca import Guarantee, ParameterError
from gdppca.privacy import ApproximateEvent, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.privacy.accounting import (
    classical_multiplier,
    gaussian_deltas,
    gaussian_epsilon,
    gaussian_multiplier,
    gdp_mu,
    mixed_delta,
    multiplier_beside,
    zcdp_rho,
)
from gdppca.privacy.spending import epsilon_at


def exact_delta(multiplier, epsilon):
    """δ of the Gaussian mechanism in 50 digits (Balle and Wang 2018, Theorem 8)."""
    with mpmath.workdps(50):
        mu = 1 / mpmath.mpf(multiplier)
        epsilon = mpmath.mpf(epsilon)
        return float(
            mpmath.ncdf(mu / 2 - epsilon / mu)
            - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
        )


def gaussian(multiplier):
    return GaussianEvent(purpose="test", noise_multiplier=multiplier)


def pure(epsilon):
    return PureEvent(purpose="test", epsilon=epsilon)


@pytest.mark.parametrize("epsilon", np.geomspace(0.01, 50, 15))
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
def test_calibration_reaches_delta_and_hardly_more(epsilon, delta):
    multiplier = gaussian_multiplier(epsilon, delta)
    assert 0.9999 * delta <= exact_delta(multiplier, epsilon) <= delta
    assert exact_delta(multiplier * (1 - 1e-4), epsilon) > delta
    assert gaussian_epsilon(multiplier, delta) == pytest.approx(epsilon, rel=1e-6)
    assert gaussian_epsilon(multiplier, delta) <= epsilon
    assert gaussian_deltas(multiplier, epsilon) == pytest.approx(
        exact_delta(multiplier, epsilon), rel=1e-6
    )


@pytest.mark.parametrize(
    ("epsilon", "delta", "tight", "classical"),
    [(0.5, 1e-5, 7.032, 9.690), (1.0, 1e-5, 3.731, 4.845), (2.0, 1e-4, 1.734, 2.172)],
)
def test_known_multipliers(epsilon, delta, tight, classical):
    assert gaussian_multiplier(epsilon, delta) == pytest.approx(tight, abs=6e-4)
    assert classical_multiplier(epsilon, delta) == pytest.approx(classical, abs=6e-4)


def test_classical_formula_promises_too_much_from_epsilon_8_42_on():
    for epsilon, holds in ((8.40, True), (8.44, False)):
        reached = exact_delta(classical_multiplier(epsilon, 1e-5), epsilon)
        assert (reached <= 1e-5) is holds


def test_gaussians_compose_as_one():
    together = epsilon_at((gaussian(3.0), gaussian(4.0)), 1e-5)
    assert together == pytest.approx(gaussian_epsilon(1 / math.hypot(1 / 3, 1 / 4), 1e-5))


def test_count_is_never_lost():
    """Ten equal events are ten events: dp-accounting ignores the count of some."""
    once, tenfold = epsilon_at((pure(0.1),), 1e-6), epsilon_at((pure(0.1),) * 10, 1e-6)
    assert once == 0.1
    assert tenfold > 0.8  # 1.0 by adding up; a lost count would leave 0.1
    assert epsilon_at((gaussian(5.0),) * 4, 1e-6) == pytest.approx(gaussian_epsilon(2.5, 1e-6))


def test_sensitivity_is_not_doubled_again():
    """With its REPLACE_ONE relation the PLD accountant would halve our multiplier."""
    ours = epsilon_at((gaussian(3.731), pure(1e-6)), 1e-5)
    assert ours == pytest.approx(1.0, abs=2e-3)


def test_composition_beats_adding_up():
    events = (gaussian(gaussian_multiplier(0.9, 1e-5)), pure(0.1))
    assert epsilon_at(events, 1e-5) == pytest.approx(0.962, abs=2e-3)


def test_composition_is_pessimistic():
    """Against the exact δ of a Gaussian with randomised response: a mixture of two shifts."""
    multiplier, small, delta = 2.0, 0.3, 1e-5
    epsilon = epsilon_at((gaussian(multiplier), pure(small)), delta)
    p = math.exp(small) / (1 + math.exp(small))
    exact = p * gaussian_deltas(multiplier, epsilon - small) + (1 - p) * gaussian_deltas(
        multiplier, epsilon + small
    )
    assert 0.98 * delta <= exact <= delta


def test_approximate_events_are_added_up():
    step = ApproximateEvent(purpose="test", epsilon=0.3, delta=4e-6)
    assert epsilon_at((step,), 1e-5) == 0.3
    assert epsilon_at((step, step), 1e-5) == pytest.approx(0.6)
    assert epsilon_at((step, gaussian(3.0)), 1e-5) == pytest.approx(
        0.3 + gaussian_epsilon(3.0, 6e-6)
    )
    assert math.isinf(epsilon_at((step,), 1e-6))
    assert math.isinf(gdp_mu([step]))
    assert math.isinf(zcdp_rho([step]))


def test_other_views():
    assert gdp_mu([gaussian(4.0)]) == 0.25
    assert zcdp_rho([gaussian(4.0)]) == pytest.approx(1 / 32)
    assert zcdp_rho([pure(0.5)]) == 0.125
    # ε-DP implies μ-GDP: the trade-off curves touch at the symmetric point 1/(1 + e^ε).
    mu = gdp_mu([pure(1.0)])
    assert mpmath.ncdf(-mu / 2) == pytest.approx(1 / (1 + math.e))


def test_nothing_drawn_costs_nothing_and_no_noise_costs_everything():
    assert epsilon_at((), 1e-6) == 0.0
    assert epsilon_at((gaussian(1.0), NonPrivateEvent(purpose="test")), 1e-6) == math.inf
    assert gdp_mu([NonPrivateEvent(purpose="test")]) == math.inf
    assert zcdp_rho([NonPrivateEvent(purpose="test")]) == math.inf


def test_large_pure_steps_have_no_overflow():
    assert gdp_mu([pure(800.0)]) > 50
    assert gdp_mu([pure(30.0)]) == pytest.approx(-2 * norm.ppf(1 / (1 + math.exp(30.0))))


def test_room_beside_a_pure_step_is_exact():
    multiplier = multiplier_beside(0.5, 1e-5, (0.025,))
    assert gaussian_multiplier(0.5, 1e-5) < multiplier < gaussian_multiplier(0.475, 1e-5)
    assert mixed_delta(multiplier, (0.025,), 0.5) <= 1e-5
    assert mixed_delta(multiplier * (1 - 1e-6), (0.025,), 0.5) > 1e-5
    assert multiplier_beside(0.5, 1e-5, ()) == gaussian_multiplier(0.5, 1e-5)
    with pytest.raises(ParameterError, match="epsilon"):
        multiplier_beside(0.5, 1e-5, (0.3, 0.2))


@pytest.mark.parametrize("multiplier", [5e-324, 1e-200, 1e-155, 1e155, 1e308])
def test_noise_of_any_size_has_its_numbers(multiplier):
    mu = 1 / multiplier
    assert gdp_mu([gaussian(multiplier)] * 4) == pytest.approx(2 * mu)
    assert zcdp_rho([gaussian(multiplier)]) == pytest.approx(mu * mu / 2)
    assert Guarantee(events=(gaussian(multiplier),), delta=1e-6).protects is (multiplier > 1)


def test_mu_of_a_hardly_visible_step_is_not_lost():
    for epsilon in (1e-300, 1e-17, 1e-12, 0.999e-6, 1.001e-6):
        with mpmath.workdps(60):
            odds = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
            exact = 2 * mpmath.sqrt(2) * mpmath.erfinv(2 * odds - 1)
        assert gdp_mu([pure(epsilon)]) == pytest.approx(float(exact), rel=1e-9)


def test_no_gaussian_step_is_noise_without_end():
    assert mixed_delta(math.inf, (0.5,), 0.2) == pytest.approx(expit(0.5) * -math.expm1(0.2 - 0.5))
    assert gaussian_epsilon(math.inf, 1e-6) == 0


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, "1"])
def test_bad_budgets_are_refused(bad):
    for multiplier in (gaussian_multiplier, classical_multiplier):
        with pytest.raises(ParameterError, match="epsilon"):
            multiplier(bad, 1e-6)
        with pytest.raises(ParameterError, match="delta"):
            multiplier(1.0, bad)
