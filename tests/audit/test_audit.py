"""Every promise at ε = 4 against an attacker who knows everything but one row.

The worst neighbouring tables are fitted many times with secure noise. Each promise must survive,
and the same audit must refute copies with half of the noise and with a sensitivity too small by √2.
This file attacks the estimators; the steps that share a budget with a matrix are attacked beside
it, in `test_centre_and_scale`, `test_quantile` and `test_score_map`, and tables of persons, gaps
and secret sizes in `test_real_tables`.
"""

import time

import numpy as np
import pytest
from weakened import (
    EPSILON,
    HALF,
    ROOT_TWO,
    is_refuted,
    promise,
    runs_for_gaussian,
    shortened,
    survives,
)

from gdppca import DPPCA
from gdppca.auditing import METHODS, Experiment, audit, experiment_for

pytestmark = pytest.mark.slow

# Everything is Gaussian, and the score is the best there is.
GAUSSIAN = (
    "dppca",
    "dppca-blocks",
    "dppca-halves",
    "dppca-paper",
    "dppca-centre",
    "dppca-winsor",
    "dppca-trimmed",
    "dppca-ball",
    "dppca-quad",
    "dppca-shell",
    "dppca-lr",
    "analyze-gauss",
    "sgpca",
    "sign-covariance",
    "nsggd-step",
    "long-noise",
)
# Elsewhere beside this file.
CENTRE_AND_SCALE = (
    "centre",
    "centre-octaves",
    "winsorized-mean",
    "scale",
    "variances",
    "dppca-private-centre",
    "dppca-private-scale",
    "sign-covariance-private-centre",
)
QUANTILES = ("quantile", "quantile-unbounded")
SCORE_MAPS = ("score-map", "score-map-groups", "score-map-sparse", "score-map-gaussian")
REAL_TABLES = (
    "dppca-persons",
    "dppca-persons-centre",
    "dppca-persons-pairs",
    "dppca-add-remove",
    "dppca-add-remove-persons",
    "dppca-missing",
    "dppca-weights",
)
STAGES = ("second-stage",)
# Here, each with a test of its own.
OTHERS = ("dppca-private-radius", "nsggd", "analyze-gauss-printed")


def test_everything_is_audited():
    elsewhere = {*CENTRE_AND_SCALE, *QUANTILES, *SCORE_MAPS, *REAL_TABLES, *STAGES}
    assert {*GAUSSIAN, *elsewhere, *OTHERS} == set(METHODS)


def experiment(name):
    what = promise(name)
    return what if isinstance(what, Experiment) else experiment_for(what)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_promise_survives(name):
    attacked = experiment(name)
    assert survives(attacked, runs_for_gaussian(attacked.claim.mu, ROOT_TWO))


@pytest.mark.parametrize("name", GAUSSIAN)
@pytest.mark.parametrize("left", [HALF, ROOT_TWO], ids=["half", "root two"])
def test_too_little_noise_is_refuted(name, left):
    attacked = experiment(name)
    assert is_refuted(attacked, runs_for_gaussian(attacked.claim.mu, left), left)


def test_private_radius():
    """The matrix, given the radius, is 96 % of the claim; the quantile has attacks of its own."""
    with shortened():
        attacked = experiment("dppca-private-radius")
        runs = {left: runs_for_gaussian(attacked.claim.mu, left, 0.9) for left in (HALF, ROOT_TWO)}
        assert survives(attacked, runs[ROOT_TWO])
        for left in (HALF, ROOT_TWO):
            assert is_refuted(attacked, runs[left], left)


def test_descent():
    """Its directions hide most of the loss; `nsggd-step` sees a step as the proof does."""
    assert survives(promise("nsggd"), 1000)
    # No error in fewer runs would prove less than 4.
    assert is_refuted(promise("nsggd"), 2500, 0.01)


def test_printed_baseline_does_not_keep_what_it_says():
    result = audit(promise("analyze-gauss-printed"), runs=300)
    assert result.refuted
    assert result.status == "none"


def test_default_audit_is_tight_and_quick():
    """At ε = 4 and δ = 1e-5 the bound falls below 3.4 once in 200,000 audits.

    It lies above 4 once in 10,000: then a second audit decides.
    """
    started = time.process_time()
    result = audit(DPPCA(n_components=1, epsilon=EPSILON, delta=1e-5))
    assert time.process_time() - started < 90  # below 60 where nobody else computes
    if result.refuted or result.epsilon_lower < 3.4:
        result = audit(DPPCA(n_components=1, epsilon=EPSILON, delta=1e-5))
    assert 3.4 <= result.epsilon_lower <= EPSILON
    assert result.epsilon_lower_if_normal >= 3.4
    assert not result.refuted
    # Normal scores of the claimed spread: the noise is neither too small nor too large.
    both = np.concatenate([result.scores[0], -result.scores[1]])
    assert both.std() == pytest.approx(result.claimed_mu, rel=0.03)
