"""The worst tables for single steps."""

import numpy as np
import pytest
from evidence import check_evidence

from gdppca.auditing import METHODS
from gdppca.noise import FreshNoise

STEPS = (
    "centre",
    "centre-octaves",
    "winsorized-mean",
    "scale",
    "variances",
    "score-map-gaussian",
)


@pytest.mark.filterwarnings("ignore")  # of few rows
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_draws_move_by_the_whole_claim_and_no_more(name, epsilon):
    check_evidence(METHODS[name](epsilon, 1e-5), 0.9)


def test_favoured_candidate_is_as_good_as_its_rival_on_one_table_only(monkeypatch):
    experiment = METHODS["quantile"](4.0, 1e-5)
    seen = []
    monkeypatch.setattr(
        FreshNoise, "argmax", lambda self, scores, epsilon: seen.append(np.sort(scores)) or 0
    )
    for table in experiment.tables:
        experiment.run(table)
    close, apart = (scores[-1] - scores[-2] for scores in seen)
    assert close == pytest.approx(0.2, abs=0.01)
    assert apart == pytest.approx(1.8, abs=0.01)
    assert all(scores[-3] < scores[-2] - 5 for scores in seen)


def test_climb_without_noise_stops_where_the_table_says(monkeypatch):
    experiment = METHODS["quantile-unbounded"](4.0, 1e-5)
    monkeypatch.setattr(FreshNoise, "laplace", lambda self, exact, scale: exact)
    assert [experiment.score(experiment.run(table)) for table in experiment.tables] == [1.0, 0.0]


@pytest.mark.parametrize("name", ["score-map", "score-map-groups", "score-map-sparse"])
def test_row_moves_between_two_cells_that_are_shown(name, monkeypatch):
    experiment = METHODS[name](4.0, 1e-5)
    monkeypatch.setattr(FreshNoise, "laplace", lambda self, exact, scale: exact)
    first, second = (experiment.run(table) for table in experiment.tables)
    assert np.abs(first.counts - second.counts).sum() == 2
    assert experiment.score(first) > 0 > experiment.score(second)


def test_direction_shows_the_gradient_of_a_step():
    experiment = METHODS["nsggd-step"](4.0, 1e-5)
    scores = [
        [experiment.score(experiment.run(table)) for _ in range(300)] for table in experiment.tables
    ]
    apart = (np.mean(scores[0]) - np.mean(scores[1])) / np.std(scores)
    assert apart > 0.4  # 0.85 without the spread between the tables
