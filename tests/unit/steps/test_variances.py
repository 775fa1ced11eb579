"""Variances of scores: what is drawn, and how far a row moves it."""

import numpy as np
import pytest
from simulate import spiked

from gdppca.noise import seeded_noise
from gdppca.privacy.spending import epsilon_at
from gdppca.steps.base import Public
from gdppca.steps.clipped_squares import square_sums
from gdppca.steps.variances import Variances, paired_sizes


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_events_compose_to_the_budget(epsilon):
    step = Variances(public=Public.of(500, 10), epsilon=epsilon, delta=1e-6, n_components=2)
    assert epsilon_at(step.events, 1e-6) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("value", [0.0, 1e-300, 3.0, 1e150, 1.7e308])
def test_one_row_moves_every_sum_by_at_most_one(value):
    X, truth = spiked("t1", 400, 10, 2)
    other = X.copy()
    other[7] = value
    before, after = (paired_sizes(rows, truth, seeded_noise(5)) for rows in (X, other))
    assert (before != after).any(axis=1).sum() <= 1
    assert np.isfinite(after).all()
    for bounds in (np.full(2, 1e-19), np.full(2, 1.5), np.full(2, 1e19)):
        moved = square_sums(after, bounds) - square_sums(before, bounds)
        assert np.abs(moved).max() <= 1.0
