"""Cells to numbers: every rule, for text and for types, in memory of every kind."""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gdppca import DataError, DescriptionError
from gdppca.tables.description import Column, Description
from gdppca.tables.encode import encode, encode_frame

NAN = math.nan
DAY = dt.date(2020, 1, 1)


def read(cells, *, table=None, **column):
    """The features of one column."""
    described = Description(columns=(Column(name="x", **column),), **(table or {}))
    return encode({"x": cells}, described)


def same(found, expected):
    np.testing.assert_array_equal(np.asarray(found).ravel(), np.asarray(expected, float))


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1", 1), (" 2.5\t", 2.5), ("+3", 3), ("-.5", -0.5), ("7.", 7), ("1e3", 1000),
        ("1E-2", 0.01), ("true", 1), ("FALSE", 0), ("True", 1), ("007", 7), (True, 1), (2, 2),
        (Decimal("1.5"), 1.5), (Fraction(1, 4), 0.25), (np.float32(0.5), 0.5), (np.int8(3), 3),
        (np.bool_(True), 1), (b"4", 4), ("-0", 0),
        ("", NAN), ("nan", NAN), ("inf", NAN), ("-Infinity", NAN), ("1e400", NAN), ("tRuE", NAN),
        ("yes", NAN), ("1,5", NAN), ("1_000", NAN), ("1 2", NAN), ("1\n", NAN), ("١", NAN),
        ("1\xa0", NAN), ("0x10", NAN), (".", NAN), ("1e", NAN), ("--1", NAN), (None, NAN),
        (NAN, NAN), (math.inf, NAN), (pd.NA, NAN), (pd.NaT, NAN), (Decimal("sNaN"), NAN),
        (Decimal("Infinity"), NAN), (10**400, NAN), (1j, NAN), ([1], NAN), (np.ones(2), NAN),
        (dt.date(2020, 1, 1), NAN), (np.datetime64(3, "ns"), NAN), (np.timedelta64(3, "ns"), NAN),
        (dt.timedelta(3), NAN),
    ],
)  # fmt: skip
def test_numbers(cell, number):
    same(read([cell]), [number])


def test_numbers_with_signs_of_their_own():
    german = {"decimal": ",", "thousands": "."}
    same(read(["1.234,5", "1.5", ",5", "1.234.567", 1.5], table=german),
         [1234.5, 15, 0.5, 1234567, 1.5])  # fmt: skip
    same(read(["1'234.5", "1.5"], table={"thousands": "'"}), [1234.5, 1.5])
    same(read(["1 234,5", " 1,5 "], table={"decimal": ",", "thousands": " "}), [1234.5, 1.5])
    same(read(["1.5"], table={"decimal": ","}), [1.5])  # no thousands: nothing else it could be


@pytest.mark.parametrize("cells", [
    ["-99", " -99 ", "-99.0", "-9.9e1", "NA", " NA", "", "na", "-98", "-99x"],
    [-99, -99.0, Decimal(-99), np.int16(-99), "NA", "-099", None, "na", "-98", "x"],
])  # fmt: skip
def test_codes_are_compared_as_texts_and_as_numbers(cells):
    found = read(cells, missing=[-99], table={"missing": ["", "NA"]})
    same(found, [NAN] * 7 + [NAN, -98, NAN])


@pytest.mark.parametrize("kind", [float, np.float32, np.int64, np.int8, object])
def test_codes_in_columns_of_numbers(kind):
    same(read(np.array([1, -99, 3], kind), missing=["-99.0"]), [1, NAN, 3])


def test_codes_are_read_as_the_file_writes_numbers():
    table = {"decimal": ",", "thousands": ".", "missing": ["1.50", "2,5"]}
    for cells in ([150.0, 1.5, 2.5, 3.0], np.array([150.0, 1.5, 2.5, 3.0])):
        same(read(cells, table=table), [NAN, 1.5, NAN, 3])
    same(read(["150", "1.50", "2,5", "1,5"], table=table), [NAN, NAN, NAN, 1.5])


def test_a_word_for_true_is_no_code_of_one():
    same(read(["true", "1", True], missing=["1"]), [1, NAN, NAN])


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["yes", "Y", "TRUE", "t", "1", " no ", "N", "False", "f", "0"], [1] * 5 + [0] * 5),
        (["ja", "2", "1.5", "", None, "yess"], [NAN] * 6),
        (["1.0", "0.00", "1,0", "10.0", "1.", "-0.0"], [1, 0, 1, NAN, NAN, NAN]),
        ([True, False, 1, 0.0, 1.0, 2, -1, 0.5, Decimal(1)], [1, 0, 1, 0, 1, NAN, NAN, NAN, 1]),
        (np.array([True, False]), [1, 0]),
        (np.array([1.0, 0.0, NAN, 2.0]), [1, 0, NAN, NAN]),
    ],
)  # fmt: skip
def test_yes_and_no(cells, expected):
    same(read(cells, type="yes-no"), expected)


