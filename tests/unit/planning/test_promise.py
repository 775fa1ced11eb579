"""Plans for persons, secret sizes and missing cells."""

import math

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError, plan
from gdppca.steps.count import SHARE as COUNT_SHARE
from gdppca.steps.rates import SHARE as RATE_SHARE

USUAL = {"epsilon": 1.0, "location": "public", "spectrum": "spiked:10,5"}


def test_defaults_are_rows_that_are_replaced():
    given = plan(2000, 10, unit="row", neighbors="replace-one", missing=None, **USUAL)
    assert given.to_dict() == plan(2000, 10, **USUAL).to_dict()
    assert (given.unit, given.neighbors, given.missing) == ("row", "replace-one", 0.0)


def test_persons_count_as_rows_and_are_named():
    rows, persons = (plan(300, 7, unit=unit, **USUAL) for unit in ("row", "person"))
    assert persons.sin_theta == rows.sin_theta
    assert "from 300 persons" in repr(persons)
    assert any("person" in sentence for sentence in persons.sentences)


def test_secret_size_has_less_noise_and_says_what_it_is():
    replace_one = plan(2000, 10, **USUAL)
    secret = plan(2000, 10, neighbors="add-remove", **USUAL)
    ratio = 1 / math.sqrt(2 * (1 - COUNT_SHARE))
    assert secret.noise_sd == pytest.approx(ratio * replace_one.noise_sd, rel=1e-3)
    assert "the count takes 2 %" in secret.budget
    assert "count" in {event.purpose for event in secret.events}
    assert any("less than replacing one" in sentence for sentence in secret.sentences)


@pytest.mark.parametrize("more", [{"neighbors": "add-remove"}, {"missing": 0.2}])
def test_pairs_are_left_out(more):
    with pytest.raises(ParameterError, match="compares rows with a centre"):
        plan(2000, 10, **USUAL | {"location": None} | more)
    planned = plan(2000, 10, **USUAL | {"location": "auto"} | more)
    assert planned.centre == "private"
    assert "pairs of rows" not in planned.compare()


def test_secret_size_shortens_the_walk():
    usual = USUAL | {"location": "private"}
    longer, shorter = (plan(1000, 10, neighbors=n, **usual) for n in ("replace-one", "add-remove"))
    assert shorter.case.centre_share < longer.case.centre_share
    assert shorter.sin_theta < longer.sin_theta


class TestMissing:
    def test_rates_take_their_share(self):
        whole, rates = plan(2000, 10, **USUAL), plan(2000, 10, missing="rates", **USUAL)
        more = 1 / math.sqrt(1 - RATE_SHARE)
        assert rates.noise_sd == pytest.approx(more * whole.noise_sd, rel=1e-6)
        assert "the observed rates take 5 %" in rates.budget
        assert plan(2000, 10, missing="refuse", **USUAL).noise_sd == whole.noise_sd

    @pytest.mark.parametrize(
        ("d", "n", "missing", "seen"),  # means over 100 and 20 simulated tables, bench/missing.py
        [
            (10, 2000, 0.2, 0.081),
            (10, 2000, 0.4, 0.115),
            (25, 20_000, 0.2, 0.029),
            (25, 20_000, 0.4, 0.040),
            (5, 2000, 0.4, 0.084),
            (10, 2000, np.linspace(0, 0.6, 10), 0.130),
        ],
    )
    def test_errors_are_those_of_simulations(self, d, n, missing, seen):
        assert plan(n, d, missing=missing, **USUAL).sin_theta == pytest.approx(seen, rel=0.15)

    def test_more_rows_do_not_remove_what_the_correction_leaves(self):
        assert plan(10**8, 10, missing=0.4, **USUAL).sin_theta > 0.02
        assert plan(10**8, 10, **USUAL).sin_theta < 0.001

    def test_private_centre_and_scales_cost_more(self):
        public = plan(5000, 10, missing=0.3, **USUAL)
        private = plan(5000, 10, missing=0.3, **USUAL | {"location": "private"})
        scaled = plan(5000, 10, missing=0.3, scale="private", **USUAL)
        assert public.sin_theta < private.sin_theta
        assert public.sin_theta < scaled.sin_theta

    def test_other_signs_and_many_columns_are_planned(self):
        for more in ({"sign": "trimmed", "radius": "quantile"}, {"epsilon": math.inf}):
            assert 0 < plan(5000, 10, missing=0.3, **USUAL | more).sin_theta < 1
        assert 0 < plan(20_000, 120, missing=0.3, **USUAL).sin_theta < 1

    def test_words_name_the_assumption(self):
        told = " ".join(plan(5000, 10, missing=0.25, **USUAL).sentences)
        assert "25\N{NO-BREAK SPACE}% of the cells" in told
        assert "completely at random" in told

    @pytest.mark.parametrize("missing", [-0.1, 0.99, [0.1, 0.2], "some", [math.nan] * 10])
    def test_what_cannot_be_a_share_is_refused(self, missing):
        with pytest.raises(ParameterError, match="`missing`"):
            plan(2000, 10, missing=missing, **USUAL)


@pytest.mark.parametrize("given", [{"unit": "patient"}, {"neighbors": "zero-out"}])
def test_unknown_words_are_refused(given):
    with pytest.raises(ParameterError, match=next(iter(given))):
        plan(2000, 10, **given)


def test_estimator_plans_with_gaps():
    planned = DPPCA(2, location=np.zeros(10)).plan(2000, 10, missing=0.2, unit="person")
    assert (planned.missing, planned.unit) == (pytest.approx(0.2), "person")


def test_a_search_that_takes_all_it_may_is_planned():
    assert 0 < plan(312, 14, epsilon=2.0, missing=0.1).sin_theta <= 1
    assert plan(10_000, 5, epsilon=1.0, missing=0.1, scale="private").required(0.05) > 0
