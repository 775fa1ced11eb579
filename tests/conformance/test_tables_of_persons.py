"""Persons with several rows, weights, gaps and descriptions: the same on every engine.

Tables in memory are what engines are compared with. Neighbours differ in all rows of one person;
with the same secret keys nothing of anybody else may change.
"""

import itertools

import numpy as np
import pandas as pd
import pytest

from gdppca._errors import DataError, ParameterError
from gdppca.kernels import Blocks, Cross, OneSample, silent
from gdppca.kernels.weights import WHOLE
from gdppca.noise import seeded_noise
from gdppca.signs import as_sign
from gdppca.tables.base import Recipe
from gdppca.tables.description import Description
from gdppca.tables.open import open_table

D = 3
NAMES = ["a", "b", "c"]
VISITS = [1, 7, 2, 1, 30, 4, 3, 1, 5, 12, 2, 9]  # of each person
PERSONS = len(VISITS)
LENGTHS = [20, 0, 31, 1, 25]
CENTER, SCALE = np.array([0.5, -1.0, 2.0]), np.array([1.0, 2.0, 0.5])
SIGN = as_sign("spherical", None, n_features=D)
CENTRED = Recipe(SIGN, D, Blocks(4), center=CENTER, scale=SCALE)
PAIRS = Recipe(SIGN, D, Blocks(4))


def keys(seed=1):
    return seeded_noise(seed).keys()


@pytest.fixture
def visits(rng):
    """Rows of persons in a mixed order; whose they are stands between the columns."""
    who = rng.permutation(np.repeat(np.arange(PERSONS), VISITS))
    frame = pd.DataFrame(rng.standard_t(2, size=(len(who), D)), columns=NAMES)
    frame.insert(1, "patient", [f"P{k:02}" for k in who])
    frame["w"] = rng.uniform(0, 5, size=len(who))
    return frame


def in_memory(frame, recipe=CENTRED, **wishes):
    with open_table(frame, seeded_noise(1), **wishes) as table:
        return table.total(recipe, silent).mean()


def total(engine, recipe=CENTRED):
    with engine:
        return engine.total(recipe, silent).mean()


def cells(frame):
    return frame[NAMES].to_numpy()


def rows_by_person(frame):
    """Whose each row is, by its bytes."""
    who = zip(cells(frame), frame["patient"], strict=True)
    return {row.tobytes(): patient for row, patient in who}


def test_sums_are_those_of_memory(opened, visits):
    features = visits.drop(columns="w")
    result = total(opened(features, LENGTHS, keys(), persons="patient"))
    expected = in_memory(features, persons="patient")
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)
    assert np.trace(result) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_lies_across_directions_is_that_of_memory(opened, visits, weighted):
    cross = Cross(np.eye(D)[:2].copy(), np.array([0.5, 1.0]), 0.1)
    recipe = Recipe(SIGN, D, OneSample(), center=CENTER, scale=SCALE, cross=cross)
    wish = {"persons": "patient"} | ({"weights": "w", "largest_weight": 2.0} if weighted else {})
    features = visits if weighted else visits.drop(columns="w")
    result = total(opened(features, LENGTHS, keys(), **wish), recipe)
    expected = in_memory(features, recipe, **wish)
    assert result.shape == (D, 2)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-15)


def test_persons_are_counted_and_rows_are_not_told(opened, visits):
    told = []
    with opened(visits, LENGTHS, keys(), persons="patient", columns=NAMES) as engine:
        assert (engine.n_samples, engine.n_features) == (PERSONS, D)
        assert engine.names == tuple(NAMES)
        assert engine.unit == "person"
        engine.total(CENTRED, lambda done, rows: told.append((done, rows)))
    assert told[-1] == (PERSONS, PERSONS)
    assert max(map(max, told)) == PERSONS


def test_where_rows_lie_does_not_matter(opened, visits):
    wish = {"persons": "patient", "columns": NAMES}
    sorted_by_person = visits.sort_values("patient")
    one, other = (
        total(opened(table, lengths, keys(), **wish))
        for table, lengths in ((visits, [77]), (sorted_by_person, [3, 40, 34]))
    )
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)


