"""Private quantiles without bounds."""

import math
import warnings

import numpy as np
import pytest

from gdppca import DPPCA, DataError, ParameterError, PrivacyWarning
from gdppca.noise import seeded_noise
from gdppca.privacy import GaussianEvent, PureEvent
from gdppca.releases import private_quantile
from gdppca.signs import TYPICAL_QUANTILE, as_sign
from gdppca.steps.quantile import _grid, _ladder, private_radius


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


def test_grid_spans_all_floats_and_its_prior_sums_to_one():
    for nonnegative in (True, False):
        candidates, log_prior = _grid(nonnegative)
        assert np.all(np.diff(candidates) > 0)
        assert np.isfinite(candidates).all()
        assert candidates[-1] > 1e307
        assert np.exp(log_prior).sum() == pytest.approx(1)
    assert np.isfinite(_ladder()).all()
    assert np.all(np.diff(_ladder()) > 0)


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


def test_radius_is_a_quantile_of_the_lengths(rng):
    X = rng.normal(size=(4000, 6))
    typical = np.sqrt(6)
    assert private_radius(X, None, 0.5, 2.0, seeded_noise(0)) == pytest.approx(typical, rel=0.15)
    assert private_radius(X + 9, np.full(6, 9.0), 0.5, 2.0, seeded_noise(0)) == pytest.approx(
        typical, rel=0.15
    )


@pytest.mark.parametrize(
    "X", [np.full((40, 3), 1.7e308), np.zeros((40, 3)), np.full((40, 3), 5e-324)]
)
def test_radius_of_extreme_tables_suits_every_sign(X):
    X = X * np.sign(np.random.default_rng(0).normal(size=X.shape))
    radius = private_radius(X, None, 0.5, 1.0, seeded_noise(0))
    assert 1e-100 <= radius <= 1e100
    for sign in TYPICAL_QUANTILE:
        assert as_sign(sign, radius).name == sign


@pytest.mark.parametrize("sign", TYPICAL_QUANTILE)
@pytest.mark.parametrize("location", [None, np.zeros(5)])
def test_private_radius_and_matrix_share_the_budget_exactly(sign, location, rng):
    X = rng.standard_t(3, size=(600, 5))
    pca = DPPCA(2, epsilon=0.8, delta=1e-5, sign=sign, radius="quantile", location=location).fit(X)
    quantile, matrix = pca.guarantee_.events
    assert isinstance(quantile, PureEvent)
    assert quantile.epsilon == pytest.approx(0.04)
    assert isinstance(matrix, GaussianEvent)
    assert pca.guarantee_.epsilon <= 0.8
    assert pca.guarantee_.epsilon == pytest.approx(0.8, rel=1e-6)
    alone = DPPCA(2, epsilon=0.76, delta=1e-5, random_state=0).fit(X).guarantee_.events[0]
    assert matrix.noise_multiplier < alone.noise_multiplier


def test_share_and_quantile_are_parameters(rng):
    X = rng.normal(size=(3000, 4))
    radii = [
        DPPCA(1, epsilon=5.0, sign="trimmed", radius="quantile", quantile=q, quantile_share=0.3)
        .fit(X)
        .release_.sign["parameters"]["radius"]
        for q in (0.1, 0.9)
    ]
    assert radii[0] < 0.8 * radii[1]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"quantile": 0.0}, "`quantile`"),
        ({"quantile_share": 1.0}, "`quantile_share`"),
        ({"sign": "spherical"}, "cut-off"),
    ],
)
def test_bad_quantile_parameters_are_refused(parameters, words, rng):
    with pytest.raises(ParameterError, match=words):
        DPPCA(**({"sign": "winsor", "radius": "quantile"} | parameters)).fit(
            rng.normal(size=(9, 2))
        )


def test_too_few_rows_for_a_private_radius_warn(rng):
    pca = DPPCA(1, sign="winsor", radius="quantile")
    with pytest.warns(PrivacyWarning, match="private radius"):
        pca.fit(rng.normal(size=(500, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pca.fit(rng.normal(size=(5000, 2)))


def test_private_radius_needs_all_rows(rng):
    with pytest.raises(ParameterError, match="all rows"):
        DPPCA(sign="winsor", radius="quantile").partial_fit(rng.normal(size=(9, 2)))
