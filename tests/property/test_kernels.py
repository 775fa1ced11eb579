"""Algebra of the sums."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gdppca import PairSum, kendall_tau

tables = arrays(
    float,
    st.tuples(st.integers(4, 40), st.integers(1, 5)),
    elements=st.floats(-1e6, 1e6),
)


@given(X=tables, data=st.data())
def test_order_of_rows_does_not_matter_for_all_pairs(X, data):
    order = np.array(data.draw(st.permutations(range(len(X)))))
    np.testing.assert_allclose(kendall_tau(X[order]), kendall_tau(X), atol=1e-13)


@given(X=tables, power=st.integers(-20, 20))
def test_spherical_scatter_ignores_scale(X, power):
    # Powers of two are exact, so that equal rows stay equal.
    np.testing.assert_allclose(kendall_tau(np.ldexp(X, power)), kendall_tau(X), atol=1e-13)


@given(X=tables)
def test_scatter_is_positive_with_trace_at_most_one(X):
    K = kendall_tau(X)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-14
    assert np.trace(K) <= 1 + 1e-14


@settings(max_examples=50)
@given(X=tables, size=st.integers(2, 9), data=st.data())
def test_merging_commutes_for_whole_blocks(X, size, data):
    X = X[: len(X) - len(X) % size]
    cut = size * data.draw(st.integers(0, len(X) // size))

    def sums(part):
        return PairSum(pairs=size, n_features=X.shape[1]).update(part)

    if len(X) >= 2:
        forward = sums(X[:cut]).merge(sums(X[cut:])).mean()
        backward = sums(X[cut:]).merge(sums(X[:cut])).mean()
        np.testing.assert_allclose(forward, backward, atol=1e-14)
        np.testing.assert_allclose(forward, kendall_tau(X, pairs=size), atol=1e-14)
