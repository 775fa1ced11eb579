"""Noise: on the lattice, of the right size, from the right source."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdppca import ParameterError
from gdppca.noise import gaussian
from gdppca.noise.bits import secure_bits, seeded_bits
from gdppca.noise.gaussian import (
    add_gaussian,
    calibrated_sigma,
    lattice_exponent,
    lattice_slack,
)


@pytest.fixture(params=["OpenDP", "ours"])
def sampler(request, monkeypatch):
    """Either sampler for vectors of any length."""
    monkeypatch.setattr(gaussian, "_SHORT", 10**9 if request.param == "OpenDP" else -1)
    return request.param


@pytest.mark.parametrize("sigma", [1e-300, 1e-9, 0.0123, 1.0, 7e5, 1e300])
@pytest.mark.usefixtures("sampler")
def test_secure_noise_lies_on_the_lattice_whatever_the_value(sigma, rng):
    values = rng.normal(size=200) * sigma
    steps = add_gaussian(values, sigma, secure_bits()) / 2.0 ** lattice_exponent(sigma)
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


@pytest.mark.parametrize("sigma", [1e-305, 0.5, 1 - 2.0**-53, 1024 - 2.0**-43, 3e306])
@pytest.mark.usefixtures("sampler")
def test_secure_noise_has_the_stated_scale(sigma):
    noise = add_gaussian(np.zeros(20_000), sigma, secure_bits()) / sigma
    assert noise.std() == pytest.approx(1, rel=0.03)  # six standard errors
    assert abs(noise.mean()) < 6 / math.sqrt(20_000)


@pytest.mark.usefixtures("sampler")
def test_secure_noise_is_added_to_the_values_in_their_places():
    values = np.arange(600.0).reshape(3, 200) - 300
    noisy = add_gaussian(values, 0.01, secure_bits())
    assert noisy.shape == (3, 200)
    assert np.abs(noisy - values).max() < 0.1


@pytest.mark.usefixtures("sampler")
def test_secure_noise_never_repeats_and_seeded_noise_does():
    values = np.ones(10)
    assert not np.array_equal(
        add_gaussian(values, 1.0, secure_bits()), add_gaussian(values, 1.0, secure_bits())
    )
    np.testing.assert_array_equal(
        add_gaussian(values, 1.0, seeded_bits(1)), add_gaussian(values, 1.0, seeded_bits(1))
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("source", [secure_bits(), seeded_bits(0)])
@pytest.mark.usefixtures("sampler")
def test_non_finite_values_never_reach_the_noise(bad, source):
    with pytest.raises(ParameterError, match="Non-finite"):
        add_gaussian(np.array([0.0, bad]), 1.0, source)


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.usefixtures("sampler")
def test_bad_sigma_is_refused(sigma):
    with pytest.raises(ParameterError, match="sigma"):
        add_gaussian(np.zeros(3), sigma, secure_bits())


@pytest.mark.usefixtures("sampler")
def test_noise_beyond_floating_point_is_refused():
    with pytest.raises(ParameterError, match="too small"):
        add_gaussian(np.zeros(3), 2.0**-1035, secure_bits())
    with pytest.raises(ParameterError, match="too large"):
        add_gaussian(np.full(300, 1.7e308), 1e308, secure_bits())


@pytest.mark.parametrize(("length", "expected"), [(1, "short"), (8192, "short"), (8193, "long")])
def test_long_vectors_have_a_sampler_that_keeps_up(length, expected, monkeypatch):
    called = []
    for name, draw in (("short", "_drawn_by_opendp"), ("long", "_drawn_here")):
        monkeypatch.setattr(
            gaussian, draw, lambda values, sigma, rng, name=name: called.append(name) or values
        )
    add_gaussian(np.zeros(length), 1.0, secure_bits())
    assert called == [expected]


# --- Sums on the lattice --------------------------------------------------------------------------

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def sums(draw):
    """A value near the lattice's size, or any, a lattice and an integer of noise."""
    k = draw(st.integers(-1074, 920))
    near = draw(st.floats(-(2.0**64), 2.0**64) | st.integers(-9, 9).map(lambda i: i / 2))
    value = draw(st.just(math.ldexp(near, k)) | FINITE)
    return value, k, draw(st.integers(-(2**46), 2**46))


@given(case=sums())
def test_sums_are_exact_and_rounded_once(case):
    value, k, noise = case
    step = Fraction(2) ** k
    exact = (math.floor(Fraction(value) / step + Fraction(1, 2)) + noise) * step
    [found] = gaussian._from_lattice(np.array([value]), k, np.array([noise]))
    assert found == float(exact)
    assert Fraction(float(found)) % step == 0


@given(case=sums())
def test_no_value_is_an_error_or_a_warning(case):
    value, k, noise = case
    with np.errstate(all="raise"):
        gaussian._from_lattice(np.array([value]), k, np.array([noise]))


def test_values_are_put_on_the_lattice_as_by_opendp(rng):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    anything = np.frombuffer(rng.bytes(8000))
    anything = anything[np.isfinite(anything)]
    for k in (-1074, -60, -3, 0, 5, 900):
        halves = np.ldexp(rng.integers(-9, 9, size=50) / 2, k)
        near = np.ldexp(rng.normal(size=100), k + 2)
        values = np.concatenate([anything, halves, near, [0.0, 1.7e308, -1.7e308, 5e-324]])
        domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(values))
        rounded = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=0.0, k=k)
        ours = gaussian._from_lattice(values, k, np.zeros(len(values), dtype=np.int64))
        np.testing.assert_array_equal(ours, rounded(values.tolist()))


@pytest.mark.parametrize("sigma", [1.0, 1 - 2.0**-53, 2.0**10 - 2.0**-43, 3.0, 5e-324, 1.7e308])
def test_lattice_exponent_is_exact(sigma):
    k = lattice_exponent(sigma)
    assert Fraction(2) ** (k + 40) <= Fraction(sigma) < Fraction(2) ** (k + 41)
