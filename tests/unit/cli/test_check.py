"""`gdppca check`, as a steward types it: marked, without a cell, ending with a fit that works."""

import shlex

import numpy as np
import pytest
from typer.testing import CliRunner

from gdppca import Ledger, Release
from gdppca.cli.check import MARK
from gdppca.cli.main import app

HOSTILE = "HIV+"
N = 600


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def lines(result):
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def words(result):
    return " ".join(result.output.split())


def commands(result):
    """The commands that it ends with, as a shell takes them apart."""
    return [shlex.split(line)[1:] for line in lines(result) if line.startswith("  gdppca")]


@pytest.fixture
def visits(tmp_path, monkeypatch):
    """Visits of patients with gaps and text, in a folder that one works in."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    file = tmp_path / "the visits.csv"
    rows = ["patient_id,age,alk phos,ward,note"]
    for k in range(N):
        age = "" if k % 10 == 0 else f"{rng.normal(50, 10):.3f}"
        ward = HOSTILE if k == 3 else ("surgery", "medicine")[k % 2]
        rows.append(f"p{k % 300},{age},{rng.normal(0, 1e6):.1f},{ward},{HOSTILE} {k}")
    file.write_text("\n".join(rows) + "\n")
    return file


def test_first_and_last_line_say_that_it_is_not_private(visits):
    said = lines(run("check", visits))
    assert said[0] == said[-1] == MARK
    assert "NOT PRIVATE" in MARK
    assert "Publish nothing" in MARK


def test_no_cell_is_shown(visits):
    assert HOSTILE not in run("check", visits).output


def test_it_takes_no_file_to_write_into(visits):
    before = sorted(visits.parent.iterdir())
    for option in ("--output", "-o", "--report"):
        assert run("check", visits, option, "x").exit_code == 2
    lines(run("check", visits))
    assert sorted(visits.parent.iterdir()) == before


def test_the_commands_at_the_end_work(visits):
    result = run("check", visits, "--epsilon", 20)
    init, fit = commands(result)
    assert fit[:2] == ["fit", str(visits)]
    assert fit[fit.index("--person") + 1] == "patient_id"
    assert fit[fit.index("--missing") + 1] == "rates"
    assert fit[fit.index("--scale") + 1] == "private"
    assert fit[fit.index("--columns") + 1] == "age,alk phos"
    assert init[init.index("--unit") + 1] == "person"
    assert run(*init).exit_code == 0
    done = run(*fit)
    assert done.exit_code == 0, done.output
    assert Release.load("the visits-release.json").guarantee.unit == "person"


def test_a_description_is_obeyed_and_stands_in_the_command(visits):
    visits.with_name("table.toml").write_text(
        '[table]\nperson = "patient_id"\n[columns.age]\n[columns.ward]\ntype = "category"\n'
        'levels = ["surgery", "medicine"]\n'
    )
    result = run("check", visits, "--table", "table.toml", "--epsilon", 20)
    assert "1 cell is none of its levels" in words(result)
    assert "Not analysed: 'alk phos' and 'note'." in words(result)
    _, fit = commands(result)
    assert "--person" not in fit
    assert "--columns" not in fit
    done = run(*fit[: fit.index("--ledger")])
    assert done.exit_code == 0, done.output


def test_too_few_rows_for_private_scales_are_foreseen(visits):
    result = run("check", visits, "--epsilon", 0.01)
    assert "fit would refuse: `--scale private` needs more than 300 persons" in words(result)
    _, fit = commands(result)
    assert "--scale" not in fit


def test_doubts_are_foreseen(visits):
    said = words(run("check", visits, "--epsilon", 0.1))
    assert "fit would warn: 300 persons and this budget are too little" in said


def test_names_for_the_shell_are_quoted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a $b.csv"
    rows = "\n".join(f"{k},{k % 7}.5,{HOSTILE}" for k in range(60))
    file.write_text(f'"a, ""b",c d,e\n{rows}\n')
    [_, fit] = commands(run("check", file))
    assert fit[fit.index("--columns") + 1] == '"a, ""b",c d'
    done = run(*fit[: fit.index("--ledger")])
    assert done.exit_code == 0, done.output


def test_nothing_can_be_analysed(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a,b\n" + "x,y\n" * 30)
    result = run("check", file)
    assert "No column can be analysed" in words(result)
    assert f"gdppca describe {file}" in words(result)


def test_what_cannot_be_opened_is_told_by_the_reader(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a;b\n1;2\n")
    result = run("check", file)
    assert result.exit_code == 3
    assert "give --delimiter ';', or delimiter = \";\" in the description" in words(result)
    assert "There is no file" in run("check", tmp_path / "no.csv").output


def test_keys_of_a_description_are_not_called_options(visits):
    table = visits.with_name("table.toml")
    table.write_text('[table]\nweight = "w"\n[columns.age]\n')
    said = words(run("check", visits, "--table", table))
    assert "`weight` names a column, and `largest_weight`" in said


def test_folders_and_several_files(visits, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("one.csv", "two.csv"):
        (folder / name).write_text(visits.read_text())
    for files in ([folder], [folder / "one.csv", folder / "two.csv"]):
        assert "1,200 rows" in words(run("check", *files))


def test_fit_warns_by_public_facts_alone(tmp_path, monkeypatch):
    """Two tables with the same names and shape: what a fit says does not depend on the cells."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    said = []
    for k, scale in enumerate(([1, 1, 1], [0, 1e9, 1e-9])):
        rows = rng.normal(size=(500, 3)) * scale
        ids = np.arange(500) % (500 if k else 7)
        file = tmp_path / "t.csv"
        cells = [",".join(map(str, [i, *row])) for i, row in zip(ids, rows, strict=True)]
        file.write_text("patient_id,date_of_birth,a,b\n" + "\n".join(cells) + "\n")
        result = run("fit", file, "--epsilon", 0.2, "-o", f"r{k}.json")
        assert result.exit_code == 0, result.output
        said.append(result.stderr)
    assert said[0] == said[1]
    assert "looks like an id by its name" in said[0]


