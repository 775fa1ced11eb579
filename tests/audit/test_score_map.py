"""Attacks on score maps by somebody who knows everything but one row.

Counts: does the row sit in this cell or in that one? Frame: which cell is chosen? Threshold: is a
cell with a single row shown? Each promise must survive, and the same attack must break copies with
half of the noise and with a sensitivity too small by √2, or with a threshold that is lower by one.
"""

import math

import numpy as np
import pytest
from scipy.stats import beta
from weakened import (
    DELTA,
    EPSILON,
    HALF,
    ROOT_TWO,
    choice_rates,
    is_refuted,
    promise,
    runs_for_gaussian,
    runs_for_guesses,
    survives,
)

from gdppca.auditing import Experiment
from gdppca.auditing.experiment import Claim
from gdppca.noise import secure_noise
from gdppca.privacy import PureEvent
from gdppca.steps import histogram

pytestmark = pytest.mark.slow

LAPLACE = ("score-map", "score-map-groups", "score-map-sparse")
lefts = pytest.mark.parametrize("left", [HALF, ROOT_TWO], ids=["half", "root two"])


# --- Counts ---------------------------------------------------------------------------------------


def counts_runs(left):
    """Both noisy counts lean the right way, or both the wrong one."""
    p = math.exp(-EPSILON / left / 2)
    return runs_for_guesses((1 + p) ** -2, (1 + 1 / p) ** -2)


@pytest.mark.parametrize("name", LAPLACE)
def test_counts_survive(name):
    assert survives(promise(name), counts_runs(ROOT_TWO))


@pytest.mark.parametrize("name", LAPLACE)
@lefts
def test_counts_with_too_little_noise_are_refuted(name, left):
    assert is_refuted(promise(name), counts_runs(left), left)


def test_gaussian_counts():
    attacked = promise("score-map-gaussian")
    runs = {left: runs_for_gaussian(attacked.claim.mu, left) for left in (HALF, ROOT_TWO)}
    assert survives(attacked, runs[ROOT_TWO])
    for left, enough in runs.items():
        assert is_refuted(attacked, enough, left)


# --- Frame ----------------------------------------------------------------------------------------


def frame():
    """Three cells, the middle one out of favour; the row moves the outer scores apart."""
    edges = np.array([-1.0, 1.0, 2.0, 3.0])
    log_prior = np.array([0.0, -1e3, 0.0])

    def chosen(low):
        values = np.repeat([0.5, 1.5, 2.5], [low, 6, 14 - low])
        return histogram._private_cell(values, 0.505, edges, log_prior, EPSILON, secure_noise())

    return Experiment(
        name="frame",
        tables=(7, 8),
        run=chosen,
        score=lambda cell: 1.0 if cell == 2 else 0.0,
        claim=Claim(events=(PureEvent(purpose="frame", epsilon=EPSILON),), delta=DELTA),
    )


def test_frame_survives():
    assert survives(frame(), runs_for_guesses(*choice_rates(ROOT_TWO)))


@lefts
def test_frame_with_too_little_noise_is_refuted(left):
    assert is_refuted(frame(), runs_for_guesses(*choice_rates(left)), left)


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
    shown = np.count_nonzero(histogram.private_counts(single, copy, secure_noise()))
    return beta.ppf(1e-5, shown, len(single) - shown + 1), paid


def test_threshold_survives():
    bound, paid = shown_lower_bound()
    assert 0 < bound <= paid


def test_attack_breaks_a_threshold_that_is_lower_by_one():
    bound, paid = shown_lower_bound(lowered=1)
    assert bound > paid
