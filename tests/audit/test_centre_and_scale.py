"""The best attack on the private centre and scales: the likelihood ratio of everything drawn.

Draws are recorded on one table with secure noise and replayed on its neighbour, so that the
attacker knows what both would have given, step by step. Its score is normal with variance μ² if
the promise is tight, and separates the tables no better than the claimed μ allows. The same
attack must break a copy with half of the noise.
"""

import numpy as np
import pytest
from scipy.stats import beta, norm

from gdppca.privacy.accounting import gdp_mu
from gdppca.randomness import seeded_rng
from gdppca.releases import scale, spatial_median
from gdppca.releases.scale import private_scale
from gdppca.releases.spatial_median import private_spatial_median

pytestmark = pytest.mark.slow

RUNS = 800
FALSE_ALARM = 1e-5


class Fixed:
    """A secure source that shuffles always alike: the attacker may know the order."""

    seeded = False

    def permutation(self, n):
        return seeded_rng(0).permutation(n)


def tables_of_the_centre():
    X = np.random.default_rng(0).normal(size=(150, 2))
    neighbour = X.copy()
    X[0], neighbour[0] = [1e9, 0.0], [-1e9, 0.0]
    return X, neighbour


def tables_of_the_scale():
    X = np.random.default_rng(0).normal(size=(150, 2))
    neighbour = X.copy()
    X[0], neighbour[0] = X[np.argsort(seeded_rng(0).permutation(150))[0]], [1e9, 1e9]
    return X, neighbour


CASES = {
    "centre": (spatial_median, private_spatial_median, tables_of_the_centre, 6.0),
    "scale": (scale, private_scale, tables_of_the_scale, 2.0),
}
cases = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def log_ratio(module, mechanism, drawn, other, mu, shrink):
    """log p(draws | drawn table) - log p(draws | other table), and the claimed μ."""
    exact = module.add_gaussian
    record = []

    def draw(values, sigma, rng):
        released = exact(values, sigma * shrink, rng)
        record.append((values, sigma, released))
        return released

    def replay(values, sigma, rng):
        first, _, released = record[len(moved)]
        moved.append(
            (
                np.sum((released - values) ** 2) - np.sum((released - first) ** 2)
            ) / (2 * sigma**2)
        )  # fmt: skip
        return released

    moved = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "add_gaussian", draw)
        found = mechanism(drawn, mu, Fixed())
        patch.setattr(module, "add_gaussian", replay)
        mechanism(other, mu, Fixed())
    return sum(moved), gdp_mu(found.events)


def attack(case, shrink):
    """A lower bound on μ, and the largest μ that any path claimed."""
    module, mechanism, tables, mu = case
    X, neighbour = tables()
    wrong, claimed = [0, 0], 0.0
    for k, (drawn, other) in enumerate(((X, neighbour), (neighbour, X))):
        for _ in range(RUNS):
            ratio, path = log_ratio(module, mechanism, drawn, other, mu, shrink)
            wrong[k] += ratio <= 0
            claimed = max(claimed, path)
    errors = [beta.ppf(1 - FALSE_ALARM / 2, w + 1, RUNS - w) for w in wrong]
    return sum(norm.isf(errors)), claimed


@cases
def test_promise_survives(case):
    bound, claimed = attack(case, 1.0)
    assert bound <= claimed


@cases
def test_attack_breaks_a_copy_with_half_of_the_noise(case):
    bound, claimed = attack(case, 0.5)
    assert bound > claimed
