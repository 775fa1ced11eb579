"""Scores that are counted: each from its own row alone, never without a cell."""

import numpy as np
import pytest

from gdppca import DPPCA
from gdppca.releases import score_map
from gdppca.steps.base import Public, State
from gdppca.steps.score_map import MapCounts


def scores_of(X, release, axes):
    """Scores on two components of a release."""
    public = Public.of(*X.shape)
    step = MapCounts(public=public, epsilon=1.0, delta=1e-6, axes=axes, known_center=True)
    known = {name: getattr(release, name) for name in ("components", "location", "scale")}
    return step._scores(X, State(**known))


@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_scores_are_those_of_transform(axes, rng):
    X = rng.normal(size=(200, 5))
    scale = np.array([1.0, 2.0, 3.0, 0.5, 1e-3])
    pca = DPPCA(3, random_state=0, location=np.full(5, 0.3), scale=scale).fit(X)
    scores = scores_of(X, pca.release_, axes)
    np.testing.assert_allclose(scores, pca.transform(X)[:, list(axes)], rtol=1e-12, atol=1e-12)


def test_scores_at_the_ends_of_the_floats_are_finite(rng):
    X = rng.normal(size=(50, 5))
    pca = DPPCA(2, random_state=0, location=np.full(5, -1e308), scale=np.full(5, 1e-3)).fit(X)
    hostile = np.array([[1.7e308] * 5, [-1.7e308, 1.7e308] * 2 + [0.0], [5e-324] * 5, [0.0] * 5])
    assert np.isfinite(scores_of(hostile, pca.release_, (0, 1))).all()
    assert score_map(np.tile(hostile, (5, 1)), pca, random_state=0).counts.ndim == 3
