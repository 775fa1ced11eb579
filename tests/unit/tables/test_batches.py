"""Answers of DuckDB as arrays of numpy."""

import duckdb
import numpy as np
import pytest

from gdppca import DataError
from gdppca.tables.batches import columns_of_floats
from gdppca.tables.files import read_table


def answer(connection, query, rows=1000):
    return [
        [None if column is None else column.copy() for column in columns]
        for columns in columns_of_floats(connection.sql(query), rows)
    ]


def test_numbers_come_in_their_order_and_in_batches_of_the_size_asked():
    with duckdb.connect() as connection:
        found = answer(connection, "SELECT i::DOUBLE, -i::DOUBLE FROM range(2500) t(i)")
    assert [len(first) for first, _ in found] == [1000, 1000, 500]
    for k, sign in enumerate((1, -1)):
        column = np.concatenate([columns[k] for columns in found])
        np.testing.assert_array_equal(column, sign * np.arange(2500))


def test_a_column_with_missing_cells_is_none_of_numbers():
    with duckdb.connect() as connection:
        [[first, second]] = answer(connection, "SELECT 1e0, NULL::DOUBLE")
        assert answer(connection, "SELECT 1e0 WHERE false") == []
    assert first.tolist() == [1.0]
    assert second is None


def test_a_failure_on_the_way_is_one_and_the_connection_lives_on():
    with duckdb.connect() as connection:
        with pytest.raises(RuntimeError, match="word"):
            answer(
                connection,
                "SELECT CAST(if(i < 300000, '1', 'word') AS DOUBLE) FROM range(300001) t(i)",
            )
        stream = columns_of_floats(connection.sql("SELECT i::DOUBLE FROM range(9999) t(i)"), 10)
        next(stream)
        stream.close()
        [[column]] = answer(connection, "SELECT 2e0")
    assert column.tolist() == [2.0]


def test_no_traceback_keeps_arrays_whose_memory_is_gone(tmp_path):
    """A debugger that shows locals would look at what DuckDB has freed."""
    path = tmp_path / "rows.parquet"
    with duckdb.connect() as connection:
        rows = "SELECT i::DOUBLE AS a, if(i = 7, 'inf', '1')::DOUBLE AS b FROM range(99) t(i)"
        connection.sql(rows).write_parquet(str(path))
    with pytest.raises(DataError, match="NaN or inf") as refused:
        read_table(path)
    kept = [value for entry in refused.traceback for value in entry.frame.f_locals.values()]
    lists = [value for value in kept if isinstance(value, list)]
    arrays = [each for value in lists for each in value if isinstance(each, np.ndarray)]
    assert all(array.flags.owndata for array in arrays)
