"""What the register of every ledger must do, on SQLite and on a real PostgreSQL server."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from gdppca import DPPCA, Release
from gdppca._errors import BudgetExceeded, LedgerError, ParameterError, PrivacyWarning
from gdppca.ledgers import Ledger, Note, Policy, entered_as
from gdppca.ledgers.chain import canonical, sealed
from gdppca.ledgers.sql import Book
from gdppca.privacy import GaussianEvent, PureEvent
from gdppca.privacy.accounting import gaussian_multiplier

DELTA = 1e-6
STEP = PureEvent(purpose="step", epsilon=0.1)
SUM = "sha256:" + "0" * 64
OTHER = "sha256:" + "1" * 64
X = np.random.default_rng(0).normal(size=(300, 3)) * [9.0, 3.0, 1.0]


def gaussian(epsilon):
    return GaussianEvent(purpose="scatter", noise_multiplier=gaussian_multiplier(epsilon, DELTA))


@pytest.fixture
def ledger(address, monkeypatch):
    monkeypatch.setenv("GDPPCA_USER", "ana")
    ledger = Ledger(address)
    ledger.create("patients", epsilon=3.0, delta=DELTA)
    return ledger


def fitted(ledger, **asked):
    return DPPCA(2, location=None, ledger=f"{ledger.address}#patients", **asked).fit(X).release_


# --- Reserved and completed -----------------------------------------------------------------------


def test_a_spend_is_reserved_until_it_is_completed(ledger):
    spend = ledger.spend("patients", STEP, note=Note(purpose="annual report", method="by hand"))
    line = ledger.entry(spend.number)
    assert (line.status, line.who, line.purpose) == ("reserved", "ana", "annual report")
    left = ledger.remaining("patients")
    done = ledger.complete(spend.number, SUM)
    line = ledger.entry(spend.number)
    assert (line.status, line.releases, line.completed_by) == ("completed", (SUM,), (done.number,))
    assert ledger.remaining("patients") == left  # it counted from the reservation on
    assert ledger.account("patients").spends == 1
    assert ledger.verify().number == 4


def test_the_same_completion_is_entered_once_and_another_beside_it(ledger):
    spend = ledger.spend("patients", STEP)
    first = ledger.complete(spend.number, SUM)
    again = ledger.complete(spend.number, SUM)
    assert (again.repeated, again.number) == (True, first.number)
    assert not ledger.complete(spend.number, OTHER).repeated
    assert ledger.entry(spend.number).releases == (SUM, OTHER)
    ledger.verify()


@pytest.mark.parametrize(
    ("number", "release", "said"),
    [(99, SUM, "no entry 99"), (2, SUM, "not a spend"), (3, "checksum", "must be a checksum")],
)
def test_what_cannot_be_completed_is_told(ledger, number, release, said):
    ledger.spend("patients", STEP)
    with pytest.raises((LedgerError, ParameterError), match=said):
        ledger.complete(number, release)
    assert len(ledger.history()) == 3


def test_a_fit_names_its_entry_and_the_entry_its_release(ledger, tmp_path):
    with entered_as(purpose="annual report"):
        release = fitted(ledger)
    [named] = release.entries
    line = ledger.entry(named.number)
    assert (named.ledger, named.hash) == (ledger.name, line.entry.hash)
    assert (line.status, line.releases) == ("completed", (release.checksum,))
    assert (line.purpose, line.to_dict()["method"]) == ("annual report", "DPPCA")
    assert line.to_dict()["parameters"]["epsilon"] == 1.0
    assert "ledger" not in line.to_dict()["parameters"]  # an address may hold a password
    assert line.epsilon == pytest.approx(1.0, rel=1e-6)
    release.save(tmp_path / "r.json")
    assert Release.load(tmp_path / "r.json").entries == release.entries
    assert ledger.address not in (tmp_path / "r.json").read_text()


def test_what_was_merged_or_added_to_names_every_entry(ledger):
    from gdppca.releases import private_variances, score_map

    parts = [fitted(ledger, epsilon=0.3) for _ in range(2)]
    merged = Release.merge(parts)
    assert merged.entries == parts[0].entries + parts[1].entries
    address = f"{ledger.address}#patients"
    shown = score_map(X, parts[0], epsilon=0.1, noise="gaussian", ledger=address)
    found = private_variances(X, parts[0], 0.1, DELTA, ledger=address)
    whole = parts[0].with_score_map(shown).with_variances(found)
    assert [ledger.entry(each.number).status for each in whole.entries] == ["completed"] * 3
    assert Release.from_dict(whole.to_dict()).entries == whole.entries


def test_a_release_saved_with_its_ledger_is_completed_before_it_has_its_name(ledger, tmp_path):
    with entered_as(complete=False):
        release = fitted(ledger)
    [named] = release.entries
    assert ledger.entry(named.number).status == "reserved"
    planned = replace(release, plan={"n_samples": 300})
    planned.save(tmp_path / "r.json", ledger=f"{ledger.address}#patients")
    assert ledger.entry(named.number).releases == (planned.checksum,)


def test_a_ledger_that_is_gone_meanwhile_costs_no_release(ledger, tmp_path, monkeypatch):
    def gone(*_):
        raise LedgerError("The ledger cannot be used: gone.")

    monkeypatch.setattr(Ledger, "complete", gone)
    with pytest.warns(PrivacyWarning, match="stays reserved.*gdppca ledger complete"):
        release = fitted(ledger)
    with pytest.warns(PrivacyWarning, match="stays reserved"):
        release.save(tmp_path / "r.json", ledger=f"{ledger.address}#patients")
    assert Release.load(tmp_path / "r.json").checksum == release.checksum
    assert ledger.entry(release.entries[0].number).status == "reserved"


def test_a_clock_that_is_set_back_after_the_draw_costs_no_release(ledger, monkeypatch):
    complete = Ledger.complete

    def set_back(*each):
        monkeypatch.setattr(Book, "now", lambda self: "2001-01-01T00:00:00.000000+00:00")
        return complete(*each)

    monkeypatch.setattr(Ledger, "complete", set_back)
    with pytest.warns(PrivacyWarning, match="stays reserved: The clock runs backwards"):
        release = fitted(ledger)
    monkeypatch.undo()
    [named] = release.entries
    assert ledger.entry(named.number).status == "reserved"
    ledger.complete(named.number, release.checksum)
    assert ledger.entry(named.number).status == "completed"
    ledger.verify()


def test_the_hash_that_a_release_names_is_salted(ledger):
    """Two entries about the same rows have hashes that nothing but secret bits tells apart."""
    entries = [ledger.entry(fitted(ledger, epsilon=0.2).entries[0].number).entry for _ in range(2)]
    salts = [entry.detail["salt"] for entry in entries]
    assert entries[0].fingerprint == entries[1].fingerprint is not None
    assert salts[0] != salts[1]
    assert [len(bytes.fromhex(salt)) for salt in salts] == [64, 64]


# --- Who and what for -----------------------------------------------------------------------------


def test_who_is_said_or_known(ledger, monkeypatch):
    def name(**note):
        return ledger.entry(ledger.spend("patients", STEP, note=Note(**note)).number).who

    assert name() == "ana"
    assert name(who="eva") == "eva"
    with entered_as("bob"):
        assert name() == "bob"
        assert name(who="eva") == "eva"
    monkeypatch.delenv("GDPPCA_USER")
    monkeypatch.setattr("getpass.getuser", lambda: "system user")
    assert name() == "system user"


@pytest.mark.parametrize("note", [Note(who="a\nb"), Note(who="x" * 201), Note(purpose="")])
def test_names_and_purposes_are_short_and_printable(ledger, note):
    with pytest.raises(ParameterError, match="printable"):
        ledger.spend("patients", STEP, note=note)
    assert len(ledger.history()) == 2


def test_a_request_id_with_other_parameters_is_refused(ledger):
    one, other = (Note(method="DPPCA", parameters={"scale": scale}) for scale in (None, "private"))
    first = ledger.spend("patients", STEP, request_id="march", note=one)
    again = ledger.spend("patients", STEP, request_id="march", note=one)
    assert (again.repeated, again.number) == (True, first.number)
    with pytest.raises(LedgerError, match=r"other parameters.*Nothing was spent"):
        ledger.spend("patients", STEP, request_id="march", note=other)
    assert ledger.account("patients").spends == 1


# --- Fingerprints ---------------------------------------------------------------------------------


def test_a_fit_notes_a_fingerprint_unless_it_is_told_not_to(ledger):
    with entered_as(fingerprint=False):
        assert ledger.entry(fitted(ledger, epsilon=0.2).entries[0].number).entry.fingerprint is None
    marked = ledger.entry(fitted(ledger, epsilon=0.2).entries[0].number).entry.fingerprint
    assert len(marked) == 64
    ledger.create("staff", 1.0, DELTA)
    with pytest.warns(PrivacyWarning, match="seen before as 'patients'"):
        DPPCA(2, epsilon=0.2, location=None, ledger=f"{ledger.address}#staff").fit(X)


# --- Rules ----------------------------------------------------------------------------------------


def test_a_data_set_without_rules_has_none(ledger):
    assert ledger.policy("patients") == Policy()
    assert Policy().in_words == []


def test_one_spend_may_cost_no_more_than_the_owner_says(ledger):
    ledger.set_policy("patients", Policy(largest_epsilon=0.5))
    for ask in (ledger.spend, ledger.require):
        with pytest.raises(LedgerError, match=r"at most, and this one costs 0.6"):
            ask("patients", gaussian(0.6))
    ledger.spend("patients", gaussian(0.5))
    ledger.set_policy("patients", Policy())
    ledger.spend("patients", gaussian(0.6))
    assert ledger.verify().number == 6


def test_a_year_is_any_365_days(ledger, monkeypatch):
    ledger.set_policy("patients", Policy(yearly_epsilon=1.0))
    ledger.spend("patients", gaussian(0.9))
    with pytest.raises(LedgerError, match="any 365 days"):
        ledger.spend("patients", gaussian(0.9))
    year = int(ledger.history()[-1].at[:4])
    later = f"{year + 1}-12-31T23:00:00.000000+00:00"
    monkeypatch.setattr(Book, "now", lambda self: later)
    ledger.spend("patients", gaussian(0.9))
    with pytest.raises(LedgerError, match="any 365 days"):
        ledger.require("patients", gaussian(0.9))
    ledger.verify()


def test_only_those_who_are_named_may_spend(ledger):
    ledger.set_policy("patients", Policy(spenders=("Eva", "bob")))
    with pytest.raises(LedgerError, match=r"'ana' may not spend from 'patients'.*Eva and bob"):
        ledger.spend("patients", STEP)
    ledger.spend("patients", STEP, note=Note(who="eva"))
    assert ledger.account("patients").spends == 1
    ledger.verify()


@pytest.mark.parametrize(
    "policy",
    [Policy(largest_epsilon=0.0), Policy(yearly_epsilon=float("inf")), Policy(spenders=("",))],
)
def test_a_rule_must_be_one(ledger, policy):
    with pytest.raises(ParameterError):
        ledger.set_policy("patients", policy)
    assert len(ledger.history()) == 2


# --- A second pair of eyes ------------------------------------------------------------------------


@pytest.fixture
def watched(ledger):
    ledger.set_policy("patients", Policy(approval=True))
    return ledger


def test_a_fit_asks_waits_and_goes_through_once(watched):
    for _ in range(2):  # asking twice makes one request
        with pytest.raises(LedgerError, match=r"Entry 4 asks for epsilon = 1 .* approve .* 4`"):
            fitted(watched)
    assert watched.entry(4).status == "waiting"
    with entered_as("bob"):
        watched.approve(4)
    assert watched.entry(4).status == "approved"
    release = fitted(watched)
    assert watched.entry(4).status == "used"
    assert watched.entry(release.entries[0].number).about == 4
    with pytest.raises(LedgerError, match="Entry 8 asks"):
        fitted(watched)
    assert watched.account("patients").spends == 1
    watched.verify()


def test_nobody_approves_what_they_asked_for(watched):
    request = watched.request("patients", 0.5)
    for name in ("ana", "ANA", " ana "):
        with entered_as(name), pytest.raises(LedgerError, match="cannot approve it"):
            watched.approve(request.number)
    with entered_as("bob"):
        watched.approve(request.number)
        with pytest.raises(LedgerError, match="approved before"):
            watched.approve(request.number)
        with pytest.raises(LedgerError, match="not a request"):
            watched.approve(2)
    assert len(watched.history()) == 5


@pytest.mark.parametrize(
    ("events", "note"),
    [
        (gaussian(0.6), Note(purpose="report")),
        (gaussian(0.5), Note(purpose="something else")),
        (gaussian(0.5), Note(purpose="report", who="eva")),
        (gaussian(0.5), Note()),
    ],
    ids=["dearer", "other purpose", "other person", "no purpose"],
)
def test_an_approval_covers_what_was_asked_for_alone(watched, events, note):
    asked = watched.request("patients", 0.5, Note(purpose="report"))
    with entered_as("bob"):
        watched.approve(asked.number)
    with pytest.raises(LedgerError, match="second pair of eyes"):
        watched.spend("patients", events, note=note)
    watched.spend("patients", gaussian(0.5), note=Note(purpose="report"))
    with pytest.raises(LedgerError, match="second pair of eyes"):
        watched.spend("patients", gaussian(0.5), note=Note(purpose="report"))
    watched.verify()


def test_what_a_fit_asked_for_is_approved_for_its_parameters_alone(watched):
    with pytest.raises(LedgerError, match="Entry 4 asks"):
        fitted(watched)
    with entered_as("bob"):
        watched.approve(4)
    with pytest.raises(LedgerError, match="Entry 6 asks"):  # as dear, and something else
        fitted(watched, target="population")
    with pytest.raises(LedgerError, match="second pair of eyes"):
        watched.spend("patients", gaussian(0.5))
    assert watched.entry(4).status == "approved"
    fitted(watched)
    assert watched.entry(4).status == "used"
    watched.verify()


def test_an_approval_raises_no_cap(watched):
    asked = watched.request("patients", 5.0)
    with entered_as("bob"):
        watched.approve(asked.number)
    with pytest.raises(BudgetExceeded):
        watched.spend("patients", gaussian(4.0))


def test_one_approval_lets_one_of_many_through(watched):
    asked = watched.request("patients", 0.5)
    with entered_as("bob"):
        watched.approve(asked.number)
    start = threading.Barrier(4)

    def ask(_):
        start.wait()
        try:
            watched.spend("patients", gaussian(0.5), note=Note(who="ana"))
        except LedgerError:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(ask, range(4))) == 1
    watched.verify()


# --- What verify finds ----------------------------------------------------------------------------


def forged(ledger, kind, content, request_id=None):
    """Append an entry that no rule allows, with every hash right."""
    last = ledger.history()[-1]
    state = {name: last.detail[name] for name in ("cap", "spent", "rule", "unit", "neighbors")}
    entry = sealed(
        number=last.number + 1,
        at=last.at,
        dataset="patients",
        kind=kind,
        content=canonical(state | {"who": "ana"} | content),
        request_id=request_id,
        fingerprint=None,
        previous=last.hash,
    )
    with ledger._desk.store.writing() as book:
        book.append(entry)


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        ("complete", {"completes": 2, "release": SUM}, "completes what is no spend"),
        ("approve", {"approves": 2}, "approves what is no request"),
        ("approve", {"approves": 4}, "of the same person"),
        ("complete", {}, "cannot be read"),
        ("policy", {"policy": {"spenders": 3}}, "cannot be read"),
        ("gift", {}, "of no known kind"),
    ],
)
def test_verify_finds_what_could_not_have_been_entered(watched, kind, content, said):
    watched.request("patients", 0.5)
    assert watched.verify().number == 4
    forged(watched, kind, content)
    with pytest.raises(LedgerError) as found:
        watched.verify()
    assert any(said in finding for finding in found.value.findings)


@pytest.mark.parametrize(
    "policy",
    [
        Policy(approval=True),
        Policy(largest_epsilon=0.05),
        Policy(yearly_epsilon=0.05),
        Policy(spenders=("eva",)),
    ],
)
def test_verify_finds_a_spend_against_the_rules(ledger, policy, monkeypatch):
    ledger.set_policy("patients", policy)
    monkeypatch.setattr("gdppca.ledgers.ledger.require_policy", lambda *_: None)
    ledger.spend("patients", STEP)
    with pytest.raises(LedgerError, match=r"broke a rule|without the approval"):
        ledger.verify()
