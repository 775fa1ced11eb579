"""Whoever shows an ε for the same events shows the same one."""

import json
import math
from dataclasses import replace
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from gdppca import DPPCA, Guarantee, Ledger, plan
from gdppca._words import rounded_up
from gdppca.auditing.experiment import Claim
from gdppca.cli.main import app
from gdppca.privacy import ApproximateEvent, GaussianEvent, PureEvent
from gdppca.privacy.spending import Spending, epsilon_at
from gdppca.report.promise import promised

DELTA = 1e-6
CAP = 1e5  # above everything that is drawn here

gaussians = st.floats(0.5, 100).map(lambda m: GaussianEvent(purpose="scatter", noise_multiplier=m))
pures = st.one_of(st.sampled_from([0.01, 0.1, 0.5]), st.floats(0.01, 2)).map(
    lambda epsilon: PureEvent(purpose="radius", epsilon=epsilon)
)
pairs = st.floats(0.01, 1).map(
    lambda epsilon: ApproximateEvent(purpose="descent", epsilon=epsilon, delta=1e-8)
)


@pytest.fixture(scope="module")
def release():
    X = np.random.default_rng(0).normal(size=(60, 3))
    return DPPCA(n_components=1, location=None, random_state=0).fit(X).release_


def told_by_a_ledger(spends):
    """What `ledger show --json` and the account say after some spends."""
    with TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/budget.db"
        ledger = Ledger(address)
        ledger.create("patients", CAP, DELTA)
        for events in spends:
            ledger.spend("patients", events)
        shown = CliRunner().invoke(app, ["ledger", "show", f"{address}#patients", "--json"])
        [account] = json.loads(shown.output)["datasets"]
        return account["spent"], ledger.account("patients").spent.epsilon


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(gaussians, pures, pairs), min_size=1, max_size=20))
def test_one_number_for_the_same_events(release, events):
    promise = Guarantee(events=tuple(events), delta=DELTA)
    number = epsilon_at(promise.events, DELTA)
    assert promise.epsilon == number
    assert Claim(events=promise.events, delta=DELTA).epsilon == number
    assert told_by_a_ledger([events]) == (number, number)
    reported = promised(replace(release, guarantee=promise))
    assert reported["epsilon"] == rounded_up(number, 4)
    assert Guarantee.from_dict(json.loads(json.dumps(promise.to_dict()))).epsilon == number


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(st.one_of(gaussians, pures), min_size=1, max_size=4), max_size=4))
def test_one_number_however_spends_are_cut(spends):
    parts = [Guarantee(events=tuple(events), delta=DELTA) for events in spends]
    number = sum(parts).epsilon if parts else 0.0
    assert told_by_a_ledger(spends) == (number, number)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(gaussians, pures, pairs), min_size=1, max_size=20), st.randoms())
def test_order_moves_no_digit_that_is_shown(events, random):
    mixed = random.sample(events, len(events))
    there, here = epsilon_at(tuple(mixed), DELTA), epsilon_at(tuple(events), DELTA)
    assert math.isclose(there, here, rel_tol=1e-10)


@pytest.mark.parametrize("radius", [{}, {"sign": "winsor", "radius": "quantile"}])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_plan_fit_and_debit_have_one_number(tmp_path, radius, epsilon):
    X = np.random.default_rng(1).normal(size=(400, 3))
    options = {"epsilon": epsilon, "delta": DELTA, "n_components": 1, **radius}
    address = f"sqlite:///{tmp_path}/budget.db"
    Ledger(address).create("patients", CAP, DELTA)
    drawn = DPPCA(**options, ledger=f"{address}#patients").fit(X).guarantee_
    planned = plan(400, 3, **options)
    for number in (
        planned.epsilon,
        Spending().plus(planned.events).epsilon(DELTA),
        Ledger(address).account("patients").spent.epsilon,
        drawn.epsilon,
    ):
        assert number == pytest.approx(epsilon, rel=1e-6)
