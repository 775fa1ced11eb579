"""Attacks on score maps by somebody who knows everything but one row.

Counts: does the row sit in this cell or in that one? The event that both noisy counts lean the
right way has the largest possible ratio of probabilities. Frame: which cell is chosen? Threshold:
is a cell with a single row shown? Each promise must survive, and the same attack must break a copy
with half of the noise, or with a threshold that is lower by one.
"""

import math

import numpy as np
import pytest
from scipy.stats import beta

from gdppca import DPPCA
from gdppca.randomness import secure_rng
from gdppca.releases import histogram, score_map

pytestmark = pytest.mark.slow

EPSILON, DELTA = 2.0, 1e-6
RUNS = 3000
FALSE_ALARM = 1e-5
FRAME = ((-1.0, 1.0), (-1.0, 1.0))


def least(hits, runs=RUNS):
    return beta.ppf(FALSE_ALARM / 2, hits, runs - hits + 1) if hits else 0.0


def most(hits):
    return beta.ppf(1 - FALSE_ALARM / 2, hits + 1, RUNS - hits)


def epsilon_lower_bound(many, few):
    """ln of a lower bound on the ratio of two probabilities, by Clopper and Pearson."""
    return math.log(least(many) / most(few))


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(0)
    fitted = DPPCA(2, random_state=0, location=np.zeros(2)).fit(rng.normal(size=(50, 2)))
    return fitted.release_


def half_of_the_noise(monkeypatch):
    laplace, gaussian, choose = (
        histogram.integer_laplace,
        histogram.add_gaussian,
        histogram.noisy_argmax,
    )
    monkeypatch.setattr(
        histogram, "integer_laplace", lambda size, scale, rng: laplace(size, scale / 2, rng)
    )
    monkeypatch.setattr(
        histogram, "add_gaussian", lambda values, sigma, rng: gaussian(values, sigma / 2, rng)
    )
    monkeypatch.setattr(
        histogram, "noisy_argmax", lambda scores, epsilon, rng: choose(scores, 2 * epsilon, rng)
    )


# --- Counts ---------------------------------------------------------------------------------------


def counts_bound(release, groups):
    """The row lies in the lower left cell or the upper right one, of the other group too."""
    rows = release.components.T @ np.array([[0.5, -0.5], [0.5, -0.5]])
    labels = {} if not groups else {"categories": ["a", "b"]}
    hits = []
    for own, other in ((rows[:, 0], "a"), (rows[:, 1], "b")):
        table = np.stack([own, *np.full((3, 2), 100.0)])
        if groups:
            labels["groups"] = [other, "a", "a", "b"]
        shown = [
            score_map(
                table, release, bins=2, frame=FRAME, epsilon=EPSILON, delta=DELTA, **labels
            ).counts
            for _ in range(RUNS)
        ]
        hits.append(sum(c[0, 1, 1] >= 1 and c[-1, 0, 0] <= 0 for c in shown))
    return epsilon_lower_bound(*hits)


@pytest.mark.parametrize("groups", [False, True], ids=["one", "groups"])
def test_counts_survive(release, groups):
    assert counts_bound(release, groups) <= EPSILON


@pytest.mark.parametrize("groups", [False, True], ids=["one", "groups"])
def test_attack_breaks_counts_with_half_of_the_noise(release, groups, monkeypatch):
    half_of_the_noise(monkeypatch)
    assert counts_bound(release, groups) > EPSILON


# --- Frame ----------------------------------------------------------------------------------------


def frame_bound():
    """Three cells, the middle one out of favour; the row moves the outer scores apart."""
    edges = np.array([-1.0, 1.0, 2.0, 3.0])
    log_prior = np.array([0.0, -1e3, 0.0])
    hits = []
    for low in (7, 8):
        values = np.repeat([0.5, 1.5, 2.5], [low, 6, 14 - low])
        chosen = [
            histogram._private_cell(values, 0.5, edges, log_prior, EPSILON, secure_rng())
            for _ in range(RUNS)
        ]
        hits.append(chosen.count(2))
    return epsilon_lower_bound(*hits)


def test_frame_survives():
    assert frame_bound() <= EPSILON


def test_attack_breaks_a_frame_with_half_of_the_noise(monkeypatch):
    half_of_the_noise(monkeypatch)
    assert frame_bound() > EPSILON


# --- Threshold ------------------------------------------------------------------------------------


def shown_lower_bound(lowered=0):
    """Lower bound on the probability that a single row shows, against what δ pays for."""
    noise = histogram.histogram_noise(epsilon=EPSILON, delta=0.02, kind="sparse")
    paid = noise.events[-1].delta
    copy = histogram.HistogramNoise(
        law=noise.law,
        noise_sd=noise.noise_sd,
        threshold=noise.threshold - lowered,
        events=noise.events,
    )
    single = np.ones(40_000, dtype=int)
    shown = np.count_nonzero(histogram.private_counts(single, copy, secure_rng()))
    return least(shown, runs=len(single)), paid


def test_threshold_survives():
    bound, paid = shown_lower_bound()
    assert 0 < bound <= paid


def test_attack_breaks_a_threshold_that_is_lower_by_one():
    bound, paid = shown_lower_bound(lowered=1)
    assert bound > paid
