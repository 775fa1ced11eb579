"""What is released beside the directions takes its share of the budget."""

import math

import pytest

from gdppca import DPPCA, ParameterError
from gdppca.design import Parameters, Shares, design_of
from gdppca.privacy import NonPrivateEvent
from gdppca.steps.base import Public


def steps_of(asked, shares, n_samples):
    """The steps after the matrix."""
    return shares.steps(
        Public.of(n_samples, 3),
        asked.epsilon,
        asked.delta,
        asked.n_components,
        known_center=asked.has_public_center,
    )


def test_reserved_is_what_the_whole_release_draws(rng):
    X = rng.normal(size=(3000, 3)) * [3, 2, 1]
    asked, shares = Parameters(location=None), Shares(variances=0.1, score_map=0.2)
    variances, shown = steps_of(asked, shares, 3000)
    assert (variances.epsilon, variances.delta) == (0.1, 1e-7)
    assert (shown.epsilon, shown.delta) == (0.2, pytest.approx(2e-7))
    release = DPPCA(location=None, random_state=0).fit_release(X, variances=0.1, score_map=0.2)
    reserved = variances.events + shown.events
    assert release.guarantee.events[-len(reserved) :] == reserved
    design = design_of(asked, Public.of(3000, 3), shares=shares)
    assert design.debit[-len(reserved) :] == reserved


def test_nothing_is_reserved_without_noise():
    asked, shares = Parameters(epsilon=math.inf), Shares(variances=0.1)
    [variances] = steps_of(asked, shares, 1000)
    assert (variances.epsilon, variances.delta) == (math.inf, 1e-7)
    design = design_of(asked, Public.of(1000, 3), shares=shares)
    assert [type(event) for event in design.debit] == [NonPrivateEvent]


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
    with pytest.raises(ParameterError, match=message):
        steps_of(Parameters(**asked), Shares(variances=shares[0], score_map=shares[1]), 1000)


def test_groups_are_for_a_map():
    with pytest.raises(ParameterError, match="`groups` are for a score map"):
        steps_of(Parameters(), Shares(groups=("a", "b")), 4)
