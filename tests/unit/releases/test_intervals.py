"""Intervals for the loadings of a release."""

from dataclasses import replace

import numpy as np
import pytest
from simulate import spiked

from gdppca import DPPCA, ParameterError, ReleaseError
from gdppca.releases import release_intervals
from gdppca.theory import loading_intervals


@pytest.fixture(scope="module")
def fitted():
    X, _ = spiked("gaussian", 2000, 6, 0)
    return DPPCA(2, location=None, loadings="plain", random_state=0).fit(X).release_


def test_intervals_are_those_of_its_matrix(fitted):
    found = release_intervals(fitted, 0.8)
    expected = loading_intervals(fitted.scatter, fitted.noise_sd, 2000, 2, 0.8)
    np.testing.assert_array_equal(found.lower, expected.lower)
    assert (found.lower <= fitted.components).all()
    assert (fitted.components <= found.upper).all()


def test_intervals_turn_with_the_components(fitted):
    turned = replace(fitted, components=fitted.components * [[1.0], [-1.0]])
    before, after = release_intervals(fitted), release_intervals(turned)
    np.testing.assert_array_equal(after.lower[1], -before.upper[1])
    np.testing.assert_array_equal(after.upper[0], before.upper[0])


@pytest.mark.parametrize(
    ("scheme", "rows"), [({"name": "halves"}, 1000), ({"name": "blocks", "size": 4}, 1500)]
)
def test_pairs_that_waste_rows_count_for_fewer(fitted, scheme, rows):
    found = release_intervals(replace(fitted, scheme=scheme), sampling=True)
    expected = loading_intervals(fitted.scatter, fitted.noise_sd, rows, 2, sampling=True)
    np.testing.assert_allclose(found.angles, expected.angles)


def test_sampling_needs_the_spherical_sign(fitted):
    other = replace(fitted, sign={"name": "winsor", "parameters": {"radius": 1.0}, "sup_norm": 1.0})
    assert release_intervals(other).covers == "privacy noise"
    with pytest.raises(ParameterError, match="spherical"):
        release_intervals(other, sampling=True)


def test_intervals_need_a_matrix(fitted):
    with pytest.raises(ReleaseError, match="matrix"):
        release_intervals(replace(fitted, scatter=None))


@pytest.mark.parametrize("radius", [1e-100, 1e100, 1e140])
def test_intervals_of_any_radius_are_the_same(radius):
    X = np.random.default_rng(0).normal(size=(2000, 3)) * [5, 2, 1]

    def found(unit):
        public = {"location": np.zeros(3), "sign": "winsor", "radius": 3.0 * unit}
        return release_intervals(DPPCA(2, random_state=0, **public).fit(X * unit).release_)

    usual, other = found(1.0), found(radius)
    np.testing.assert_allclose(other.lower, usual.lower, atol=1e-6)
    np.testing.assert_allclose(other.upper, usual.upper, atol=1e-6)
