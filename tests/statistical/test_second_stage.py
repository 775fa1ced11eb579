"""Whole fits with a second stage: what it gains, what a plan foresees, what intervals hold."""

import numpy as np
import pytest

from gdppca import DPPCA, plan, sin_theta

pytestmark = pytest.mark.slow

N, D, EPSILON, DELTA = 10_000, 80, 0.6, 1e-5
RUNS = 25


def table(seed, law="gauss"):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((D, 2)))[0]
    X = rng.standard_normal((N, D))
    X += (X @ V * (np.sqrt([10.0, 5.0]) - 1)) @ V.T
    return (X / np.abs(rng.standard_normal((N, 1))) if law == "t1" else X), V.T


@pytest.fixture(scope="module", params=["gauss", "t1"])
def fits(request):
    """Errors with one stage and with two, and how often intervals held the rows' own loadings."""
    errors, held = [], []
    for seed in range(RUNS):
        X, V = table(seed, request.param)
        asked = {"epsilon": EPSILON, "delta": DELTA, "random_state": seed}
        one, two = (DPPCA(2, stages=stages, **asked).fit(X + 5) for stages in ("one", "auto"))
        assert two.release_.second_stage is not None
        errors.append([sin_theta(pca.components_, V) for pca in (one, two)])
        U = X / np.linalg.norm(X, axis=1, keepdims=True)
        own = np.linalg.eigh(U.T @ U)[1][:, ::-1].T[:2]
        own *= np.sign(np.einsum("kd,kd->k", own, two.components_))[:, None]
        lower, upper = two.loading_intervals(0.9)
        held.append(np.mean((lower <= own) & (own <= upper)))
    return np.mean(errors, axis=0), np.mean(held)


def test_a_second_stage_gains(fits):
    (one, two), _ = fits
    assert two < 0.87 * one


def test_the_plan_foresees_it(fits):
    (_, two), _ = fits
    ahead = plan(N, D, epsilon=EPSILON, delta=DELTA, spectrum="spiked:10,5", stages="auto")
    assert ahead.sin_theta == pytest.approx(two, rel=0.15)


def test_intervals_hold_what_they_say(fits):
    _, held = fits
    assert 0.86 < held < 0.96
