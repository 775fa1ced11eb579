"""What a cluster of outliers does to a covariance matrix (F9)."""

import numpy as np
import pytest

from gdppca import ParameterError, sin_theta
from gdppca.theory import contaminated_covariance, flip_shift

V1 = np.array([1, 1, 1, 1, 0, 0]) / 2
V2 = np.array([1, -1, 1, -1, 0, 0]) / 2
AWAY = np.array([0, 1, 0, -1, 0, 0])
SIGMA = 9 * np.outer(V1, V1) + 4 * np.outer(V2, V2) + np.eye(6)


def leading_two(matrix):
    return np.linalg.eigh(matrix)[1][:, -2:].T


def test_covariance_agrees_with_simulation(rng):
    X = rng.multivariate_normal(np.zeros(6), SIGMA, size=400_000)
    bad = rng.random(len(X)) < 0.05
    X[bad] = 10 * AWAY / np.sqrt(2) + 0.05 * rng.normal(size=(bad.sum(), 6))
    expected = contaminated_covariance(SIGMA, fraction=0.05, shift=10.0, direction=AWAY)
    np.testing.assert_allclose(np.cov(X.T), expected, atol=0.1)


def test_length_of_the_direction_does_not_matter():
    given = {"fraction": 0.1, "shift": 3.0}
    first = contaminated_covariance(SIGMA, direction=AWAY, **given)
    np.testing.assert_allclose(contaminated_covariance(SIGMA, direction=-7 * AWAY, **given), first)


@pytest.mark.parametrize("fraction", [0.025, 0.05, 0.15])
def test_subspace_flips_where_the_exact_answer_says(fraction):
    """The printed answer, a little larger, comes too late."""
    clean = np.stack([V1, V2])
    exact = flip_shift(5.0, fraction=fraction, lam_direction=1.0)
    printed = flip_shift(5.0, fraction=fraction)
    for shift, flipped in [(0.999 * exact, 0), (1.001 * exact, 1), (0.999 * printed, 1)]:
        matrix = contaminated_covariance(SIGMA, fraction=fraction, shift=shift, direction=AWAY)
        assert sin_theta(clean, leading_two(matrix)) == pytest.approx(flipped, abs=1e-6)


def test_flip_shift_by_hand():
    assert flip_shift(5.0, fraction=0.05, spread=0.0) == pytest.approx(10)
    assert flip_shift(5.0, fraction=0.5, spread=2.0) == pytest.approx(np.sqrt(18))
    assert flip_shift(5.0, fraction=0.05, lam_direction=1.0) == pytest.approx(np.sqrt(80))
    assert flip_shift(1.0, fraction=0.05, lam_direction=2.0) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"fraction": 0.0},
        {"fraction": 1.0},
        {"shift": -1.0},
        {"shift": np.inf},
        {"spread": -0.1},
        {"direction": np.zeros(6)},
        {"direction": np.ones(5)},
    ],
)
def test_bad_input_is_refused(change):
    good = {"fraction": 0.05, "shift": 1.0, "direction": AWAY}
    with pytest.raises(ParameterError, match=next(iter(change))):
        contaminated_covariance(SIGMA, **good | change)


def test_bad_matrices_and_eigenvalues_are_refused():
    with pytest.raises(ParameterError, match="Sigma"):
        contaminated_covariance(np.ones((2, 3)), fraction=0.1, shift=1.0, direction=[1, 0])
    with pytest.raises(ParameterError, match="lam2"):
        flip_shift(0.0, fraction=0.1)
    with pytest.raises(ParameterError, match="lam_direction"):
        flip_shift(1.0, fraction=0.1, lam_direction=-1.0)
