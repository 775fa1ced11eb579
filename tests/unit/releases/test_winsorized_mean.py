"""A private centre on its own."""

import math

import numpy as np
import pytest

from gdppca import DataError, ParameterError, PrivacyWarning
from gdppca.noise import Overheard, secure_noise, seeded_noise
from gdppca.privacy import NonPrivateEvent
from gdppca.releases import private_winsorized_mean


def test_without_noise_it_is_the_winsorised_mean(rng):
    X = rng.standard_t(2, size=(2000, 3)) * [1, 5, 0.01] + [0, 100, -3]
    found = private_winsorized_mean(X, math.inf, seeded_noise(0))
    expected = np.clip(X, found.lower, found.upper).mean(axis=0)
    np.testing.assert_allclose(found.center, expected, rtol=1e-6)
    below, above = (found.lower > X).mean(axis=0), (found.upper < X).mean(axis=0)
    assert (below <= 0.01).all()
    assert (above <= 0.01).all()
    narrow = np.quantile(X, [0.02, 0.98], axis=0)
    assert (found.lower[:2] <= narrow[0][:2]).all()
    assert isinstance(found.events[0], NonPrivateEvent)


@pytest.mark.parametrize("shift", [0.0, 20.0, -1000.0])
@pytest.mark.parametrize("kind", ["gaussian", "cauchy"])
def test_centre_is_found_wherever_it_is(rng, shift, kind):
    X = rng.normal(size=(3000, 5))
    if kind == "cauchy":
        X /= np.abs(rng.normal(size=(3000, 1)))
    center = private_winsorized_mean(X + shift, 0.25, seeded_noise(1)).center
    assert np.abs(center - shift).max() < 0.5


def test_noise_has_the_recorded_ratio_to_the_sensitivity(rng):
    """What reaches the mechanism: counts with √(2d), ways with √d."""
    heard = Overheard(seeded_noise(0))
    found = private_winsorized_mean(rng.normal(size=(500, 3)), 0.2, heard)
    assert {draw.kind for draw in heard.draws} == {"gaussian"}
    for draw, event in zip(heard.draws, found.events, strict=True):
        sensitivity = math.sqrt(draw.exact.size)  # 2d counts, or d ways, each moving by at most 1
        assert draw.sensitivity == sensitivity
        assert draw.scale / sensitivity == pytest.approx(event.noise_multiplier, rel=1e-9)
        assert draw.scale >= sensitivity * event.noise_multiplier


def test_bounds_are_public_multiples_whatever_the_data(rng):
    found = private_winsorized_mean(rng.normal(size=(800, 2)), 0.5, secure_noise())
    for bound in (found.lower, found.upper):
        mantissa = np.frexp(np.abs(bound))[0] * 2**10
        np.testing.assert_array_equal(mantissa, np.rint(mantissa))


def test_strange_columns_have_a_defined_result():
    n = 9000  # so many that the noise reaches the trimmed share once in 1e28
    X = np.column_stack([np.full(n, 7.0), np.full(n, 1.7e308), np.zeros(n)])
    found = private_winsorized_mean(X, 1.0, secure_noise())
    assert np.isfinite(found.center).all()
    assert (found.lower <= found.upper).all()
    assert found.center[0] == pytest.approx(7.0, abs=0.1)
    assert found.center[2] == pytest.approx(0.0, abs=1e-9)


def test_too_few_rows_are_warned_of(rng):
    with pytest.warns(PrivacyWarning, match="few"):
        private_winsorized_mean(rng.normal(size=(50, 25)), 0.01, seeded_noise(0))


def test_bad_budget_is_named(rng):
    with pytest.raises(ParameterError, match="rho"):
        private_winsorized_mean(rng.normal(size=(50, 2)), 0.0, seeded_noise(0))


@pytest.mark.parametrize("hole", [math.nan, math.inf, None, "word"])
def test_what_is_no_number_is_refused_before_any_draw(rng, hole):
    X = rng.normal(size=(50, 2)).astype(object)
    X[3, 1] = hole
    heard = Overheard(secure_noise())
    with pytest.raises(DataError):
        private_winsorized_mean(X, 0.5, heard)
    with pytest.raises(DataError, match="two rows"):
        private_winsorized_mean(np.ones((1, 2)), 0.5, heard)
    assert heard.draws == []
