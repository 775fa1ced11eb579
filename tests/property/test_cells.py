"""One cell never changes how another is read: files, tables, labels.

Replace any row by any other. Either a column is refused by its name, which only a column of numbers
may be, or every other row keeps its bits.
"""

import csv
import datetime
import decimal
import gzip
import io
import json
import math
import re
from types import SimpleNamespace

import hypothesis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from gdppca import DPPCA, DataError
from gdppca.noise import OrderKeys
from gdppca.tables.cells import label_text
from gdppca.tables.files import read_labels, read_table
from gdppca.tables.frames import as_matrix
from gdppca.tables.groups import group_codes
from gdppca.tables.memory import MemoryTable
from gdppca.tables.open import open_table

# What a column of the analysis takes, and what it does not.
NUMBERS = [
    "1", "2.5", "-0", "0", "007", "1.50", "+3", " 4", "5 ", "6\t", "1e5", "-1E-3", ".5", "7.",
    "true", "True", "FALSE", " false", "1_000", "9007199254740993", "1e-400", "4.9e-324",
    "0.1000000000000000055511151231257827021181583404541015625", "3" * 200,
    "1.7976931348623157e308", "-0.30000000000000004", "18446744073709551616",
    "123456789.123456789", "2.2250738585072011e-308",
]  # fmt: skip
OTHERS = [
    "", "NA", "nan", "NaN", "inf", "-Infinity", "1e400", "9" * 400, "word", "maybe", "tRuE", "yes",
    "x", "9X", "2020-01-05", "12:30", "1,5", "1;5", '"', 'a "quoted" word', "two\nlines", "a\r\nb",
    "\ufeff", "\ufeff1", "é", "数", "١", "1\xa0", "#1", "'1'", "0x10", "--1", "1 2", "null", "None",
    " ", "\\", "\\N", "=1+1", "1e", "1\n", "a\tb", "\x0b", ",,,", "+-1", "1__0", "e\u0301", "🙂",
]  # fmt: skip
LABELS = [*NUMBERS, *OTHERS, "01", "02", "A", "B"]
ROWS = 6
NAMES = ["one", "two", "ward"]
# Files are written anew for every example.
few = hypothesis.settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)


