"""What is planned is what is run."""

import math
import warnings
from collections import defaultdict

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError, plan
from gdppca.privacy import GaussianEvent, PureEvent
from gdppca.signs import Trimmed
from gdppca.steps.refine import expected_scale_error

N, D = 3000, 4
ZEROS, ONES = np.zeros(D), np.ones(D)

KNOWN = {  # parameters whose noise depends on public numbers alone
    "pairs": {"location": None},
    "public centre": {"location": ZEROS},
    "public centre and scales": {"location": ZEROS, "scale": 2 * ONES},
    "private scales": {"location": None, "scale": "private"},
    "private scales, larger share": {"location": ZEROS, "scale": "private", "scale_share": 0.4},
    "winsorised": {"location": None, "sign": "winsor"},
    "winsorised, public radius": {"location": ZEROS, "sign": "winsor", "radius": 3.0},
    "own sign": {"location": None, "sign": Trimmed(radius=4.0)},
    "trimmed, private radius": {"location": None, "sign": "trimmed", "radius": "quantile"},
    "private radius, share": {
        "location": ZEROS, "sign": "trimmed", "radius": "quantile", "quantile_share": 0.2,
    },
    "halves": {"pairs": "halves"},
    "blocks": {"pairs": 10},
    "paper": {"calibration": "paper", "pairs": "all"},
    "paper around a centre": {"calibration": "paper", "location": ZEROS},
    "variances": {"location": None, "variances": 0.1},
    "map": {"location": ZEROS, "score_map": 0.3},
    "everything": {
        "location": None, "scale": "private", "sign": "trimmed", "radius": "quantile",
        "variances": 0.1, "score_map": 0.2,
    },
    "other budget": {"location": None, "epsilon": 3.0, "delta": 1e-9},
    "auto without noise": {"epsilon": math.inf},
}  # fmt: skip
EXPECTED = {  # the rows decide how much is left
    "auto": {},
    "private centre": {"location": "private"},
    "auto with scales": {"scale": "private"},
    "auto with variances and a map": {"variances": 0.1, "score_map": 0.2},
    "auto with a private radius": {"sign": "trimmed", "radius": "quantile"},
}


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(5).normal(size=(N, D)) * [3, 2, 1, 1]


def fitted(rows, parameters):
    """Planned, and run with the same parameters."""
    shares = {name: parameters.get(name, 0.0) for name in ("variances", "score_map")}
    rest = {name: value for name, value in parameters.items() if name not in shares}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = DPPCA(2, random_state=1, **rest).fit_release(rows, **shares)
    return plan(N, D, **parameters), release


def spent(events, together=()):
    """μ² of Gaussian steps and ε of pure ones, by purpose."""
    total = defaultdict(float)
    for event in events:
        purpose = "the rest" if event.purpose in together else event.purpose
        if isinstance(event, GaussianEvent):
            total[purpose, "gaussian"] += event.noise_multiplier**-2
        elif isinstance(event, PureEvent):
            total[purpose, "pure"] += event.epsilon
        else:
            total[purpose, type(event).__name__] += 1
    return dict(total)


@pytest.mark.parametrize("parameters", KNOWN.values(), ids=KNOWN)
def test_noise_and_events_are_those_of_the_fit(parameters, rows):
    planned, release = fitted(rows, parameters)
    assert planned.noise_sd == pytest.approx(release.noise_sd, rel=1e-9)
    assert spent(planned.events) == pytest.approx(spent(release.guarantee.events), rel=1e-9)


@pytest.mark.parametrize("parameters", EXPECTED.values(), ids=EXPECTED)
def test_all_but_the_walk_is_that_of_the_fit(parameters, rows):
    planned, release = fitted(rows, parameters)
    assert planned.centre == "private"
    assert release.scheme["name"] == "one-sample"
    # What the walk does not take, the matrix gets: together they are known.
    walk = ("centre", "scatter")
    assert spent(planned.events, walk) == pytest.approx(
        spent(release.guarantee.events, walk), rel=1e-9
    )
    assert planned.noise_sd == pytest.approx(release.noise_sd, rel=0.05)


def test_private_radius_of_a_sign_that_it_bounds_is_expected(rows):
    parameters = {"location": None, "sign": "winsor", "radius": "quantile", "epsilon": 5.0}
    planned, release = fitted(rows, parameters)
    assert spent(planned.events) == pytest.approx(spent(release.guarantee.events), rel=1e-9)
    known = plan(N, D, **parameters, spectrum=[9, 4, 1, 1])
    assert known.noise_sd == pytest.approx(release.noise_sd, rel=0.2)


@pytest.mark.parametrize("unit", [1e-150, 1e99])
def test_private_radius_has_any_size(unit):
    variances = unit * np.array([9.0, 4.0, 1.0, 1.0])
    parameters = {"sign": "winsor", "radius": "quantile", "scale": "private"}
    planned, usual = (
        plan(N, D, spectrum=spectrum, **parameters) for spectrum in (variances, variances / unit)
    )
    assert planned.sin_theta == pytest.approx(usual.sin_theta, rel=1e-6)


def test_estimator_plans_itself():
    pca = DPPCA(1, epsilon=0.7, scale="private", sign="trimmed", radius=2.0, pairs="halves")
    planned = pca.plan(N, D, spectrum="spiked:5", variances=0.2)
    same = plan(
        N, D, spectrum="spiked:5", variances=0.2, n_components=1, epsilon=0.7, scale="private",
        sign="trimmed", radius=2.0, pairs="halves",
    )  # fmt: skip
    assert planned.to_dict() == same.to_dict()
    assert planned.events == same.events


