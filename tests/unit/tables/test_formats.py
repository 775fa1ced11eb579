"""One table in every format that people have: the same numbers, the same labels, or true words."""

import datetime
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import parquet
from table_files import write_csv, write_ods, write_xlsx

from gdppca import DataError, MissingExtraError
from gdppca.noise import secure_noise
from gdppca.tables.description import Column, Description
from gdppca.tables.duck import Reader
from gdppca.tables.files import column_names, read_labels, read_numbers, read_table
from gdppca.tables.formats import declared_columns, raw_columns
from gdppca.tables.open import open_table
from gdppca.tables.sources import found_files

NAMES = ["age", "ward", "smoker", "admitted", "patient", "weight"]
DAYS = [datetime.date(2020, 1, 5), datetime.date(1999, 12, 31), None, datetime.date(2020, 2, 29)]
ROWS = [
    [50.25, "chirurgie", True, DAYS[0], "p1", 1.5],
    [1234.5, "größe", False, DAYS[1], "p2", 2.0],
    [None, "unknown", None, DAYS[2], "p2", 0.25],
    [-99.0, None, True, DAYS[3], "07", 1.0],
]
DESCRIPTION = Description(
    columns=(
        Column(name="age", missing=("-99",)),
        Column(name="ward", type="category", levels=("chirurgie", "größe")),
        Column(name="smoker", type="yes-no"),
        Column(name="admitted", type="date", origin=datetime.date(2020, 1, 1)),
    ),
    missing=("", "NA"),
)
NAN = np.nan
EXPECTED = [
    [50.25, 1, 0, 1, 4],
    [1234.5, 0, 1, 0, -7306],
    [NAN, NAN, NAN, NAN, NAN],
    [NAN, NAN, NAN, 1, 59],
]
LABELS = [["p1", "p2", "p2", "07"], [1.5, 2.0, 0.25, 1.0]]


def a_frame():
    frame = pd.DataFrame(ROWS, columns=NAMES)
    return frame.assign(smoker=[1.0, 0.0, None, 1.0])  # no flags in these formats


def comma(folder):
    return write_csv(folder / "t.csv", [NAMES, *ROWS]), DESCRIPTION


def semicolon(folder):
    path = folder / "de.csv"
    write_csv(path, [NAMES, *ROWS], encoding="latin-1", delimiter=";", decimal=",")
    text = path.read_bytes().replace(b"1234,5", b"1.234,5")
    path.write_bytes(text)
    how = {"delimiter": ";", "decimal": ",", "thousands": ".", "encoding": "latin-1"}
    return path, replace(DESCRIPTION, **how)


def tabs(folder):
    return write_csv(folder / "t.tsv", [NAMES, *ROWS], delimiter="\t"), DESCRIPTION


def packed(folder):
    return write_csv(folder / "t.csv.gz", [NAMES, *ROWS]), DESCRIPTION


def wide_letters(folder):
    path = write_csv(folder / "u.csv", [NAMES, *ROWS], encoding="utf-16", delimiter="\t")
    return path, replace(DESCRIPTION, encoding="utf-16", delimiter="\t")


def titled(folder):
    title = 'Visits of 5" and more\nprinted, on; Monday\n\n'
    path = write_csv(
        folder / "v.txt", [NAMES, *ROWS], title=title, encoding="cp1252", delimiter="|"
    )
    return path, replace(DESCRIPTION, encoding="cp1252", delimiter="|", skip=2)


def packed_and_titled(folder):
    path = write_csv(folder / "w.csv.gz", [NAMES, *ROWS], title="Visits\n", encoding="utf-16-be")
    return path, replace(DESCRIPTION, encoding="utf-16-be", skip=1)


def by_parquet(folder):
    columns = {
        name: pa.array(cells) for name, cells in zip(NAMES, zip(*ROWS, strict=True), strict=True)
    }
    parquet.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet", DESCRIPTION


def excel(folder):
    return write_xlsx(folder / "t.xlsx", {"Visits": [NAMES, *ROWS]}), DESCRIPTION


def second_sheet(folder):
    sheets = {"Notes": [["About"]], "Visits": [["Visits of 2020"], [], NAMES, *ROWS, []]}
    path = write_xlsx(folder / "two.xlsx", sheets)
    return path, replace(DESCRIPTION, sheet="Visits", skip=1)


