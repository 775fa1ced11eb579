"""Signs around a given centre."""

import numpy as np
import pytest
from hostile import SIGNS, hostile_tables, sign_id

from gdppca import DataError, ParameterError
from gdppca.kernels import SignSum, sign_covariance


@pytest.mark.parametrize("sign", SIGNS, ids=sign_id)
def test_sign_covariance_is_the_definition(sign, rng):
    X, center = rng.standard_t(2, size=(2500, 4)), rng.normal(size=4)
    g = sign(X - center)
    np.testing.assert_allclose(
        sign_covariance(X, center, sign), g.T @ g / len(X), atol=1e-14 * sign.sup_norm**2
    )


@pytest.mark.parametrize("name", dict(hostile_tables()))
def test_hostile_rows_keep_length_one(name):
    X = dict(hostile_tables())[name]
    K = sign_covariance(X, np.zeros(X.shape[1]))
    not_zero = np.any(X != 0, axis=1).mean()
    assert np.trace(K) == pytest.approx(not_zero, abs=1e-14)


def test_batches_and_merges_add_up(rng):
    X, center = rng.normal(size=(3000, 3)), np.ones(3)
    whole = sign_covariance(X, center)
    parts = [SignSum("spherical", center).update(part) for part in np.split(X, [10, 10, 1700])]
    total = parts[0].merge(parts[1]).merge(parts[2]).merge(parts[3])
    assert total.n_samples == 3000
    np.testing.assert_allclose(total.mean(), whole, atol=1e-15)


def test_another_centre_or_shape_is_refused(rng):
    with pytest.raises(ParameterError, match="centre"):
        SignSum("spherical", np.zeros(2)).merge(SignSum("spherical", np.ones(2)))
    with pytest.raises(DataError, match="columns"):
        sign_covariance(np.ones((4, 3)), np.zeros(2))
    with pytest.raises(ParameterError, match="center"):
        sign_covariance(np.ones((4, 2)), [np.nan, 0])
    with pytest.raises(DataError, match="at least one row"):
        SignSum("spherical", np.zeros(2)).mean()