def test_unnamed_public_scales_are_named_ones():
    unnamed, named = plan(N, D, scale="public"), plan(N, D, scale=3 * ONES)
    assert unnamed.to_dict() == named.to_dict()
    assert unnamed.scales == "public"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scale": "robust"}, "`scale` must be 'public', 'private', one public number"),
        ({"location": "private", "pairs": "all"}, "compares rows with a centre"),
        ({"radius": "quantile"}, "needs a sign given by name that has a cut-off"),
        ({"variances": 0.6, "score_map": 0.5}, "add up to less than 1"),
        ({"n_components": "auto"}, "`n_components`"),
    ],
)
def test_what_the_fit_refuses_the_plan_refuses(parameters, message):
    with pytest.raises(ParameterError, match=message):
        plan(N, D, **parameters)


@pytest.mark.parametrize(
    ("n", "parameters"),
    [
        (200, {"scale": "private", "epsilon": 0.3}),
        (100, {"sign": "winsor", "radius": "quantile", "location": None}),
        (150, {"location": "private", "epsilon": 0.3}),
    ],
)
def test_doubts_are_the_words_of_the_fit(n, parameters, rows):
    planned = plan(n, D, **parameters)
    said = told_by_fit(rows[:n], parameters)
    assert planned.doubts
    assert set(planned.doubts) <= set(said)
    assert set(planned.doubts) <= set(planned.sentences)


def told_by_fit(rows, parameters):
    """Its warnings, or its refusal."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            DPPCA(2, random_state=0, **parameters).fit(rows)
        except ParameterError as refused:
            return [str(refused)]
    return [str(warning.message) for warning in told]


def test_few_pairs_for_variances_are_doubted_in_the_same_words(rows):
    [doubt] = plan(200, D, location=None, variances=0.05).doubts
    with pytest.warns(UserWarning, match=doubt):
        DPPCA(2, location=None, random_state=0).fit_release(rows[:200], variances=0.05)


def test_cut_off_in_units_needs_variances_in_units(rows):
    release = DPPCA(2, location=None, random_state=0).fit(rows).release_
    with pytest.raises(ParameterError, match="ratios of variances only"):
        plan(N, D, sign="winsor", radius=2.0, spectrum=release)
    private = plan(N, D, sign="winsor", radius="quantile", spectrum=release)
    assert 0 < private.sin_theta < 0.3


def test_ways_that_other_parameters_forbid_are_left_out():
    assert list(plan(N, D, pairs="halves").compare()) == ["pairs of rows", "public centre"]


def test_target_within_reach_of_a_centre_alone_has_an_epsilon():
    # Without noise "auto" compares pairs, which vary more in many columns; with little noise a
    # centre is found, which is better.
    automatic = {"spectrum": "spiked:20,10", "location": "auto"}
    exact = plan(4000, 60, epsilon=math.inf, **automatic)
    near = plan(4000, 60, epsilon=500.0, **automatic)
    assert near.sin_theta < exact.sin_theta
    target = 0.5 * (near.sin_theta + exact.sin_theta)
    assert near.required(target) < 500


def test_budget_that_some_ends_of_a_search_refuse_has_an_answer():
    # A thousandth of ε = 0.001 is less than noise can be calibrated for.
    planned = plan(20_000, D, spectrum="spiked:10,5", variances=0.001, location=None)
    epsilon = planned.required(0.1)
    assert (
        plan(
            20_000, D, spectrum="spiked:10,5", variances=0.001, location=None, epsilon=epsilon
        ).sin_theta
        <= 0.1
    )


class TestPrivateScales:
    def test_their_errors_count(self):
        known = plan(N, D, scale="public", spectrum="spiked:10,5")
        private = plan(N, D, scale="private", scale_share=0.05, spectrum="spiked:10,5")
        # A twentieth of the budget hardly adds noise; what is added is the errors of the scales.
        assert private.noise_sd < 1.05 * known.noise_sd
        assert private.sin_theta > 1.2 * known.sin_theta

    def test_any_number_of_rows_has_an_answer(self):
        assert 2 < plan(N, D, scale="private").required(0.2, of="n_samples") < N
        assert 0.5 < plan(2, D, scale="private").sin_theta <= 1

    def test_error_of_a_scale_falls_with_rows_budget_and_a_centre(self):
        usual = expected_scale_error(5000, 10, 0.1, centred=False)
        assert expected_scale_error(10_000, 10, 0.1, centred=False) < 0.6 * usual
        assert expected_scale_error(5000, 10, 0.2, centred=False) < usual
        assert expected_scale_error(5000, 10, 0.1, centred=True) < 0.6 * usual
        # Clipped squares of a normal column: their standard deviation over their slope, .353/.425.
        exact = expected_scale_error(5000, 10, math.inf, centred=True)
        assert exact == pytest.approx(0.353 / 0.425 / math.sqrt(5000), rel=0.01)


class TestShares:
    def test_everything_is_told(self):
        told = plan(
            N, D, scale="private", sign="trimmed", radius="quantile", variances=0.1, score_map=0.2,
            location=None,
        ).budget  # fmt: skip
        assert told == (
            "Of epsilon, the variances take 10 %, the score map takes 20 % and the radius takes "
            "5 %. Of what is left (μ²), the scales take 20 % and the matrix gets 80 %."
        )

    def test_centre_is_expected(self):
        told = plan(N, D, scale="private").budget
        assert "the scales take 20 %, the search for a centre takes about" in told

    def test_matrix_alone(self):
        assert plan(N, D, location=None).budget == "The matrix takes all of the budget."
        assert plan(N, D, location=None, variances=0.1).budget.endswith(
            "The matrix takes what is left."
        )

    def test_without_noise_there_is_nothing_to_share(self):
        assert "there is no noise" in plan(N, D, epsilon=math.inf).budget
