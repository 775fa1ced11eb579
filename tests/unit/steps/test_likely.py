"""Scores of rows with missing cells, by the released law."""

import numpy as np
import pytest
from simulate import spiked

from gdppca.signs import Spherical
from gdppca.steps.base import State
from gdppca.steps.clipped_squares import gaussian_ratio, gaussian_share, gaussian_slope
from gdppca.steps.likely import Likely
from gdppca.theory import spherical_eigenvalues

D = 10
CENTRE = np.linspace(-3.0, 3.0, D)


@pytest.fixture
def known():
    """Rows, their true scores, and what was released of them."""
    X, V = spiked("gaussian", 4000, D, 3)
    values = spherical_eigenvalues(np.array([10.0, 5.0, *np.ones(D - 2)]))
    state = State(sign=Spherical(), location=CENTRE, eigenvalues=values, components=V)
    return X + CENTRE, X @ V.T, state


def with_gaps(X, rate, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < rate, np.nan, X)


def test_a_whole_row_has_its_own_scores(known):
    X, scores, state = known
    assert np.allclose(Likely.of(state).scores(X, state), scores, atol=1e-9)


def test_the_law_is_that_of_the_columns_not_of_their_signs(known):
    *_, state = known
    law = Likely.of(state)
    assert law.leading / law.rest == pytest.approx([10.0, 5.0], rel=1e-6)


def test_likely_scores_are_the_best_linear_guess(known):
    X, scores, state = known
    gaps = with_gaps(X, 0.4)
    V = state.components
    C = np.eye(D) + 9 * np.outer(V[0], V[0]) + 4 * np.outer(V[1], V[1])
    found = Likely.of(state).scores(gaps, state)
    for row, got in zip(gaps[:20], found[:20], strict=True):
        o = ~np.isnan(row)
        best = V @ C[:, o] @ np.linalg.solve(C[np.ix_(o, o)], (row - CENTRE)[o])
        assert got == pytest.approx(best, rel=1e-6)
    for k in range(2):
        assert np.corrcoef(found[:, k], scores[:, k])[0, 1] > 0.85


def test_every_row_is_scored_by_itself(known):
    X, _, state = known
    gaps, law = with_gaps(X, 0.4), Likely.of(state)
    together = law.scores(gaps, state)
    for k in (0, 1, 77, 3999):
        assert (law.scores(gaps[k : k + 1], state) == together[k]).all()
    assert (law.scores(gaps[::-1], state) == together[::-1]).all()


@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-300, 1e150, 1.7e308, -1.7e308])
def test_scores_are_finite_whatever_a_row_holds(known, value):
    X, _, state = known
    rows = X[:4].copy()
    rows[0], rows[1, :5], rows[2, 0], rows[3] = value, value, value, np.nan
    with np.errstate(all="ignore"):
        scores = Likely.of(state).scores(rows, state)
    assert np.isfinite(scores).all()
    assert (scores[3] == 0).all()


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.5])
def test_reliabilities_are_how_much_likely_scores_vary(known, missing):
    X, scores, state = known
    law = Likely.of(state)
    told = law.reliabilities(np.full(D, 1 - missing))
    assert told.shape[1] == 2
    assert ((told >= 0) & (told <= 1)).all()
    found = law.scores(with_gaps(X, missing), state)
    assert told.mean(axis=0) == pytest.approx(found.var(axis=0) / scores.var(axis=0), rel=0.1)


def test_a_mixture_is_inverted():
    sizes = np.array([[1.0, 0.5], [0.6, 0.5], [0.1, 0.5]])
    ratio = np.array([0.7, 1.3])
    shares = gaussian_share(ratio * sizes).mean(axis=0)
    assert gaussian_ratio(shares, sizes) == pytest.approx(ratio, rel=1e-9)


def test_slope_is_the_derivative():
    t, h = np.array([0.05, 0.3, 2 / 3, 2.0, 6.0]), 1e-5
    apart = gaussian_share(t * np.exp(h)) - gaussian_share(t * np.exp(-h))
    assert gaussian_slope(t) == pytest.approx(apart / (2 * h), rel=1e-5)


def test_a_matrix_that_is_noise_has_scores_too():
    components = np.eye(3)[:2]
    for values in ([1e-3, -0.1, -0.5], [-0.1, -0.2, -0.3], [0.0, 0.0, 0.0]):
        state = State(sign=Spherical(), eigenvalues=np.array(values), components=components)
        rows = np.array([[1.0, np.nan, 2.0], [np.nan, 1.0, np.nan]])
        assert np.isfinite(Likely.of(state).scores(rows, state)).all()
