"""With a description too, one cell never changes how another is read, and every reader agrees.

Replace any row by any other: every other row keeps its numbers and its label, and names, types and
the number of columns depend on the description and on the header alone.
"""

import datetime
import gzip
import io
import math
from dataclasses import replace

import hypothesis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.test_cells import LABELS as CELLS
from pyarrow import parquet
from table_files import csv_text, write_ods, write_xlsx

from gdppca import DataError
from gdppca.noise import secure_noise
from gdppca.tables.description import Column, Description
from gdppca.tables.encode import encode
from gdppca.tables.files import read_labels, read_table
from gdppca.tables.formats import declared_columns
from gdppca.tables.open import open_table

NAMES = ["age", "smoker", "coded", "ward", "day", "spelt", "patient"]
DESCRIPTION = Description(
    columns=(
        Column(name="age", missing=("-99",)),
        Column(name="smoker", type="yes-no"),
        Column(name="coded", type="yes-no", levels=("1", "2")),
        Column(name="ward", type="category", levels=("A", "01", "NA", "é", "1", "x'y", "1.5")),
        Column(name="day", type="date", origin=datetime.date(2020, 1, 1)),
        Column(name="spelt", type="date", origin=datetime.date(2020, 1, 1), format="%d.%m.%Y"),
    ),
    missing=("", "n/a", "0.5"),
)
D = len(DESCRIPTION.features)
ROWS = 5
# Cells near those that mean something.
WORDS = [
    "-99", "-99.0", " -99 ", "-9.9e1", "0.5", ".5", "5e-1", "yes", "NO", "Y", "t", "f", "TRUE",
    "true", "False", "tRue", "1", "2", "1.0", "01", "A", " A", "A\t", "é", "x'y", "1.5", "1.50",
    "2020-01-05", "2020-01-05 12:30", "2020-01-05T99", "2020-1-5", "2020-02-30", "0000-01-01",
    "9999-12-31", "05.01.2020", "5.1.2020", "31.02.2020", "05.01.2020 ", "05.01.20", "1.234,5",
    "1,5", "1.234.567", "1 000", "1'000", "1_000", "+1e5", "1e400", "4.9e-324", "inf", "-", "+",
    ".",
]  # fmt: skip
text = st.text(st.characters(codec="utf-8", exclude_characters='\0"\r\n'), max_size=6)
cell = st.sampled_from([word for word in (*WORDS, *CELLS) if not set('"\r\n\0') & set(word)]) | text
row = st.lists(cell, min_size=len(NAMES), max_size=len(NAMES))
rows_of_text = st.lists(row, min_size=ROWS, max_size=ROWS)
few = hypothesis.settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)


class Written:
    """A way to write rows of text, and how the description says so."""

    def __init__(self, name, encoding="utf-8", title="", **how):
        self.name, self.encoding, self.title = name, encoding, title
        self.delimiter = how.pop("delimiter", "\t" if ".tsv" in name else ",")
        declared = {"delimiter": self.delimiter, "encoding": encoding, **how}
        self.description = replace(DESCRIPTION, skip=title.count("\n"), **declared)

    def write(self, rows, folder):
        written = self.title + csv_text([NAMES, *rows], self.delimiter)
        content = written.encode(self.encoding, "replace")
        path = folder / self.name
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path


TEXTS = {
    "comma": Written("t.csv"),
    "semicolon": Written("t.csv", "latin-1", delimiter=";", decimal=",", thousands="."),
    "tabs": Written("t.tsv"),
    "packed": Written("t.csv.gz"),
    "UTF-16": Written("t.csv", "utf-16", title='A "title\n', delimiter="|"),
    "cp1252": Written(
        "t.txt", "cp1252", title="A title\n\n", delimiter=";", decimal=",", thousands=" "
    ),
}
every_text = pytest.mark.parametrize("how", TEXTS.values(), ids=TEXTS)


def as_written(cells, how):
    """What a file of an encoding can hold of these cells."""
    return [each.encode(how.encoding, "replace").decode(how.encoding) for each in cells]


def whole(path, description):
    return read_table(path, None, description, gaps=True).values


def in_parts(path, description):
    noise = secure_noise()
    table = open_table(
        path, noise, description=description, gaps=True, whole=False, assume_shuffled=True
    )
    with table as engine:
        return np.asarray(engine.sample(engine.n_samples))