def open_document(folder):
    return write_ods(folder / "t.ods", {"Visits": [NAMES, *ROWS]}), DESCRIPTION


def spss(folder):
    coded = a_frame().fillna({"age": 77.0})
    pyreadstat.write_sav(coded, folder / "t.sav", missing_ranges={"age": [77]})
    return folder / "t.sav", DESCRIPTION


def spss_packed(folder):
    pyreadstat.write_sav(a_frame(), folder / "t.zsav", compress=True)
    return folder / "t.zsav", DESCRIPTION


def stata(folder):
    pyreadstat.write_dta(a_frame(), folder / "t.dta")
    return folder / "t.dta", DESCRIPTION


def sas(folder):
    pyreadstat.write_xport(a_frame(), folder / "t.xpt", table_name="t", file_format_version=8)
    return folder / "t.xpt", DESCRIPTION


TEXTS = [comma, semicolon, tabs, packed, wide_letters, titled, packed_and_titled]
RAW = [excel, second_sheet, open_document, spss, spss_packed, stata, sas]
EVERY = [*TEXTS, by_parquet, *RAW]


@pytest.mark.parametrize("write", EVERY)
def test_the_same_numbers_and_labels_through_every_format(write, tmp_path):
    path, description = write(tmp_path)
    table = read_table(path, None, description, gaps=True)
    np.testing.assert_array_equal(table.values, EXPECTED)
    assert table.names == ("age", "ward=chirurgie", "ward=größe", "smoker", "admitted")
    assert column_names(path, description) == NAMES
    assert read_labels(path, "patient", description) == LABELS[0]
    assert read_numbers(path, "weight", description).tolist() == LABELS[1]
    assert list(declared_columns(path, description)) == NAMES


@pytest.mark.parametrize("write", [*TEXTS, by_parquet])
def test_the_same_numbers_in_parts(write, tmp_path):
    path, description = write(tmp_path)
    table = open_table(
        path, secure_noise(), description=description, gaps=True, whole=False, assume_shuffled=True
    )
    with table as engine:
        assert engine.n_features == 5
        np.testing.assert_array_equal(engine.sample(4), EXPECTED)


@pytest.mark.parametrize("write", EVERY)
def test_without_gaps_a_column_is_refused_by_file_column_and_remedy(write, tmp_path):
    path, description = write(tmp_path)
    with pytest.raises(DataError, match=rf"'age' of '.*{path.name}': .*--missing rates") as caught:
        read_table(path, None, description)
    assert "50" not in str(caught.value)


def test_what_formats_declare(tmp_path):
    nothing = dict.fromkeys(NAMES, "")
    kinds = ["number", "text", "yes-no", "date", "text", "number"]
    for write in (comma, excel, open_document):
        path, description = write(tmp_path)
        assert declared_columns(path, description) == nothing
    assert list(declared_columns(by_parquet(tmp_path)[0]).values()) == kinds
    kinds[2] = "number"
    for write in (spss, stata, sas):
        assert list(declared_columns(write(tmp_path)[0]).values()) == kinds


def test_columns_without_a_description_are_numbers(tmp_path):
    path = write_xlsx(tmp_path / "t.xlsx", {"S": [["a", "b"], [1, "2.5"], [True, -3.5]]})
    assert read_table(path).values.tolist() == [[1, 2.5], [1, -3.5]]
    assert read_table(path, ["b"]).names == ("b",)
    pyreadstat.write_sav(pd.DataFrame({"a": [1.5, 2], "word": ["x", "y"]}), tmp_path / "t.sav")
    assert read_table(tmp_path / "t.sav", ["a"]).values.tolist() == [[1.5], [2]]
    with pytest.raises(DataError, match="'word': not numbers"):
        read_table(tmp_path / "t.sav")