def written(rows, delimiter=","):
    """Rows as a CSV file has them; quotes only where they are needed."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerows([NAMES[: len(rows[0])], *rows])
    return out.getvalue()


def in_memory(path):
    return as_matrix(read_table(path)).values


def by_duckdb(source):
    with in_parts(source) as table:
        return table.sample(table.n_samples).values


def in_parts(source, keys=None):
    """Rows in the order of these keys, or in their own; never from memory."""
    noise = SimpleNamespace(keys=lambda: keys)
    table = open_table(source, noise, assume_shuffled=keys is None, whole=False)
    assert not isinstance(table, MemoryTable)
    return table


def csv_file(rows, folder, name="t.csv", mark=""):
    path = folder / name
    delimiter = "\t" if ".tsv" in name else ","
    content = (mark + written(rows, delimiter)).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def two_files(rows, folder):
    """The second one with its columns in another order."""
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    half = len(rows) // 2
    csv_file(rows[:half], parts, "a.csv")
    with (parts / "b.csv").open("w", newline="", encoding="utf-8") as out:
        turned = [NAMES[1::-1], *(row[::-1] for row in rows[half:])]
        csv.writer(out, lineterminator="\n").writerows(turned)
    return parts


def json_lines(rows, folder):
    """Numbers as numbers where JSON has them so, flags as flags, all else as text."""
    path = folder / "t.jsonl"
    lines = (
        ", ".join(f'"{name}": {_token(cell)}' for name, cell in zip(NAMES, row, strict=False))
        for row in rows
    )
    path.write_text("".join(f"{{{line}}}\n" for line in lines), encoding="utf-8")
    return path


def _token(cell):
    plain = re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?|true|false|null", cell)
    return cell if plain else json.dumps(cell)


READERS = {
    "memory": lambda rows, folder: in_memory(csv_file(rows, folder)),
    "memory, with a mark": lambda rows, folder: in_memory(csv_file(rows, folder, mark="\ufeff")),
    "csv": lambda rows, folder: by_duckdb(csv_file(rows, folder)),
    "csv, with a mark": lambda rows, folder: by_duckdb(csv_file(rows, folder, mark="\ufeff")),
    "tsv": lambda rows, folder: by_duckdb(csv_file(rows, folder, "t.tsv")),
    "csv.gz": lambda rows, folder: by_duckdb(csv_file(rows, folder, "t.csv.gz")),
    "two files": lambda rows, folder: by_duckdb(two_files(rows, folder)),
    "json lines": lambda rows, folder: by_duckdb(json_lines(rows, folder)),
}
every_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS)

number = st.sampled_from(NUMBERS) | st.floats(allow_nan=False, allow_infinity=False).map(repr)
anything = number | st.sampled_from(OTHERS) | st.text(st.characters(codec="utf-8"), max_size=9)
good_rows = st.lists(st.tuples(number, number), min_size=ROWS, max_size=ROWS)
places = st.integers(0, ROWS - 1)


def replaced(rows, place, row):
    return [*rows[:place], row, *rows[place + 1 :]]


def outcome(read, rows, folder):
    """Bits of every row, or nothing where a column was refused; never a cell in the message."""
    try:
        values = read(rows, folder)
    except DataError as refusal:
        said = str(refusal)
        assert said.startswith("Column") or "cannot be read" in said
        return None
    assert values.shape == (len(rows), 2)
    return values.view(np.uint64).tolist()


def require_others_as_before(read, rows, place, row, folder):
    """Replace a row, and compare all others; whether the table was read with it."""
    before = outcome(read, rows, folder)
    after = outcome(read, replaced(rows, place, row), folder)
    assert before is not None
    if after is None:
        return False
    del before[place], after[place]
    assert before == after
    return True


@every_reader
@few
@given(rows=good_rows, place=places, row=st.tuples(number, number))
def test_a_row_of_numbers_is_read_whatever_the_others_are(read, rows, place, row, tmp_path):
    assert require_others_as_before(read, rows, place, row, tmp_path)


@every_reader
@few
@given(rows=good_rows, place=places, row=st.tuples(anything, anything))
def test_any_other_row_is_refused_or_changes_nothing(read, rows, place, row, tmp_path):
    require_others_as_before(read, rows, place, row, tmp_path)


@pytest.mark.parametrize("other", ["csv", "tsv", "csv.gz", "two files"])
@few
@given(rows=st.lists(st.tuples(anything, number), min_size=1, max_size=2), good=good_rows)
def test_memory_and_duckdb_give_the_same_numbers_or_refuse_both(other, rows, good, tmp_path):
    rows = [*good, *rows]
    in_memory = outcome(READERS["memory"], rows, tmp_path)
    assert in_memory == outcome(READERS[other], rows, tmp_path)


@pytest.mark.parametrize("cell", [*NUMBERS, *OTHERS])
def test_each_cell_means_the_same_to_every_reader(cell, tmp_path):
    rows = [("1", "2"), (cell, "3"), ("4", "5")]
    found = {name: outcome(read, rows, tmp_path) for name, read in READERS.items()}
    assert all((bits is not None) == (found["memory"] is not None) for bits in found.values())
    if cell in NUMBERS:
        assert found["memory"] is not None
    if cell != "-0":  # JSON has no whole number below zero that is zero
        assert all(bits == found["memory"] for bits in found.values())


@pytest.mark.parametrize("place", [0, 22_000])
@pytest.mark.parametrize("cell", ["true", "0.25", "1_000", "-0", "x", ""])
def test_rows_far_from_each_other_do_not_meet(place, cell, tmp_path):
    """DuckDB would guess from the first 20,480 rows."""
    numbers = np.random.default_rng(0).normal(size=(25_000, 2))
    rows = [tuple(map(repr, row)) for row in numbers.tolist()]
    rows = replaced(rows, place, (cell, "1"))
    found = [outcome(READERS[name], rows, tmp_path) for name in ("memory", "csv", "json lines")]
    if cell in ("x", ""):
        assert found == [None] * 3
        return
    expected = np.delete(numbers, place, axis=0).view(np.uint64).tolist()
    for bits in found:
        del bits[place]
        assert bits == expected


@pytest.mark.parametrize("keys", [None, OrderKeys(b"a secret of thirty-two bytes ...")])
def test_rows_of_flags_keep_their_order(keys, tmp_path):
    """A large file beside small ones, which several threads would finish first."""
    n = 60_000
    cells = [f"{k}.5,true\n" for k in range(n)]
    for k, part in enumerate((cells[:-40], cells[-40:-9], cells[-9:])):
        (tmp_path / f"{k}.csv").write_text("one,two\n" + "".join(part))
    expected = np.column_stack([np.arange(n) + 0.5, np.ones(n)])
    if keys is not None:
        expected = expected[np.argsort(keys.range(n))]
    with in_parts(tmp_path, keys) as table:
        np.testing.assert_array_equal(table.sample(n), expected)


def test_flags_and_numbers_may_stand_in_one_column(tmp_path):
    rows = [("true", "0"), ("0.5", "False"), ("2", " TRUE ")]
    for read in READERS.values():
        np.testing.assert_array_equal(read(rows, tmp_path), [[1, 0], [0.5, 0], [2, 1]])


@pytest.mark.parametrize("cell", ["1", "true", '"3"'])
def test_no_cell_decides_what_the_columns_of_json_are(cell, tmp_path):
    """DuckDB takes a wide row for a map where all of its cells are of one type."""
    wide = ", ".join(f'"c{k}": 0.5' for k in range(300))
    (tmp_path / "t.jsonl").write_text(f'{{{wide}, "last": 2.5}}\n{{{wide}, "last": {cell}}}\n')
    with in_parts(tmp_path / "t.jsonl") as table:
        assert table.n_features == 301
        assert table.sample(2).values[:, 299:].tolist() == [
            [0.5, 2.5],
            [0.5, float(json.loads(cell))],
        ]


# Labels.

label_cells = st.sampled_from(LABELS) | st.text(st.characters(codec="utf-8"), max_size=9)
labels_of_rows = st.lists(label_cells, min_size=ROWS, max_size=ROWS)


def labels_in(path):
    return read_labels(path, "ward")


def labels_kept(labels, folder):
    """Labels of an arrow array, from a Parquet file that holds it."""
    parquet.write_table(pa.table({"ward": labels}), folder / "t.parquet")
    return labels_in(folder / "t.parquet")


@few
@given(labels=labels_of_rows, number_cells=good_rows, mark=st.sampled_from(["", "\ufeff"]))
def test_a_label_in_a_file_is_its_cell_as_it_stands(labels, number_cells, mark, tmp_path):
    rows = [(*cells, label) for cells, label in zip(number_cells, labels, strict=True)]
    assert labels_in(csv_file(rows, tmp_path, mark=mark)) == labels
    columns = dict(zip(NAMES, (np.ones(ROWS), np.ones(ROWS), labels), strict=True))
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert labels_in(tmp_path / "t.parquet") == labels


def test_one_label_that_is_not_utf8_stops_no_other(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"one,two,ward\n1,2,01\n3,4,\xff\xfe\n5,6,02\n")
    labels = labels_in(tmp_path / "t.csv")
    assert labels[::2] == ["01", "02"]
    broken = pa.StringArray.from_buffers(
        3, pa.py_buffer(np.array([0, 2, 3, 5], np.int32)), pa.py_buffer(b"01\xff02")
    )
    parquet.write_table(
        pa.table({"one": [1.0] * 3, "two": [1.0] * 3, "ward": broken}), tmp_path / "t.parquet"
    )
    assert labels_in(tmp_path / "t.parquet")[::2] == ["01", "02"]
    codes, _ = group_codes(broken, ["01", "02"], 3)
    assert codes.tolist() == [0, -1, 1]


def test_one_label_moves_nobody_else_to_another_group(tmp_path):
    """The labels 01 and 02 were whole numbers until somebody's was 9X."""
    rows = [("1", "2", f"0{1 + k % 2}") for k in range(2000)]
    before = labels_in(csv_file(rows, tmp_path))
    for cell in ("9X", "", "NA", "1.5", "True", "2020-01-05"):
        after = labels_in(csv_file(replaced(rows, 7, ("1", "2", cell)), tmp_path))
        assert after[7] == cell
        assert [*after[:7], *after[8:]] == [*before[:7], *before[8:]]
        codes, _ = group_codes(after, ["01", "02"], len(after))
        assert np.bincount(codes + 1).tolist() == [1, 1000, 999]


