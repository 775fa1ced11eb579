"""How far one row moves a scatter, as stated."""

import numpy as np
import pytest

from gdppca import kendall_tau
from gdppca.kernels import AllPairs, Blocks, Halves, OneSample, sign_covariance
from gdppca.sensitivity import paper_sensitivity, scatter_sensitivity
from gdppca.signs import Spherical, Winsor

N, D = 60, 4


def worst_pair():
    """All rows equal but one, which points along one axis or another."""
    X, neighbour = np.zeros((2, N, D))
    X[0, 0] = neighbour[0, 1] = 1e6
    return X, neighbour


@pytest.mark.parametrize(
    ("pairs", "scheme"), [("all", AllPairs()), (12, Blocks(12)), ("halves", Halves())]
)
@pytest.mark.parametrize("sign", [Spherical(), Winsor(3.0)])
def test_pair_bound_is_attained(pairs, scheme, sign):
    X, neighbour = worst_pair()
    moved = np.linalg.norm(kendall_tau(X, sign, pairs) - kendall_tau(neighbour, sign, pairs))
    bound = scatter_sensitivity(scheme, sign.sup_norm, N, D)
    assert moved <= bound
    assert moved == pytest.approx(bound, rel=1e-6)
    assert bound == pytest.approx(2 * np.sqrt(2) * sign.sup_norm**2 / N, rel=1e-6)


def test_one_sample_bound_is_attained_and_half_as_large():
    X, neighbour = worst_pair()
    centre = np.zeros(D)
    moved = np.linalg.norm(sign_covariance(X, centre) - sign_covariance(neighbour, centre))
    bound = scatter_sensitivity(OneSample(), 1.0, N, D)
    assert moved <= bound
    assert moved == pytest.approx(bound, rel=1e-6)
    assert bound == pytest.approx(np.sqrt(2) / N, rel=1e-6)


def test_odd_halves_leave_out_a_row_and_move_more():
    assert scatter_sensitivity(Halves(), 1.0, 61, D) == pytest.approx(np.sqrt(2) / 30)


def test_paper_states_four_over_n():
    assert paper_sensitivity(AllPairs(), 2.0, N) == pytest.approx(4 * 4 / N)
    assert paper_sensitivity(OneSample(), 2.0, N) == pytest.approx(2 * 4 / N)


def test_rounding_errors_are_added_to_the_bound():
    assert scatter_sensitivity(AllPairs(), 1.0, N, D) > 2 * np.sqrt(2) / N