def test_workbooks_with_several_sheets_no_sheet_or_no_rows_are_refused(tmp_path):
    path = write_xlsx(tmp_path / "t.xlsx", {"One": [["a"], [1]], "Two": []})
    with pytest.raises(DataError, match=r"several sheets: 'One', 'Two'.*--sheet.*sheet = "):
        read_table(path)
    sheet = Description(columns=(Column(name="a"),), sheet="Tow")
    with pytest.raises(DataError, match=r"no sheet 'Tow'.*'One', 'Two'"):
        read_table(path, None, sheet)
    with pytest.raises(DataError, match=r"'Two'.* is empty"):
        read_table(path, None, replace(sheet, sheet="Two"))
    assert read_table(path, None, replace(sheet, sheet="One")).values.tolist() == [[1]]
    with pytest.raises(DataError, match="no rows"):
        read_table(write_xlsx(tmp_path / "u.xlsx", {"One": [["a", "b"]]}))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["Visits of 2020"], ["a", "b"], [1, 2]], "one name.*--skip"),
        ([[2020.5, 3], [1, 2]], "no header"),
        ([["12.5", "b"], [1, 2]], "no header"),
        ([["a", "a"], [1, 2]], "several columns named 'a'"),
    ],
)
def test_titles_and_missing_headers_of_workbooks(rows, words, tmp_path):
    with pytest.raises(DataError, match=words) as caught:
        read_table(write_xlsx(tmp_path / "t.xlsx", {"S": rows}))
    assert "12.5" not in str(caught.value)
    assert "2020.5" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.xls", b"<html><table><tr><td>HIV+</td>", "a web page that is called .xls"),
        ("t.xls", b"age\tward\n1\tHIV+\n", "text that is called .xls"),
        ("t.xls", b"PK\x03\x04HIV+", "give it the ending .xlsx"),
        ("t.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "older kind"),
        (
            "t.xlsx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le") * 9,
            "protected by a password",
        ),
        ("t.xlsx", b"PK\x03\x04HIV+", "damaged"),
        ("t.xlsx", b"", "is empty"),
        ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1HIV+", "damaged"),
        ("t.sav", b"$FL2HIV+", "cannot be read as .sav"),
        ("t.dta", b"HIV+", "cannot be read as .dta"),
        ("t.sas7bdat", b"", "cannot be read as .sas7bdat"),
    ],
)
def test_files_that_are_not_what_their_names_say(name, content, words, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=words) as caught:
        read_table(tmp_path / name)
    assert "HIV" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("package", "write", "extra"),
    [("python_calamine", excel, "excel"), ("pyreadstat", stata, "statfiles")],
)
def test_a_missing_package_is_named_with_its_extra(package, write, extra, tmp_path, monkeypatch):
    path, description = write(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'gdppca\[{extra}\]'"):
        read_table(path, None, description)


def test_cells_beside_the_header_and_empty_rows_decide_nothing(tmp_path):
    rows = [["a", None, "b"], [1, "note", 2], [None, None, None], [3, None, 4, "stray"]]
    path = write_xlsx(tmp_path / "t.xlsx", {"S": rows})
    assert read_table(path).names == ("a", "b")
    assert read_table(path).values.tolist() == [[1, 2], [3, 4]]
    assert raw_columns(path, ["a"]) == {"a": [1, 3]}


def test_a_day_that_no_calendar_has_stops_no_other(tmp_path):
    frame = pd.DataFrame({"day": [21919.0, 1e12, -1e9]})
    pyreadstat.write_dta(frame, tmp_path / "t.dta", variable_format={"day": "%td"})
    day = Description(columns=(Column(name="day", type="date", origin=datetime.date(2020, 1, 1)),))
    values = read_table(tmp_path / "t.dta", None, day, gaps=True).values
    np.testing.assert_array_equal(values, [[4], [NAN], [NAN]])


@pytest.mark.parametrize("write", [*TEXTS, by_parquet])
def test_ids_and_weights_come_beside_the_features_of_the_same_rows(write, tmp_path):
    path, description = write(tmp_path)
    reader = Reader(found_files(path, description), None, description, gaps=True)
    with reader.opened(tmp_path):
        beside = [reader.label("patient"), reader.weight("weight")]
        rows = reader._connection.sql(reader._question(beside)).fetchall()
    assert [list(row[-2:]) for row in rows] == [list(pair) for pair in zip(*LABELS, strict=True)]
    np.testing.assert_array_equal(np.array([row[:-2] for row in rows], float), EXPECTED)


def test_a_file_that_is_not_there_declares_nothing(tmp_path):
    for name in ("t.csv", "t.xlsx", "t.sav"):
        with pytest.raises(DataError, match="no file"):
            declared_columns(tmp_path / name)
