"""Plan before you spend."""

import json
import math

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError, Release
from gdppca.planning import Plan, plan
from gdppca.steps.centre_budget import centre_budget


def ahead(n=2000, d=10, **options):
    usual = {"epsilon": 0.5, "delta": 1e-5, "spectrum": "spiked:10,5", "location": None}
    return plan(n, d, **usual | options)


@pytest.mark.parametrize("location", [None, "public"])
def test_noise_is_what_the_estimator_draws(location, rng):
    X = rng.normal(size=(300, 4))
    given = np.zeros(4) if location else None
    pca = DPPCA(2, epsilon=0.7, delta=1e-5, location=given, random_state=0).fit(X)
    assert plan(300, 4, epsilon=0.7, delta=1e-5, location=location).noise_sd == pca.noise_sd_


def test_blocks_of_a_large_table_have_the_estimators_noise():
    # The sensitivity holds a rounding error that depends on the pairs.
    planned = plan(10**6, 5, location=None)
    assert planned.noise_sd == pytest.approx(plan(1000, 5, location=None).noise_sd / 1000, rel=1e-3)


def test_known_settings():
    # Means over simulated fits of Gaussian rows: 200 each, the last 100.
    assert ahead().sin_theta == pytest.approx(0.134, rel=0.06)
    assert ahead(1000).sin_theta == pytest.approx(0.270, rel=0.06)
    assert ahead(location="public").sin_theta == pytest.approx(0.077, rel=0.06)
    assert ahead(d=25).sin_theta == pytest.approx(0.378, rel=0.06)


def test_single_components_and_subspace():
    planned = ahead()
    assert planned.per_component.shape == (2,)
    # The second is mixed with the first and with the rest, so it is worse than either.
    assert planned.per_component[0] < planned.sin_theta < planned.per_component[1]
    one = ahead(n_components=1)
    assert one.sin_theta == pytest.approx(one.per_component[0], rel=1e-6)


def test_repeated_plans_are_equal():
    assert ahead().to_dict() == ahead().to_dict()


@pytest.mark.parametrize("change", [{"epsilon": 1.0}, {"n": 4000}, {"delta": 1e-3}])
def test_more_budget_or_rows_help(change):
    assert ahead(**change).sin_theta < ahead().sin_theta


def test_detectable_counts_what_stands_above_the_noise():
    assert ahead(n=20_000).detectable == 2
    assert ahead(n=200).detectable == 0
    assert ahead(n=20_000, spectrum="spiked:20,10,5").detectable == 3


def test_without_noise_the_sampling_error_remains():
    exact = ahead(epsilon=math.inf)
    assert exact.noise_sd == 0
    assert 0.01 < exact.sin_theta < ahead().sin_theta
    assert exact.to_dict()["epsilon"] == "infinity"


class TestRequired:
    @pytest.mark.parametrize("location", [None, "public", "private"])
    def test_epsilon_reaches_the_target_and_a_little_less_does_not(self, location):
        planned = ahead(location=location)
        epsilon = planned.required(0.2)
        assert ahead(location=location, epsilon=epsilon).sin_theta <= 0.2
        assert ahead(location=location, epsilon=0.97 * epsilon).sin_theta > 0.2

    def test_rows_reach_the_target_and_a_few_less_do_not(self):
        rows = ahead().required(0.1, of="n_samples")
        assert isinstance(rows, int)
        assert ahead(rows).sin_theta <= 0.1
        assert ahead(int(0.97 * rows)).sin_theta > 0.1

    def test_target_below_the_sampling_error_has_no_epsilon_but_rows(self):
        planned = ahead()
        floor = ahead(epsilon=math.inf).sin_theta
        with pytest.raises(ParameterError, match=r"No epsilon is enough.*of='n_samples'"):
            planned.required(0.9 * floor)
        assert planned.required(0.9 * floor, of="n_samples") > 2000

    def test_tied_components_have_neither(self):
        planned = ahead(spectrum="spiked:10")
        assert planned.sin_theta == 1.0
        for of in ("epsilon", "n_samples"):
            with pytest.raises(ParameterError, match="no more variance than the next"):
                planned.required(0.5, of=of)

    @pytest.mark.parametrize("target", [0, 1, -0.2, math.nan, "0.2"])
    def test_target_is_a_sine(self, target):
        with pytest.raises(ParameterError, match="`target` must be a number strictly between"):
            ahead().required(target)

    def test_only_two_things_may_change(self):
        with pytest.raises(ParameterError, match="`of` must be one of 'epsilon', 'n_samples'"):
            ahead().required(0.2, of="delta")

    def test_all_columns_need_nothing(self):
        assert ahead(d=2).required(0.1) == pytest.approx(1e-3)


