"""Queries, lazy frames and batches: the same numbers as from files, and no word of a cell."""

import datetime
import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gdppca import DataError, MissingExtraError, ParameterError
from gdppca.noise import secure_noise
from gdppca.tables.description import Column, Description
from gdppca.tables.gathered import is_gathered
from gdppca.tables.open import open_table
from gdppca.tables.sql import Query

ROWS = [(50.5, "surgery", "2020-01-05"), (None, "medicine", "2020-01-02"), (-99, "word", "soon")]
NAN = np.nan
EXPECTED = [[50.5, 1, 0, 4], [NAN, 0, 1, 1], [NAN, NAN, NAN, NAN]]
DESCRIPTION = Description(
    columns=(
        Column(name="age", missing=("-99",)),
        Column(name="ward", type="category", levels=("surgery", "medicine")),
        Column(name="day", type="date", origin=datetime.date(2020, 1, 1)),
    )
)


def gathered(source, columns=None, description=None, **wishes):
    return open_table(source, secure_noise(), columns=columns, description=description, **wishes)


@pytest.fixture
def address(tmp_path):
    with sqlite3.connect(tmp_path / "visits.db") as database:
        database.execute('CREATE TABLE visits (age, ward, day, "a:b")')
        database.executemany("INSERT INTO visits VALUES (?, ?, ?, 1)", ROWS)
    database.close()
    return f"sqlite:///{tmp_path / 'visits.db'}"


def sources(address):
    frame = pl.DataFrame(ROWS, schema=["age", "ward", "day"], orient="row")
    return {
        "query": lambda: Query(address, "SELECT *, '12:30%' AS noon FROM visits"),
        "lazy": frame.lazy,
        "frames": lambda: iter([frame[:2], frame[2:]]),
        "pandas": lambda: (part for part in (frame[:1].to_pandas(), frame[1:].to_pandas())),
    }


@pytest.mark.parametrize("kind", ["query", "lazy", "frames", "pandas"])
def test_the_same_features_from_every_source_whole_and_in_parts(kind, address):
    make = sources(address)[kind]
    with open_table(make(), secure_noise(), description=DESCRIPTION, gaps=True) as table:
        np.testing.assert_array_equal(table.values, EXPECTED)
        assert table.names == ("age", "ward=surgery", "ward=medicine", "day")
    parts = open_table(
        make(),
        secure_noise(),
        description=DESCRIPTION,
        gaps=True,
        whole=False,
        assume_shuffled=True,
    )
    with parts as table:
        np.testing.assert_array_equal(table.sample(3), EXPECTED)
    with pytest.raises(DataError, match=r"Column 'age' of .*--missing rates") as caught:
        gathered(make(), None, DESCRIPTION)
    assert "50.5" not in str(caught.value)


def test_columns_are_chosen_by_name(address):
    query = Query(address, "SELECT age, 7 AS k, ward FROM visits WHERE age > 0")
    assert gathered(query, ["k", "age"]).values.tolist() == [[7, 50.5]]
    lazy = pl.LazyFrame({"a": [1, 2], "word": ["x", "y"]})
    assert gathered(lazy, ["a"]).values.tolist() == [[1], [2]]
    assert gathered(iter([pd.DataFrame({"a": [1], "b": [2]})]), ["b"]).names == ("b",)
    with pytest.raises(DataError, match="no column 'c'"):
        gathered(lazy, ["c"])
    with pytest.raises(DataError, match="no column 'c'"):
        gathered(query, ["c"])


def test_arrays_come_in_batches_too():
    batches = (np.full((2, 3), float(k)) for k in range(3))
    table = gathered(batches)
    assert table.values.shape == (6, 3)
    with pytest.raises(DataError, match="once only"):
        gathered(batches)
    with pytest.raises(DataError, match="same columns"):
        gathered(iter([np.ones((2, 3)), np.ones((2, 2))]))
    with pytest.raises(DataError, match="same columns"):
        gathered(iter([pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})]))
    assert not is_gathered([1, 2])
    assert not is_gathered(np.ones((2, 2)))


def test_an_open_file_is_no_batch(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with (tmp_path / "t.csv").open() as file, pytest.raises(DataError, match="Give its name"):
        open_table(file, secure_noise())


@pytest.mark.parametrize(
    "statement", ["SELEKT secret", "SELECT nothing FROM visits", "CREATE TABLE t (a)"]
)
def test_a_question_that_fails_quotes_neither_cells_nor_the_database(statement, address):
    with pytest.raises(DataError, match="failed") as caught:
        gathered(Query(address, statement))
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_passwords_are_hidden_and_files_are_not_made(tmp_path):
    query = Query("postgresql+psycopg://me:secret@127.0.0.1:9/db", "SELECT 1 AS a")
    assert "secret" not in repr(query)
    with pytest.raises((DataError, MissingExtraError)) as caught:
        gathered(query)
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match="no file"):
        gathered(Query(f"sqlite:///{tmp_path / 'none.db'}", "SELECT 1 AS a"))
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(MissingExtraError, match="driver"):
        gathered(Query("mysql+pymysql://host/db", "SELECT 1 AS a"))
    for words in (("visits.db", "SELECT 1"), ("sqlite:///visits.db", " "), (1, "SELECT 1")):
        with pytest.raises(ParameterError):
            Query(*words)


def test_a_lazy_step_that_fails_quotes_no_cell():
    lazy = pl.LazyFrame({"a": ["HIV+"]}).select(pl.col("a").cast(pl.Float64, strict=True))
    with pytest.raises(DataError, match="cannot be collected") as caught:
        gathered(lazy)
    assert "HIV" not in str(caught.value)
    assert caught.value.__context__ is None


def test_two_columns_of_one_name_are_refused(address):
    with pytest.raises(DataError, match="several columns named 'age'"):
        gathered(Query(address, "SELECT age, age FROM visits"))


@pytest.mark.parametrize("kind", ["query", "lazy", "frames", "pandas"])
def test_whose_rows_they_are_and_what_they_count_comes_along(kind, address):
    frame = pl.DataFrame(
        {"p": ["a", "b", "a"], "w": [1.0, 2.0, 5.0], "x": [1.0, 2.0, 3.0], "y": [0.0, 1.0, 0.0]}
    )
    with sqlite3.connect(address.removeprefix("sqlite:///")) as database:
        database.execute("CREATE TABLE long (p, w, x, y)")
        database.executemany("INSERT INTO long VALUES (?, ?, ?, ?)", frame.rows())
    database.close()
    source = {
        "query": Query(address, "SELECT * FROM long"),
        "lazy": frame.lazy(),
        "frames": iter([frame[:2], frame[2:]]),
        "pandas": iter([frame.to_pandas()]),
    }[kind]
    table = gathered(source, persons="p", weights="w", largest_weight=4.0)
    assert table.names == ("x", "y")
    assert table.n_samples == 2
    assert table.sample(2).parts.tolist() == [2**30 // 8, 2**30 // 2, 2**30 // 2]
