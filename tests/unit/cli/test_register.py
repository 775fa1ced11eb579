"""The register, as a person reads it and as a person fills it."""

import csv
import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from gdppca import Release
from gdppca.cli.main import app
from gdppca.cli.outcomes import Outcome
from gdppca.cli.show import console
from gdppca.ledgers import Ledger, entered_as
from gdppca.privacy import PureEvent

STEP = PureEvent(purpose="quantile", epsilon=0.25)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def words(result):
    return " ".join(result.output.split())


def good(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GDPPCA_USER", "ana")
    monkeypatch.setenv("COLUMNS", "120")
    rows = np.random.default_rng(0).normal(size=(80, 3)) * [9, 3, 1]
    np.savetxt("table.csv", rows, delimiter=",", header="a,b,c", comments="")
    good("ledger", "init", "sqlite:///budget.db#patients", "--epsilon", 3, "--who", "owner")
    return "sqlite:///budget.db"


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """A terminal in which no cell of a table is broken."""
    monkeypatch.setattr(console, "_width", 200)


def fit(address, output, *more):
    words = ("fit", "table.csv", "--location", "none", "--ledger", f"{address}#patients")
    return run(*words, "-o", output, *more)


def test_a_fit_is_in_the_register_with_all_that_was_said(address):
    result = fit(address, "r.json", "--purpose", "annual report", "--who", "eva")
    assert result.exit_code == 0, result.output
    release = Release.load("r.json")
    [line] = [each for each in Ledger(address).register() if each.entry.kind == "spend"]
    assert (line.who, line.purpose, line.status) == ("eva", "annual report", "completed")
    assert line.releases == (release.checksum,)
    assert release.entries[0].number == line.number
    assert line.entry.fingerprint is not None
    completed = Ledger(address).entry(line.completed_by[0])
    assert completed.who == "eva"
    shown = words(good("ledger", "show", f"{address}#patients"))
    for part in ("eva", "annual report", "spend completed", release.checksum[7:15]):
        assert part in shown
    assert "held against the cap" in shown


def test_a_plan_in_the_release_is_in_the_checksum_of_its_entry(address):
    plan = good("plan", "--rows", 80, "--columns", 3, "--json").output
    with open("plan.json", "w", encoding="utf-8") as file:
        file.write(plan)
    assert fit(address, "r.json", "--plan", "plan.json", "--no-fingerprint").exit_code == 0
    [line] = [each for each in Ledger(address).register() if each.entry.kind == "spend"]
    assert line.releases == (Release.load("r.json").checksum,)
    assert line.entry.fingerprint is None


def test_a_reserved_entry_is_marked_and_listed(address):
    spend = Ledger(address).spend("patients", STEP)
    assert "spend reserved" in words(good("ledger", "show", f"{address}#patients"))
    assert f"entered by hand: {spend.number}." in words(good("ledger", "verify", address))
    assert "reserved" in words(good("ledger", "entry", address, spend.number))


def test_verify_tells_what_was_checked(address):
    fit(address, "r.json")
    said = words(good("ledger", "verify", address, "--release", "r.json"))
    for part in (
        "Checked: the hashes of all 4 entries",
        "from the events of 1 spend;",
        "rule of 1 data set",
        "noted beside the ledger, stands here",
        "'r.json' has its completed entry: 3.",
    ):
        assert part in said


def test_verify_tells_of_a_release_that_is_not_in_the_ledger(address):
    fit(address, "r.json")
    release = Release.load("r.json")
    release.with_plan(type("Plan", (), {"to_dict": lambda self: {"n_samples": 80}})()).save(
        "p.json"
    )
    result = run("ledger", "verify", address, "--release", "p.json")
    assert result.exit_code == Outcome.BUDGET
    assert "another checksum" in words(result)
    assert run("fit", "table.csv", "-o", "free.json").exit_code == 0
    assert "names no entry" in words(run("ledger", "verify", address, "--release", "free.json"))


def test_a_release_tells_that_yesterdays_copy_was_put_back(address, tmp_path):
    """Both files came back, so neither chain nor head can tell; the release does."""
    pair = ("budget.db", "budget.db.head")
    yesterday = {name: (tmp_path / name).read_bytes() for name in pair}
    fit(address, "r.json")
    [named] = Release.load("r.json").entries
    for name, content in yesterday.items():
        (tmp_path / name).write_bytes(content)
    assert run("ledger", "verify", address).exit_code == 0
    result = run("ledger", "verify", address, "--release", "r.json")
    assert result.exit_code == Outcome.BUDGET
    assert "has no entry 3" in words(result)
    assert "rolled back" in words(run("ledger", "verify", address, "--head", named.hash))


def test_the_head_file_tells_that_yesterdays_copy_was_put_back(address, tmp_path):
    yesterday = (tmp_path / "budget.db").read_bytes()
    fit(address, "r.json")
    (tmp_path / "budget.db").write_bytes(yesterday)
    for refused in (
        fit(address, "again.json"),
        run("ledger", "complete", address, "r.json"),
        run("ledger", "policy", f"{address}#patients", "--approval"),
        run("ledger", "request", f"{address}#patients", "--epsilon", 1),
    ):
        assert refused.exit_code == Outcome.BUDGET
        assert "rolled back" in words(refused) or "has no entry" in words(refused)
    assert not (tmp_path / "again.json").exists()


def test_what_a_fit_could_not_complete_is_completed_later(address):
    with entered_as(complete=False):
        from gdppca import DPPCA

        pca = DPPCA(2, location=None, ledger=f"{address}#patients")
        release = pca.fit(np.random.default_rng(0).normal(size=(50, 3))).release_
    release.save("r.json")
    assert "is not completed" in words(run("ledger", "verify", address, "--release", "r.json"))
    assert "Entry 3 is completed." in words(good("ledger", "complete", address, "r.json"))
    good("ledger", "verify", address, "--release", "r.json")


def test_the_register_as_json_csv_and_page(address, tmp_path):
    Ledger(address).spend("patients", STEP, request_id="march")
    plain = json.loads(good("ledger", "show", f"{address}#patients", "--json").output)
    last = plain["entries"][-1]
    assert (last["who"], last["epsilon"], last["request_id"]) == ("ana", 0.25, "march")
    assert "held against the cap" in plain["meaning"]["spent_bound"]
    assert "no release is known" in plain["meaning"]["reserved"]
    rows = list(csv.DictReader(io.StringIO(good("ledger", "show", address, "--csv").output)))
    assert [row["kind"] for row in rows] == ["open", "create", "spend"]
    assert (rows[2]["status"], float(rows[2]["epsilon"])) == ("reserved", 0.25)
    good("ledger", "show", address, "--html", "register.html")
    page = (tmp_path / "register.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    assert "Reserved and not completed" in page
    assert "held against the cap" in page
    again = run("ledger", "show", address, "--html", "register.html")
    assert (again.exit_code, "exists already" in words(again)) == (2, True)


def test_hostile_names_are_text_everywhere(address, tmp_path):
    hostile = "=HYPERLINK('x')<script>[red]"
    with entered_as(hostile, purpose=hostile):
        Ledger(address).spend("patients", STEP)
    rows = list(csv.DictReader(io.StringIO(good("ledger", "show", address, "--csv").output)))
    assert rows[-1]["who"] == f"'{hostile}"
    good("ledger", "show", address, "--html", "register.html")
    assert "<script>" not in (tmp_path / "register.html").read_text(encoding="utf-8")
    assert "[red]" in words(good("ledger", "entry", address, 3))


def test_rules_are_set_changed_and_taken_away(address):
    named = f"{address}#patients"
    assert "no rule beside the cap" in words(good("ledger", "policy", named))
    said = words(good("ledger", "policy", named, "--largest-epsilon", 0.5, "--spender", "eva"))
    assert "epsilon = 0.5 at most" in said
    assert "Who may spend: eva." in said
    said = words(good("ledger", "policy", named, "--approval", "--yearly-epsilon", 2))
    assert "epsilon = 0.5 at most" in said  # what is not named stays
    assert "Somebody else must approve" in said
    assert "any 365 days: 2 at most" in words(good("ledger", "show", named))
    refused = fit(address, "r.json")
    assert refused.exit_code == Outcome.BUDGET
    assert "'ana' may not spend" in words(refused)
    said = words(good("ledger", "policy", named, "--none"))
    assert "no rule beside the cap" in said
    assert fit(address, "r.json").exit_code == 0
    assert [line.entry.kind for line in Ledger(address).register()].count("policy") == 3


def test_a_second_pair_of_eyes(address):
    named = f"{address}#patients"
    good("ledger", "policy", named, "--approval", "--who", "owner")
    asked = fit(address, "r.json", "--purpose", "report")
    assert asked.exit_code == Outcome.BUDGET
    assert "gdppca ledger approve sqlite:///budget.db 4" in words(asked)
    own = run("ledger", "approve", address, 4)
    assert (own.exit_code, "cannot approve it" in words(own)) == (Outcome.BUDGET, True)
    said = words(good("ledger", "approve", address, 4, "--who", "bob"))
    assert "'ana' may spend epsilon = 1 for 'report', once." in said
    assert fit(address, "other.json", "--purpose", "something else").exit_code == Outcome.BUDGET
    assert fit(address, "r.json", "--purpose", "report").exit_code == 0
    assert fit(address, "again.json", "--purpose", "report").exit_code == Outcome.BUDGET
    good("ledger", "request", named, "--epsilon", 0.5, "--purpose", "map")
    assert "Waiting" in words(good("ledger", "verify", address))
    assert Ledger(address).account("patients").spends == 1


def test_a_dry_run_asks_for_nothing_and_finds_what_was_approved(address):
    named = f"{address}#patients"
    good("ledger", "policy", named, "--approval", "--who", "owner")
    dry = ("--purpose", "report", "--dry-run")
    assert fit(address, "r.json", *dry).exit_code == Outcome.BUDGET
    assert len(Ledger(address).history()) == 3
    good("ledger", "request", named, "--epsilon", 1, "--purpose", "report")
    good("ledger", "approve", address, 4, "--who", "bob")
    found = fit(address, "r.json", *dry)
    assert found.exit_code == 0, found.output
    assert len(Ledger(address).history()) == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("entry", "{made}", "99"), "no entry 99"),
        (("approve", "{made}", "2"), "not a request"),
        (("request", "{made}", "--epsilon", "1"), "Name the data set"),
        (("request", "{made}#patients", "--epsilon", "-1"), "`--epsilon` must be"),
        (("policy", "{made}#patients", "--largest-epsilon", "0"), "`--largest-epsilon` must be"),
        (("show", "{made}", "--json", "--csv"), "Choose one"),
        (("show", "{made}", "--html", "register.txt"), "must end in"),
        (("complete", "{made}", "missing.json"), "There is no release file"),
        (("grant", "{made}#patients", "--epsilon", "4", "--who", "a#b"), "`--who` must be"),
    ],
)
def test_mistakes_are_told_in_one_sentence(address, arguments, said):
    result = run("ledger", *(part.format(made=address) for part in arguments))
    by_the_ledger = ("no entry 99", "not a request")
    code = Outcome.BUDGET if said in by_the_ledger else Outcome.USAGE
    assert result.exit_code == (Outcome.DATA if "release file" in said else code)
    assert said in words(result)
    assert "Traceback" not in result.output
    assert len(Ledger(address).history()) == 2
