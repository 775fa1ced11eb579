"""What every sign must do. A new sign adds one line to SIGNS in tests/hostile.py."""

import dataclasses

import numpy as np
import pytest
from hostile import SIGNS, sign_id
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gdppca.signs import Ball, LinearlyRedescending, Quad, Shell, Trimmed

REDESCENDING = (Trimmed, Ball, Quad, Shell, LinearlyRedescending)
lengths = st.floats(0, 1e308, allow_subnormal=True)
vectors = arrays(float, 3, elements=st.floats(-1e308, 1e308))

every_sign = pytest.mark.parametrize("sign", SIGNS, ids=sign_id)


@every_sign
@given(s=lengths)
def test_bound_holds_for_every_length(sign, s):
    assert 0 <= sign.radial(np.array([s]))[0] <= sign.sup_norm


@every_sign
@given(t=vectors)
def test_g_is_bounded_and_keeps_the_direction(sign, t):
    g = sign(t)
    assert np.linalg.norm(g) <= sign.sup_norm * (1 + 1e-12)
    assert np.all(np.sign(g) * np.sign(t) >= 0)


@every_sign
def test_bound_is_not_larger_than_needed(sign):
    s = np.concatenate([np.linspace(0, 10, 200_001), np.logspace(-9, 9, 1001)])
    s = np.append(s, [getattr(sign, "radius", 1.0), getattr(sign, "outer", 1.0)])
    assert sign.radial(s).max() >= 0.999 * sign.sup_norm


@every_sign
def test_zero_stays_zero(sign):
    np.testing.assert_array_equal(sign(np.zeros((2, 4))), np.zeros((2, 4)))


@every_sign
def test_rotating_before_is_rotating_after(sign, rng):
    rotation, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    t = rng.normal(size=(50, 5))
    np.testing.assert_allclose(sign(t @ rotation), sign(t) @ rotation, atol=1e-13)


@every_sign
def test_radial_is_elementwise(sign, rng):
    s = rng.exponential(size=(7, 9))
    one_by_one = np.array([[sign.radial(np.array([e]))[0] for e in row] for row in s])
    np.testing.assert_array_equal(sign.radial(s), one_by_one)


@every_sign
def test_signs_are_frozen_and_describe_themselves(sign):
    with pytest.raises(dataclasses.FrozenInstanceError):
        sign.anything = 1
    described = sign.describe()
    assert described["name"] == sign.name
    assert described["sup_norm"] == sign.sup_norm


@pytest.mark.parametrize("sign", [s for s in SIGNS if isinstance(s, REDESCENDING)], ids=sign_id)
def test_redescending_signs_forget_far_points(sign):
    assert np.all(sign.radial(np.array([1e6, 1e300])) <= 1e-5 * sign.sup_norm)
