"""What only a file can suffer: other files, copies, full disks, folders without rights."""

import os
import pickle
import resource
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest

from gdppca._errors import BudgetExceeded, LedgerError, ParameterError, PrivacyWarning
from gdppca.ledgers import Ledger
from gdppca.ledgers.entries import state
from gdppca.privacy import ApproximateEvent, GaussianEvent, PureEvent
from gdppca.privacy.spending import Spending

STEP = PureEvent(purpose="step", epsilon=0.1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


@pytest.fixture
def ledger(path):
    ledger = Ledger(f"sqlite:///{path}")
    ledger.create("patients", epsilon=1.0, delta=1e-6)
    return ledger


def test_a_database_of_another_program_is_left_alone(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE accounts (name TEXT)")
    before = path.read_bytes()
    ledger = Ledger(f"sqlite:///{path}")
    with pytest.raises(LedgerError, match="another program"):
        ledger.create("patients", 1.0, 1e-6)
    with pytest.raises(LedgerError, match="no gdppca ledger"):
        ledger.spend("patients", STEP)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_told(path):
    path.write_text("age,pulse\n" * 1000)
    with pytest.raises(LedgerError, match="not a database"):
        Ledger(f"sqlite:///{path}").create("patients", 1.0, 1e-6)


def test_asking_makes_no_file(path):
    with pytest.raises(LedgerError, match="There is no ledger"):
        Ledger(f"sqlite:///{path}").remaining("patients")
    assert not path.exists()


def test_a_missing_folder_is_told(tmp_path):
    with pytest.raises(LedgerError, match="unable to open"):
        Ledger(f"sqlite:///{tmp_path}/nowhere/budget.db").create("patients", 1.0, 1e-6)


def test_an_older_copy_put_back_is_found(ledger, path, tmp_path):
    shutil.copy(path, tmp_path / "copy.db")
    ledger.spend("patients", STEP)
    shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(LedgerError, match="rolled back"):
        ledger.spend("patients", STEP)
    with pytest.raises(LedgerError, match="rolled back"):
        ledger.verify()


def edit(path, verb, statement):
    """Somebody takes the trigger away that keeps entries from this."""
    with sqlite3.connect(path) as editor:
        editor.execute(f"DROP TRIGGER gdppca_entries_no_{verb}")
        editor.execute(statement)


def test_a_removed_last_entry_is_found(ledger, path):
    ledger.spend("patients", STEP)
    edit(path, "DELETE", "DELETE FROM gdppca_entries WHERE number = 3")
    with pytest.raises(LedgerError, match="rolled back"):
        ledger.verify()


def test_a_ledger_cannot_be_made_anew_beside_its_head(ledger, path):
    path.unlink()
    with pytest.raises(LedgerError, match="ledger that is gone"):
        ledger.create("patients", 1.0, 1e-6)


def test_gone_and_back(ledger, path, tmp_path):
    path.rename(tmp_path / "away.db")
    with pytest.raises(LedgerError, match="There is no ledger"):
        ledger.spend("patients", STEP)
    (tmp_path / "away.db").rename(path)
    assert ledger.spend("patients", STEP).number == 3


def test_a_lagging_head_is_no_alarm_and_catches_up(ledger, path):
    head = path.with_name("budget.db.head")
    old = head.read_bytes()
    ledger.spend("patients", STEP)
    head.write_bytes(old)  # killed between commit and note
    ledger.verify()
    ledger.spend("patients", STEP)
    assert head.read_bytes().startswith(b"000000000004 ")


def assert_nothing_is_entered(ledger, match):
    """Whoever would write is refused, and so is who asks whether there is room."""
    for refused in (
        lambda: ledger.spend("patients", STEP),
        lambda: ledger.require("patients", STEP),
        lambda: ledger.grant("patients", 2.0),
        lambda: ledger.create("staff", 1.0, 1e-6),
    ):
        with pytest.raises(LedgerError, match=match):
            refused()


def test_a_copy_that_was_spent_on_and_put_back_is_found(ledger, path, tmp_path):
    shutil.copy(path, tmp_path / "copy.db")
    ledger.spend("patients", STEP)
    other = Ledger(f"sqlite:///{tmp_path}/copy.db", head=tmp_path / "copy.head")
    other.accept_head()
    for _ in range(3):
        other.spend("patients", STEP)
    shutil.copy(tmp_path / "copy.db", path)  # longer than what was noted, and another one
    assert_nothing_is_entered(ledger, r"rolled back or replaced.*accept-head")
    with pytest.raises(LedgerError, match="rolled back"):
        ledger.verify()
    assert len(ledger.history()) == 5
    assert ledger.accept_head().number == 5
    assert ledger.spend("patients", STEP).number == 6
    ledger.verify()


def test_nothing_is_spent_where_the_head_was_taken_away(ledger, path):
    head = path.with_name("budget.db.head")
    noted = ledger.spend("patients", STEP).hash
    head.unlink()
    assert_nothing_is_entered(ledger, r"is gone.*verify.*accept-head")
    assert ledger.account("patients").spends == 1  # looking is allowed
    with pytest.raises(LedgerError, match="expected entry is gone"):
        ledger.accept_head("f" * 64)
    assert not head.exists()
    assert ledger.accept_head(noted).hash == noted
    assert ledger.spend("patients", STEP).number == 4


def test_a_head_that_was_never_written_locks_nobody_out(ledger, path):
    head = path.with_name("budget.db.head")
    head.unlink()  # an earlier version, killed between its first entries and their note
    assert ledger.spend("patients", STEP).number == 3
    assert head.read_bytes().startswith(b"000000000003 ")


def test_the_head_is_there_before_the_first_entry(path, monkeypatch):
    monkeypatch.setattr("gdppca.ledgers.head.HeadFile.note", lambda *_: None)  # killed before
    ledger = Ledger(f"sqlite:///{path}")
    ledger.create("patients", 1.0, 1e-6)
    for _ in range(3):
        ledger.spend("patients", STEP)
    assert path.with_name("budget.db.head").read_bytes() == b""


def test_a_head_that_cannot_be_made_is_told_before_anything_is_entered(path, tmp_path):
    ledger = Ledger(f"sqlite:///{path}", head=tmp_path / "nowhere" / "budget.head")
    with pytest.raises(LedgerError, match="cannot be made"):
        ledger.create("patients", 1.0, 1e-6)
    assert Ledger(f"sqlite:///{path}").create("patients", 1.0, 1e-6).number == 2


def test_an_edited_ledger_is_not_accepted(ledger, path):
    ledger.spend("patients", STEP)
    change = "SET content = replace(content, '[0.1,1]', '[0.1,0]')"
    edit(path, "UPDATE", f"UPDATE gdppca_entries {change}")
    with pytest.raises(LedgerError, match="Entry 3 was edited"):
        ledger.accept_head()


def _spent_by_an_earlier_version(ledger, monkeypatch, rule):
    """Gaussian and pure steps by turns, as far as the exact number allowed."""
    event = GaussianEvent(purpose="scatter", noise_multiplier=6.0)
    with monkeypatch.context() as earlier:
        earlier.setattr(Spending, "fits", Spending.fitted)
        if rule == 1:
            earlier.setattr(
                "gdppca.ledgers.entries.state",
                lambda *args: {k: v for k, v in state(*args).items() if k not in ("rule", "unit")},
            )
        for step in (event, PureEvent(purpose="step", epsilon=0.2)):
            ledger.spend("patients", step)


def test_a_ledger_that_was_legal_when_it_was_made_is_not_broken(ledger, monkeypatch):
    _spent_by_an_earlier_version(ledger, monkeypatch, rule=1)
    account = ledger.account("patients")
    assert account.spent < 1 < account.bound
    assert account.remaining == 0
    assert ledger.verify().number == 4
    with pytest.raises(BudgetExceeded):
        ledger.spend("patients", STEP)
    with pytest.raises(LedgerError, match="lower than what was spent"):
        ledger.grant("patients", (1 + account.bound) / 2)
    ledger.grant("patients", account.bound + 0.5)
    ledger.spend("patients", PureEvent(purpose="step", epsilon=0.01))
    ledger.verify()


def test_a_spend_of_today_beyond_its_rule_is_found(ledger, monkeypatch):
    _spent_by_an_earlier_version(ledger, monkeypatch, rule=2)
    with pytest.raises(LedgerError, match="Entry 4 broke the cap of 'patients'"):
        ledger.verify()


def test_the_refusal_says_why_another_kind_of_step_does_not_fit(ledger):
    ledger.spend("patients", GaussianEvent(purpose="scatter", noise_multiplier=20.0))
    with pytest.raises(BudgetExceeded, match="counts like Gaussian noise") as refused:
        ledger.spend("patients", PureEvent(purpose="step", epsilon=0.5))
    assert refused.value.requested < refused.value.remaining
    with pytest.raises(BudgetExceeded, match="a data set of its own"):
        ledger.spend("patients", ApproximateEvent(purpose="run", epsilon=0.1, delta=1e-9))


def test_a_missing_head_is_doubtful_and_a_broken_one_an_error(ledger, path):
    head = path.with_name("budget.db.head")
    head.unlink()
    with pytest.warns(PrivacyWarning, match="missing"):
        ledger.verify()
    head.write_text("nonsense")
    with pytest.raises(LedgerError, match="it was edited"):
        ledger.verify()
    with pytest.raises(LedgerError, match="it was edited"):
        ledger.spend("patients", STEP)


def test_an_edited_total_stops_spending_at_once(ledger, path):
    ledger.spend("patients", [STEP] * 9)
    with sqlite3.connect(path) as editor:
        editor.execute("DROP TRIGGER gdppca_entries_no_UPDATE")
        editor.execute("UPDATE gdppca_entries SET content = replace(content, '[0.1,9]', '[0.1,1]')")
    with pytest.raises(LedgerError, match="Entry 3 of the ledger was edited"):
        ledger.spend("patients", STEP)


def test_a_small_step_back_of_the_clock_is_recorded_as_the_later_time(ledger, monkeypatch):
    from datetime import datetime, timedelta

    from gdppca.ledgers.sql import Book

    last = ledger.history()[-1].at
    near = (datetime.fromisoformat(last) - timedelta(seconds=1)).isoformat(timespec="microseconds")
    monkeypatch.setattr(Book, "now", lambda self: near)
    assert ledger.spend("patients", STEP).at == last


@pytest.mark.parametrize(
    "cap",
    [(0.0, 1e-6), (float("nan"), 1e-6), (float("inf"), 1e-6), (1.0, 0.0), (1.0, 1.0), ("1", 1e-6)],
)
def test_a_cap_must_be_a_budget(path, cap):
    with pytest.raises(ParameterError):
        Ledger(f"sqlite:///{path}").create("patients", *cap)
    assert not path.exists()


@pytest.mark.parametrize("name", ["", "a#b", "a\nb", "x" * 201, None, 3])
def test_a_data_set_needs_a_name(path, name):
    with pytest.raises(ParameterError, match="dataset"):
        Ledger(f"sqlite:///{path}").create(name, 1.0, 1e-6)


def test_a_fingerprint_is_one(ledger):
    with pytest.raises(ParameterError, match="fingerprint"):
        ledger.spend("patients", STEP, fingerprint="short")


def _in_child(code, path, prepare):
    """Run code with `ledger` and `STEP` in a child process, after `prepare` ran in it."""
    preamble = (
        "from gdppca.ledgers import Ledger; from gdppca.privacy import PureEvent\n"
        f"ledger = Ledger('sqlite:///{path}'); STEP = PureEvent(purpose='step', epsilon=1e-4)\n"
        "import os, resource\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", preamble + prepare + "\n" + code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return result.stderr.strip().splitlines()[-1] if result.returncode else ""


def test_a_full_disk_is_told_and_leaves_the_ledger_whole(ledger, path):
    limit = path.stat().st_size + 4096
    said = _in_child(
        "for _ in range(1000): ledger.spend('patients', STEP)",
        path,
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {resource.RLIM_INFINITY}))",
    )
    assert said.startswith("gdppca._errors.LedgerUnavailable")
    assert "Nothing was spent" in said or "Draw no noise" in said
    ledger.verify()
    ledger.spend("patients", STEP)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody without rights")
def test_a_read_only_ledger_is_told(ledger, path, tmp_path):
    outside = f"/tmp/gdppca-readonly-{os.getpid()}"
    os.mkdir(outside)
    try:
        for name in ("budget.db", "budget.db.head"):
            shutil.copy(tmp_path / name, outside)
        os.chmod(outside, 0o555)
        code = (
            "print(ledger.remaining('patients'))\n"
            "assert ledger.remaining('patients') == 1\n"
            "ledger.spend('patients', STEP)"
        )
        said = _in_child(code, f"{outside}/budget.db", "os.setuid(65534)")
    finally:
        shutil.rmtree(outside)
    assert said.startswith("gdppca._errors.LedgerUnavailable")
    assert "readonly database" in said


def test_a_ledger_can_be_pickled_by_its_address_and_forgets_nothing(ledger):
    copy = Ledger(pickle.loads(pickle.dumps(ledger.address)))
    copy.spend("patients", STEP)
    assert ledger.account("patients").spends == 1


def test_importing_the_package_loads_no_database():
    code = "import sys, gdppca.ledgers; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_long_ledger_stays_fast(ledger):
    """Well above 100 a second where nothing else runs; the bound here forgives a busy machine."""
    ledger.grant("patients", 50.0)
    events = [GaussianEvent(purpose="scatter", noise_multiplier=2000.0), STEP]
    ledger.spend("patients", events)  # the first call loads libraries
    started = time.process_time()
    for k in range(200):
        ledger.spend("patients", events, request_id=f"run-{k}")
    assert time.process_time() - started < 2.0  # more than 100 a second
    started = time.process_time()
    ledger.verify()
    assert time.process_time() - started < 1.0