@every_text
@few
@given(rows=rows_of_text)
def test_duckdb_and_python_have_the_same_rules(how, rows, tmp_path):
    path = how.write(rows, tmp_path)
    columns = {
        name: as_written(cells, how)
        for name, cells in zip(NAMES, zip(*rows, strict=True), strict=True)
    }
    expected = encode(columns, how.description)
    for read in (whole, in_parts):
        found = read(path, how.description)
        np.testing.assert_array_equal(found, expected)


@every_text
@few
@given(rows=rows_of_text, place=st.integers(0, ROWS - 1), other=row)
def test_a_row_changes_no_other_row_of_a_text_file(how, rows, place, other, tmp_path):
    found = []
    for each in (rows, [*rows[:place], other, *rows[place + 1 :]]):
        path = how.write(each, tmp_path)
        table = read_table(path, None, how.description, gaps=True)
        assert table.names == tuple(feature.name for feature in how.description.features)
        labels = read_labels(path, "patient", how.description)
        assert list(declared_columns(path, how.description).items()) == [(n, "") for n in NAMES]
        found.append((np.delete(table.values, place, axis=0), np.delete(labels, place)))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1].tolist() == found[1][1].tolist()


@pytest.mark.parametrize("word", WORDS)
def test_each_word_means_the_same_to_duckdb_and_python(word, tmp_path):
    for how in TEXTS.values():
        rows = [[word] * len(NAMES), ["1"] * len(NAMES)]
        expected = encode({name: [word, "1"] for name in NAMES}, how.description)
        np.testing.assert_array_equal(whole(how.write(rows, tmp_path), how.description), expected)


# Cells of types.

typed_cell = (
    st.sampled_from([None, True, False, 0, 1, 2, 1.0, 1.5, -99, 0.5, 1e20, "A", "01", "yes", " A "])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.dates(datetime.date(1950, 1, 1), datetime.date(2100, 1, 1))
)
typed_rows = st.lists(
    st.lists(typed_cell, min_size=len(NAMES), max_size=len(NAMES)), min_size=ROWS, max_size=ROWS
)


def as_excel(rows, folder):
    return write_xlsx(folder / "t.xlsx", {"S": [NAMES, *rows]})


def as_open_document(rows, folder):
    return write_ods(folder / "t.ods", {"S": [NAMES, *rows]})


@pytest.mark.parametrize("write", [as_excel, as_open_document])
@few
@given(rows=typed_rows, place=st.integers(0, ROWS - 1), other=typed_rows)
def test_a_row_changes_no_other_row_of_a_workbook(write, rows, place, other, tmp_path):
    rows, other = [[*row[:-1], "p"] for row in rows], [*other[0][:-1], "q"]  # none is empty
    found = []
    for each in (rows, [*rows[:place], other, *rows[place + 1 :]]):
        path = write(each, tmp_path)
        table = read_table(path, None, DESCRIPTION, gaps=True)
        assert table.values.shape == (ROWS, D)
        labels = [read_labels(path, name) for name in NAMES]
        found.append((np.delete(table.values, place, 0), np.delete(labels, place, 1).tolist()))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


STAT = {
    "t.sav": pyreadstat.write_sav,
    "t.zsav": lambda frame, path: pyreadstat.write_sav(frame, path, compress=True),
    "t.dta": pyreadstat.write_dta,
    "t.xpt": lambda frame, path: pyreadstat.write_xport(frame, path, file_format_version=8),
}
stat_row = st.tuples(
    st.none() | st.integers(-4000, 4000).map(lambda k: k / 4),
    st.none() | st.sampled_from([0.0, 1.0, 2.0, 0.5]),
    st.none() | st.sampled_from([1.0, 2.0, 1.5]),
    st.sampled_from(["A", "01", "NA", " A", "", "word"]),
    st.none() | st.dates(datetime.date(1960, 1, 1), datetime.date(2100, 1, 1)),
    st.sampled_from(["05.01.2020", "5", ""]),
    st.sampled_from(["p1", "p2", "03"]),
)


@pytest.mark.parametrize("name", STAT)
@few
@given(
    rows=st.lists(stat_row, min_size=ROWS, max_size=ROWS), place=st.integers(0, 4), other=stat_row
)
def test_a_row_changes_no_other_row_of_a_statistical_file(name, rows, place, other, tmp_path):
    found = []
    for each in (rows, [*rows[:place], other, *rows[place + 1 :]]):
        columns = dict(zip(NAMES, map(list, zip(*each, strict=True)), strict=True))
        days = pd.array([day and pd.Timestamp(day) for day in columns["day"]], "datetime64[ns]")
        numbers = {key: np.array(columns[key], float) for key in NAMES[:3]}
        STAT[name](pd.DataFrame(columns | numbers | {"day": days}), tmp_path / name)
        table = read_table(tmp_path / name, None, DESCRIPTION, gaps=True)
        kinds = ["number"] * 3 + ["text", "date", "text", "text"]
        assert list(declared_columns(tmp_path / name).values()) == kinds
        labels = read_labels(tmp_path / name, "patient")
        np.testing.assert_array_equal(table.values, encode(columns, DESCRIPTION))
        found.append((np.delete(table.values, place, 0), np.delete(labels, place).tolist()))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


