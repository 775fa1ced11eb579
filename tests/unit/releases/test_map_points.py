"""Made-up points of a score map: where people are, and nowhere else."""

import math

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError
from gdppca.releases import score_map


@pytest.fixture(scope="module")
def fitted():
    """Rows in three clusters, their clusters, and a fit."""
    rng = np.random.default_rng(0)
    which = rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 5)) * [1, 1, 0.5, 0.5, 0.5]
    X[:, :2] += np.array([[-4.0, -1.5], [0.0, 3.0], [4.0, -1.5]])[which]
    return X, which, DPPCA(2, location=None, random_state=0).fit(X)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_points_lie_in_the_frame_and_are_as_many_as_rows(fitted, kind):
    X, _, pca = fitted
    shown = score_map(X, pca, kind=kind, random_state=0)
    points = shown.points(random_state=1)
    np.testing.assert_array_equal(points, shown.points(random_state=1))
    assert len(points) == pytest.approx(3000 - shown.outside[0], abs=1)
    for name, edges in (("x", shown.x_edges), ("y", shown.y_edges)):
        assert edges[0] <= points[name].min() < points[name].max() <= edges[-1]


def empty_half(random_state, **options):
    """A map of rows in one half of its frame, with noise everywhere."""
    X = np.random.default_rng(random_state).normal(size=(1000, 4)) * [1, 1, 0.1, 0.1]
    pca = DPPCA(2, epsilon=math.inf).fit(X)
    options = {"bins": (24, 12), "frame": ((-4, 20), (-4, 4)), "epsilon": 0.5} | options
    return score_map(X, pca, random_state=random_state, **options)


def test_points_do_not_clump_where_nobody_is():
    maps = [empty_half(seed) for seed in range(40)]
    away = [np.mean(shown.points(random_state=0)["x"] > 6) for shown in maps]
    raw = [shown.estimate()[0, 10:].sum() / shown.estimate().sum() for shown in maps]
    assert np.mean(np.array(away) > 0) <= 0.1  # once in twenty maps
    assert np.mean(away) < 0.05 * np.mean(raw)


def test_points_keep_what_is_there():
    shown, truth = empty_half(0), empty_half(0, epsilon=math.inf)
    edges = [shown.x_edges, shown.y_edges]
    points = [each.points(random_state=1, size=20_000, jitter=0.5) for each in (shown, truth)]
    found, true = (np.histogram2d(p["x"], p["y"], bins=edges)[0] / 20_000 for p in points)
    raw = shown.estimate()[0] / shown.estimate().sum()
    assert np.abs(found - true).sum() < 0.6 * np.abs(raw - true).sum()


@pytest.mark.parametrize("size", [0, 1, 7, 5000])
def test_points_are_as_many_as_wanted(fitted, size):
    X, which, pca = fitted
    shown = score_map(X, pca, groups=which, categories=[0, 1, 2], random_state=0)
    assert len(shown.points(size=size)) == size


def test_jitter_is_the_reach_in_bins(fitted):
    X, _, pca = fitted
    shown = score_map(X, pca, bins=5, random_state=0)
    middles = (shown.x_edges[1:] + shown.x_edges[:-1]) / 2
    wide = shown.x_edges[1] - shown.x_edges[0]
    for jitter in (0.0, 0.3, 0.5):
        points = shown.points(random_state=0, jitter=jitter)
        away = np.abs(points["x"][:, None] - middles).min(axis=1)
        assert away.max() <= jitter * wide * (1 + 1e-9)
        assert away.max() >= 0.9 * jitter * wide
    for bad in (-0.1, 1.5, math.nan, "wide"):
        with pytest.raises(ParameterError, match="`jitter`"):
            shown.points(jitter=bad)
    with pytest.raises(ParameterError, match="`size`"):
        shown.points(size=-1)


def test_points_know_their_group(fitted):
    X, which, pca = fitted
    shown = score_map(X, pca, groups=which, categories=[0, 1, 2], random_state=0)
    points = shown.points()
    sizes = np.bincount(points["group"], minlength=3)
    np.testing.assert_allclose(sizes, shown.estimate().sum(axis=(1, 2)), atol=60)
