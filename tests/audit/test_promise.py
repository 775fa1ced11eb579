"""An attacker who knows everything but one row, against the promise at ε = 4.

The worst neighbouring tables are fitted many times with secure noise; the projection of each
released matrix on the direction in which they differ is the best possible score. A bound on ε
follows from how well a threshold tells the tables apart. The promise must survive, and the same
attack must break copies with half the noise and with a sensitivity too small by √2.
"""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import beta, norm

from gdppca import DPPCA
from gdppca.kernels import sign_covariance
from gdppca.linalg import vecd

pytestmark = pytest.mark.slow

EPSILON, DELTA = 4.0, 1e-5
RUNS = 3000
FALSE_ALARM = 1e-5
N, D = 8, 2


def worst_pair():
    X, neighbour = np.zeros((2, N, D))
    X[0, 0] = neighbour[0, 1] = 1e9
    return X, neighbour


def scores(parameters, shrink, monkeypatch):
    """Projections of released matrices on the exact difference, zero halfway between the tables."""
    from gdppca.releases import scatter

    if shrink != 1:
        exact = scatter.add_gaussian
        monkeypatch.setattr(
            scatter, "add_gaussian", lambda values, sigma, rng: exact(values, sigma * shrink, rng)
        )
    X, neighbour = worst_pair()
    noiseless = [DPPCA(1, **parameters, epsilon=math.inf).fit(t).scatter_ for t in (X, neighbour)]
    direction = vecd(noiseless[0] - noiseless[1])
    halfway = vecd(noiseless[0] + noiseless[1]) / 2
    return [
        np.array(
            [
                direction
                @ (
                    vecd(DPPCA(1, epsilon=EPSILON, delta=DELTA, **parameters).fit(table).scatter_)
                    - halfway
                )
                for _ in range(RUNS)
            ]
        )
        for table in (X, neighbour)
    ]


def mu_lower_bound(positive, negative):
    """Largest μ that survives at confidence 1 - FALSE_ALARM.

    The attacker knows both exact matrices, so the threshold is halfway between their scores. Both
    error rates are bounded by Clopper and Pearson, whatever the law of the noise; a mechanism of
    μ-GDP has Φ⁻¹(1 - FPR) + Φ⁻¹(1 - FNR) ≤ μ.
    """
    missed, false = np.sum(positive <= 0), np.sum(negative > 0)
    fnr, fpr = (
        beta.ppf(1 - FALSE_ALARM / 2, errors + 1, RUNS - errors) for errors in (missed, false)
    )
    return norm.ppf(1 - fpr) + norm.ppf(1 - fnr)


def claimed_mu():
    """μ of the Gaussian that is (ε, δ), in closed form."""

    def excess(mu):
        first = norm.cdf(mu / 2 - EPSILON / mu)
        return first - math.exp(EPSILON) * norm.cdf(-mu / 2 - EPSILON / mu) - DELTA

    return brentq(excess, 1e-3, 50)


ways = pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"pairs": 4},
        {"pairs": "halves"},
        {"location": np.zeros(D)},
        {"sign": "winsor", "radius": 3.0},
        {"sign": "trimmed", "radius": 1e10},
    ],
    ids=["all", "blocks", "halves", "centre", "winsor", "trimmed"],
)


@ways
def test_promise_survives(parameters, monkeypatch):
    positive, negative = scores(parameters, 1, monkeypatch)
    assert mu_lower_bound(positive, negative) <= claimed_mu()


@ways
@pytest.mark.parametrize("shrink", [0.5, 1 / math.sqrt(2)], ids=["half noise", "missing root two"])
def test_attack_breaks_copies_with_too_little_noise(parameters, shrink, monkeypatch):
    positive, negative = scores(parameters, shrink, monkeypatch)
    assert mu_lower_bound(positive, negative) > claimed_mu()


def test_worst_pair_is_worst():
    X, neighbour = worst_pair()
    centre = np.zeros(D)
    moved = np.linalg.norm(sign_covariance(X, centre) - sign_covariance(neighbour, centre))
    assert moved == pytest.approx(math.sqrt(2) / N)
