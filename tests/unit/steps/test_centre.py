"""The private centre: near the median from any start, and never moved by more than it says."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from simulate import spiked

from gdppca import DPPCA
from gdppca.noise import Overheard, Repeated, seeded_noise
from gdppca.privacy import GaussianEvent, Neighbors, NonPrivateEvent
from gdppca.privacy.accounting import gaussian_epsilon, gaussian_multiplier, gdp_mu
from gdppca.sensitivity import Moves
from gdppca.steps.centre import private_spatial_median
from gdppca.steps.centre_budget import centre_budget, walk_size

MU = 1 / gaussian_multiplier(0.5, 1e-5)


def offset(kind, n, d, seed, away):
    """Rows whose centre is so many standard deviations from the origin in every column."""
    X, V = spiked(kind, n, d, seed)
    center = away * np.sqrt(1 + 9 * V[0] ** 2 + 4 * V[1] ** 2)
    return X + center, center


@pytest.mark.parametrize("kind", ["gaussian", "t1", "contaminated"])
@pytest.mark.parametrize("away", [0.0, 20.0, 1e6])
def test_walk_arrives_from_afar(kind, away):
    X, center = offset(kind, 4000, 10, 3, away)
    found = private_spatial_median(X, MU, seeded_noise(3))
    typical = np.median(np.linalg.norm(X - center, axis=1))
    assert found.arrived
    assert np.linalg.norm(found.center - center) < 0.2 * typical


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_units_do_not_matter(size):
    X, center = offset("t1", 4000, 5, 1, 5.0)
    found = private_spatial_median(size * X, MU, seeded_noise(2))
    assert np.linalg.norm(found.center / size - center) < 1.5


def test_without_noise_it_is_the_spatial_median_itself():
    """Heavy tails and columns of very different spread: steps by a rough Hessian would swing."""
    rng = np.random.default_rng(54)
    X = rng.normal(size=(3000, 3)) * [0.1, 1.0, 0.05] / np.sqrt(rng.chisquare(1, size=(3000, 1)))
    X += [3.0, -2.0, 1.0]
    found = private_spatial_median(X, math.inf, seeded_noise(0)).center

    def mean_distance(center):
        return np.mean(np.linalg.norm(X - center, axis=1))

    best = minimize(mean_distance, np.median(X, axis=0), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(found, best.x, atol=1e-5)


def test_without_noise_it_is_the_spatial_median():
    X, _ = offset("t1", 900, 4, 0, 3.0)
    found = private_spatial_median(X, math.inf, seeded_noise(0))
    away = X - found.center
    gradient = (away / np.linalg.norm(away, axis=1, keepdims=True)).mean(axis=0)
    assert np.linalg.norm(gradient) < 1e-6
    assert found.events == (NonPrivateEvent(purpose="centre"),)


@pytest.mark.parametrize("table", [np.zeros((50, 3)), np.full((50, 1), 1e300), np.eye(2) * 1e-300])
def test_degenerate_tables_end(table):
    for mu in (MU, 50.0, math.inf):
        assert np.isfinite(private_spatial_median(table, mu, seeded_noise(0)).center).all()


def test_walk_stays_within_its_limit():
    X, _ = offset("gaussian", 2000, 25, 0, 1e30)
    found = private_spatial_median(X, MU, seeded_noise(0), longest_walk=0.1)
    assert not found.arrived
    assert gdp_mu(found.events) ** 2 <= 0.1 * MU**2 * (1 + 1e-9)


def test_budget_follows_from_public_numbers():
    few, many = centre_budget(400, 10, MU), centre_budget(2000, 10, MU)
    assert not few.worthwhile
    assert many.worthwhile
    assert many.share < few.share
    assert many.relative_error < few.relative_error


def test_a_walk_sees_some_rows_of_a_large_table_where_looks_stay_cheap():
    assert walk_size(2**16 - 1, 20, 0.3) == 2**16 - 1
    assert walk_size(10**6, 20, 0.3) == 2**15
    assert walk_size(10**8, 20, 0.3) == 10**8 // 64
    assert walk_size(10**6, 20, 1e-4) == 10**6  # noise for fewer rows would cost too much
    assert 2**15 < walk_size(10**6, 20, 0.003) < 10**6
    assert walk_size(10**6, 20, 0.3, Moves(Neighbors.ADD_REMOVE)) == 10**6  # their number is secret
    assert walk_size(10**6, 20, math.inf) == 10**6
    whole, walked = centre_budget(10**6, 20, 0.3), centre_budget(10**6, 20, 0.3, n_walked=2**15)
    assert walked.polish == whole.polish
    assert walked.relative_error == whole.relative_error
    assert whole.share < walked.share < whole.share + 0.003


@pytest.mark.parametrize(("n", "sampled"), [(2**16 - 1, False), (2**16, True)])
def test_a_sampled_walk_spends_what_was_asked_for_and_arrives(n, sampled):
    home = np.array([500.0, -3.0, 0.0])
    X = np.random.default_rng(0).normal(size=(n, 3)) + home
    heard = Overheard(seeded_noise(1))
    pca = DPPCA(1, epsilon=0.5, random_state=heard).fit(X)
    assert ("keys" in [draw.kind for draw in heard.draws]) is sampled
    np.testing.assert_allclose(pca.release_.location, home, atol=0.05)
    spent = gaussian_epsilon(1 / gdp_mu(pca.guarantee_.events), 1e-6)
    assert spent == pytest.approx(0.5, rel=1e-6)


def test_cautious_walk_gives_up_early_where_home_is_too_far():
    X, _ = offset("gaussian", 600, 10, 0, 20.0)
    found = private_spatial_median(X, MU, seeded_noise(0), cautious=True)
    assert not found.arrived
    assert gdp_mu(found.events) ** 2 <= 0.17 * MU**2
    X, _ = offset("gaussian", 600, 10, 0, 0.0)
    assert private_spatial_median(X, MU, seeded_noise(0), cautious=True).arrived


def moves(X, neighbour, mu, seed):
    """Moves of every draw over its noise, and the two results given the same draws."""
    heard = Overheard(seeded_noise(seed))
    found = private_spatial_median(X, mu, heard)
    repeated = Repeated(heard.draws)
    again = private_spatial_median(neighbour, mu, repeated)
    for draw, other in zip(heard.draws, repeated.draws, strict=True):
        assert draw.kind == other.kind == "gaussian"
        assert draw.scale == other.scale
        assert draw.moved_by(other.exact) <= 1
    moved = [
        np.linalg.norm(draw.exact - other.exact) / draw.scale
        for draw, other in zip(heard.draws, repeated.draws, strict=True)
    ]
    return np.array(moved), found, again


hostile_row = st.lists(
    st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3
).map(np.array)


@settings(max_examples=60, deadline=None)
@given(hostile_row, hostile_row, st.integers(0, 10**6), st.sampled_from([0.02, 0.3, 5.0]))
def test_one_row_moves_no_draw_by_more_than_it_says(row, other, seed, mu):
    X = np.random.default_rng(seed).standard_t(2, size=(400, 3)) + 7.0
    X[0] = row
    neighbour = X.copy()
    neighbour[0] = other
    moved, found, again = moves(X, neighbour, mu, seed)
    assert len(moved) == len(found.events)
    stated = np.array([1 / event.noise_multiplier for event in found.events])
    assert (moved <= stated).all()
    # Given the same draws, two neighbours take the same path to the same place: nothing of the
    # data decides but what was released.
    np.testing.assert_array_equal(found.center, again.center)
    assert found.events == again.events
    assert all(isinstance(event, GaussianEvent) for event in found.events)


def test_bound_is_attained_by_the_polish():
    X = np.random.default_rng(0).normal(size=(3000, 3))
    neighbour = X.copy()
    X[0], neighbour[0] = [1e9, 0, 0], [-1e9, 0, 0]
    moved, found, _ = moves(X, neighbour, 1.0, 0)
    assert moved[-1] * found.events[-1].noise_multiplier == pytest.approx(1.0, abs=1e-5)
