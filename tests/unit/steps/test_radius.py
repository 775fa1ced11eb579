"""A private cut-off, alone and within a fit."""

import warnings

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError, PrivacyWarning
from gdppca.noise import seeded_noise
from gdppca.privacy import GaussianEvent, PureEvent
from gdppca.signs import TYPICAL_QUANTILE, as_sign
from gdppca.steps.radius import private_radius


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
