"""Breakdown points (F3)."""

import numpy as np
import pytest

from gdppca import ParameterError, kendall_tau, sin_theta
from gdppca.theory import breakdown_bound


def leading(X, m):
    values, vectors = np.linalg.eigh(kendall_tau(X))
    return values, vectors[:, ::-1][:, :m].T


def test_bound_by_hand():
    assert breakdown_bound([0.5, 0.3, 0.2], 1, 1.0) == pytest.approx(0.2 / 8)
    assert breakdown_bound([2.0, 5.0, 3.0], 2, 2.0) == pytest.approx(1 / 32)
    assert breakdown_bound([0.5, 0.5], 1, 1.0) == 0


def test_largest_possible_bound_is_an_eighth():
    assert breakdown_bound([1.0, 0.0, 0.0], 1, 1.0) == pytest.approx(1 / 8)


def test_fewer_bad_rows_never_turn_the_subspace(rng):
    X = rng.normal(size=(400, 4)) * [10.0, 1.0, 0.5, 0.5]
    values, components = leading(X, 1)
    bad = int(np.ceil(breakdown_bound(values, 1, 1.0) * len(X))) - 1
    assert bad > 10
    X[:bad] = np.outer(1e6 * (1 + np.arange(bad)), np.eye(4)[1])
    assert sin_theta(components, leading(X, 1)[1]) < 0.9


@pytest.mark.parametrize(
    ("values", "m", "sup_norm"),
    [([0.5, 0.5], 2, 1.0), ([0.5, 0.5], 0, 1.0), ([0.5, 0.5], 1, 0.0), ([np.nan, 1.0], 1, 1.0)],
)
def test_bad_input_is_refused(values, m, sup_norm):
    with pytest.raises(ParameterError):
        breakdown_bound(values, m, sup_norm)
