"""`gdppca describe`, as a steward types it."""

import sqlite3
import subprocess
import sys
import tomllib

import pytest
from typer.testing import CliRunner

from gdppca import Description
from gdppca.cli.main import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def words(result):
    return " ".join(result.output.split())


@pytest.fixture
def visits(tmp_path):
    file = tmp_path / "the visits.csv"
    file.write_text("patient_id,age,pulse\nHIV+,50,70\n")
    return file


def test_a_template_is_written_and_the_next_commands_are_told(visits, tmp_path):
    table = tmp_path / "table.toml"
    result = run("describe", visits, "-o", table)
    assert result.exit_code == 0, result.output
    assert f"Description: {table}" in words(result)
    assert f"gdppca check '{visits}' --table {table}" in words(result)
    assert f"gdppca fit '{visits}' --table {table}" in words(result)
    assert [column.name for column in Description.load(table).columns] == [
        "patient_id", "age", "pulse",
    ]  # fmt: skip
    assert '# person = "patient_id"' in table.read_text()
    assert "HIV" not in table.read_text() + result.output


def test_what_is_said_of_the_file_stands_in_the_template(visits, tmp_path, monkeypatch):
    asked = []

    def declared(source, written):
        asked.append(written)
        return {"patient_id": "text", "age": "number", "ward": "text"}

    monkeypatch.setattr("gdppca.tables.describing._declared", declared)
    table = tmp_path / "table.toml"
    result = run(
        "describe", visits, "-o", table, "--person", "patient_id", "--delimiter", "tab",
        "--skip", 2, "--decimal", ",", "--thousands", ".", "--encoding", "latin-1",
        "--sheet", "Visits",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "marked TO BE FILLED IN: 1" in words(result)
    told = tomllib.loads(table.read_text())
    assert told["table"] == {
        "person": "patient_id", "delimiter": "\t", "decimal": ",", "thousands": ".", "skip": 2,
        "encoding": "latin-1", "sheet": "Visits", "missing": [""],
    }  # fmt: skip
    assert list(told["columns"]) == ["age", "ward"]
    assert (asked[0].delimiter, asked[0].skip, asked[0].sheet) == ("\t", 2, "Visits")


def test_what_somebody_filled_in_is_kept(visits, tmp_path):
    table = tmp_path / "table.toml"
    table.write_text("mine")
    refused = run("describe", visits, "-o", table)
    assert refused.exit_code == 2
    assert "exists already, and somebody may have filled it in" in words(refused)
    assert table.read_text() == "mine"
    assert run("describe", visits, "-o", table, "--force").exit_code == 0
    assert Description.load(table).columns


def test_the_table_is_never_overwritten(visits):
    before = visits.read_text()
    refused = run("describe", visits, "-o", visits, "--force")
    assert refused.exit_code == 2
    assert "is the data file" in words(refused)
    assert visits.read_text() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--delimiter", "xx"], "`--delimiter` must be the one sign"),
        (["--skip", "-1"], "`--skip` must be a whole number"),
        (["--encoding", "utf-9"], "`--encoding` is none that is known"),
        (["--thousands", "."], "`--decimal` and `--thousands` are both '.'"),
        (["--person", "nobody"], "has no column 'nobody' for `--person`"),
        (["-o", "."], "is no file"),
        (["-o", "nowhere/table.toml"], "no such folder"),
    ],
)
def test_refusals_are_about_options(options, said, visits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("describe", visits, *options)
    assert result.exit_code == (3 if "has no column" in said else 2), result.output
    assert said in words(result)
    assert not (tmp_path / "table.toml").exists()


def test_no_file_is_said(tmp_path):
    result = run("describe", tmp_path / "none.csv", "-o", tmp_path / "t.toml")
    assert result.exit_code == 3
    assert "There is no file" in words(result)


def test_describe_loads_nothing_that_computes(visits, tmp_path):
    script = (
        "import sys; from gdppca.cli.main import app;"
        f"app(['describe', {str(visits)!r}, '-o', {str(tmp_path / 't.toml')!r}],"
        " standalone_mode=False);"
        "print([name for name in ('sklearn', 'opendp', 'matplotlib', 'pandas', 'polars',"
        " 'sqlalchemy', 'dp_accounting') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_columns_that_were_found_are_named(visits, tmp_path):
    result = run("describe", visits, "-o", tmp_path / "table.toml")
    assert "Columns: patient_id, age, pulse" in words(result)


@pytest.fixture
def database(tmp_path):
    file = tmp_path / "kis.db"
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("CREATE TABLE visits (patient_id, age)")
        connection.execute("INSERT INTO visits VALUES ('HIV+', 50)")
    connection.close()
    return f"sqlite:///{file}"


def test_a_database_is_described_by_its_question(database, tmp_path):
    table = tmp_path / "table.toml"
    query = ["--query", "SELECT * FROM visits"]
    result = run("describe", database, *query, "--person", "patient_id", "-o", table)
    assert result.exit_code == 0, result.output
    assert [column.name for column in Description.load(table).columns] == ["age"]
    assert f"gdppca check {database} --query 'SELECT * FROM visits' --table" in words(result)
    assert "HIV" not in table.read_text() + result.output
    other = run("describe", database, *query, "--person", "nobody", "-o", tmp_path / "other.toml")
    assert "has no column 'nobody' for `--person`" in words(other)


def test_databases_need_a_question(database, tmp_path):
    for command in ("describe", "check", "fit"):
        assert "give --query 'SELECT … FROM …'" in words(run(command, database))
    file = database.removeprefix("sqlite:///")
    assert f"give sqlite:///{file} in place of the file" in words(run("check", file))


@pytest.fixture
def parts(tmp_path):
    """A folder with two files of one table."""
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "one.csv").write_text("patient_id,age,pulse\nHIV+,50,70\n")
    (folder / "two.csv").write_text("patient_id,pulse,age\nHIV+,70,50\n")
    return folder


@pytest.mark.parametrize("pattern", ["", "*.csv"])
def test_a_folder_of_one_table_has_one_description(pattern, parts, tmp_path):
    table = tmp_path / "table.toml"
    result = run("describe", parts / pattern, "-o", table, "--person", "patient_id")
    assert result.exit_code == 0, result.output
    assert [column.name for column in Description.load(table).columns] == ["age", "pulse"]
    assert "HIV" not in table.read_text() + result.output
    assert run("check", parts / pattern, "--table", table).exit_code == 0


def test_a_folder_of_several_tables_is_told_file_by_file(parts, tmp_path):
    (parts / "codes.csv").write_text("code,label\n1,HIV+\n")
    result = run("describe", parts, "-o", tmp_path / "table.toml")
    assert result.exit_code == 3
    for said in (
        f"'{parts}' holds 2 different tables",
        "'one.csv' and 'two.csv' with the columns patient_id, age, pulse",
        "'codes.csv' with the columns code, label",
        "Describe them one by one",
    ):
        assert said in words(result)
    assert "HIV" not in result.output
    assert not (tmp_path / "table.toml").exists()


def test_files_of_several_kinds_are_no_table(parts, tmp_path):
    (parts / "three.json").write_text('[{"patient_id": 1, "age": 2, "pulse": 3}]')
    result = run("describe", parts, "-o", tmp_path / "table.toml")
    assert "files of several kinds: csv, json" in words(result)


def test_a_folder_without_tables_says_what_lies_there(tmp_path):
    folder = tmp_path / "books"
    folder.mkdir()
    assert "no file in" in words(run("describe", folder))
    (folder / "visits.xlsx").write_bytes(b"PK")
    assert f"Give '{folder / 'visits.xlsx'}' itself" in words(run("describe", folder))
    assert "There is no file" in words(run("describe", folder / "*.csv"))
