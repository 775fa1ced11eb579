"""Broken copies of the mechanisms, and how many runs an audit needs to notice.

A copy has half of the noise, or a sensitivity that is too small by √2. Numbers of runs follow from
the exact law of the guesses: a copy is missed less than once in 10,000 audits.
"""

import math
from contextlib import contextmanager

import numpy as np
import pytest
from scipy.stats import binom, norm

from gdppca.auditing import METHODS, audit
from gdppca.auditing import steps as attacks
from gdppca.auditing.bounds import epsilon_from_guesses
from gdppca.kernels.weights import WHOLE
from gdppca.noise import FreshNoise, noised
from gdppca.steps import centre, descent, octaves, quantile, scale

EPSILON = 4.0
DELTA = 1e-2  # a large one makes a large μ, and fewer runs tell as much
ALARM = 1e-4
SURE = 0.99999  # a promise that is kept is refuted once in 100,000 audits
MISSED = 1e-4

HALF, ROOT_TWO = 0.5, 0.5**0.5  # what is left of the noise


def promise(name):
    """What is audited under a name."""
    return METHODS[name](EPSILON, DELTA)


def survives(what, runs):
    """Whether the promise stands up to an audit; a second one decides where chance may have.

    A promise that is kept is refuted twice once in 10¹⁰.
    """
    return not all(audit(what, runs=runs, confidence=SURE).refuted for _ in range(2))


def is_refuted(what, runs, factor):
    """Whether an audit notices that `factor` of the noise is left, at the latest the second."""
    with weakened(factor):
        return any(audit(what, runs=runs, confidence=1 - ALARM).refuted for _ in range(2))


@contextmanager
def weakened(factor):
    """All noise times `factor`, whoever asks for it."""
    exact = descent.steps_multiplier
    gaussian, laplace, argmax = FreshNoise.gaussian, FreshNoise.laplace, FreshNoise.argmax

    def weak_gaussian(noise, values, sd, *, sensitivity):
        return gaussian(noise, values, sd * factor, sensitivity=sensitivity)

    def weak_laplace(noise, values, scale):
        return laplace(noise, values, scale * factor)

    def weak_argmax(noise, scores, epsilon):
        return argmax(noise, scores, epsilon / factor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FreshNoise, "gaussian", weak_gaussian)
        patch.setattr(FreshNoise, "laplace", weak_laplace)
        patch.setattr(FreshNoise, "argmax", weak_argmax)
        patch.setattr(descent, "steps_multiplier", lambda *budget: factor * exact(*budget))
        yield


@contextmanager
def shortened():
    """Short public grids: noise for thousands of numbers that say nothing takes most of the time.

    The same code draws the same noise, for fewer octaves, candidates and rungs.
    """
    candidates, log_prior = quantile.quantile_grid(nonnegative=True)
    middle = np.searchsorted(candidates, 2.0**50) + np.arange(-3, 5)
    short = candidates[middle], log_prior[middle]
    with pytest.MonkeyPatch.context() as patch:
        for room in (octaves, scale, centre):
            patch.setattr(room, "OCTAVES", 8)
        for room in (quantile, attacks):
            patch.setattr(room, "quantile_grid", lambda nonnegative: short)
        patch.setattr(quantile, "_BATCH", 8)
        yield


def counting_whole(rows_each, share=None):
    """Every row counts one, as if 1/n_p were forgotten."""
    whole = np.full(np.shape(rows_each), WHOLE)
    return whole if share is None else (share * whole).astype(np.int64)


def next_to_exact(exact, multiplier, sensitivity, noise):
    """A thousandth of the noise."""
    return noised(exact, multiplier / 1000, sensitivity, noise)


def runs_for_gaussian(mu, factor, share=1.0):
    """Runs that refute μ where `factor` of the noise is left; the attacker sees a share of μ²."""
    limit, broken = norm.cdf(-mu / 2), norm.cdf(-mu * share**0.5 / factor / 2)

    def missed(runs):
        most = binom.ppf(ALARM, runs, limit) - 1  # so few wrong guesses refute
        return binom.sf(most, runs, broken)

    return _smallest(missed)


def runs_for_guesses(right, wrong, epsilon=EPSILON):
    """Runs that refute ε at δ where so many of them end in a right and in a wrong guess."""
    made = right + wrong

    def missed(runs):
        guesses = int(binom.ppf(MISSED / 10, runs, made))
        allowed = [
            k
            for k in range(int(guesses / (1 + math.exp(epsilon))) + 1)
            if epsilon_from_guesses(k, guesses, runs, DELTA, ALARM) > epsilon
        ]
        return binom.sf(allowed[-1], guesses, wrong / made) if allowed else 1.0

    return _smallest(missed)


def choice_rates(left):
    """Right and wrong guesses of a noisy choice from two whose scores lie 0.2 or -1.8 apart."""
    rate = EPSILON / left / 2
    return 0.5 - 0.25 * math.exp(-0.2 * rate), 0.25 * math.exp(-1.8 * rate)


def _smallest(missed):
    runs = 200
    while missed(runs) > 0.9 * MISSED:
        runs += runs // 50
    return runs
