"""What a user chooses, for fit and plan alike."""

import inspect

import pytest

from gdppca import DPPCA, ParameterError, plan
from gdppca.design import Parameters, design_of
from gdppca.steps.base import Public


def defaults(function):
    signature = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in signature.items()}


def test_names_and_defaults_are_those_of_the_estimator():
    asked, estimator = defaults(Parameters), defaults(DPPCA)
    assert asked == {name: estimator[name] for name in asked}
    shown = {"loadings", "target", "max_loadings", "whiten"}  # post-processing
    assert set(estimator) - set(asked) == {"ledger", "random_state"} | shown


def test_plan_and_release_have_them_too():
    asked, planned = defaults(Parameters), defaults(plan)
    assert asked.items() <= planned.items()
    released = defaults(DPPCA.fit_release)
    assert {planned[name] for name in ("variances", "score_map")} == {released["score_map"]}
    assert {released["variances"], released["score_map"]} == {0.0}


def test_parameters_of_an_estimator_are_its_own():
    pca = DPPCA(3, epsilon=0.5, pairs="halves", location=None)
    asked = Parameters.of(pca)
    assert (asked.n_components, asked.epsilon, asked.pairs) == (3, 0.5, "halves")
    assert not asked.has_public_center
    assert Parameters(location=[0.0, 0.0]).has_public_center


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"calibration": "loose"}, "`calibration`"),
        ({"scale": [1.0, 0.0]}, "`scale` must hold numbers > 0"),
        ({"location": "private", "pairs": "all"}, "compares rows with a centre, not in pairs"),
        ({"scale": "private", "calibration": "paper"}, "`calibration='tight'` only"),
        ({"epsilon": -1}, "`epsilon`"),
    ],
)
def test_what_is_wrong_is_refused(asked, message):
    with pytest.raises(ParameterError, match=message):
        design_of(Parameters(**asked), Public.of(100, 2))