def test_yes_and_no_in_words_of_their_own():
    cells = ["nein", " ja ", "Ja", "yes", "1", None, True, False]
    same(read(cells, type="yes-no", levels=["nein", "ja"]), [0, 1] + [NAN] * 4 + [1, 0])
    coded = np.array([1.0, 2.0, 3.0, NAN])
    for cells in (coded, coded.tolist(), ["1", "2", "3", None]):
        same(read(cells, type="yes-no", levels=[1, 2]), [0, 1, NAN, NAN])


def test_categories_are_indicators():
    found = read(["a", " b\t", "c", "", None, "A"], type="category", levels=["a", "b"])
    expected = [[1, 0], [0, 1], *[[NAN, NAN]] * 4]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("cells", [
    [1, 2.0, Decimal("3.0"), "1", "1.0", "01", True],
    [np.int8(1), np.float32(2), 3, b"1", 1.5, "x", pd.NA],
])  # fmt: skip
def test_labels_are_read_one_by_one(cells):
    # 1, 1.0 and True are one key of a dict, and not one label.
    found = read(cells, type="category", levels=["1", "2", "3"])
    np.testing.assert_array_equal(found[:4], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert np.isnan(found[4:]).all()


def test_flags_are_labels_as_files_write_them():
    for cells in ([True, False], np.array([True, False]), ["true", "false"]):
        found = read(cells, type="category", levels=["true", "false"])
        np.testing.assert_array_equal(found, np.eye(2))


@pytest.mark.parametrize(
    ("cell", "days"),
    [
        ("2020-01-03", 2), (" 2019-12-31 ", -1), ("2020-01-03T23:59:59Z", 2),
        ("2020-01-03 12:00", 2), (dt.date(2020, 2, 1), 31), (dt.datetime(2020, 1, 2, 23), 1),
        (pd.Timestamp("2020-01-02 10:00"), 1), (np.datetime64("2020-01-02"), 1),
        (np.datetime64("2020-01-02T23:00", "ns"), 1), (np.datetime64("2020-01-02T23:00", "h"), 1),
        (dt.datetime(2020, 1, 2, 23, tzinfo=dt.timezone(dt.timedelta(hours=-5))), 2),
        ("2020-13-01", NAN), ("2020-1-3", NAN), ("03.01.2020", NAN), ("20200103", NAN), ("", NAN),
        (None, NAN), (pd.NaT, NAN), (np.datetime64("NaT"), NAN), (3, NAN), ("٢٠٢٠-٠١-٠١", NAN),
    ],
)  # fmt: skip
def test_dates(cell, days):
    same(read([cell], type="date", origin=DAY), [days])


def test_dates_by_a_format():
    cells = ["31.01.2020", "1.2.2020", "2020-01-31", "31.02.2020", "٣١.٠١.٢٠٢٠", DAY, ""]
    same(read(cells, type="date", origin=DAY, format="%d.%m.%Y"), [30, 31, NAN, NAN, NAN, 0, NAN])
    few = ["31.01.79", "1.1.220", "31.01.20200", "+1.1.2020", "1. 1.2020", "31.01.2020 10:00"]
    same(read(few, type="date", origin=DAY, format="%d.%m.%Y"), [NAN] * 6)
    same(read(["202012", "2020112"], type="date", origin=DAY, format="%Y%m%d"), [NAN] * 2)
    named = ["1 March 2020 at 10 pm", "01 march 2020 at 9 AM", "1 Mar 2020 at 10 pm"]
    same(read(named, type="date", origin=DAY, format="%d %B %Y at %I %p"), [60, 60, NAN])
    numbers = [20200102, np.int32(20200102), "20200102"]
    same(read(numbers, type="date", origin=DAY, format="%Y%m%d"), [1, 1, 1])


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_arrays_of_days(unit):
    days = np.array(["2020-01-03", "1969-07-20", "NaT"], f"M8[{unit}]")
    expected = [2, (dt.date(1969, 7, 20) - DAY).days, NAN]
    same(read(days, type="date", origin=DAY), expected)
    written = "1969-07-20" if unit == "D" else "1969-07-20 00:00:00"
    same(read(days, type="date", origin=DAY, missing=[written]), [2, NAN, NAN])
    assert np.isnan(read(days)).all()


# --- Frames ---------------------------------------------------------------------------------------

TABLE = Description(
    columns=(
        Column(name="age", missing=[-99]),
        Column(name="ill", type="yes-no"),
        Column(name="ward", type="category", levels=["s", "m"]),
        Column(name="day", type="date", origin=DAY),
        Column(name="at", type="date", origin=DAY),
    )
)
CELLS = {
    "name": ["x", "y", "z"],
    "at": [
        dt.datetime(2020, 1, 1, 23, tzinfo=dt.UTC), None, dt.datetime(2020, 1, 4, tzinfo=dt.UTC),
    ],
    "day": [dt.date(2020, 1, 2), None, dt.date(2019, 12, 31)],
    "ward": ["m", None, "other"],
    "ill": [True, None, False],
    "age": [50, None, -99],
}  # fmt: skip
EXPECTED = [[50, 1, 0, 1, 1, 0], [NAN] * 6, [NAN, 0, NAN, NAN, -1, 3]]


def frames():
    arrow = pa.table(CELLS)
    yield "arrow", arrow
    yield "polars", pl.DataFrame(CELLS)
    yield (
        "polars, categorical",
        pl.DataFrame(CELLS).with_columns(pl.col("ward").cast(pl.Categorical)),
    )
    yield (
        "polars, zone",
        pl.DataFrame(CELLS).with_columns(pl.col("at").dt.convert_time_zone("Asia/Tokyo")),
    )
    yield "pandas", pd.DataFrame(CELLS)
    yield "pandas, objects", pd.DataFrame(CELLS, dtype=object)
    yield "pandas, nullable", pd.DataFrame(CELLS).convert_dtypes()
    yield "pandas, arrow", arrow.to_pandas(types_mapper=pd.ArrowDtype)
    yield "pandas, categorical", pd.DataFrame(CELLS).astype({"ward": "category", "ill": "category"})
    yield (
        "pandas, zone",
        pd.DataFrame(CELLS).assign(
            at=lambda frame: pd.to_datetime(frame["at"]).dt.tz_convert("Asia/Tokyo")
        ),
    )


@pytest.mark.parametrize("frame", [pytest.param(frame, id=kind) for kind, frame in frames()])
def test_frames_mean_the_same(frame):
    values, names = encode_frame(frame, TABLE)
    assert names == ("age", "ill", "ward=s", "ward=m", "day", "at")
    np.testing.assert_array_equal(values, EXPECTED)
    assert values.flags.c_contiguous


def test_columns_of_every_library_are_taken_by_name():
    given = {
        "age": pa.array(CELLS["age"]),
        "ill": pl.Series(CELLS["ill"]),
        "ward": pd.Series(CELLS["ward"]),
        "day": tuple(CELLS["day"]),
        "at": np.array(CELLS["at"], object),
    }
    np.testing.assert_array_equal(encode(given, TABLE), EXPECTED)
    hidden = np.ma.MaskedArray([50, 7, 7], [False, True, True])
    np.testing.assert_array_equal(encode(given | {"age": hidden}, TABLE), EXPECTED)


def test_whole_numbers_of_every_width_are_kept():
    for kind in (pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2)):
        frame = pl.DataFrame({"x": [1, None, 3]}, schema={"x": kind})
        same(encode_frame(frame, Description(columns=(Column(name="x"),)))[0], [1, NAN, 3])


