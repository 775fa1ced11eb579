"""A steward's day: a folder of ugly exports, each in three commands, without Python.

Describe, check, fit; between the first two somebody edits a text file. A ledger was made before.
"""

import html
import json
import re
import shlex
from dataclasses import dataclass, field

import pytest
from typer.testing import CliRunner
from ugly_exports import PATIENTS, SECRET, visits, write_all

from gdppca import Release
from gdppca.cli.main import app

pytest.importorskip("python_calamine")
pytest.importorskip("pyreadstat")

LEDGER = "sqlite:///budget.db#patients"
NUMBER = 'type = "number"'
KNOWN = {  # what the form says
    "alter": f"{NUMBER}\ntypical = 50\nspread = 20\nunit = \"Jahre\"",
    "groesse": f"{NUMBER}\ntypical = 170\nspread = 10\nunit = \"cm\"",
    "crp": f"{NUMBER}\ntypical = 10\nspread = 10\nlabel = \"C-reaktives Protein\"",
    "station": 'type = "category"\nlevels = ["Chirurgie", "Innere", "Intensiv"]',
    "aufnahme": 'type = "date"\norigin = "2021-01-01"\nformat = "%d.%m.%Y"\nspread = 200',
    "raucher": 'type = "yes-no"\nlevels = ["nein", "ja"]',
    "sex": 'type = "yes-no"\nlevels = ["m", "w"]',
}  # fmt: skip
TYPED_DATE = KNOWN["aufnahme"].replace('format = "%d.%m.%Y"\n', "")
GERMAN = {
    "Aufnahme": KNOWN["aufnahme"],
    "Alter": KNOWN["alter"],
    '"Größe"': KNOWN["groesse"],
    "CRP": KNOWN["crp"],
    "Station": KNOWN["station"],
    "Geschlecht": KNOWN["sex"],
    "Raucher": KNOWN["raucher"],
}
CODED = KNOWN | {
    "aufnahme": TYPED_DATE,
    "sex": 'type = "yes-no"\nlevels = ["1", "2"]',
    "raucher": 'type = "yes-no"',
}


@dataclass(frozen=True)
class Export:
    """What is typed of an export, and what is written into its description."""

    source: str
    options: str
    columns: dict = field(default_factory=lambda: GERMAN)
    missing: str = '["", "NA", -99]'


EXPORTS = {
    "workbook": Export(
        "'Besuche 2021.xlsx'", "--sheet Besuche --skip 2 --person Patienten-Nr",
        missing='["", "k.A."]',
    ),
    "semicolons": Export(
        "station4.csv",
        "--delimiter ';' --decimal , --encoding latin-1 --skip 2 --person Patienten-Nr",
    ),
    "tabs": Export("kis.txt", "--delimiter tab --encoding utf-16 --person Patienten-Nr"),
    "packed": Export("archiv.csv.gz", "--person Patienten-Nr", missing='[""]'),
    "spss": Export("studie.sav", "--person patid", CODED, missing="[-99]"),
    "stata": Export("kohorte.dta", "--person patid", CODED, missing="[-99]"),
    "database": Export(
        "sqlite:///labor.db", "--query 'SELECT * FROM besuche' --person patid",
        KNOWN | {"aufnahme": TYPED_DATE, "alter_jahre": KNOWN["alter"]}, missing='[""]',
    ),
}  # fmt: skip


def run(command):
    result = CliRunner().invoke(app, shlex.split(command.removeprefix("gdppca ")))
    assert result.exit_code == 0, f"{command}\n{result.output}"
    return result


def fill_in(file, export):
    """Edit a description as somebody does in an editor: section by section."""
    text = file.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^missing = .*$", f"missing = {export.missing}", text)
    for name, keys in export.columns.items():
        section = rf"(\[columns\.{re.escape(name)}\]\n)(#.*\n)?([a-z]+ = .*\n?)+"
        text = re.sub(section, lambda found, keys=keys: f"{found[1]}{keys}\n", text)
    file.write_text(text, encoding="utf-8")


def told(result, start):
    """The one line of an output that starts so, without its start."""
    [line] = [line for line in result.stdout.splitlines() if line.startswith(start)]
    return line.removeprefix(start)


@dataclass(frozen=True)
class Day:
    """What three commands said of an export, and what they left in the folder."""

    checked: str
    fitted: str
    release: Release
    report: str


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """All exports, one after the other, in the folder where they lie."""
    folder = write_all(tmp_path_factory.mktemp("exports"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run(f"ledger init {LEDGER} --epsilon 10 --delta 1e-5 --unit person")
        yield {name: three_commands(folder, name, export) for name, export in EXPORTS.items()}


def three_commands(folder, name, export):
    """Each command is told by the one before it, and run as it was told."""
    described = run(f"gdppca describe {export.source} {export.options} -o {name}.toml")
    fill_in(folder / f"{name}.toml", export)
    checked = run(f"{told(described, '2. ')} --ledger {LEDGER}")
    fitted = run("fit " + told(checked, "  gdppca fit "))
    release, report = told(fitted, "Release: "), told(fitted, "Report:  ")
    page = re.sub(
        r"<(style|script|svg).*?</\1>|<[^>]*>", " ", (folder / report).read_text(), flags=re.S
    )
    return Day(
        checked=" ".join(checked.output.split()),
        fitted=" ".join(fitted.output.split()),
        release=Release.load(folder / release),
        report=" ".join(html.unescape(page).split()),
    )


@pytest.mark.parametrize("name", EXPORTS)
def test_it_ends_in_a_release_that_is_about_persons(days, name):
    release = days[name].release
    assert release.guarantee.unit == "person"
    assert release.guarantee.epsilon == pytest.approx(1, rel=1e-3)
    assert release.n_samples == PATIENTS
    assert len(release.feature_names) == 9
    assert sum("=Chirurgie" in feature for feature in release.feature_names) == 1
    assert release.rates is not None
    assert release.description is not None


@pytest.mark.parametrize("name", EXPORTS)
def test_the_report_says_truly_who_is_protected_and_what_is_missing(days, name):
    report = days[name].report
    assert f"Persons {PATIENTS:,} each with all of their rows" in report
    assert "Every person in this table is protected, with all of their rows" in report
    assert "missing completely at random" in report
    assert "Which cells are missing" in report
    for secret in (SECRET, "P-000"):
        assert secret not in report
    for number in (f"{len(visits()):,}", str(len(visits()))):  # by itself, not among the digits
        assert not re.search(rf"(?<![\w.,]){number}(?![\w.,]*\d)", report)


@pytest.mark.parametrize("name", EXPORTS)
def test_the_check_counts_what_is_there(days, name):
    rows = visits()
    checked = days[name].checked
    outside = sum(row[5] == SECRET for row in rows)
    gaps = sum(row[4] is None for row in rows)
    assert f"{len(rows):,} rows, 9 columns" in checked
    assert f"{PATIENTS:,} persons, 1 to 5 rows each" in checked
    assert f"{outside} cells are none of its levels" in checked
    assert f"of the cells are missing ({gaps:,})" in checked
    assert SECRET not in checked + days[name].fitted


def test_the_ledger_holds_one_debit_of_persons_for_every_export(days):
    ledger = json.loads(run(f"ledger show {LEDGER} --json").stdout)
    [account] = ledger["datasets"]
    assert (account["unit"], account["spends"]) == ("person", len(days))
    spends = [entry for entry in ledger["entries"] if entry["kind"] == "spend"]
    assert {entry["unit"] for entry in spends} == {"person"}
