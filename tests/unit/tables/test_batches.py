"""Answers of DuckDB as arrays of numpy."""

import duckdb
import numpy as np
import pytest

from gdppca.tables.batches import columns_of_floats, stream_of


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


def test_an_array_that_somebody_keeps_keeps_its_memory():
    """A debugger that shows locals looks at numbers, not at what DuckDB has freed."""
    with duckdb.connect() as connection:
        query = "SELECT i::DOUBLE FROM range(200000) t(i)"
        kept = [column for [column] in columns_of_floats(connection.sql(query), 50_000)]
    for _ in range(5):
        np.full(200_000, np.nan)  # would land where something was freed
    np.testing.assert_array_equal(np.concatenate(kept), np.arange(200_000))


def test_gaps_are_nan_at_their_places():
    query = "SELECT if(i % 3 = 0, NULL, i)::DOUBLE, i::DOUBLE FROM range(2500) t(i)"
    with duckdb.connect() as connection:
        found = list(columns_of_floats(connection.sql(query), 1000, gaps=True))
    expected = np.where(np.arange(2500) % 3 == 0, np.nan, np.arange(2500))
    np.testing.assert_array_equal(np.concatenate([first for first, _ in found]), expected)
    np.testing.assert_array_equal(np.concatenate([last for _, last in found]), np.arange(2500))


def test_a_matrix_is_read_again_and_again():
    values = np.random.default_rng(0).normal(size=(3000, 4))
    values[5, 2] = np.nan
    with duckdb.connect() as connection:
        for _ in range(2):
            relation = connection.from_arrow(stream_of(values))
            found = list(columns_of_floats(relation, 1000))
            rows = np.concatenate([np.column_stack(columns) for columns in found])
            np.testing.assert_array_equal(rows, values)
