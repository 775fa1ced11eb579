"""What lies across components, and what it tells: laws, slopes, expectations."""

import math

import numpy as np
import pytest

from gdppca.theory import spherical_eigenvalues
from gdppca.theory.cross_law import CrossLaw, largest_turn
from gdppca.theory.leading import Known, Leading
from gdppca.theory.second_stage import (
    CrossNumbers,
    Noises,
    Outlook,
    Refined,
    foreseen_stage,
    together,
    wanted_cross,
)
from gdppca.theory.uneven import Gaps

D = 60
VARIANCES = np.r_[10.0, 5.0, np.ones(D - 2)]
PHI = spherical_eigenvalues(VARIANCES)
GRID = (0.1, 0.2, 0.3, 0.5, 1.0)


@pytest.fixture(scope="module")
def law():
    return CrossLaw.of(PHI[:2], D)


def test_the_law_is_found_by_its_eigenvalues(law):
    np.testing.assert_allclose(law.variances, [10, 5], rtol=0.1)  # simulated rows
    np.testing.assert_allclose(law.along.mean(axis=0), PHI[:2], rtol=1e-6)
    np.testing.assert_allclose(law.factors, np.sqrt(law.variances[1] / law.variances))


@pytest.mark.parametrize("clip", [0.1, 0.25, 0.5])
def test_slopes_are_what_a_small_turn_shows(law, clip):
    """Directions that are off by a little, seen by rows of a Gaussian law."""
    rng, turn = np.random.default_rng(0), 0.05
    X = rng.standard_normal((400_000, D)) * np.sqrt(VARIANCES)
    V = np.eye(D)[:2].copy()
    V[0, 10], V[1, 20] = -turn, -turn
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    b = U @ V.T
    a, e = U - b @ V, b * law.factors
    w = np.minimum(1, clip / (np.linalg.norm(a, axis=1) * np.linalg.norm(e, axis=1)))
    M = (a * w[:, None]).T @ e / len(X)
    seen = np.array([M[10, 0], M[20, 1]]) / turn
    np.testing.assert_allclose(seen, law.slopes(clip), rtol=0.08)


def test_sampling_is_what_rows_do(law):
    """Variances of a loading by either statistic, and between them, over tables of one law."""
    rng, n, clip, found = np.random.default_rng(1), 400, 0.25, []
    slopes, gap = law.slopes(clip), PHI[:2] - PHI[2]
    for _ in range(400):
        X = rng.standard_normal((n, D)) * np.sqrt(VARIANCES)
        U = X / np.linalg.norm(X, axis=1, keepdims=True)
        b, a = U[:, :2], U[:, 2:]
        e = b * law.factors
        w = np.minimum(1, clip / (np.linalg.norm(a, axis=1) * np.linalg.norm(e, axis=1)))
        matrix = a.T @ b / n / gap
        cross = (a * w[:, None]).T @ e / n / slopes
        found.append([(matrix**2).mean(0), (cross**2).mean(0), ((matrix - cross) ** 2).mean(0)])
    told = law.sampling(clip)
    seen = n * np.mean(found, axis=0)
    np.testing.assert_allclose(seen, [told.matrix, told.cross, told.apart], rtol=0.12)


def test_the_largest_turn_is_that_of_random_ones():
    rng, sd = np.random.default_rng(2), np.array([0.03, 0.02, 0.02])
    seen = [np.linalg.norm(rng.standard_normal((57, 3)) * sd, ord=2) ** 2 for _ in range(2000)]
    assert largest_turn(sd**2, 57) == pytest.approx(np.mean(seen), rel=0.05)


# --- When -----------------------------------------------------------------------------------------


def noises(sd):
    return Noises(matrix=sd, cross=math.sqrt(2) * sd)


def asked(values, m, whole, share, later=(), margin=0.95):
    """What a matrix without chance says after so much of a budget, noise over its own scale."""
    leading = leading_of(values, m, whole / math.sqrt(share))
    return wanted_cross(leading, share, later, noises(whole / leading.scale), margin)


def leading_of(values, m, sd, n=20_000):
    known = Known(sd, n, 0.0, Gaps.of(None, None, len(values)))
    return Leading.of(np.diag(values), m, known)[0]


def test_it_is_wanted_where_noise_is_large_and_not_where_it_is_small():
    assert asked(PHI, 2, 0.0012, 0.3) is not None
    assert asked(PHI, 2, 0.0001, 0.3) is None


