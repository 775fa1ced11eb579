"""Private scales: right for any units, robust, and never moved by more than they say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from gdppca.noise import seeded_noise
from gdppca.privacy import NonPrivateEvent
from gdppca.privacy.accounting import gaussian_multiplier, gdp_mu
from gdppca.steps import scale as scale_module
from gdppca.steps.scale import (
    coarse_scale,
    expected_scale_error,
    lacking_room,
    private_scale,
)

MU = math.sqrt(0.2) / gaussian_multiplier(1.0, 1e-5)
MU_OF_ONE = math.sqrt(0.2) / gaussian_multiplier(1.0, 1e-6)  # of the default share


def test_units_that_differ_by_powers_of_ten():
    units = 10.0 ** np.linspace(-30, 30, 10)
    X = np.random.default_rng(0).normal(size=(10_000, 10)) * units + 1e6 * units
    found = private_scale(X, MU, seeded_noise(0))
    np.testing.assert_allclose(found.scale / units, 1.0, atol=0.1)
    assert gdp_mu(found.events) == pytest.approx(MU)


def test_bad_rows_move_it_little():
    X = np.random.default_rng(1).normal(size=(10_000, 4))
    X[:500] = 1e12
    np.testing.assert_allclose(private_scale(X, MU, seeded_noise(1)).scale, 1.0, atol=0.25)


def test_without_noise_it_is_hubers_second_proposal():
    X = np.random.default_rng(2).standard_cauchy((4000, 3))
    found = private_scale(X, math.inf, seeded_noise(2))
    rng = seeded_noise(2)
    rng.permutation(4000)  # for the coarse scales
    order = rng.permutation(4000)
    differences = np.abs(X[order[:2000]] - X[order[2000:]]) / math.sqrt(2)
    # E min(Z²/k², 1) of a standard normal Z, k = 1.5, by quadrature.
    normal = quad(lambda z: min(z * z / 2.25, 1.0) * 2 * norm.pdf(z), 0, 40, points=[1.5])[0]
    for k in range(3):

        def excess(s, y=differences[:, k]):
            return np.mean(np.minimum((y / (1.5 * s)) ** 2, 1.0)) - normal

        assert found.scale[k] == pytest.approx(brentq(excess, 1e-3, 1e3), rel=1e-5)
    assert found.events == (NonPrivateEvent(purpose="scale"),)


def test_columns_with_ties_get_a_usable_scale():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.random(8000) < 0.1, np.full(8000, 7.0), rng.normal(size=8000)])
    found = private_scale(X.astype(float), 0.3, seeded_noise(3))
    assert 0.2 < found.scale[0] < 0.6  # 0.3 is its standard deviation
    assert found.scale[1] == 1.0
    assert found.scale[2] == pytest.approx(1.0, abs=0.1)
    assert np.isinf(found.error).tolist() == [False, True, False]


DISCRETE = {
    **{f"yes in {p}": lambda rng, p=p: rng.random(20_000) < p for p in (0.05, 0.1, 0.3, 0.5, 0.95)},
    **{f"Poisson {m}": lambda rng, m=m: rng.poisson(m, 20_000) for m in (0.1, 0.5, 1, 3, 30)},
    "five points": lambda rng: rng.choice(5, 20_000, p=[0.1, 0.2, 0.4, 0.2, 0.1]),
    "five points, skewed": lambda rng: rng.choice(5, 20_000, p=[0.6, 0.2, 0.1, 0.05, 0.05]),
    "0 or 7.3": lambda rng: 7.3 * (rng.random(20_000) < 0.4),
}


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_take_few_values_get_about_their_standard_deviation(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([make(rng) for make in DISCRETE.values()]).astype(float)
    scale = private_scale(X, MU_OF_ONE, seeded_noise(seed)).scale
    ratio = dict(zip(DISCRETE, scale / X.std(axis=0), strict=True))
    assert all(0.7 < each < 1.4 for each in ratio.values()), ratio


@pytest.mark.parametrize("centre", [None, np.zeros(8)])
@pytest.mark.parametrize("tails", ["normal", "cauchy"])
def test_error_is_what_it_says(centre, tails):
    draw = {"normal": "standard_normal", "cauchy": "standard_cauchy"}[tails]
    errors, said = [], []
    for seed in range(12):
        X = getattr(np.random.default_rng(seed), draw)((6000, 8))
        found = coarse_scale(X, MU_OF_ONE, seeded_noise(seed)).refined(
            X, centre, seeded_noise(seed)
        )
        exact = coarse_scale(X, math.inf, seeded_noise(99)).refined(X, centre, seeded_noise(99))
        errors.append(np.log(found.scale / exact.scale))
        said.append(found.error)
    ratio = np.std(errors) / np.mean(said)  # 96 numbers: known within 7 %
    assert 0.65 < ratio < 1.35
    centred = centre is not None
    expected = expected_scale_error(6000, 8, MU_OF_ONE, centred=centred)
    sampling = expected_scale_error(6000, 8, math.inf, centred=centred)
    assert math.sqrt(expected**2 - sampling**2) < 1.05 * np.mean(said) < 1.3 * expected


def test_too_little_room_is_known_beforehand():
    assert lacking_room(200, 10, MU) > 5
    assert lacking_room(10_000, 10, MU) == 1.0
    times = lacking_room(600, 10, MU)
    assert times > 1
    assert lacking_room(2 * math.ceil(300 * times), 10, MU) == 1.0
    assert lacking_room(600, 10, times * MU) == pytest.approx(1.0)


def test_a_size_that_noise_hides_is_told():
    X = np.random.default_rng(5).normal(size=(4000, 3)) * [1.0, 1e4, 1.0]
    X[:, 2] = np.arange(4000) < 20  # one in two hundred
    found = private_scale(X, 0.1, seeded_noise(5))
    assert np.isinf(found.error).tolist() == [False, False, True]
    assert found.scale[2] == 1.0


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
            found = private_scale(table, 0.5, seeded_noise(seed))
        runs.append((exact, [released for *_, released in exact], found))
    (first, _, found), (second, _, again) = runs
    for (a, sigma, _), (b, _, _), event in zip(first, second, found.events, strict=True):
        assert np.linalg.norm(a - b) / sigma <= 1 / event.noise_multiplier
    np.testing.assert_array_equal(found.scale, again.scale)
