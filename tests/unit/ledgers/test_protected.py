"""A cap is about rows or about persons, and ledgers from before there was a choice stay rows'."""

import sqlite3
from pathlib import Path

import pytest

from gdppca._errors import LedgerError, ParameterError
from gdppca.ledgers import Ledger, as_protected, enter, require_room
from gdppca.ledgers.chain import canonical, is_sealed, sealed
from gdppca.ledgers.protected import checked, from_plain, in_words, protected_by, to_plain
from gdppca.privacy import Budget, GaussianEvent, Guarantee, Neighbors, Protected, PureEvent, Unit

STEP = PureEvent(purpose="step", epsilon=0.1)
PERSONS = Protected(Unit.PERSON)
KINDS = [Protected(unit, neighbors) for unit in Unit for neighbors in Neighbors]
# Dumps of what earlier versions made: the very first, and the last that knew rows only.
EARLIER = {
    "first_version": "2d3e497c2870534e8a9a1c79fda177120921cbd332c8c22c4b08cdf535af0eda",
    "before_persons": "9a5619c8fc1696d3b838008f8284c816d1391c1f9b848c058a370a49859fc2d9",
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


@pytest.fixture
def ledger(path):
    return Ledger(f"sqlite:///{path}")


@pytest.fixture(params=EARLIER)
def earlier(request, ledger, path):
    """A ledger as an earlier version left it, with its file of the last hash."""
    dump = Path(__file__).with_name(f"{request.param}.sql").read_text(encoding="utf-8")
    with sqlite3.connect(path) as database:
        database.executescript(dump)
    path.with_name("budget.db.head").write_text(f"{6:012d} {EARLIER[request.param]}\n")
    return ledger


def test_earlier_ledgers_open_verify_and_count_rows(earlier):
    assert earlier.verify().number == 6
    account = earlier.account("patients")
    assert account.protected == Protected()
    assert account.whom == "rows (replace-one neighbours)"
    assert (account.cap.epsilon, account.spends) == (1.5, 2)
    assert account.spent.epsilon == pytest.approx(0.7151181893684128)
    assert account.remaining.epsilon == pytest.approx(1.2780531653238334, rel=0.02)


def test_earlier_ledgers_go_on_with_rows_and_refuse_persons(earlier):
    with pytest.raises(LedgerError, match=r"about rows .* about persons"):
        earlier.spend("patients", STEP, protected=PERSONS)
    assert earlier.spend("patients", STEP).number == 7
    assert earlier.spend("patients", STEP, protected=Protected()).number == 8
    again = GaussianEvent(purpose="scatter", noise_multiplier=8.0)
    whole = [again, PureEvent(purpose="quantile", epsilon=0.05)]
    assert earlier.spend("patients", whole, request_id="run-1").repeated
    earlier.grant("staff", 3.0)
    assert earlier.account("staff").protected == Protected()
    assert earlier.verify().number == 9


def test_earlier_ledgers_take_a_data_set_of_persons(earlier):
    earlier.create("patients, all visits", 1.0, 1e-6, protected=PERSONS)
    earlier.spend("patients, all visits", STEP, protected=PERSONS)
    assert earlier.verify().number == 8
    assert [earlier.account(name).protected.unit for name in earlier.datasets()] == [
        Unit.ROW,
        Unit.ROW,
        Unit.PERSON,
    ]


@pytest.mark.parametrize("kind", KINDS, ids=in_words)
def test_earlier_versions_cannot_count_rows_under_another_cap(ledger, kind):
    """They read a cap as these two numbers and nothing else."""
    ledger.create("patients", 1.0, 1e-6, protected=kind)
    cap = ledger.history("patients")[-1].detail["cap"]
    if kind == Protected():
        assert Budget(**cap) == 1.0
    else:
        with pytest.raises(TypeError, match="unexpected keyword"):
            Budget(**cap)


def resealed(entry, **changes):
    """The same entry with another content, its hash made right: only verify can tell."""
    parts = {name: getattr(entry, name) for name in entry.__slots__ if name != "hash"}
    return sealed(**parts | {"content": canonical(entry.detail | changes)})


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"unit": "row"}, "Entry 3 is about rows .* and the cap of 'patients' about persons"),
        ({"neighbors": "add-remove"}, r"Entry 3 is about persons \(add-remove"),
        ({"unit": "household"}, "Entry 3 cannot be read"),
    ],
)
def test_verify_finds_an_entry_about_others(ledger, path, changes, found):
    ledger.create("patients", 1.0, 1e-6, protected=PERSONS)
    ledger.spend("patients", STEP, protected=PERSONS)
    wrong = resealed(ledger.history("patients")[-1], **changes)
    assert is_sealed(wrong)
    with sqlite3.connect(path) as editor:
        editor.execute("DROP TRIGGER gdppca_entries_no_UPDATE")
        editor.execute(
            "UPDATE gdppca_entries SET content = ?, hash = ? WHERE number = 3",
            (wrong.content, wrong.hash),
        )
    path.with_name("budget.db.head").write_text(f"{3:012d} {wrong.hash}\n")
    with pytest.raises(LedgerError, match=found):
        ledger.verify()