def test_it_waits_where_more_of_the_matrix_is_expected_to_be_better():
    assert asked(PHI, 2, 0.0012, 0.1, margin=math.inf) is not None
    assert asked(PHI, 2, 0.0012, 0.1, (0.2, 0.3), margin=math.inf) is None


@pytest.mark.parametrize(
    ("values", "m", "sd"),
    [
        (PHI, 1, 0.001),  # the second stands above the noise too
        (PHI, 2, 0.1),  # nothing does
        (np.r_[1.0, np.zeros(D - 1)], 1, 0.001),  # no bulk
        (np.full(D, 1 / D), 1, 0.001),
    ],
)
def test_what_speaks_for_no_law_asks_for_nothing(values, m, sd):
    assert asked(values, m, sd, 0.3, margin=math.inf) is None


def test_a_plan_expects_what_a_matrix_without_chance_would_say():
    ahead = foreseen_stage(PHI, 2, 20_000, noises(0.0012), GRID, 0.95)
    assert ahead.share in GRID[:-1]
    assert 0.6 < ahead.ratio < 0.95
    assert foreseen_stage(PHI, 1, 20_000, noises(0.0012), GRID, 0.95) is None
    assert foreseen_stage(PHI, 2, 20_000, noises(0.00003), GRID, 0.95) is None
    assert foreseen_stage(PHI, 2, 20_000, noises(1.0), GRID, 0.95) is None
    assert foreseen_stage(np.full(D, 1 / D), 2, 20_000, noises(0.003), GRID, 0.95) is None


def test_more_columns_gain_more():
    ratios = []
    for d in (60, 120, 240):
        phi = spherical_eigenvalues(np.r_[10.0, 5.0, np.ones(d - 2)])
        sd = 0.2 * (phi[1] - phi[2]) / math.sqrt(d)
        outlook = Outlook(CrossLaw.of(phi[:2], d), phi[:2] - phi[2], d, 1e9, noises(sd))
        ratios.append(outlook.best(0.3)[0] / outlook.one_stage)
    assert ratios[0] > ratios[1] > ratios[2]


# --- Both together --------------------------------------------------------------------------------


def numbers(values, noise_sd, V=None):
    V = np.eye(D)[:2] if V is None else V
    factors = CrossLaw.of(PHI[:2], D).factors
    return CrossNumbers(V, factors, 0.25, values, noise_sd)


def test_numbers_without_noise_put_a_turned_matrix_right(law):
    """The matrix is turned by its noise; a cross part of that turn turns it back."""
    turn = np.zeros((D, 2))
    turn[10, 0], turn[30, 1] = 0.1, -0.08
    V = np.linalg.qr(np.eye(D)[:, :2] + turn)[0]
    V *= np.sign(np.diag(V[:2]))
    rest = np.eye(D) - V @ V.T
    K = (V * PHI[:2]) @ V.T + PHI[2] * rest
    known = Known(0.002, 20_000, 0.0, Gaps.of(None, None, D))
    leading = Leading.of(K, 2, known)[0]
    back = -turn * law.slopes(0.25)
    refined = Refined.by(leading, numbers(back, 1e-6, leading.plain.T.copy()))
    before = np.linalg.norm(leading.plain[2:], ord=2)
    assert before == pytest.approx(0.1, rel=0.02)
    assert np.linalg.norm(refined.plain[2:], ord=2) < 0.15 * before
    np.testing.assert_allclose(refined.plain.T @ refined.plain, np.eye(2), atol=1e-12)


def test_numbers_of_mere_noise_change_nothing():
    leading = leading_of(PHI, 2, 0.002)
    values = np.random.default_rng(0).normal(size=(D, 2))
    refined = Refined.by(leading, numbers(values, 1e6))
    np.testing.assert_allclose(np.abs(refined.plain), np.abs(leading.plain), atol=1e-6)
    np.testing.assert_allclose(
        refined.private_variances[5:], leading.private[5:] / leading.spikes**2, rtol=0.05
    )


def test_where_the_matrix_carries_none_its_own_directions_stay():
    known = Known(0.5, 20_000, 0.0, Gaps.of(None, None, D))
    cross = numbers(np.ones((D, 2)), 0.1)
    leading, plain = together(np.diag(PHI), 2, known, cross)
    assert not isinstance(leading, Refined)
    np.testing.assert_array_equal(np.abs(plain), np.eye(D)[:2])