def test_equal_variances_inside_the_subspace_blur_single_components_only():
    planned = ahead(n=50_000, spectrum="spiked:10,10")
    assert planned.sin_theta < 0.05
    np.testing.assert_array_equal(planned.per_component, [1.0, 1.0])


def test_curve_falls_and_holds_the_plan_itself():
    planned = ahead()
    errors = planned.curve([0.1, 0.5, 2.0, math.inf])
    assert (np.diff(errors) < 0).all()
    assert errors[1] == planned.sin_theta
    with pytest.raises(ParameterError, match="epsilon"):
        planned.curve([-1.0])


def test_ways_to_compare_rows():
    ways = ahead(d=25).compare()
    assert list(ways) == ["pairs of rows", "private centre", "public centre"]
    pairs, private, public = (other.sin_theta for other in ways.values())
    assert public < private < 0.75 * pairs
    assert all(isinstance(other, Plan) and way == other.way for way, other in ways.items())


class TestPrivateCentre:
    def test_auto_is_private_where_that_is_worthwhile(self):
        private, auto = ahead(location="private"), ahead(location="auto")
        assert centre_budget(2000, 10, 0.14).worthwhile
        assert auto.centre == private.centre == "private"
        assert auto.sin_theta == private.sin_theta

    def test_auto_is_pairs_where_it_is_not(self):
        pairs, auto = ahead(200), ahead(200, location="auto")
        assert not centre_budget(200, 10, 0.14).worthwhile
        assert auto.centre is None
        assert not auto.doubtful
        assert auto.sin_theta == pairs.sin_theta

    def test_centre_that_is_not_found_costs_and_the_plan_says_so(self):
        pairs, private = ahead(300), ahead(300, location="private")
        assert private.centre is None
        assert private.noise_sd > 1.1 * pairs.noise_sd
        assert private.doubtful
        assert any("far the rows are from the origin" in sentence for sentence in private.sentences)
        assert not pairs.doubtful
        assert not ahead(location="private").doubtful

    def test_centre_takes_its_share(self):
        private, public = ahead(location="private"), ahead(location="public")
        assert public.noise_sd < private.noise_sd < ahead().noise_sd

    def test_without_noise_it_is_as_good_as_a_public_one(self):
        private, public = (ahead(location=at, epsilon=math.inf) for at in ("private", "public"))
        assert private.sin_theta == public.sin_theta


def test_array_is_a_public_centre():
    assert ahead(location=np.zeros(10)).to_dict() == ahead(location="public").to_dict()


def test_plain_form_is_json_and_fits_into_a_release(rng, tmp_path):
    from dataclasses import replace

    plain = plan(500, 4).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    fitted = DPPCA(2, location=None, random_state=0).fit(rng.normal(size=(500, 4)))
    replace(fitted.release_, plan=plain).save(tmp_path / "release.json")
    assert Release.load(tmp_path / "release.json").plan == plain


def test_words():
    assert repr(ahead()) == (
        "Plan(2 directions of 10 columns from 2000 rows, epsilon = 0.5, delta = 1e-05, pairs of "
        "rows: sin Theta about 0.14, 2 components above the noise)"
    )
    count, angle, spectrum = ahead().sentences
    assert count == "2 components will stand above the noise."
    assert "8° off" in angle
    assert spectrum == "This is for variances 10, 5 and 1 for the rest."
    assert ahead(100).sentences[0] == "No component will stand above the noise."
    weak = ahead(5000, spectrum="spiked:10,1.2")
    assert weak.sentences[0] == "Only 1 of the 2 components will stand above the noise."
    assert "no direction to find" in ahead(spectrum="spiked:10").sentences[1]


def test_one_column():
    planned = plan(100, 1, n_components=1)
    assert (planned.sin_theta, planned.detectable) == (0.0, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "`n_samples`"),
        ({"d": 0}, "`n_features`"),
        ({"n_components": 11}, "at most the 10 columns, got 11"),
        ({"n_components": 0}, "`n_components`"),
        ({"epsilon": 0}, "`epsilon`"),
        ({"delta": 1}, "`delta`"),
        ({"location": "mean"}, "`location` must be 'public', 'private', 'auto', one public"),
        ({"location": [0.0]}, r"`location`.*shape \(10,\)"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        ahead(**arguments)


def test_many_columns_are_planned_within_seconds():
    planned = plan(50_000, 400, spectrum="spiked:50,20")
    assert 0.05 < planned.sin_theta < 0.3
