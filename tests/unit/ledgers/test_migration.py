"""Ledgers of earlier versions go on as they are, with everything that came since."""

import sqlite3
from pathlib import Path

import pytest

from gdppca._errors import LedgerError
from gdppca.ledgers import Ledger, Note, Policy, as_protected, entered_as
from gdppca.privacy import GaussianEvent, Guarantee, PureEvent

STEP = PureEvent(purpose="step", epsilon=0.1)
# The last version that noted no releases: its head, and the spends that it made.
HEAD = "85e1cbb8bc8fba06b9c9b27f7e2230084ba03ed8e7e0e0f886e43e1614020864"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


@pytest.fixture
def earlier(path):
    dump = Path(__file__).with_name("before_register.sql").read_text(encoding="utf-8")
    with sqlite3.connect(path) as database:
        database.executescript(dump)
    path.with_name("budget.db.head").write_text(f"{7:012d} {HEAD}\n")
    return Ledger(f"sqlite:///{path}")


def test_it_verifies_and_counts_as_before(earlier):
    assert earlier.verify(HEAD).number == 7
    account = earlier.account("patients")
    assert (account.cap.epsilon, account.spends) == (1.5, 2)
    assert earlier.account("visits").whom == "persons (add-remove neighbours)"


def test_its_spends_are_not_called_reserved(earlier):
    spends = [line for line in earlier.register() if line.entry.kind == "spend"]
    assert [line.status for line in spends] == ["not tracked"] * 3
    assert [line.who for line in spends] == [None] * 3
    together = Guarantee(events=spends[0].entry.events, delta=1e-6)
    assert spends[0].epsilon == pytest.approx(together.epsilon)
    assert spends[0].spent == spends[0].epsilon
    assert earlier.complete(spends[0].number, "sha256:" + "0" * 64).number == 8
    assert earlier.entry(spends[0].number).status == "completed"


def test_it_goes_on_with_rules_and_a_register(earlier):
    with entered_as("ana", purpose="report"):
        receipt = earlier.spend("patients", STEP)
        earlier.set_policy("patients", Policy(approval=True, yearly_epsilon=1.0))
        request = earlier.request("patients", 0.1)
        with entered_as("bob", purpose="report"):
            earlier.approve(request.number)
        earlier.spend("patients", STEP)
    assert earlier.entry(receipt.number).status == "reserved"
    persons = as_protected("person", "add-remove")
    earlier.spend("visits", GaussianEvent(purpose="fit", noise_multiplier=9.0), protected=persons)
    assert earlier.verify(HEAD).number == 13


def test_a_retry_of_a_request_from_before_is_one(earlier):
    events = [
        GaussianEvent(purpose="scatter", noise_multiplier=8.0),
        PureEvent(purpose="quantile", epsilon=0.05),
    ]
    note = Note(method="DPPCA", parameters={"scale": None})  # then nobody noted these
    assert earlier.spend("patients", events, request_id="run-1", note=note).repeated


def test_earlier_versions_stop_where_they_would_keep_no_rules(earlier):
    """They looked for the totals by this name and found nothing to go on from."""
    before = earlier.history("patients")[-1].detail
    earlier.spend("patients", STEP)
    after = earlier.history("patients")[-1].detail
    assert "totals" in before
    assert "totals" not in after


def test_a_ledger_of_a_newer_version_is_refused_and_nothing_is_spent(earlier, path):
    with sqlite3.connect(path) as database:
        database.execute("DROP TRIGGER gdppca_ledger_no_UPDATE")
        database.execute("UPDATE gdppca_ledger SET value = '3' WHERE name = 'format'")
    with pytest.raises(LedgerError, match=r"format '3'.*up to '2'.*newer gdppca.*Nothing was"):
        earlier.spend("patients", STEP)


def test_a_new_ledger_is_refused_by_earlier_versions(tmp_path):
    """They asked for format 1 and nothing else."""
    ledger = Ledger(f"sqlite:///{tmp_path}/new.db")
    ledger.create("patients", 1.0, 1e-6)
    with sqlite3.connect(tmp_path / "new.db") as database:
        [(said,)] = database.execute("SELECT value FROM gdppca_ledger WHERE name = 'format'")
    assert said == "2"
