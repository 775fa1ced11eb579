"""By a description one cell never changes how another is read, nor what columns there are.

Replace any row by any other: every other row keeps its numbers, and the names of features stay.
"""

import datetime as dt
import decimal
import math

import hypothesis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdppca.tables.description import Column, Description
from gdppca.tables.encode import encode, encode_frame

TEXTS = [
    "", " ", "NA", "1", "1.0", "01", " 1", "1,5", "1.234,5", "-99", "-99,0", "1e5", "nan", "inf",
    "true", "True", "yes", "no", "ja", "nein", "Y", "0", "a", "a ", "A", "b", "2020-01-05", "x\ty",
    "2020-01-05 10:00", "05.01.2020", "31.02.2020", "1e400", "9" * 400, "١", "\ufeff1", "ﬀ", "🙂",
]  # fmt: skip
OTHERS = [
    None, math.nan, math.inf, 0, 1, 1.0, -99, -99.0, 2**70, True, False, decimal.Decimal("1.0"),
    decimal.Decimal("-99"), decimal.Decimal("sNaN"), dt.date(2020, 1, 5), dt.timedelta(1), 1j,
    dt.datetime(2020, 1, 5, 10), dt.datetime(2020, 1, 5, 23, tzinfo=dt.UTC), pd.NaT, pd.NA, b"1",
    b"\xff", np.float32(1), np.int8(1), np.bool_(True), np.datetime64("2020-01-05"), (1,), [1],
]  # fmt: skip
TABLES = {
    "number": Column(name="x", missing=[-99]),
    "yes-no": Column(name="x", type="yes-no"),
    "own words": Column(name="x", type="yes-no", levels=["nein", "ja"]),
    "category": Column(name="x", type="category", levels=["1", "a", "true"], missing=["b"]),
    "date": Column(name="x", type="date", origin="2020-01-01"),
    "written date": Column(name="x", type="date", origin="2020-01-01", format="%d.%m.%Y"),
}
texts = st.sampled_from(TEXTS) | st.text(max_size=8)
cells = texts | st.sampled_from(OTHERS)
floats = st.sampled_from([0.0, -0.0, 1.0, -99.0, 1.5, math.nan, math.inf, 1e300])
many = hypothesis.settings(max_examples=60, deadline=None)


def described(column):
    return Description(columns=(TABLES[column],), decimal=",", thousands=".", missing=["", "NA"])


def require_others_kept(read, rows, place, other):
    """The same numbers in all rows but one."""
    before = read(rows)
    after = read([*rows[:place], other, *rows[place + 1 :]])
    kept = np.arange(len(rows)) != place
    assert before.shape == after.shape
    assert before[kept].tobytes() == after[kept].tobytes()


@st.composite
def replaced(draw, cell, least=1):
    rows = draw(st.lists(cell, min_size=least, max_size=6))
    return rows, draw(st.integers(0, len(rows) - 1)), draw(cell)


@many
@pytest.mark.parametrize("column", TABLES)
@given(case=replaced(cells))
def test_one_cell_of_a_list_changes_no_other(column, case):
    table = described(column)
    require_others_kept(lambda rows: encode({"x": rows}, table), *case)


@many
@pytest.mark.parametrize("column", TABLES)
@given(case=replaced(texts))
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_one_text_of_a_frame_changes_no_other(frame, column, case):
    table = described(column)
    names = {feature.name for feature in table.features}

    def read(rows):
        values, found = encode_frame(frame({"x": rows}), table)
        assert set(found) == names
        return values

    require_others_kept(read, *case)


@many
@pytest.mark.parametrize("column", TABLES)
@given(case=replaced(floats))
def test_arrays_lists_and_frames_of_numbers_mean_the_same(column, case):
    # A library that turns whole numbers with a gap into fractions turns no label into another.
    table = described(column)
    rows, _, _ = case
    by_cell = encode({"x": rows}, table)
    for given_as in (np.array(rows), pl.Series(rows), pd.Series(rows), pa.array(rows)):
        assert encode({"x": given_as}, table).tobytes() == by_cell.tobytes()
    require_others_kept(lambda rows: encode({"x": np.array(rows)}, table), *case)


@many
@pytest.mark.parametrize("column", TABLES)
@given(case=replaced(st.none() | st.sampled_from([0, 1, 2, -99, 2**52])))
def test_a_gap_among_whole_numbers_changes_no_other(column, case):
    table = described(column)
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        require_others_kept(lambda rows: encode_frame(frame({"x": rows}), table)[0], *case)  # noqa: B023
