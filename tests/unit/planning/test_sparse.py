"""Plans for components of few columns, whose loadings a fit shrinks."""

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError
from gdppca.planning import plan

SPIKED = {"epsilon": 0.5, "delta": 1e-5, "spectrum": "spiked:10,5"}


def test_fewer_columns_come_nearer():
    errors = [plan(2000, 25, sparsity=k, **SPIKED).sin_theta for k in (4, 10, None)]
    assert errors == sorted(errors)
    assert errors[0] < 0.6 * errors[-1]


def test_all_columns_are_as_good_as_plain():
    dense, full = (plan(2000, 10, sparsity=k, **SPIKED) for k in (None, 10))
    assert full.sin_theta == pytest.approx(dense.sin_theta, rel=0.05)
    np.testing.assert_allclose(full.per_component, dense.per_component, rtol=0.05)


def test_a_plan_is_within_15_percent_of_fits():
    rng = np.random.default_rng(11)
    loadings = np.zeros((25, 2))
    loadings[rng.permutation(25)[:5]] = rng.standard_normal((5, 2))
    V = np.linalg.qr(loadings)[0]
    sizes = np.sqrt([10.0, 5.0]) - 1
    errors = []
    for seed in range(12):
        X = rng.standard_normal((4000, 25))
        X += (X @ V * sizes) @ V.T
        pca = DPPCA(2, epsilon=1.0, delta=1e-5, location=np.zeros(25), random_state=seed).fit(X)
        outside = pca.components_ - pca.components_ @ V @ V.T
        errors.append(np.linalg.norm(outside, ord=2))
    asked = SPIKED | {"epsilon": 1.0, "location": "public"}
    assert plan(4000, 25, sparsity=5, **asked).sin_theta == pytest.approx(np.mean(errors), rel=0.15)


def four_of_one_size(d, rng):
    """The paper's directions, whatever columns they are on."""
    V = np.zeros((d, 2))
    V[rng.permutation(d)[:4]] = [[0.5, 0.5], [0.5, -0.5], [0.5, 0.5], [0.5, -0.5]]
    return V


def five_of_random_sizes(d, rng):
    loadings = np.zeros((d, 2))
    loadings[rng.permutation(d)[:5]] = rng.standard_normal((5, 2))
    return np.linalg.qr(loadings)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("directions", "k", "d", "n"),
    [
        (four_of_one_size, 4, 10, 2000),
        (five_of_random_sizes, 5, 10, 2000),
        (five_of_random_sizes, 5, 25, 2000),
        (five_of_random_sizes, 5, 100, 5000),
    ],
)
def test_a_plan_of_few_columns_is_within_15_percent_of_whole_fits(directions, k, d, n):
    errors = []
    for seed in range(100 if d < 100 else 60):
        rng = np.random.default_rng(seed)
        V = directions(d, rng)
        X = rng.standard_normal((n, d))
        X += (X @ V * (np.sqrt([10.0, 5.0]) - 1)) @ V.T
        pca = DPPCA(2, epsilon=0.5, delta=1e-5, random_state=seed).fit(X + 5)
        outside = pca.components_ - pca.components_ @ V @ V.T
        errors.append(np.linalg.norm(outside, ord=2))
    assert plan(n, d, sparsity=k, **SPIKED).sin_theta == pytest.approx(np.mean(errors), rel=0.15)


def test_plain_loadings_gain_nothing():
    shrunk, plain = DPPCA(epsilon=0.5), DPPCA(epsilon=0.5, loadings="plain")
    assert plain.plan(2000, 25, sparsity=4).sin_theta == plain.plan(2000, 25).sin_theta
    assert shrunk.plan(2000, 25, sparsity=4).sin_theta < shrunk.plan(2000, 25).sin_theta
    paper = SPIKED | {"calibration": "paper", "location": None}
    few, all_of_them = (plan(2000, 10, sparsity=k, **paper) for k in (4, None))
    assert few.sin_theta == all_of_them.sin_theta


def test_errors_of_scales_and_gaps_stay():
    for more in ({"scale": "private"}, {"missing": 0.4}):
        few, dense = (plan(20_000, 10, sparsity=k, **SPIKED, **more) for k in (4, None))
        alone = plan(20_000, 10, sparsity=4, **SPIKED)
        assert alone.sin_theta < few.sin_theta < dense.sin_theta


def test_it_is_said_and_kept():
    ahead = plan(2000, 10, sparsity=4, **SPIKED)
    assert "about 4 columns with a part in each component" in ahead.sentences[-1]
    assert (ahead.sparsity, ahead.to_dict()["sparsity"]) == (4, 4)


@pytest.mark.parametrize("wrong", [0, 11, 2.5, "few"])
def test_impossible_numbers_of_columns_are_refused(wrong):
    with pytest.raises(ParameterError, match="`sparsity` must"):
        plan(2000, 10, sparsity=wrong)