TYPED = {
    "int": (pa.int64(), st.sampled_from([0, 1, 2, -99, 5]) | st.integers(-(2**63), 2**63 - 1)),
    "float": (pa.float64(), st.sampled_from([0.0, 1.0, 2.0, -99.0, 0.5, 1.5]) | st.floats()),
    "half": (pa.float32(), st.floats(width=32)),
    "bool": (pa.bool_(), st.booleans()),
    "decimal": (pa.decimal128(20, 2), st.decimals(-100, 100, places=2)),
    "text": (pa.string(), cell),
    "date": (pa.date32(), st.dates()),
    "moment": (
        pa.timestamp("us"),
        st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 1, 1)),
    ),
    "instant": (
        pa.timestamp("us", "UTC"),
        st.datetimes(
            datetime.datetime(1900, 1, 1),
            datetime.datetime(2100, 1, 1),
            timezones=st.just(datetime.UTC),
        ),
    ),
}
FITS = {"date": ("date", "moment", "instant", "text")}
FITS["number"] = FITS["yes-no"] = ("int", "float", "half", "bool", "decimal", "text")


@pytest.mark.parametrize("kind", TYPED)
@few
@given(data=st.data())
def test_typed_columns_of_parquet_are_read_as_python_reads_them(kind, data, tmp_path):
    type_, cells = TYPED[kind]
    values = pa.array(data.draw(st.lists(cells | st.none(), min_size=1, max_size=6)), type_)
    parquet.write_table(pa.table(dict.fromkeys(NAMES, values)), tmp_path / "t.parquet")
    fits = [c for c in DESCRIPTION.columns if kind in FITS.get(c.type, TYPED) and c.name != "spelt"]
    known = replace(DESCRIPTION, columns=tuple(fits))
    expected = encode(dict.fromkeys(NAMES, values.to_pylist()), known)
    for read in (whole, in_parts):
        np.testing.assert_array_equal(read(tmp_path / "t.parquet", known), expected)
    others = [
        column for column in DESCRIPTION.columns if column not in (*fits, DESCRIPTION.columns[-1])
    ]
    for column in others:
        with pytest.raises(DataError, match=f"Column '{column.name}'.*declared as"):
            whole(tmp_path / "t.parquet", replace(known, columns=(column,)))


def test_a_letter_that_is_none_stops_no_other(tmp_path):
    """In the whole file; its other rows keep their levels, which are no plain letters either."""
    rows = "".join(f"{k},{ward}\n" for k, ward in enumerate(["é", "A", "é"]))
    known = replace(DESCRIPTION, columns=DESCRIPTION.columns[3:4])
    wards = []
    for last in (b"3,A\n", b"3,\xff\x80\n"):
        (tmp_path / "t.csv").write_bytes(b"k,ward\n" + rows.encode() + last)
        wards.append(whole(tmp_path / "t.csv", known))
        assert read_labels(tmp_path / "t.csv", "ward")[:3] == ["é", "A", "é"]
    np.testing.assert_array_equal(wards[0][:3], wards[1][:3])
    assert np.isnan(wards[1][3]).all()
    assert not np.isnan(wards[0]).any()


@few
@given(cells=st.lists(cell, min_size=3, max_size=3))
def test_gaps_without_a_description_are_cells_that_spell_no_number(cells, tmp_path):
    out = io.StringIO(csv_text([["a", "b"], *([each, "1"] for each in cells)]))
    (tmp_path / "t.csv").write_text(out.getvalue(), encoding="utf-8", newline="")
    for gaps in (whole(tmp_path / "t.csv", None), in_parts(tmp_path / "t.csv", None)):
        for value, spelt in zip(gaps[:, 0], cells, strict=True):
            try:
                (tmp_path / "u.csv").write_text(
                    csv_text([["a", "b"], [spelt, "1"]]), encoding="utf-8"
                )
                alone = read_table(tmp_path / "u.csv").values[0, 0]
            except DataError:
                alone = math.nan
            np.testing.assert_array_equal(value, alone)
