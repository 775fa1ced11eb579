"""How much noise a matrix gets."""

import math

import pytest

from gdppca.kernels import AllPairs, OneSample
from gdppca.privacy.accounting import gaussian_epsilon
from gdppca.releases import scatter_noise
from gdppca.signs import Spherical, Winsor
from gdppca.steps.scatter import matrix_budget

SPHERICAL, PAIRS = Spherical(), AllPairs()


def noise(sign=SPHERICAL, scheme=PAIRS, calibration="tight"):
    level = matrix_budget(0.5, 1e-5, calibration).level(sign, scheme, 2000, 10)
    same = scatter_noise(
        epsilon=0.5,
        delta=1e-5,
        sign=sign,
        scheme=scheme,
        n_samples=2000,
        n_features=10,
        calibration=calibration,
    )
    assert level == same  # the public door says the same
    return level


def test_tight_noise_is_the_exact_multiplier_times_the_tight_sensitivity():
    assert noise().noise_sd == pytest.approx(7.032 * 2 * math.sqrt(2) / 2000, rel=1e-4)
    assert noise(sign=Winsor(3.0)).noise_sd == pytest.approx(9 * noise().noise_sd, rel=1e-6)
    assert noise(scheme=OneSample()).noise_sd == pytest.approx(noise().noise_sd / 2, rel=1e-6)


def test_paper_noise_is_the_formula_of_the_paper():
    expected = 4 * math.sqrt(2 * math.log(1.25e5)) / (2000 * 0.5)
    assert noise(calibration="paper").noise_sd == pytest.approx(expected, rel=1e-12)


def test_event_records_the_true_ratio_so_the_promise_is_exact():
    tight, paper = noise(), noise(calibration="paper")
    assert gaussian_epsilon(tight.event.noise_multiplier, 1e-5) == pytest.approx(0.5, rel=1e-6)
    assert gaussian_epsilon(tight.event.noise_multiplier, 1e-5) <= 0.5
    assert gaussian_epsilon(paper.event.noise_multiplier, 1e-5) < 0.3