def test_the_refusal_says_what_is_counted_what_came_why_and_the_remedy(ledger):
    ledger.create("patients", 1.0, 1e-6)
    with pytest.raises(LedgerError) as refused:
        ledger.spend("patients", STEP, protected=Protected(Unit.PERSON, Neighbors.ADD_REMOVE))
    for part in (
        "The cap of 'patients' is about rows (replace-one neighbours)",
        "this draw is about persons (add-remove neighbours)",
        "a person with many rows",
        "where the number of rows or persons is secret",
        "Nothing was spent and nothing drawn",
        "gdppca ledger init",
        "--unit person --neighbors add-remove",
    ):
        assert part in str(refused.value)
    with pytest.raises(LedgerError) as about_rows:
        ledger.spend("patients", STEP, protected=Protected(Unit.ROW, Neighbors.ADD_REMOVE))
    assert "with many rows" not in str(about_rows.value)


def test_whoever_asks_for_another_kind_is_refused_before_and_at_the_debit(ledger):
    ledger.create("patients", 1.0, 1e-6, protected=PERSONS)
    address = f"{ledger.address}#patients"
    for ask in (require_room, enter):
        with pytest.raises(LedgerError, match=r"about persons .* about rows"):
            ask(address, [STEP])
    assert ledger.account("patients").spends == 0
    require_room(address, [STEP], protected=PERSONS)
    assert enter(address, [STEP], protected=PERSONS)
    assert ledger.account("patients").spends == 1


def test_a_guarantee_brings_its_own():
    promise = Guarantee(events=(STEP,), delta=1e-6, unit="person", neighbors="add-remove")
    own = Protected(Unit.PERSON, Neighbors.ADD_REMOVE)
    assert protected_by(promise, None) == protected_by(promise, own) == own
    assert protected_by([STEP], None) == Protected()
    with pytest.raises(ParameterError, match="a guarantee brings its own"):
        protected_by(promise, PERSONS)


@pytest.mark.parametrize("kind", KINDS, ids=in_words)
def test_what_is_written_is_read(kind):
    assert from_plain(to_plain(kind)) == kind
    assert as_protected(str(kind.unit), str(kind.neighbors)) == kind


def test_words_are_taken_for_types_and_nothing_else():
    taken = checked(Protected("person", "add-remove"))
    assert taken.unit is Unit.PERSON
    assert taken.neighbors is Neighbors.ADD_REMOVE
    for wrong, match in (
        ("person", "`protected` must be a Protected"),
        (Protected("household"), "`unit` must be 'row' or 'person'"),
        (Protected("row", 3), "`neighbors` must be 'replace-one' or 'add-remove'"),
    ):
        with pytest.raises(ParameterError, match=match):
            checked(wrong)


def test_nothing_is_made_for_a_kind_that_is_none(ledger, path):
    with pytest.raises(ParameterError, match="unit"):
        ledger.create("patients", 1.0, 1e-6, protected=Protected("household"))
    assert not path.exists()