TYPED = {
    "int": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "float": (pa.float64(), st.floats()),
    "half": (pa.float32(), st.floats(width=32)),
    "bool": (pa.bool_(), st.booleans()),
    "date": (pa.date32(), st.integers(-(2**31), 2**31 - 1)),
    "time stamp": (pa.timestamp("us"), st.integers(-(2**62), 2**62)),
    "decimal": (
        pa.decimal128(38, 10),
        st.decimals(-(10**20), 10**20, places=10, allow_nan=False),
    ),
    "binary": (pa.binary(), st.binary(max_size=5)),
    "text": (pa.string(), label_cells),
    "long text": (pa.large_string(), label_cells),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), label_cells),
    "dictionary of floats": (pa.dictionary(pa.int8(), pa.float64()), st.floats(allow_nan=False)),
}


@pytest.mark.parametrize("kind", TYPED)
@few
@given(data=st.data(), place=places)
def test_labels_of_other_types_speak_for_themselves(kind, data, place, tmp_path):
    type_, cells = TYPED[kind]
    values = data.draw(st.lists(cells | st.none(), min_size=ROWS, max_size=ROWS))
    other = data.draw(cells | st.none())
    found = []
    for column in (values, replaced(values, place, other)):
        found.append(labels_kept(_array(column, type_), tmp_path))
    before, after = found
    assert [label is None for label in before] == [value is None for value in values]
    del before[place], after[place]
    assert before == after
    codes = [
        group_codes(_array(column, type_), ["A", "01", 1, "true"], ROWS)[0].tolist()
        for column in (values, replaced(values, place, other))
    ]
    for each in codes:
        del each[place]
    assert codes[0] == codes[1]


