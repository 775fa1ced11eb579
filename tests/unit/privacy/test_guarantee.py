"""The promise as data."""

import dataclasses
import json
import math

import pytest

from gdppca import Guarantee, ParameterError, ReleaseError
from gdppca.privacy import GaussianEvent, Neighbors, NonPrivateEvent, PureEvent, Status, Unit
from gdppca.privacy.spending import Spending


def promise(**changes):
    fields = {
        "events": (GaussianEvent(purpose="scatter", noise_multiplier=3.731),),
        "delta": 1e-5,
        "assumptions": ("n is public",),
    }
    return Guarantee(**(fields | changes))


def test_numbers_follow_from_the_events():
    guarantee = promise()
    assert guarantee.epsilon == pytest.approx(1.0, abs=1e-3)
    assert guarantee.gdp_mu == pytest.approx(1 / 3.731)
    assert guarantee.zcdp_rho == pytest.approx(0.5 / 3.731**2)
    assert guarantee.neighbors == "replace-one"
    assert guarantee.status == "proven"


@pytest.mark.parametrize("change", [{"seeded": True}, {"status": "none", "reason": "why"}])
def test_simulations_and_empty_promises_protect_nobody(change):
    guarantee = promise(**change)
    assert math.isinf(guarantee.epsilon)
    assert math.isinf(guarantee.gdp_mu)
    assert math.isinf(guarantee.zcdp_rho)
    assert guarantee.nominal_epsilon == pytest.approx(1.0, abs=1e-3)
    assert "no protection" in str(guarantee)


def test_noiseless_events_are_never_called_proven():
    guarantee = promise(events=(NonPrivateEvent(purpose="x"),))
    assert guarantee.status == "none"
    assert not guarantee.protects


@pytest.mark.parametrize("epsilon", [1.00049, 0.123456, 12.00001, 3e-5])
def test_words_never_promise_more_than_the_numbers(epsilon):
    words = str(promise(events=(PureEvent(purpose="q", epsilon=epsilon),)))
    stated = float(words.split("epsilon = ")[1].split(",")[0])
    assert epsilon <= stated <= 1.001 * epsilon


def test_sum_composes_and_keeps_every_assumption():
    other = promise(
        events=(PureEvent(purpose="quantile", epsilon=0.1),), assumptions=("n is public", "more")
    )
    both = promise() + other
    assert [event.purpose for event in both.events] == ["scatter", "quantile"]
    assert 1.0 < both.epsilon < 1.1
    assert [*map(str, both.assumptions)] == ["n is public", "more"]


def test_sum_of_a_list_composes():
    assert sum([promise(), promise()]) == promise() + promise()


def test_reason_of_an_empty_promise_is_told_even_for_a_simulation():
    assert "why" in str(promise(status="none", reason="why", seeded=True))


def test_sum_is_as_weak_as_its_weakest_part():
    assert (promise() + promise(seeded=True)).seeded
    weak = promise(status="high-probability", reason="only likely")
    assert (promise() + weak).status is Status.HIGH_PROBABILITY
    assert (weak + promise()).reason == "only likely"


def test_different_neighbours_do_not_compose():
    with pytest.raises(ParameterError, match="neighbours"):
        promise() + promise(neighbors=Neighbors.ADD_REMOVE)


def test_promises_to_rows_and_to_persons_do_not_compose():
    persons = promise(unit=Unit.PERSON)
    with pytest.raises(ParameterError, match="different units do not compose: row and person"):
        promise() + persons
    assert (persons + persons).unit is Unit.PERSON


def test_the_unit_travels_and_is_a_row_where_a_file_says_nothing():
    plain = promise(unit="person").to_dict()
    assert Guarantee.from_dict(plain).unit is Unit.PERSON
    del plain["unit"]
    assert Guarantee.from_dict(plain).unit is Unit.ROW


@pytest.mark.parametrize(
    "guarantee",
    [
        promise(),
        promise(seeded=True),
        promise(events=(PureEvent(purpose="q", epsilon=0.3),)),
        promise(events=(NonPrivateEvent(purpose="x"),), status="none", reason="no noise"),
    ],
)
def test_plain_form_comes_back_through_json(guarantee):
    text = json.dumps(guarantee.to_dict(), allow_nan=False)
    assert Guarantee.from_dict(json.loads(text)) == guarantee


@pytest.mark.parametrize("name", ["epsilon", "gdp_mu", "zcdp_rho"])
def test_edited_numbers_are_found(name):
    plain = promise().to_dict()
    plain[name] *= 0.5
    with pytest.raises(ReleaseError, match=name):
        Guarantee.from_dict(plain)


MANY = (PureEvent(purpose="q", epsilon=0.15),) * 20


@pytest.mark.parametrize("events", [MANY, MANY[:2], (*MANY[:13], *promise().events)])
def test_numbers_of_earlier_versions_are_read_and_made_exact(events):
    """They were rounded up to a grid beside many pure steps, and never beyond the sum."""
    exact = promise(events=events)
    sum_ = Spending().plus(events).added(exact.delta)
    for stated in (exact.epsilon, min(exact.epsilon + 2e-3, sum_), sum_):
        read = Guarantee.from_dict({**exact.to_dict(), "epsilon": stated})
        assert read.epsilon == exact.epsilon
    for stated in (exact.epsilon * (1 - 1e-5), sum_ * (1 + 1e-5), "infinity", "nan"):
        with pytest.raises(ReleaseError, match="epsilon"):
            Guarantee.from_dict({**exact.to_dict(), "epsilon": stated})


@pytest.mark.parametrize("events", [promise().events, (*MANY[:12], *promise().events), MANY[:1]])
def test_what_was_always_exact_must_be_stated_exactly(events):
    exact = promise(events=events)
    with pytest.raises(ReleaseError, match="epsilon"):
        Guarantee.from_dict({**exact.to_dict(), "epsilon": exact.epsilon * (1 + 1e-5)})


def test_unknown_event_is_refused():
    plain = promise().to_dict()
    plain["events"][0]["kind"] = "magic"
    with pytest.raises(ReleaseError, match="magic"):
        Guarantee.from_dict(plain)


def test_promises_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        promise().delta = 0.5
    with pytest.raises(ParameterError, match="delta"):
        promise(delta=1.0)
    with pytest.raises(ParameterError, match="noise_multiplier"):
        GaussianEvent(purpose="x", noise_multiplier=0.0)
