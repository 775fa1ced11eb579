"""Weights in variances and maps: rows are counted by secret coins, each with its share."""

import numpy as np
import pytest

from gdppca import DPPCA

N = 20_000
WIDE = {"epsilon": np.inf, "random_state": 0}  # no noise: what is left are the coins


@pytest.fixture
def design(rng):
    """Half of the rows weigh a quarter; they vary less, and lie to the left."""
    light = np.arange(N) % 2 == 0
    X = rng.normal(size=(N, 3)) * [1.0, 0.2, 0.1]
    X[:, 0] = np.where(light, X[:, 0] - 4.0, 3.0 * X[:, 0] + 4.0)
    return X, np.where(light, 0.5, 2.0)


def released(X, **more):
    pca = DPPCA(2, **WIDE)
    found = pca.fit_release(X, **more)
    return pca if found is None else found


def repeated(X, weights):
    """A table in which rows stand as often as they weigh."""
    return np.repeat(X, (weights / 0.5).astype(int), axis=0)


@pytest.mark.parametrize("persons", [False, True])
def test_variances_are_those_of_rows_repeated_by_their_weights(design, persons):
    X, weights = design
    wish = {"variances": 0.5}
    more = {"persons": np.arange(N)} if persons else {}
    found = released(X, weights=weights, largest_weight=2.0, **more, **wish)
    plain, expected = released(X, **wish), released(repeated(X, weights), **wish)
    own, other, aim = (each.variances for each in (found, plain, expected))
    np.testing.assert_allclose(own, aim, rtol=0.06)
    assert abs(other[0] / aim[0] - 1) > 0.1  # weights matter here


@pytest.mark.parametrize("persons", [False, True])
def test_a_map_counts_rows_by_their_weights(design, persons):
    X, weights = design
    more = {"persons": np.arange(N)} if persons else {}
    pca = released(X, weights=weights, largest_weight=2.0, score_map=0.5, **more)
    counts = pca.score_map.counts
    shares = np.minimum(weights, 2.0) / 2.0
    total = counts.sum() + np.sum(pca.score_map.outside)
    assert abs(total - shares.sum()) < 5 * np.sqrt((shares * (1 - shares)).sum())
    assert abs(total - 0.625 * N) < 0.02 * N
    assert pca.score_map.weighted
    np.testing.assert_allclose(pca.score_map.estimate(), counts)
    assert not released(X, score_map=0.5).score_map.weighted
