"""Refined scales: with and without a centre, as good as they say."""

import math

import numpy as np
import pytest

from gdppca.noise import seeded_noise
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.steps.refine import expected_scale_error, refined
from gdppca.steps.scale import coarse_scale, step_shares

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
