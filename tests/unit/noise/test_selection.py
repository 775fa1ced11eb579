"""Integer noise keeps to integers that can hold it."""

import numpy as np
import pytest

from gdppca._errors import ParameterError
from gdppca.noise.bits import secure_bits, seeded_bits
from gdppca.noise.selection import integer_laplace
from gdppca.releases import private_quantile


@pytest.mark.parametrize("rng", [secure_bits(), seeded_bits(0)], ids=["secure", "seeded"])
def test_large_noise_does_not_saturate(rng):
    noise = integer_laplace(2000, 2.0**38, rng)
    assert np.abs(noise).max() > 2**38
    assert len(np.unique(noise)) > 1990
    with pytest.raises(ParameterError, match="larger epsilon"):
        integer_laplace(1, 2.0**41, rng)


@pytest.mark.parametrize("method", ["grid", "unbounded"])
def test_quantile_refuses_a_budget_that_cannot_be_calibrated(method):
    with pytest.raises(ParameterError, match="epsilon"):
        private_quantile(np.arange(100.0), 0.5, 1e-9, method=method)
