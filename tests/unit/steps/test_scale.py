"""Private scales: right for any units, robust, and never moved by more than they say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from gdppca.auditing.steps import private_scale
from gdppca.noise import Overheard, Repeated, seeded_noise
from gdppca.privacy import NonPrivateEvent
from gdppca.privacy.accounting import gaussian_multiplier, gdp_mu
from gdppca.steps.scale import lacking_room

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
    assert np.isinf(found.scale_error).tolist() == [False, True, False]


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
    assert np.isinf(found.scale_error).tolist() == [False, False, True]
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
    heard = Overheard(seeded_noise(seed))
    found = private_scale(X, 0.5, heard)
    repeated = Repeated(heard.draws)
    again = private_scale(neighbour, 0.5, repeated)
    pairs = list(zip(heard.draws, repeated.draws, strict=True))
    noisy = [(draw, other) for draw, other in pairs if draw.kind == "gaussian"]
    assert [draw.kind for draw, _ in pairs if draw.kind != "gaussian"] == ["permutation"] * 2
    for (draw, other), event in zip(noisy, found.events, strict=True):
        moved = np.linalg.norm(draw.exact - other.exact)
        assert moved / draw.scale <= 1 / event.noise_multiplier
        assert draw.moved_by(other.exact) <= 1
        assert draw.scale == other.scale
    np.testing.assert_array_equal(found.scale, again.scale)
    np.testing.assert_array_equal(found.scale_error, again.scale_error)
    assert found.events == again.events
