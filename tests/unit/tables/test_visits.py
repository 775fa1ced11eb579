"""Whose rows are, found by DuckDB: exact ids, and rows that stand for persons."""

import duckdb
import numpy as np
import pytest

from gdppca._errors import DataError
from gdppca.noise import OrderKeys
from gdppca.tables import visits as module
from gdppca.tables.described import id_cell
from gdppca.tables.visits import Visits, found_visits

KEYS = OrderKeys(bytes(range(32)))
ALL = 2**64 - 1


@pytest.fixture(autouse=True)
def few_rows_at_once(monkeypatch):
    monkeypatch.setattr(module, "_ROWS", 7)
    monkeypatch.setattr(module, "_ZEROS", 16)


def found(ids, folder, kind="VARCHAR", missing=()):
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE given (id {kind})")
        for each in ids:
            connection.execute("INSERT INTO given VALUES (?)", [each])
        relation = connection.sql(f"SELECT {id_cell('id', kind)} FROM given")
        return found_visits(relation, folder, KEYS, missing)


@pytest.mark.parametrize(
    ("kind", "ids"),
    [
        ("VARCHAR", ["1", "01", "1", "é", "x y", "x", "x" * 400, "x" * 400, "x" * 401]),
        ("BIGINT", [3, -1, 3, 2**62, 2**62 + 1]),
        ("DOUBLE", [1.0, 1.5, 1.0, -0.0, 0.0, 1e300]),
        ("DECIMAL(9, 2)", [1, 1.5, 2.5, 1.5]),
        ("DATE", ["2020-01-01", "2020-01-02", "2020-01-01"]),
    ],
)
def test_persons_are_their_ids(kind, ids, tmp_path):
    visits = found(ids, tmp_path, kind)
    whose = [ids.index(each) for each in ids]
    assert visits.number == len(set(whose))
    assert visits.n_rows == len(ids)
    for place, first in enumerate(whose):
        assert visits.persons[place] == visits.persons[first]
        assert visits.counts[visits.persons[place]] == whose.count(first)
    assert len(set(visits.keys.tolist())) == visits.number
    assert not list(tmp_path.iterdir())  # files without names


def test_blanks_around_an_id_make_nobody_else_of_it(tmp_path):
    assert found(["x", " x", "x\t ", "x x"], tmp_path).counts.tolist() == [3, 1]


@pytest.mark.parametrize("nobody", [None, "", "  ", "nan", "NA"])
def test_nobody_is_refused(nobody, tmp_path):
    with pytest.raises(DataError, match="rows without an id"):
        found(["a", "b", nobody], tmp_path, missing=("NA",))
    assert found(["a", "NA"], tmp_path).number == 2


def test_keys_are_those_of_the_secret_and_the_id(tmp_path):
    one, other = found(["a", "b", "a"], tmp_path), found(["c", "a"], tmp_path)
    assert one.keys[one.persons[0]] == other.keys[other.persons[1]]
    assert len({*one.keys.tolist(), *other.keys.tolist()}) == 3


def test_no_rows_are_nobodys(tmp_path):
    nothing = found([], tmp_path)
    assert (nothing.number, nothing.n_rows) == (0, 0)
    assert len(nothing.chosen(ALL, 4).places) == 0


@pytest.fixture
def many(rng):
    counts = rng.integers(1, 12, size=50)
    persons = rng.permutation(np.repeat(np.arange(50), counts))
    return Visits(persons, counts, KEYS.range(50))


@pytest.mark.parametrize("each", [1, 2, 4])
def test_some_rows_of_each_person_are_chosen(many, each):
    bound = 2**63
    chosen = many.chosen(bound, each)
    there = np.flatnonzero(many.keys <= bound)
    assert (np.diff(chosen.places) > 0).all()
    assert sorted(chosen.positions) == list(range(len(chosen.keys)))
    whose = many.persons[chosen.places]
    np.testing.assert_array_equal(many.keys[whose], chosen.keys[chosen.positions])
    np.testing.assert_array_equal(
        np.bincount(whose, minlength=50)[there], np.minimum(many.counts[there], each)
    )
    assert (chosen.keys[1:] >= chosen.keys[:-1]).all()
    np.testing.assert_array_equal(np.unique(chosen.keys), chosen.keys[chosen.starts])


def test_rows_among_places(many):
    chosen = many.chosen(ALL, 2)
    places, positions = chosen.among(20, 60)
    inside = (chosen.places >= 20) & (chosen.places < 60)
    np.testing.assert_array_equal(places + 20, chosen.places[inside])
    np.testing.assert_array_equal(positions, chosen.positions[inside])


@pytest.mark.parametrize("each", [1, 3])
def test_every_row_is_chosen_as_often_as_any_other(each):
    n, rows = 3000, 5
    visits = Visits(np.tile(np.arange(n), rows), np.full(n, rows), KEYS.range(n))
    chosen = visits.chosen(ALL, each)
    turns = np.bincount(chosen.places // n, minlength=rows)
    assert abs(turns - n * each / rows).max() < 5 * np.sqrt(n)
    first = np.isin(chosen.positions, chosen.starts)
    single = np.bincount(chosen.places[first] // n, minlength=rows)
    assert abs(single - n / rows).max() < 5 * np.sqrt(n / rows)


def test_other_persons_rows_change_no_choice(many):
    """The person of number 3 gets a thousand rows more, which lie before all others."""
    more = np.concatenate([np.full(1000, 3), many.persons])
    counts = many.counts + 1000 * (np.arange(50) == 3)
    one = many.chosen(ALL, 4)
    other = Visits(more, counts, many.keys).chosen(ALL, 4)
    theirs = [
        sorted(
            (int(chosen.keys[position]), int(place) - start)
            for place, position in zip(chosen.places, chosen.positions, strict=True)
            if chosen.keys[position] != many.keys[3]
        )
        for chosen, start in ((one, 0), (other, 1000))
    ]
    assert theirs[0] == theirs[1]
