"""What a private centre and private scales are for, by seeded simulations."""

import os
from pathlib import Path

import numpy as np
import pytest
from simulate import mean_loss, spiked

from gdppca import DPPCA, datasets, sin_theta

pytestmark = pytest.mark.slow

EUROPE = Path(os.environ.get("GDPPCA_EUROPE", "../shared/data/europe"))


def mean_error(location, kind, d, away, runs=20, n=2000):
    """Mean sin Θ at (0.5, 1e-5), centre so many standard deviations away in every column."""
    return mean_loss(DPPCA, kind, n, d, runs, away=away, location=location)


@pytest.mark.parametrize(
    ("kind", "d", "away", "most"),
    [
        ("gaussian", 10, 20.0, 0.75),
        ("t1", 10, 20.0, 0.75),
        ("gaussian", 25, 20.0, 0.80),
        ("t1", 25, 20.0, 0.80),
        ("contaminated", 25, 20.0, 0.45),
        ("gaussian", 10, 1e6, 1.0),
        ("t1", 25, 1e6, 1.0),
    ],
)
def test_auto_beats_pairs(kind, d, away, most):
    auto, pairs = (mean_error(location, kind, d, away) for location in ("auto", None))
    assert auto <= most * pairs


@pytest.mark.parametrize("n", [500, 700])
@pytest.mark.parametrize("away", [0.0, 20.0])
def test_auto_is_near_the_better_of_both_with_few_rows(n, away):
    auto, private, pairs = (
        mean_error(location, "gaussian", 5, away, n=n) for location in ("auto", "private", None)
    )
    assert auto <= 1.1 * min(private, pairs)


@pytest.mark.parametrize("kind", ["gaussian", "t1"])
def test_shares_of_variance(kind):
    true = np.array([10.0, 5.0]) / 23
    errors = []
    for seed in range(20):
        X, _ = spiked(kind, 5000, 10, seed)
        pca = DPPCA(2, epsilon=1.0, delta=1e-6, random_state=seed).fit(X + 7.0)
        errors.append(np.abs(pca.explained_variance_ratio_ - true))
    assert np.mean(errors, axis=0).max() < 0.02


@pytest.mark.parametrize(("kind", "number"), [("gaussian", 2), ("t1", 2), ("sphere", 0)])
def test_number_of_components(kind, number):
    found = []
    for seed in range(40):
        if kind == "sphere":
            X = np.random.default_rng(seed).normal(size=(5000, 20))
        else:
            X = spiked(kind, 5000, 20, seed)[0]
        pca = DPPCA("auto", epsilon=1.0, delta=1e-6, random_state=seed)
        found.append(pca.fit(X + 20.0).n_components_)
    assert np.sum(np.array(found) == number) >= 38


def test_private_scales_recover_the_standardised_directions():
    errors = {"private": [], "public": []}
    for seed in range(10):
        X, V = spiked("gaussian", 20_000, 10, seed)
        Sigma = np.eye(10) + 9 * np.outer(V[0], V[0]) + 4 * np.outer(V[1], V[1])
        sd = np.sqrt(np.diag(Sigma))
        W = np.linalg.eigh(Sigma / np.outer(sd, sd))[1][:, ::-1][:, :2].T
        units = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, size=10)
        for name, scale in (("private", "private"), ("public", sd * units)):
            pca = DPPCA(2, epsilon=1.0, delta=1e-6, scale=scale, random_state=seed)
            errors[name].append(sin_theta(pca.fit((X + 5) * units).components_, W))
    assert np.mean(errors["private"]) < 1.25 * np.mean(errors["public"])


@pytest.mark.skipif(not EUROPE.is_dir(), reason="the Europe map's files are not here")
def test_map_of_europe():
    X = datasets.load_europe(EUROPE).X
    V = np.linalg.eigh(np.cov(X.T))[1][:, ::-1][:, :2].T
    errors = [
        sin_theta(DPPCA(2, epsilon=2.0, delta=1e-4, random_state=seed).fit(X).components_, V)
        for seed in range(30)
    ]
    assert np.mean(errors) <= 0.25
