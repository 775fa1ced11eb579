"""Attacks on private quantiles: is the one answer given that a value can favour most?

Each promise must survive, and the same attack must break copies with half of the noise and with a
sensitivity too small by √2. The full grids take 6 to 8 ms a run, so they are tried with few runs
and short ones with many.
"""

import math

import numpy as np
import pytest
from weakened import (
    EPSILON,
    HALF,
    ROOT_TWO,
    choice_rates,
    is_refuted,
    promise,
    runs_for_guesses,
    shortened,
    survives,
)

pytestmark = pytest.mark.slow


def ladder_rates(left):
    """The climb passes three rungs and stops on the fourth, for every noise w of the target."""
    p = math.exp(-EPSILON / left / 2)
    w = np.arange(-60, 61)

    def at_most(k):
        return np.where(k >= 0, 1 - p ** np.abs(k + 1) / (1 + p), p ** np.abs(k) / (1 + p))

    weight = (1 - p) / (1 + p) * p ** np.abs(w) * at_most(-w)
    return 0.5 * np.sum(weight * at_most(w) ** 3), 0.5 * np.sum(weight * at_most(w - 1) ** 3)


RATES = {"quantile": choice_rates, "quantile-unbounded": ladder_rates}


@pytest.mark.parametrize("name", RATES)
def test_promise_survives(name):
    assert survives(promise(name), 500)
    with shortened():
        assert survives(promise(name), runs_for_guesses(*RATES[name](ROOT_TWO)))


@pytest.mark.parametrize("name", RATES)
@pytest.mark.parametrize("left", [HALF, ROOT_TWO], ids=["half", "root two"])
def test_too_little_noise_is_refuted(name, left):
    with shortened():
        assert is_refuted(promise(name), runs_for_guesses(*RATES[name](left)), left)
