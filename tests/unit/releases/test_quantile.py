"""Private quantiles without bounds."""

import math

import numpy as np
import pytest

from gdppca import DataError, ParameterError
from gdppca.releases import private_quantile


@pytest.mark.parametrize("method", ["grid", "unbounded"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_first_quartile_of_cauchy_data_is_met_at_any_scale(method, scale):
    rng = np.random.default_rng(1)
    met = 0
    for seed in range(100):
        values = scale * rng.standard_cauchy(2000)
        found = private_quantile(values, 0.25, 0.25, method=method, random_state=seed)
        met += 0.15 <= np.mean(values <= found) <= 0.35
    assert met >= 95


def test_secure_quantile_works_and_varies(rng):
    values = rng.exponential(size=500)
    found = {private_quantile(values, 0.5, 0.2, nonnegative=True) for _ in range(30)}
    assert len(found) > 1
    assert all(0.1 < np.mean(values <= one) < 0.9 for one in found)


@pytest.mark.parametrize("method", ["grid", "unbounded"])
@pytest.mark.parametrize(
    "values", [np.zeros(50), np.full(50, 5e-324), np.full(50, 1.7e308), -np.ones(50)]
)
def test_extreme_values_give_a_number(method, values):
    assert math.isfinite(private_quantile(values, 0.5, 5.0, method=method, random_state=0))


@pytest.mark.parametrize("bad", [0, 1, -0.1, 1.5, None])
def test_bad_quantiles_are_refused(bad):
    with pytest.raises(ParameterError, match="`q`"):
        private_quantile([1.0, 2.0], bad, 1.0)


@pytest.mark.parametrize("bad", [[1.0], [], [[1.0, 2.0]], [1.0, np.nan], ["a", "b"]])
def test_bad_values_are_refused(bad):
    with pytest.raises(DataError, match="`values`"):
        private_quantile(bad, 0.5, 1.0)


def test_bad_methods_and_budgets_are_refused():
    with pytest.raises(ParameterError, match="method"):
        private_quantile([1.0, 2.0], 0.5, 1.0, method="exact")
    for epsilon in (0, -1, math.inf):
        with pytest.raises(ParameterError, match="epsilon"):
            private_quantile([1.0, 2.0], 0.5, epsilon)
