"""Refined scales: with and without a centre, as good as they say."""

import math

import numpy as np
import pytest

from gdppca.noise import seeded_noise
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.steps.refine import expected_scale_error, refined
from gdppca.steps.scale import CoarseScale, coarse_scale, step_shares

MU_OF_ONE = math.sqrt(0.2) / gaussian_multiplier(1.0, 1e-6)  # of the default share


def scales(X, centre, mu, seed):
    """Scales and the errors of their logarithms, from as many steps as public numbers say."""
    first, *rest = (1 / (mu * math.sqrt(share)) for share in step_shares(*X.shape, mu))
    coarse = coarse_scale(X, first, seeded_noise(seed))
    return refined(X, coarse, centre, rest, seeded_noise(seed))


@pytest.mark.parametrize("centre", [None, np.zeros(8)])
@pytest.mark.parametrize("tails", ["normal", "cauchy"])
def test_error_is_what_it_says(centre, tails):
    draw = {"normal": "standard_normal", "cauchy": "standard_cauchy"}[tails]
    errors, said = [], []
    for seed in range(12):
        X = getattr(np.random.default_rng(seed), draw)((6000, 8))
        found, error = scales(X, centre, MU_OF_ONE, seed)
        exact, _ = scales(X, centre, math.inf, 99)
        errors.append(np.log(found / exact))
        said.append(error)
    ratio = np.std(errors) / np.mean(said)  # 96 numbers: known within 7 %
    assert 0.65 < ratio < 1.35
    centred = centre is not None
    expected = expected_scale_error(6000, 8, MU_OF_ONE, centred=centred)
    sampling = expected_scale_error(6000, 8, math.inf, centred=centred)
    assert math.sqrt(expected**2 - sampling**2) < 1.05 * np.mean(said) < 1.3 * expected


def from_guess(X, guess, mu, seed):
    """Scales and the errors of their logarithms, from public guesses and a centre at zero."""
    n, d = X.shape
    _, *shares = step_shares(n, d, mu, 0)
    coarse = CoarseScale(
        scale=guess, found=np.full(d, True), ties=np.zeros(d), guessed=np.full(d, True)
    )
    multipliers = [1 / (mu * math.sqrt(share)) for share in shares]
    return refined(X, coarse, np.zeros(d), multipliers, seeded_noise(seed))


@pytest.mark.parametrize(
    ("tails", "off", "most"),
    [
        ("standard_normal", 1.0, 0.08),
        ("standard_normal", 2.0, 0.08),
        ("standard_normal", 4.0, 0.09),
        ("standard_cauchy", 2.0, 0.14),
    ],
)
def test_a_guess_is_refined_with_few_rows(tails, off, most):
    errors, said = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = getattr(rng, tails)((1000, 8))
        exact, _ = from_guess(X, np.ones(8), math.inf, 0)
        found, error = from_guess(X, exact * off ** rng.uniform(-1, 1, 8), MU_OF_ONE, seed)
        errors.append(np.log(found / exact))
        said.append(error)
    size = np.sqrt(np.mean(np.square(errors)))
    assert size < most
    assert 0.5 < size / np.mean(said) < 1.35


def test_a_guess_that_is_far_off_is_left_with_many_rows():
    X = np.random.default_rng(0).standard_normal((50_000, 4))
    found, error = from_guess(X, np.array([1 / 30, 0.1, 10.0, 30.0]), MU_OF_ONE, 1)
    assert found == pytest.approx(np.ones(4), rel=0.02)
    assert (error < 0.02).all()


def test_a_guess_stays_where_noise_is_all_there_is():
    X = np.random.default_rng(0).standard_normal((60, 4))
    guess = np.array([1e-3, 1.0, 10.0, 1e6])
    found, error = from_guess(X * guess, guess, 0.02, 1)
    assert (np.abs(np.log(found / guess)) < 2).all()
    assert np.isfinite(error).all()
