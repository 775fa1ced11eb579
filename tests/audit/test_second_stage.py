"""An attack on the second stage: the likelihood ratio of its matrix and of what lies across."""

import pytest
from weakened import HALF, is_refuted, promise, runs_for_gaussian, survives

pytestmark = pytest.mark.slow


def test_the_matrix_moves_by_all_that_it_may_and_a_cross_part_is_drawn():
    attacked = promise("second-stage")
    one, other = (attacked.run(table) for table in attacked.tables)
    assert [draw.kind for draw in one.draws] == ["gaussian"] * 2
    assert one.draws[0].moved_by(other.draws[0].exact) == pytest.approx(1, rel=1e-6)
    assert one.published.events[-1].purpose == "cross"


def test_promise_survives_and_half_of_the_noise_is_refuted():
    attacked = promise("second-stage")
    runs = runs_for_gaussian(attacked.claim.mu, HALF, 0.95)
    assert survives(attacked, runs)
    assert is_refuted(attacked, runs, HALF)
