"""Private scales: right for any units, robust, and never moved by more than they say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdppca.privacy import NonPrivateEvent
from gdppca.privacy.accounting import gaussian_multiplier, gdp_mu
from gdppca.randomness import seeded_rng
from gdppca.releases import scale as scale_module
from gdppca.releases.scale import private_scale, scale_is_doubtful

MU = math.sqrt(0.2) / gaussian_multiplier(1.0, 1e-5)


def test_units_that_differ_by_powers_of_ten():
    units = 10.0 ** np.linspace(-30, 30, 10)
    X = np.random.default_rng(0).normal(size=(10_000, 10)) * units + 1e6 * units
    found = private_scale(X, MU, seeded_rng(0))
    np.testing.assert_allclose(found.scale / units, 1.0, atol=0.1)
    assert gdp_mu(found.events) == pytest.approx(MU)


def test_bad_rows_move_it_little():
    X = np.random.default_rng(1).normal(size=(10_000, 4))
    X[:500] = 1e12
    np.testing.assert_allclose(private_scale(X, MU, seeded_rng(1)).scale, 1.0, atol=0.25)


def test_without_noise_it_is_the_median_of_differences():
    X = np.random.default_rng(2).standard_cauchy((4000, 3))
    found = private_scale(X, math.inf, seeded_rng(2))
    rng = seeded_rng(2)
    rng.permutation(4000)  # for the coarse scales
    order = rng.permutation(4000)
    differences = np.abs(X[order[:2000]] - X[order[2000:]])
    expected = np.median(differences, axis=0) / (math.sqrt(2) * 0.6744897501960817)
    np.testing.assert_allclose(found.scale, expected, rtol=2e-3)
    assert found.events == (NonPrivateEvent(purpose="scale"),)


def test_columns_with_ties_get_a_usable_scale():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.random(8000) < 0.1, np.full(8000, 7.0), rng.normal(size=8000)])
    scale = private_scale(X.astype(float), 0.3, seeded_rng(3)).scale
    assert 0.2 < scale[0] < 0.6  # 0.3 is its standard deviation
    assert scale[1] == 1.0
    assert scale[2] == pytest.approx(1.0, abs=0.1)


def test_too_little_room_is_known_beforehand():
    assert scale_is_doubtful(200, 10, MU)
    assert not scale_is_doubtful(10_000, 10, MU)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=6, max_size=6),
    st.integers(0, 10**6),
)
def test_one_row_moves_no_draw_by_more_than_it_says(numbers, seed):
    X = np.random.default_rng(seed).standard_t(2, size=(301, 3))
    neighbour = X.copy()
    X[5], neighbour[5] = numbers[:3], numbers[3:]
    runs = []
    for table in (X, neighbour):
        exact, replay = [], iter(runs[0][1] if runs else ())

        def noise(values, sigma, rng, exact=exact, replay=replay, first=not runs):
            released = values + rng.generator().normal(scale=sigma, size=values.shape)
            released = released if first else next(replay)
            exact.append((values, sigma, released))
            return released

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scale_module, "add_gaussian", noise)
            found = private_scale(table, 0.5, seeded_rng(seed))
        runs.append((exact, [released for *_, released in exact], found))
    (first, _, found), (second, _, again) = runs
    for (a, sigma, _), (b, _, _), event in zip(first, second, found.events, strict=True):
        assert np.linalg.norm(a - b) / sigma <= 1 / event.noise_multiplier
    np.testing.assert_array_equal(found.scale, again.scale)
