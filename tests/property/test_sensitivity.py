"""A search for one row that moves a scatter further than stated, over whole tables."""

import numpy as np
from hostile import SIGNS
from hypothesis import given, settings, target
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gdppca import kendall_tau
from gdppca.kernels import AllPairs, Blocks, Halves, OneSample, sign_covariance
from gdppca.sensitivity import scatter_sensitivity

# Few distinct values make ties, lines and exact edges likely; the rest is any float at all.
entries = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 2.0, 1e6, 1e-6, 1e300, 1.7e308, -1.7e308, 5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
)
SCHEMES = {"all": AllPairs(), 2: Blocks(2), 3: Blocks(3), "halves": Halves()}


@st.composite
def neighbours(draw):
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    X = draw(arrays(float, (n, d), elements=entries))
    neighbour = X.copy()
    neighbour[draw(st.integers(0, n - 1))] = draw(arrays(float, d, elements=entries))
    return X, neighbour


@settings(max_examples=600)
@given(tables=neighbours(), sign=st.sampled_from(SIGNS), pairs=st.sampled_from(list(SCHEMES)))
def test_no_replaced_row_moves_a_pair_scatter_further_than_stated(tables, sign, pairs):
    X, neighbour = tables
    moved = np.linalg.norm(kendall_tau(X, sign, pairs) - kendall_tau(neighbour, sign, pairs))
    bound = scatter_sensitivity(SCHEMES[pairs], sign.sup_norm, *X.shape)
    target(moved / bound)
    assert moved <= bound


@settings(max_examples=300)
@given(tables=neighbours(), sign=st.sampled_from(SIGNS))
def test_no_replaced_row_moves_a_sign_covariance_further_than_stated(tables, sign):
    X, neighbour = tables
    centre = np.linspace(-1, 1, X.shape[1])
    moved = np.linalg.norm(
        sign_covariance(X, centre, sign) - sign_covariance(neighbour, centre, sign)
    )
    bound = scatter_sensitivity(OneSample(), sign.sup_norm, *X.shape)
    target(moved / bound)
    assert moved <= bound


@settings(max_examples=100)
@given(data=st.data(), sign=st.sampled_from(SIGNS))
def test_multisets_that_differ_in_one_row_are_as_close_after_one_shuffle(data, sign):
    """A sorted file: replacing a value moves many rows, and one common shuffle puts them back."""
    X, neighbour = data.draw(neighbours())
    same_order = data.draw(st.permutations(range(len(X))))
    K = kendall_tau(X, sign, 2, order=np.array(same_order))
    moved = np.linalg.norm(kendall_tau(neighbour, sign, 2, order=np.array(same_order)) - K)
    assert moved <= scatter_sensitivity(Blocks(2), sign.sup_norm, *X.shape)
