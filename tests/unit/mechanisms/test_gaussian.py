"""Noise: on the lattice, of the right size, from the right source."""

import math

import numpy as np
import pytest

from gdppca import ParameterError
from gdppca.mechanisms.gaussian import (
    add_gaussian,
    calibrated_sigma,
    lattice_exponent,
    lattice_slack,
)
from gdppca.randomness import secure_rng, seeded_rng


@pytest.mark.parametrize("sigma", [1e-9, 0.0123, 1.0, 7e5])
def test_secure_noise_lies_on_the_lattice_whatever_the_value(sigma, rng):
    values = rng.normal(size=200) * sigma
    steps = add_gaussian(values, sigma, secure_rng()) / 2.0 ** lattice_exponent(sigma)
    np.testing.assert_array_equal(steps, np.round(steps))


def test_lattice_is_fine_and_its_slack_tiny():
    for sigma in (1e-9, 0.3, 1e4):
        assert 2.0**-41 < 2.0 ** lattice_exponent(sigma) / sigma <= 2.0**-40
        assert lattice_slack(sigma, 500_500) / sigma < 1e-9


def test_calibrated_sigma_covers_sensitivity_and_slack():
    for multiplier in (0.1, 3.7, 100.0):
        sigma = calibrated_sigma(multiplier, 1e-3, 5050)
        covered = 1e-3 + lattice_slack(sigma, 5050)
        assert sigma >= multiplier * covered
        assert sigma == pytest.approx(multiplier * 1e-3, rel=1e-6)


def test_secure_noise_has_the_stated_scale():
    noise = add_gaussian(np.zeros(20_000), 0.5, secure_rng())
    assert noise.std() == pytest.approx(0.5, rel=0.03)  # six standard errors
    assert abs(noise.mean()) < 6 * 0.5 / math.sqrt(20_000)


def test_secure_noise_never_repeats_and_seeded_noise_does():
    values = np.ones(10)
    assert not np.array_equal(
        add_gaussian(values, 1.0, secure_rng()), add_gaussian(values, 1.0, secure_rng())
    )
    np.testing.assert_array_equal(
        add_gaussian(values, 1.0, seeded_rng(1)), add_gaussian(values, 1.0, seeded_rng(1))
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("source", [secure_rng(), seeded_rng(0)])
def test_non_finite_values_never_reach_the_noise(bad, source):
    with pytest.raises(ParameterError, match="Non-finite"):
        add_gaussian(np.array([0.0, bad]), 1.0, source)


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.nan, np.inf])
def test_bad_sigma_is_refused(sigma):
    with pytest.raises(ParameterError, match="sigma"):
        add_gaussian(np.zeros(3), sigma, secure_rng())
