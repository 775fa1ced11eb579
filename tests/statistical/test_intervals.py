"""Loading intervals hold what the same fit finds without noise, with private centre and scales."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gdppca import DPPCA
from gdppca.releases import release_intervals

pytestmark = pytest.mark.slow


def table(kind, n, d, seed):
    """Two directions of variance 10 and 5 above 1, columns in other units, away from the origin."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0]
    rows = rng.normal(size=(n, d)) * np.sqrt([10, 5] + [1] * (d - 2))
    if kind == "t1":
        rows /= np.sqrt(rng.chisquare(1, size=(n, 1)))
    return (rows @ basis.T + 5) * 10.0 ** rng.uniform(-1, 1, d)


@pytest.mark.parametrize("kind", ["gaussian", "t1"])
@pytest.mark.parametrize(("n", "d", "runs"), [(5000, 3, 200), (5000, 10, 80), (20_000, 30, 40)])
def test_coverage_with_private_centre_and_scales(kind, n, d, runs):
    """Loadings of few columns move together, so that they need more runs."""
    wish = {"location": "private", "scale": "private"}
    held = []
    for seed in range(runs):
        X = table(kind, n, d, seed)
        found = DPPCA(2, epsilon=1.0, random_state=seed, **wish).fit(X).loading_intervals(0.9)
        exact = DPPCA(2, epsilon=math.inf, random_state=1000 + seed, **wish).fit(X).components_
        exact = exact * np.sign(np.sum(exact * found.components, axis=1))[:, None]
        held.append((found.lower <= exact) & (exact <= found.upper))
    assert 0.86 <= np.mean(held) <= 0.96


def test_noise_of_the_matrix_alone_would_not_do():
    """What is drawn for scales counts: without it, intervals would hold half of the loadings."""
    held = []
    for seed in range(20):
        X = table("gaussian", 5000, 10, seed)
        pca = DPPCA(2, epsilon=1.0, scale="private", loadings="plain", random_state=seed)
        release = pca.fit(X).release_
        exact = DPPCA(2, epsilon=math.inf, scale="private", random_state=seed).fit(X).components_
        blind = release_intervals(replace(release, scale_error=None))
        exact = exact * np.sign(np.sum(exact * blind.components, axis=1))[:, None]
        held.append((blind.lower <= exact) & (exact <= blind.upper))
    assert np.mean(held) < 0.75
