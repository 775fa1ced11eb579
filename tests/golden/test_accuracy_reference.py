"""Values from an independent trial of the paper's method, and from its published tables."""

import numpy as np
import pytest
from simulate import mean_loss, spiked

from gdppca import DPPCA, kendall_tau


def test_symmetrised_sign_covariance_by_hand():
    """Three points; every difference and its outer product written out."""
    X = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    differences = np.array([[0.6, 0.8], [0.0, 1.0], [1 / np.sqrt(2)] * 2])
    expected = sum(np.outer(u, u) for u in differences) / 3
    np.testing.assert_allclose(kendall_tau(X), expected, atol=1e-15)


def mean_sin_theta(kind, n, d, runs=50, **parameters):
    """Mean loss of the plain pair statistic, unless a location is given."""
    parameters = {"location": None, "loadings": "plain", **parameters}
    return mean_loss(DPPCA, kind, n, d, runs, **parameters)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "d", "paper", "tight"),
    [
        ("gaussian", 5, 0.126, 0.068),
        ("gaussian", 10, 0.260, 0.144),
        ("gaussian", 25, 0.716, 0.381),
        ("t1", 5, 0.116, 0.075),
        ("t1", 10, 0.253, 0.136),
    ],
)
def test_mean_loss_is_that_of_the_trial_run(kind, d, paper, tight):
    # Two runs of fifty, standard errors up to 0.03 at d = 25: three of their sum.
    slack = 0.10 if d == 25 else 0.03
    assert mean_sin_theta(kind, 2000, d, calibration="paper") == pytest.approx(paper, abs=slack)
    assert mean_sin_theta(kind, 2000, d) == pytest.approx(tight, abs=slack)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "t1"])
def test_tight_noise_and_a_public_centre_each_halve_the_loss(kind):
    paper = mean_sin_theta(kind, 2000, 10, calibration="paper")
    tight = mean_sin_theta(kind, 2000, 10)
    centred = mean_sin_theta(kind, 2000, 10, location=np.zeros(10))
    assert tight <= 0.60 * paper
    assert centred <= 0.65 * tight


@pytest.mark.slow
def test_trimmed_sign_withstands_contamination():
    X, _ = spiked("contaminated", 2000, 25, 0)
    lengths = np.linalg.norm(X[:1000] - X[1000:], axis=1) / np.sqrt(2)
    radius = float(np.quantile(lengths, 0.9))
    trimmed = mean_sin_theta("contaminated", 2000, 25, sign="trimmed", radius=radius)
    assert trimmed <= 0.50
    assert mean_sin_theta("contaminated", 2000, 25) > 0.70
