"""Every line of the guide's table: the command ends with that code, and tells it as JSON."""

import json
import re
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gdppca import DPPCA, Ledger
from gdppca.cli.main import app
from gdppca.ledgers import desk as ledger_desk

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "operations.md"
LINE = re.compile(r"^\| (?P<what>[^|]+) \| (?P<commands>[^|]+) \| (\d+) \| (\w+) \|$", re.MULTILINE)
CASES = [
    (what, command.strip(), int(code), error)
    for what, commands, code, error in LINE.findall(GUIDE.read_text(encoding="utf-8"))
    for command in commands.split(",")
]


class Desk:
    """A folder with a table, a release and a ledger, and what each command is called with."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.patch = folder, monkeypatch
        self.address = f"sqlite:///{folder}/budget.db"
        self.options, self.table, self.released = [], "d.csv", "r.json"
        X = np.random.default_rng(0).normal(size=(50, 3))
        np.savetxt(folder / "d.csv", X, delimiter=",", header="a,b,c", comments="")
        DPPCA(1, epsilon=1.0).fit(X).release_.save(folder / "r.json")
        Ledger(self.address).create("people", 4.0, 1e-6)

    def call(self, command):
        """The words of a call that would do, but for what is wrong."""
        table, release = self.table, self.released
        return {
            "describe": ["describe", table],
            "check": ["check", table],
            "fit": ["fit", table, "--ledger", f"{self.address}#people"],
            "plan": ["plan", "--rows", "500", "--columns", "3"],
            "audit": ["audit", "--runs", "2"],
            "merge": ["merge", release, release, "-o", "merged.json"],
            "report": ["report", release],
            "ledger show": ["ledger", "show", self.address],
            "ledger init": ["ledger", "init", f"{self.address}#others", "--epsilon", "1"],
            "ledger grant": ["ledger", "grant", f"{self.address}#people", "--epsilon", "9"],
            "ledger verify": ["ledger", "verify", self.address],
        }[command] + [*self.options, "--json"]


def no_such_option(desk, command):
    desk.options = ["--moon", "1"]


def breaks_its_rule(desk, command):
    desk.options = ["--delta", "7"]


def unknown_key(desk, command):
    (desk.folder / "gdppca.toml").write_text("moon = 1\n")


def two_variables(desk, command):
    desk.patch.setenv("GDPPCA_EPSILON", "1")
    desk.patch.setenv(f"GDPPCA_{command.upper()}_EPSILON", "2")


def output_exists(desk, command):
    for name in ("table.toml", "release.json", "merged.json", "report.html"):
        (desk.folder / name).write_text("precious")


def bad_description(desk, command):
    (desk.folder / "bad.toml").write_text("[table]\nmoon = 1\n")
    desk.options = ["--table", "bad.toml"]


def no_release(desk, command):
    desk.released = "none.json"


def no_table(desk, command):
    desk.table = "none.csv"


def text(desk, command):
    (desk.folder / "text.csv").write_text("a,b\n1,HIV\n2,flu\n")
    desk.table = "text.csv"


def edited_release(desk, command):
    text = (desk.folder / "r.json").read_text()
    (desk.folder / "edited.json").write_text(text.replace('"n_samples": 50', '"n_samples": 51'))
    assert (desk.folder / "edited.json").read_text() != text
    desk.released = "edited.json"


def spent(desk, command):
    desk.options = ["--epsilon", "5"]


def no_ledger(desk, command):
    desk.address = f"sqlite:///{desk.folder}/none.db"


def edited_ledger(desk, command):
    with sqlite3.connect(desk.folder / "budget.db") as database:
        database.execute("DROP TRIGGER gdppca_entries_no_UPDATE")
        database.execute("UPDATE gdppca_entries SET content = replace(content, '4.0', '9.0')")


def locked(desk, command):
    patient = ledger_desk._store
    desk.patch.setattr(ledger_desk, "_store", lambda address, timeout: patient(address, 0.1))
    desk.lock = sqlite3.connect(desk.folder / "budget.db", isolation_level=None)
    desk.lock.execute("BEGIN EXCLUSIVE")


def no_package(desk, command):
    desk.patch.setitem(sys.modules, "python_calamine", None)
    (desk.folder / "book.xlsx").write_bytes(b"PK\x03\x04")
    desk.table = "book.xlsx"


def control_c(desk, command):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    desk.patch.setattr("gdppca.jobs.fit.require_all_writable", interrupted)
    desk.patch.setattr("gdppca.cli.audit.audit", interrupted)


WRONG = {
    "an option that does not exist": no_such_option,
    "a value that breaks its rule": breaks_its_rule,
    "an unknown key in the configuration": unknown_key,
    "two variables that differ": two_variables,
    "an output that exists": output_exists,
    "a description with an unknown key": bad_description,
    "no release there": no_release,
    "no table there": no_table,
    "text where numbers are needed": text,
    "a release that was edited": edited_release,
    "a budget that is spent": spent,
    "no ledger there": no_ledger,
    "a ledger that was edited": edited_ledger,
    "a ledger that is locked": locked,
    "a package that is not installed": no_package,
    "Control-C": control_c,
}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, monkeypatch)


def test_every_line_of_the_guide_is_tried():
    assert {what for what, *_ in CASES} == set(WRONG)
    assert len(CASES) > 50


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("what", "command", "code", "error"), CASES)
def test_outcomes_are_as_the_guide_says(what, command, code, error, desk):
    WRONG[what](desk, command)
    before = {file: file.read_bytes() for file in desk.folder.iterdir() if file.suffix != ".db"}
    result = CliRunner().invoke(app, desk.call(command))
    assert result.exit_code == code, result.output
    told = json.loads(result.stdout)
    assert (told["error"], told["exit_code"]) == (error, code)
    assert told["message"]
    assert "HIV" not in result.output
    after = {file: file.read_bytes() for file in desk.folder.iterdir() if file.suffix != ".db"}
    assert after == before
