"""What every engine must do: one suite, on files, on Dask and wherever else rows live.

A table whose rows are unit vectors shows who met whom: entry (i, j) of its pair scatter is not zero
where rows i and j shared a block. The result on other rows must be that of these very blocks in
memory, so the suite needs no look inside an engine, and blocks that depend on values are caught.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse.csgraph import connected_components

from gdppca._errors import ColumnTypeError, DataError
from gdppca.kernels import Blocks, Cross, CrossSum, OneSample, kendall_tau, sign_covariance, silent
from gdppca.noise import seeded_noise
from gdppca.signs import as_sign
from gdppca.tables.base import Recipe, divided
from gdppca.tables.frames import as_matrix

ROWS = 43  # and as many columns
BLOCK = 8
NAMES = [f"test_{k}" for k in range(ROWS)]
SPHERICAL = as_sign("spherical", None, n_features=ROWS)
PAIRS = Recipe(SPHERICAL, ROWS, Blocks(BLOCK))
PARTITIONS = {
    "one": [43],
    "even": [14, 14, 15],
    "uneven": [3, 25, 8, 7],
    "whole blocks": [16, 8, 16, 3],
    "empty": [0, 20, 0, 0, 23, 0],
    "one row each": [1] * 43,
    "one row beside many": [41, 1, 1],
}
SECRET_CELL = "HIV+"


def keys(seed=1):
    return seeded_noise(seed).keys()


def framed(X):
    return pd.DataFrame(X, columns=NAMES)


UNIT_VECTORS = framed(np.eye(ROWS))


@pytest.fixture
def frame(rng):
    """Rows of every size, sorted by a column."""
    X = rng.standard_t(1, size=(ROWS, ROWS)) * 10.0 ** rng.integers(-9, 9, size=(ROWS, 1))
    return framed(X[np.argsort(X[:, 0])])


def scatter(engine, recipe=PAIRS):
    with engine:
        return engine.total(recipe, silent).mean()


def blocks_of(engine):
    """Who met whom: sets of rows, the unfinished one last."""
    met = np.abs(scatter(engine)) > 1e-9
    n_blocks, block = connected_components(met)
    assert all(met[np.ix_(block == k, block == k)].all() for k in range(n_blocks)[:-1])
    blocks = [np.flatnonzero(block == k) for k in range(n_blocks)]
    return sorted(blocks, key=len, reverse=True)


def adjacent_in_a_block(blocks):
    return sum((np.diff(block) == 1).sum() for block in blocks)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_equal_to_memory_on_the_same_blocks(opened, frame, partition):
    lengths = PARTITIONS[partition]
    blocks = blocks_of(opened(UNIT_VECTORS, lengths, keys()))
    assert [len(block) for block in blocks] == [BLOCK] * (ROWS // BLOCK) + [ROWS % BLOCK]
    in_memory = kendall_tau(frame.to_numpy()[np.concatenate(blocks)], pairs=BLOCK)
    np.testing.assert_allclose(
        scatter(opened(frame, lengths, keys())), in_memory, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("partition", ["one", "uneven", "empty"])
def test_equal_to_memory_around_a_centre(opened, frame, partition):
    center, scale = np.linspace(-1, 1, ROWS), np.linspace(0.5, 2, ROWS)
    recipe = Recipe(SPHERICAL, ROWS, Blocks(BLOCK), center=center, scale=scale)
    in_memory = sign_covariance(divided(frame.to_numpy(), scale), center)
    result = scatter(opened(frame, PARTITIONS[partition], keys()), recipe)
    np.testing.assert_allclose(result, in_memory, rtol=0, atol=1e-12)


@pytest.mark.parametrize("partition", ["one", "uneven", "empty"])
def test_what_lies_across_directions_is_that_of_memory(opened, frame, partition, rng):
    center, scale = np.linspace(-1, 1, ROWS), np.linspace(0.5, 2, ROWS)
    directions = np.linalg.qr(rng.standard_normal((ROWS, 2)))[0].T.copy()
    cross = Cross(directions, np.array([0.5, 1.0]), 0.1)
    recipe = Recipe(SPHERICAL, ROWS, OneSample(), center=center, scale=scale, cross=cross)
    in_memory = CrossSum(center, cross).add_rows(divided(frame.to_numpy(), scale)).mean()
    result = scatter(opened(frame, PARTITIONS[partition], keys()), recipe)
    np.testing.assert_allclose(result, in_memory, rtol=0, atol=1e-15)


def test_a_cut_off_sign_is_the_one_of_memory(opened, frame):
    sign = as_sign("winsor", 2.0, n_features=ROWS)
    blocks = blocks_of(opened(UNIT_VECTORS, keys=keys()))
    in_memory = kendall_tau(frame.to_numpy()[np.concatenate(blocks)], sign, pairs=BLOCK)
    result = scatter(opened(frame, keys=keys()), Recipe(sign, ROWS, Blocks(BLOCK)))
    np.testing.assert_allclose(result, in_memory, rtol=0, atol=1e-12)


@pytest.mark.parametrize("partition", ["one", "even"])
def test_the_order_is_random(opened, partition):
    blocks = blocks_of(opened(UNIT_VECTORS, PARTITIONS[partition], keys()))
    assert adjacent_in_a_block(blocks) < 18  # 7 expected; 37 where rows come as they are


def test_the_order_is_that_of_the_keys(opened):
    first, again, other = (scatter(opened(UNIT_VECTORS, keys=keys(seed))) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first != 0, again != 0)
    assert ((first != 0) != (other != 0)).any()


@pytest.mark.parametrize("partition", ["one", "whole blocks", "empty"])
def test_without_keys_rows_come_in_their_order(opened, partition):
    blocks = blocks_of(opened(UNIT_VECTORS, PARTITIONS[partition]))
    leftovers = sum(length % BLOCK > 0 for length in PARTITIONS[partition])
    assert adjacent_in_a_block(blocks) >= ROWS - len(blocks) - leftovers
    np.testing.assert_array_equal(np.sort(np.concatenate(blocks)), np.arange(ROWS))


def test_the_sample_is_random_and_of_about_the_size(opened, frame):
    X = frame.to_numpy()
    with opened(frame, keys=keys()) as engine:
        some, everything = engine.sample(20).values, engine.sample(1000).values
    assert 8 <= len(some) <= 32
    places = {row.tobytes(): place for place, row in enumerate(X)}
    order = [places[row.tobytes()] for row in everything]
    assert sorted(order) == list(range(ROWS))
    assert sum(np.diff(order) == 1) < 10
    np.testing.assert_array_equal(some, everything[: len(some)])


def test_without_keys_the_sample_is_what_comes_first(opened, frame):
    with opened(frame, PARTITIONS["empty"]) as engine:
        np.testing.assert_array_equal(engine.sample(25).values, frame.to_numpy()[:25])
        np.testing.assert_array_equal(engine.sample(1000).values, frame.to_numpy())


@pytest.mark.parametrize("partition", ["one", "empty"])
def test_rows_and_columns_are_counted(opened, frame, partition):
    with opened(frame, PARTITIONS[partition], keys()) as engine:
        assert (engine.n_samples, engine.n_features) == (ROWS, ROWS)
        assert engine.names == tuple(NAMES)


def test_columns_come_in_the_order_that_is_asked_for(opened, frame):
    wanted = ["test_7", "test_2", "test_5"]
    with opened(frame, columns=wanted) as engine:
        assert engine.names == tuple(wanted)
        np.testing.assert_array_equal(engine.sample(ROWS).values, frame[wanted].to_numpy())


def test_a_column_that_is_not_there_is_named(opened, frame):
    with (
        pytest.raises(DataError, match="no column 'shoe_size'"),
        opened(frame, columns=["test_7", "shoe_size"]),
    ):
        pass


def test_numbers_of_every_type_are_those_of_memory(opened):
    count = np.arange(ROWS)
    frame = pd.DataFrame(
        {
            "whole": count * 10**12,
            "small": (count % 100).astype(np.int8),
            "unsigned": count.astype(np.uint32),
            "flag": count % 3 == 0,
            "single": (count / 8).astype(np.float32),
            "double": np.linspace(-1e300, 1e300, ROWS),
        }
    )
    X = as_matrix(frame).values
    centred = Recipe(as_sign("spherical"), 6, Blocks(4), center=np.zeros(6))
    with opened(frame) as engine:
        np.testing.assert_array_equal(engine.sample(ROWS).values, X)
        total = engine.total(centred, silent)
    np.testing.assert_allclose(total.mean(), centred.of(X).mean(), atol=1e-12)


@pytest.mark.parametrize("recipe", ["sample", "total"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_values_are_refused_by_column(opened, frame, recipe, bad):
    frame.loc[ROWS - 1, "test_9"] = bad
    engine = opened(frame, PARTITIONS["uneven"], keys())
    with engine, pytest.raises(DataError, match="'test_9'") as refused:
        engine.sample(ROWS) if recipe == "sample" else engine.total(PAIRS, silent)
    assert "test_8" not in str(refused.value)


@pytest.mark.parametrize("order", [None, keys()], ids=["as it comes", "secret"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_small_sample_refuses_what_is_missing_anywhere(opened, frame, order, bad):
    frame.loc[ROWS - 1, "test_9"] = bad  # the last row of the last partition
    engine = opened(frame, PARTITIONS["uneven"], order)
    with engine, pytest.raises(DataError, match="'test_9'"):
        engine.sample(2)


@pytest.mark.parametrize("row", [0, ROWS - 1])
def test_text_is_refused_by_column_and_never_quoted(opened, frame, row):
    frame["test_9"] = frame["test_9"].astype(object)
    frame.loc[row, "test_9"] = SECRET_CELL
    mixed = frame if row else frame.astype({"test_9": str})
    try:
        engine = opened(mixed, keys=keys())
    except pa.ArrowException:
        pytest.skip("arrow has no such table")
    with pytest.raises((ColumnTypeError, DataError), match="'test_9'") as refused, engine:
        engine.total(PAIRS, silent)
    error = refused.value
    while error is not None:
        assert SECRET_CELL not in str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("recipe", [PAIRS, Recipe(SPHERICAL, ROWS, Blocks(BLOCK), np.zeros(ROWS))])
def test_progress_is_told_in_rows(opened, frame, recipe):
    told = []
    with opened(frame, keys=keys()) as engine:
        engine.total(recipe, lambda done, rows: told.append((done, rows)))
    done = [rows for rows, _ in told]
    assert done == sorted(done)
    assert told[-1] == (ROWS, ROWS)


def test_two_sums_of_one_engine_agree(opened, frame):
    with opened(frame, keys=keys()) as engine:
        first, second = (engine.total(PAIRS, silent).mean() for _ in range(2))
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-14)
