"""Tables to matrices."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from gdppca import ColumnTypeError, DataError
from gdppca.tables.frames import as_matrix, matrix_of

FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]
every_frame = pytest.mark.parametrize("convert", FRAMES)


@every_frame
def test_numbers_of_every_kind_become_floats(convert):
    matrix = as_matrix(
        convert({"i": [1, 2**60], "f": [0.5, -1e300], "b": [True, False], "u": [0, 2**62]})
    )
    np.testing.assert_array_equal(
        matrix.values, [[1.0, 0.5, 1.0, 0.0], [2.0**60, -1e300, 0.0, 2.0**62]]
    )
    assert matrix.names == ("i", "f", "b", "u")
    assert matrix.values.flags.c_contiguous


def test_decimals_become_floats():
    cells = [decimal.Decimal("1.5"), decimal.Decimal("-2")]
    for frame in (pa.table({"x": cells}), pl.DataFrame({"x": cells}), pd.DataFrame({"x": cells})):
        np.testing.assert_array_equal(as_matrix(frame).values[:, 0], [1.5, -2.0])


def test_nullable_pandas_columns_work_while_nothing_is_missing():
    frame = pd.DataFrame({"x": pd.array([1, 2], dtype="Int64")})
    np.testing.assert_array_equal(as_matrix(frame).values[:, 0], [1.0, 2.0])
    with pytest.raises(DataError, match=r"'x'.*missing"):
        as_matrix(pd.DataFrame({"x": pd.array([1, None], dtype="Int64")}))


def test_pandas_frames_with_numbered_or_mixed_columns_are_read():
    X = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(as_matrix(pd.DataFrame(X)).values, X)
    np.testing.assert_array_equal(as_matrix(pd.DataFrame(X, columns=[1, "a", 2])).values, X)


@every_frame
def test_equal_columns_under_different_names_are_no_error(convert):
    matrix = as_matrix(convert({"a": [0.0, 1.0], "b": [0.0, 1.0], "c": [0.0, 0.0]}))
    np.testing.assert_array_equal(matrix.values, [[0, 0, 0], [1, 1, 0]])


def test_repeated_names_and_masked_arrays_are_refused():
    with pytest.raises(DataError, match="one name"):
        as_matrix(pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]))
    with pytest.raises(DataError, match="one name"):
        as_matrix(pa.table([[1.0], [2.0]], names=["a", "a"]))
    with pytest.raises(DataError, match="Masked"):
        as_matrix(np.ma.masked_greater(np.ones((2, 2)), 0))


@every_frame
@pytest.mark.parametrize(
    "cells", [["a", "b"], [datetime.date(1950, 1, 1), datetime.date(1960, 1, 1)]]
)
def test_other_columns_are_refused_by_name(convert, cells):
    with pytest.raises(ColumnTypeError, match="'bad'") as caught:
        as_matrix(convert({"good": [1.0, 2.0], "bad": cells}))
    assert "1950" not in str(caught.value)


def test_all_bad_columns_are_listed_at_once():
    with pytest.raises(ColumnTypeError, match="'a', 'c'"):
        as_matrix(pl.DataFrame({"a": ["x"], "b": [1], "c": ["y"]}))
    many = pl.DataFrame({f"c{k}": ["x"] for k in range(30)})
    with pytest.raises(ColumnTypeError, match="…"):
        as_matrix(many)


def test_values_that_overflow_a_sum_are_still_finite():
    assert np.isfinite(as_matrix(np.full((4, 2), 1.7e308)).values).all()


def test_huge_integers_beyond_floats_are_refused_without_their_digits():
    with pytest.raises(ColumnTypeError) as caught:
        as_matrix(np.array([[10**400], [1]], dtype=object))
    assert "000" not in str(caught.value)


def test_sparse_and_complex_tables_say_what_to_do():
    with pytest.raises(TypeError, match="toarray"):
        as_matrix(sparse.csr_array(np.eye(3)))
    with pytest.raises(ValueError, match="Complex"):
        as_matrix(np.eye(3) + 0j)


GAPPY = {
    "pandas": lambda: pd.DataFrame({"a": [1.5, None, np.inf], "b": [1, 2, 3]}),
    "pandas, nullable": lambda: pd.DataFrame(
        {"a": pd.array([1.5, None, np.inf], "Float64"), "b": pd.array([1, 2, 3], "Int64")}
    ),
    "polars": lambda: pl.DataFrame({"a": [1.5, None, np.inf], "b": [1, 2, 3]}),
    "arrow": lambda: pa.table({"a": [1.5, None, np.inf], "b": [1, 2, 3]}),
    "numpy": lambda: np.array([[1.5, 1], [np.nan, 2], [-np.inf, 3]]),
    "objects": lambda: np.array([[1.5, 1], [None, 2], ["word", 3]], dtype=object),
    "lists": lambda: [[1.5, 1], [float("nan"), 2], [float("inf"), 3]],
}


@pytest.mark.parametrize("make", GAPPY.values(), ids=GAPPY)
def test_gaps_are_nan_where_they_may_be_and_refused_otherwise(make):
    values = as_matrix(make(), gaps=True).values
    np.testing.assert_array_equal(values, [[1.5, 1], [np.nan, 2], [np.nan, 3]])
    with pytest.raises(DataError, match=r"^Column '(a|0)'"):
        as_matrix(make())


@pytest.mark.parametrize(
    "cells", [[1, None, 3], [True, None, False], [decimal.Decimal("1.5"), None, None]]
)
def test_gaps_beside_whole_numbers_flags_and_decimals(cells):
    expected = [[np.nan if cell is None else float(cell)] for cell in cells]
    for frame in (pl.DataFrame({"a": cells}), pa.table({"a": cells})):
        np.testing.assert_array_equal(as_matrix(frame, gaps=True).values, expected)


def test_refusals_of_gaps_offer_what_takes_them():
    with pytest.raises(DataError, match=r"missing='rates' \(--missing rates\)"):
        as_matrix(pd.DataFrame({"a": [1.0, None]}))
    with pytest.raises(DataError, match=r"'a' of 't.csv': missing values"):
        matrix_of([None], ("a",), where="'t.csv'")
    gaps = matrix_of([np.array([1.0, np.inf, np.nan])], ("a",), gaps=True).values
    np.testing.assert_array_equal(gaps, [[1], [np.nan], [np.nan]])
