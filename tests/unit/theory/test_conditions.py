"""Conditions of the bounds in terms of Σ (F8)."""

import numpy as np
import pytest
from scipy import stats

from gdppca import ParameterError
from gdppca.theory import spherical_condition, winsor_condition


def test_spherical_condition_by_hand():
    assert spherical_condition([3.0, 4.0]) == pytest.approx(5 * np.log(2) / 7)
    assert spherical_condition([10.0, 5.0] + [1.0] * 98) == pytest.approx(
        np.sqrt(223) * np.log(100) / 113
    )


def test_numbers_of_the_docstring():
    assert spherical_condition([10.0, 5.0] + [1.0] * 98) == pytest.approx(0.61, abs=0.005)


def test_spherical_condition_vanishes_for_slowly_growing_spikes_only():
    def spiked(d, a):
        return spherical_condition(np.concatenate([[1 + d**a], np.ones(d - 1)]))

    for a in (0.0, 0.3, 0.6):
        assert spiked(10**6, a) < 0.7 * spiked(10**4, a)
    assert spiked(10**6, 1.0) > spiked(10**4, 1.0)


def test_winsor_condition_is_a_chi_squared_tail_under_the_gaussian_law():
    lam = [10.0, 5.0, 0.5]
    assert winsor_condition(1.5, lam) == pytest.approx(stats.chi2.sf(4.5, 3))


def test_twice_root_d_is_about_the_median_for_cauchy_rows():
    for d in (25, 100, 200):
        lam = np.full(d, 3.0)
        assert winsor_condition(2 * np.sqrt(3.0 * d), lam, ("t", 1)) == pytest.approx(
            0.51, abs=0.02
        )


def test_winsor_condition_falls_with_the_radius_and_grows_with_the_tail():
    lam = [4.0, 1.0, 1.0]
    for law in ("gaussian", ("t", 1), ("t", 5)):
        chances = [winsor_condition(r, lam, law) for r in (1e-6, 1.0, 3.0, 10.0)]
        assert np.all(np.diff(chances) < 0)
        assert chances[0] == pytest.approx(1)
    far = [winsor_condition(10.0, lam, law) for law in (("t", 1), ("t", 5), "gaussian")]
    assert far[0] > far[1] > far[2]


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="lam"):
        winsor_condition(1.0, [1.0, 0.0])
    with pytest.raises(ParameterError, match="radius"):
        winsor_condition(-1.0, [1.0, 1.0])
    with pytest.raises(ParameterError, match="law"):
        winsor_condition(1.0, [1.0, 1.0], "cauchy")
    with pytest.raises(ParameterError, match="lam"):
        spherical_condition([])