def _array(values, type_):
    if pa.types.is_dictionary(type_):
        return pa.array(values, type_.value_type).dictionary_encode().cast(type_)
    return pa.array(values, type_)


def test_whole_numbers_are_written_so_whatever_their_type(tmp_path):
    for array in (
        pa.array([1.0, -0.0, 1.5]),
        pa.array([decimal.Decimal(text) for text in ("1.00", "0.00", "1.50")]),
    ):
        labels = labels_kept(array, tmp_path)
        assert labels[:2] == ["1", "0"]
        assert labels[2].startswith("1.5")
    assert labels_kept(pa.array([1, 0]), tmp_path) == ["1", "0"]
    assert labels_kept(pa.array([True, None]), tmp_path) == ["true", None]
    assert labels_kept(pa.array([datetime.date(2020, 1, 5)]), tmp_path) == ["2020-01-05"]
    assert label_text(decimal.Decimal("1E+40")) == "1" + 40 * "0"
    for array, kind in ((pa.array([["secret"]]), "list"), (pa.array([{"a": "secret"}]), "struct")):
        with pytest.raises(DataError, match=f"'ward' holds {kind}"):
            labels_kept(array, tmp_path)


# Labels in memory.

OBJECTS = [
    1, 2, 1.0, 2.0, 1.5, True, False, None, math.nan, math.inf, "1", "2", "x", "", b"1", "A",
    np.int8(1), np.float32(2), np.float64("nan"), np.bool_(True), np.str_("A"), 10**400,
    decimal.Decimal("1.0"), decimal.Decimal("sNaN"), datetime.date(2020, 1, 5), (1, 2), [1], {},
    pd.NA, pd.NaT, np.arange(2), frozenset(), complex(1, 0),
]  # fmt: skip
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array of objects": lambda values: _objects(values),
    "pandas": lambda values: pd.Series(_objects(values)),
    "index": lambda values: pd.Index(_objects(values)),
    "polars": lambda values: pl.Series(values, dtype=pl.Object),
}
CATEGORIES = [[1, 2], ["1", "2", "A"], ["A", None], [1.5, "x", math.nan], [True, "x"]]


