"""An attack on the private quantile: does the answer fall left or right of a gap?

The replaced value moves the scores on both sides of the gap in opposite directions, which is the
worst that one value can do.
"""

import math

import numpy as np
import pytest
from scipy.stats import beta

from gdppca.randomness import secure_rng
from gdppca.releases import quantile
from gdppca.releases.quantile import grid_quantile, unbounded_quantile

pytestmark = pytest.mark.slow

EPSILON = 2.0
RUNS = 2500
FALSE_ALARM = 1e-5
GAP = 2.0**10
TABLE = np.repeat([1.0, GAP, GAP**2], [7, 6, 7])
NEIGHBOUR = np.repeat([1.0, GAP, GAP**2], [6, 6, 8])


def epsilon_lower_bound(method):
    """ln of a lower bound on P'(right)/P(right), by Clopper and Pearson."""
    few, many = (
        sum(method(table, 0.5, EPSILON, secure_rng(), nonnegative=True) >= GAP for _ in range(RUNS))
        for table in (TABLE, NEIGHBOUR)
    )
    least = beta.ppf(FALSE_ALARM / 2, many, RUNS - many + 1)
    most = beta.ppf(1 - FALSE_ALARM / 2, few + 1, RUNS - few)
    return math.log(least / most)


@pytest.mark.parametrize("method", [grid_quantile, unbounded_quantile])
def test_promise_survives(method):
    assert epsilon_lower_bound(method) <= EPSILON


def test_attack_breaks_a_copy_with_half_of_the_noise(monkeypatch):
    exact = quantile.noisy_argmax
    monkeypatch.setattr(
        quantile, "noisy_argmax", lambda scores, epsilon, rng: exact(scores, 2 * epsilon, rng)
    )
    assert epsilon_lower_bound(grid_quantile) > EPSILON
