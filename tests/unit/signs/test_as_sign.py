"""From what a user writes to a sign."""

import numpy as np
import pytest

from gdppca import ParameterError
from gdppca.signs import (
    NAMES,
    Custom,
    LinearlyRedescending,
    Quad,
    Shell,
    Spherical,
    Trimmed,
    Winsor,
    as_sign,
)


def test_every_name_works_with_a_radius_and_without():
    for name in NAMES:
        assert as_sign(name, n_features=9).name == name
        if name != "spherical":
            assert as_sign(name, 2.0) == as_sign(name, np.float64(2.0))


def test_sqrt_d_is_the_square_root_of_the_columns():
    assert as_sign("winsor", "sqrt_d", 25) == as_sign("winsor", None, 25) == Winsor(5.0)


def test_lengths_of_each_sign():
    s = np.array([0.5, 1.0, 3.0, 10.0])
    expected = {
        Winsor(2.0): [0.5, 1, 2, 2],
        Trimmed(2.0): [1, 1, 0, 0],
        Quad(2.0): [0.5, 1, 4 / 3, 0.4],
        Shell(0.8, 4.0): [0, 1, 3, 0],
        LinearlyRedescending(2.0): [0.5, 1, 1.5, 0],
    }
    for sign, lengths in expected.items():
        np.testing.assert_allclose(sign.radial(s), lengths)


def test_linearly_redescending_bound_is_the_peak_of_the_parabola():
    assert LinearlyRedescending(1.0, outer=2.0).sup_norm == 1.0
    assert LinearlyRedescending(1.0, outer=1.5).sup_norm == 1.0
    assert LinearlyRedescending(1.0, outer=4.0).sup_norm == pytest.approx(4 / 3)


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, "wide", True, [1.0], 1e200, 1e-200])
def test_bad_radius_is_refused(bad):
    with pytest.raises(ParameterError, match="radius"):
        as_sign("winsor", bad, 4)


def test_radius_must_not_be_given_twice_or_in_vain():
    with pytest.raises(ParameterError, match="no cut-off"):
        as_sign("spherical", 1.0)
    with pytest.raises(ParameterError, match="by name"):
        as_sign(Winsor(1.0), 1.0)


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ParameterError, match="'trimmed'"):
        as_sign("square")


class Duck:
    """A user's own object."""

    sup_norm = 2.0

    def radial(self, s):
        return 2 * np.tanh(s)


def test_any_object_with_radial_and_sup_norm_is_a_sign():
    sign = as_sign(Duck())
    assert isinstance(sign, Custom)
    assert sign.sup_norm == 2.0
    np.testing.assert_allclose(sign([3.0, 4.0]), 2 * np.tanh(5.0) * np.array([0.6, 0.8]))


@pytest.mark.parametrize("bound", [None, np.inf, np.nan, "2", lambda: 2.0])
def test_sign_without_bound_is_refused(bound):
    duck = Duck()
    duck.sup_norm = bound
    with pytest.raises(ParameterError, match="sup_norm"):
        as_sign(duck)


def test_own_map_is_probed():
    with pytest.raises(ParameterError, match="beyond"):
        Custom(lambda s: s, 1.0)
    with pytest.raises(ParameterError, match="elementwise"):
        Custom(lambda s: (s > np.median(s)).astype(float), 1.0)
    with pytest.raises(ParameterError, match="one length per length"):
        Custom(lambda s: np.ones(3), 1.0)
    with pytest.raises(ParameterError, match="radial"):
        as_sign(3.0)


def test_own_subclass_is_probed_too():
    class Wide(Spherical):
        def radial(self, s):
            return np.full_like(s, 3.0)

    with pytest.raises(ParameterError, match="beyond"):
        as_sign(Wide())