def _objects(values):
    array = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        array[k] = value
    return array


@pytest.mark.parametrize("wrap", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("categories", CATEGORIES, ids=str)
@given(
    labels=st.lists(st.sampled_from(range(len(OBJECTS))), min_size=ROWS, max_size=ROWS),
    place=places,
    other=st.sampled_from(range(len(OBJECTS))),
)
@hypothesis.settings(max_examples=30, deadline=None)
def test_labels_in_memory_speak_for_themselves(wrap, categories, labels, place, other):
    codes = [
        group_codes(wrap([OBJECTS[k] for k in chosen]), categories, ROWS)[0].tolist()
        for chosen in (labels, replaced(labels, place, other))
    ]
    alone = [group_codes([OBJECTS[k]], categories, 1)[0][0] for k in labels]
    assert codes[0] == alone
    for each in codes:
        del each[place]
    assert codes[0] == codes[1]


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series], ids=["list", "numpy", "pandas"])
@pytest.mark.parametrize("other", [1, "x", None, math.nan, 2.5, True])
def test_a_word_or_a_gap_beside_numbers_moves_nobody(wrap, other):
    """Libraries turn numbers beside a word into words, and beside a gap into fractions."""
    codes, names = group_codes(wrap([1, 2, 1, other]), [1, 2], 4)
    assert codes[:3].tolist() == [0, 1, 0]
    assert codes[3] == (0 if other in (1, True) else -1)
    assert names == ("1", "2")


def test_categories_that_are_equal_are_no_two():
    with pytest.raises(ValueError, match="no name twice"):
        group_codes([1, 2], [1, True], 2)


# Tables of types, which need no spelling.


@few
@given(
    values=st.lists(
        st.decimals(-(10**20), 10**20, places=10, allow_nan=False), min_size=3, max_size=3
    )
)
def test_decimals_are_rounded_once_by_every_reader(values, tmp_path):
    table = pa.table({"one": pa.array(values, pa.decimal128(38, 10))})
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.arrow")
    expected = [[float(value)] for value in values]
    assert in_memory(tmp_path / "t.parquet").tolist() == expected
    for source in (tmp_path / "t.parquet", tmp_path / "t.arrow", table):
        assert by_duckdb(source).tolist() == expected


def test_a_fit_of_a_file_is_that_of_its_numbers(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 2))
    rows = [tuple(map(repr, row)) for row in X.tolist()]
    rows[7] = ("true", " 1_000 ")
    X[7] = [1, 1000]
    exact = {"epsilon": math.inf, "location": [0.0, 0.0], "random_state": 0}
    scatter = DPPCA(1, **exact).fit(X).scatter_
    path = csv_file(rows, tmp_path)
    np.testing.assert_array_equal(DPPCA(1, **exact).fit(read_table(path)).scatter_, scatter)
    np.testing.assert_allclose(DPPCA(1, **exact).fit_stream(path).scatter_, scatter, atol=1e-14)
