"""What releases to come take of the budget."""

import math

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError
from gdppca.design import Parameters, reserved_events, shared_out


def test_reserved_is_what_the_whole_release_draws(rng):
    X = rng.normal(size=(3000, 3)) * [3, 2, 1]
    asked = Parameters(location=None)
    parts = shared_out(asked, variances=0.1, score_map=0.2)
    assert parts == {"variances": (0.1, 1e-7), "map": (0.2, pytest.approx(2e-7))}
    release = DPPCA(location=None, random_state=0).fit_release(X, variances=0.1, score_map=0.2)
    reserved = reserved_events(asked, 3000, parts)
    assert release.guarantee.events[-len(reserved) :] == reserved


def test_nothing_is_reserved_without_noise():
    asked = Parameters(epsilon=math.inf)
    parts = shared_out(asked, variances=0.1, score_map=0.0)
    assert parts == {"variances": (math.inf, 1e-7)}
    assert reserved_events(asked, 1000, parts) == ()


@pytest.mark.parametrize(
    ("asked", "shares", "message"),
    [
        ({}, (0.5, 0.5), "must add up to less than 1"),
        ({}, (-0.1, 0.0), "share of the variances"),
        ({"n_components": "auto"}, (0.1, 0.0), "`n_components` must be a number of at least 1"),
        ({"n_components": 1}, (0.0, 0.1), "`n_components` must be a number of at least 2"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(asked, shares, message):
    asked = Parameters(**asked)
    with pytest.raises(ParameterError, match=message):
        reserved_events(asked, 1000, shared_out(asked, variances=shares[0], score_map=shares[1]))


def test_groups_are_for_a_map():
    with pytest.raises(ParameterError, match="`groups` are for a score map"):
        reserved_events(Parameters(), 4, {}, groups=np.zeros(4))
