"""Attacks on private centres, scales and variances: the likelihood ratio of everything drawn.

A run is overheard and repeated on both tables with what was drawn, so the attacker knows what
either would have given, step by step. Each promise must survive, and the same attack must break
copies with half of the noise and with a sensitivity too small by √2.
"""

from contextlib import nullcontext

import pytest
from weakened import HALF, ROOT_TWO, is_refuted, promise, runs_for_gaussian, shortened, survives

from gdppca.auditing import Experiment, experiment_for

pytestmark = pytest.mark.slow

STEPS = {
    "centre": shortened,
    "centre-octaves": shortened,
    "scale": shortened,
    "winsorized-mean": nullcontext,
}
# The same kinds of steps, many in a run. A run takes 10 to 20 ms, too long for the thousands that
# √2 needs; docs/guide/auditing.md has the numbers of one audit each.
WHOLE = (
    "dppca-private-centre",
    "dppca-private-scale",
    "sign-covariance-private-centre",
    "variances",
)


def experiment(name):
    what = promise(name)
    return what if isinstance(what, Experiment) else experiment_for(what)


@pytest.mark.parametrize("name", STEPS)
def test_promise_survives(name):
    with STEPS[name]():
        attacked = experiment(name)
        assert survives(attacked, runs_for_gaussian(attacked.claim.mu, ROOT_TWO))


@pytest.mark.parametrize("name", STEPS)
def test_missing_root_two_is_refuted(name):
    with STEPS[name]():
        attacked = experiment(name)
        assert is_refuted(attacked, runs_for_gaussian(attacked.claim.mu, ROOT_TWO), ROOT_TWO)


@pytest.mark.parametrize("name", [*STEPS, *WHOLE])
def test_half_of_the_noise_is_refuted(name):
    attacked = experiment(name)
    runs = runs_for_gaussian(attacked.claim.mu, HALF, 0.95)
    assert is_refuted(attacked, runs, HALF)
    if name in WHOLE:
        assert survives(attacked, runs)