def test_a_sample_is_one_of_persons(opened, visits):
    of = rows_by_person(visits)
    number = dict(zip(visits["patient"].unique(), itertools.repeat(0)))
    with opened(visits, LENGTHS, keys(), persons="patient", columns=NAMES) as engine:
        everybody, some = engine.sample(1000), engine.sample(6)
    assert everybody.number == PERSONS
    assert 1 <= some.number < PERSONS
    for sample in (everybody, some):
        who = [of[row.tobytes()] for row in sample.values]
        for patient in who:
            number[patient] = who.count(patient)
        expected = [min(4, int((visits["patient"] == patient).sum())) for patient in who]
        assert [number[patient] for patient in who] == expected
        np.testing.assert_array_equal(sample.parts, [WHOLE // n for n in expected])
        assert [of[row.tobytes()] for row in sample.single] == list(dict.fromkeys(who))
        assert len(np.unique(sample.keys)) == sample.number == len(sample.one_each)
        assert (np.diff(sample.keys.astype(float)) >= 0).all()
    np.testing.assert_array_equal(some.values, everybody.values[: len(some.values)])


def test_rows_of_a_person_are_chosen_at_random(opened, visits):
    of, heavy = rows_by_person(visits), "P04"
    places = {row.tobytes(): k for k, row in enumerate(cells(visits[visits["patient"] == heavy]))}
    first = []
    for seed in range(8):
        with opened(visits, [77], keys(seed), persons="patient", columns=NAMES) as engine:
            single = engine.sample(1000).single
        [mine] = [row.tobytes() for row in single if of[row.tobytes()] == heavy]
        first.append(places[mine])
    assert len(set(first)) > 3  # of 30 rows


def neighbour(visits, rows):
    """The same with other rows of one person, so many, which lie before all others."""
    rng = np.random.default_rng(9)
    others = visits[visits["patient"] != "P05"]
    mine = pd.DataFrame(rng.normal(size=(rows, D)), columns=NAMES).assign(patient="P05")
    return pd.concat([mine, others], ignore_index=True)[["a", "patient", "b", "c"]]


@pytest.mark.parametrize("rows", [1, 1000])
def test_nobody_else_moves_where_one_person_changes(opened, visits, rows):
    tables = visits.drop(columns="w"), neighbour(visits, rows)
    found = []
    for table in tables:
        n = len(table)
        with opened(table, [n // 3, n - n // 3], keys(), persons="patient") as engine:
            sample = engine.sample(1000)
            found.append((sample, engine.total(CENTRED, silent).mean()))
    (before, sum_before), (after, sum_after) = found
    np.testing.assert_array_equal(np.unique(before.keys), np.unique(after.keys))
    mine = keys_of_person(before, tables[0])
    theirs = [sample.keys != mine for sample in (before, after)]
    for what in ("values", "parts", "keys"):
        one, other = (
            getattr(sample, what)[there]
            for sample, there in zip((before, after), theirs, strict=True)
        )
        np.testing.assert_array_equal(one, other)
    single = [~np.isin(sample.keys[sample.one_each], mine) for sample in (before, after)]
    np.testing.assert_array_equal(before.single[single[0]], after.single[single[1]])
    moved = np.linalg.norm(sum_before - sum_after)
    assert 0 < moved <= np.sqrt(2) / PERSONS + 1e-8


def keys_of_person(sample, table):
    rows = {row.tobytes() for row in cells(table[table["patient"] == "P05"])}
    [key] = {
        key for key, row in zip(sample.keys, sample.values, strict=True) if row.tobytes() in rows
    }
    return key


@pytest.mark.parametrize("rows", [1, 1000])
def test_pairs_are_of_one_row_each(opened, visits, rows):
    """Constant rows: only who meets whom shows, and that is the same."""
    tables = []
    for table in (visits.drop(columns="w"), neighbour(visits, rows)):
        who = np.array([int(name[1:]) for name in table["patient"]])
        tables.append(table.assign(a=np.cos(who), b=np.sin(who), c=who % 3))
    one, other = (
        total(opened(table, [20, len(table) - 20], keys(), persons="patient"), PAIRS)
        for table in tables
    )
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert np.trace(one) == pytest.approx(1.0)


def test_weights_are_those_of_memory(opened, visits):
    for wish in ({}, {"persons": "patient"}):
        table = visits if wish else visits.drop(columns="patient")
        wish = {"weights": "w", "largest_weight": 2.0, **wish}
        engine = opened(table, LENGTHS, keys(), **wish)
        with engine:
            assert engine.weighted
            sample, result = engine.sample(1000), engine.total(CENTRED, silent).mean()
        np.testing.assert_allclose(result, in_memory(table, **wish), rtol=0, atol=1e-12)
        assert 0 < sample.parts.sum() <= sample.number * WHOLE
        assert (sample.parts < WHOLE).any()


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("way", ["sample", "total"])
def test_impossible_weights_are_refused(opened, visits, bad, way):
    visits.loc[70, "w"] = bad
    wish = {"weights": "w", "largest_weight": 2.0, "persons": "patient", "gaps": True}
    with (
        pytest.raises(DataError, match=r"^`weights`.* must be finite"),
        opened(visits, LENGTHS, keys(), **wish) as engine,
    ):
        engine.sample(2) if way == "sample" else engine.total(CENTRED, silent)


@pytest.mark.parametrize("kind", ["text", "number"])
def test_a_row_without_an_id_is_refused(opened, visits, kind):
    if kind == "number":
        visits["patient"] = [float(name[1:]) for name in visits["patient"]]
    visits.loc[60, "patient"] = None if kind == "text" else np.nan
    with (
        pytest.raises(DataError, match="rows without an id") as refused,
        opened(visits, LENGTHS, keys(), persons="patient", columns=NAMES),
    ):
        pass
    assert "60" not in str(refused.value)
    assert "P0" not in str(refused.value)


def test_whole_numbers_are_one_id_however_they_are_kept(opened, visits):
    numbers = visits.assign(patient=[int(name[1:]) for name in visits["patient"]])
    wish = {"persons": "patient", "columns": NAMES}
    one, other = (
        total(opened(table, LENGTHS, keys(), **wish))
        for table in (numbers, numbers.astype({"patient": float}))
    )
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)


def test_texts_are_ids_as_they_stand(opened, visits):
    table = visits.assign(patient=np.where(np.arange(len(visits)) % 2, "01", "1"))
    try:
        engine = opened(table, LENGTHS, keys(), persons="patient", columns=NAMES)
    except Exception:
        raise
    with engine:
        assert engine.n_samples == 2


def test_missing_cells_stay_missing(opened, visits, rng):
    table = visits.drop(columns="w")
    table[NAMES] = table[NAMES].mask(rng.random((len(table), D)) < 0.3)
    wish = {"persons": "patient", "gaps": True}
    with opened(table, LENGTHS, keys(), **wish) as engine:
        assert engine.gaps
        sample, result = engine.sample(1000), engine.total(CENTRED, silent).mean()
    assert np.isnan(sample.values).any()
    np.testing.assert_allclose(result, in_memory(table, **wish), rtol=0, atol=1e-12)
    with (
        pytest.raises(DataError, match="missing='rates'"),
        opened(table, LENGTHS, keys(), persons="patient") as engine,
    ):
        engine.total(CENTRED, silent)


TOLD = Description.from_dict(
    {
        "table": {"person": "patient", "weight": "w", "largest_weight": 2.0, "missing": ["NA"]},
        "columns": {
            "b": {"missing": [-99]},
            "ward": {"type": "category", "levels": ["surgery", "icu"]},
            "ill": {"type": "yes-no", "levels": ["no", "yes"]},
        },
    }
)


@pytest.mark.parametrize("gaps", [True, False])
def test_a_description_says_what_cells_mean(opened, visits, rng, gaps):
    words = ["surgery", "icu", "nowhere", "NA"][: 4 if gaps else 2]
    table = visits.assign(
        ward=rng.choice(words, len(visits)), ill=rng.choice(["yes", "no"], len(visits))
    )
    if gaps:
        table.loc[::5, "b"] = -99.0
    recipe = Recipe(as_sign("spherical", None, n_features=4), 4, Blocks(4), center=np.full(4, 0.5))
    with opened(table, LENGTHS, keys(), description=TOLD, gaps=gaps) as engine:
        assert engine.names == ("b", "ward=surgery", "ward=icu", "ill")
        assert engine.description == TOLD
        sample, result = engine.sample(1000), engine.total(recipe, silent).mean()
    assert np.isnan(sample.values).any() == gaps
    expected = in_memory(table, recipe, description=TOLD, gaps=gaps)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


def test_keys_choose_the_rows_of_a_sample(opened, visits):
    with opened(visits[NAMES], LENGTHS, keys()) as engine:
        sample = engine.sample(30)
    kept = sample.standing_for(77.0, 10)
    assert kept.number == pytest.approx(10)
    assert len(np.unique(sample.keys)) == len(sample.values)
    np.testing.assert_array_equal(kept.values, sample.values[: len(kept.values)])
    assert 0 < len(kept.values) < len(sample.values)


def test_ids_that_are_no_column_are_refused(opened, visits):
    with pytest.raises(ParameterError, match="`persons` must be the name of a column"):
        opened(visits[NAMES], LENGTHS, keys(), persons=list(visits["patient"]))
    with (
        pytest.raises(ParameterError, match="no column 'nobody'"),
        opened(visits, LENGTHS, keys(), persons="nobody"),
    ):
        pass
    with pytest.raises(ParameterError, match="leave it out"):
        opened(visits, LENGTHS, None, persons="patient")