BUDGET = "sqlite:///budget.db"


def worked(*arguments):
    done = run(*arguments)
    assert done.exit_code == 0, done.output


def test_the_same_check_works_again_after_the_fit(visits):
    for number in range(2):
        result = run("check", visits, "--epsilon", 0.5)
        commanded = commands(result)
        assert len(commanded) == (1 if number else 2)  # the cap is made once
        if not number:
            worked(
                *commanded[0][: commanded[0].index("--epsilon")], "--epsilon", 5, "--unit", "person"
            )
        worked(*commanded[-1])
    assert Ledger(BUDGET).account("the visits").spends == 2


def test_a_ledger_that_is_not_there_yet_is_proposed(visits):
    for made in ("no ledger", "no data set"):
        result = run("check", visits, "--ledger", f"{BUDGET}#{made}")
        assert f"{made}" in words(result).replace("'no data set'", "")
        init, fit = commands(result)
        worked(*init)
        worked(*fit)


def test_what_is_left_in_a_ledger_is_told_and_taken(visits):
    worked("ledger", "init", f"{BUDGET}#a", "--epsilon", 1, "--unit", "person")
    result = run("check", visits, "--ledger", f"{BUDGET}#a", "--epsilon", 3)
    assert "(epsilon = 1, delta = 1e-06) is left" in words(result)
    assert "epsilon = 3 and delta = 1e-06 is more than that" in words(result)
    [fit] = commands(result)
    assert 0.99 <= float(fit[fit.index("--epsilon") + 1]) <= 1
    worked(*fit)
    spent = run("check", visits, "--ledger", f"{BUDGET}#a")
    assert "No fit is left under it" in words(spent)
    assert not commands(spent)


@pytest.mark.parametrize(
    ("unit", "asked", "own"),
    [
        ("row", [], "a-persons-replace-one"),
        ("person", ["--neighbors", "add-remove"], "a-persons-add-remove"),
    ],
)
def test_a_cap_of_another_promise_is_told_and_another_data_set_proposed(unit, asked, own, visits):
    worked("ledger", "init", f"{BUDGET}#a", "--epsilon", 1, "--unit", unit)
    ledger = ["--ledger", f"{BUDGET}#a"]
    result = run("check", visits, *asked, *ledger)
    assert "Give such draws a data set of their own" in words(result)
    init, fit = commands(result)
    assert fit[fit.index("--ledger") + 1] == f"{BUDGET}#{own}"
    worked(*init)
    worked(*fit)
    again = run("check", visits, *asked, *ledger)
    assert "No fit is left under it" in words(again)
    account = Ledger(BUDGET).account(own)
    assert (account.spends, str(account.protected.unit)) == (1, "person")


def test_neighbours_that_there_are_not_are_refused_before_the_table_is_read(tmp_path):
    said = words(run("check", tmp_path / "none.csv", "--neighbors", "next-door"))
    assert "`--neighbors` must be one of 'replace-one', 'add-remove'" in said