def test_columns_that_are_lacking_are_named():
    table = Description(columns=(Column(name="age"), Column(name="pulse")))
    for use in (lambda: encode({"age": [1]}, table),
                lambda: encode_frame(pd.DataFrame({"age": [1]}), table)):  # fmt: skip
        with pytest.raises(DataError, match="no column 'pulse', which the description names"):
            use()


def test_tables_that_are_none_are_refused():
    table = Description(columns=(Column(name="a"), Column(name="b")))
    with pytest.raises(DataError, match="give a frame or a file, got ndarray"):
        encode_frame(np.ones((2, 2)), table)
    with pytest.raises(DataError, match="Column 'b' has another length"):
        encode({"a": [1], "b": [1, 2]}, table)
    with pytest.raises(DataError, match="Column 'a' must be one cell after the other"):
        encode({"a": np.ones((2, 2)), "b": [1, 2]}, table)
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "b"])
    with pytest.raises(DataError, match="Several columns have one name"):
        encode_frame(twice, table)


def test_templates_are_not_used_before_they_are_filled_in():
    table = Description(columns=(Column(name="a", type="date"),))
    with pytest.raises(DescriptionError, match="`origin`"):
        encode({"a": [DAY]}, table)


def test_no_rows_are_no_rows():
    values, names = encode_frame(pd.DataFrame(CELLS).iloc[:0], TABLE)
    assert values.shape == (0, len(names))


def test_names_that_are_numbers_are_texts():
    values, names = encode_frame(pd.DataFrame({0: [1.5]}), Description(columns=(Column(name="0"),)))
    assert names == ("0",)
    same(values, [1.5])
