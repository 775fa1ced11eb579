"""Spark: what its workers do, and whole sums on a real local session, classic and Connect.

What every engine must do is in tests/conformance.
"""

import math
import os
import pickle
import signal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import spark as local

from gdppca import DPPCA
from gdppca._errors import ColumnTypeError, DataError, EngineError
from gdppca.kernels import Blocks, silent
from gdppca.noise import OrderKeys
from gdppca.signs import as_sign
from gdppca.tables import spark, spark_tasks
from gdppca.tables.base import Places, Recipe, merged
from gdppca.tables.part_reader import PartReader
from gdppca.tables.spark import SparkEngine, bucket_count
from gdppca.tables.spark_tasks import bucket_of
from gdppca.tables.wishes import Wishes

KEYS = OrderKeys(bytes(range(32)))
D = 3
PAIRS = Recipe(as_sign("spherical"), D, Blocks(8))
AROUND = Recipe(as_sign("spherical"), D, Blocks(8), center=np.array([1.0, 0.0, -1.0]))
LENGTHS = [40, 0, 1, 159, 3]
SECRET_CELL = "HIV+"
READER = PartReader(("a",), 1, Wishes())


# Without Spark


def test_buckets_follow_the_order_of_the_keys():
    keys = np.sort(KEYS.range(10_000))
    for count in (1, 3, 10, 2**13):
        buckets = bucket_of(keys, count)
        assert (np.diff(buckets) >= 0).all()
        assert buckets.min() >= 0
        assert buckets.max() < count
        sizes = np.bincount(buckets, minlength=count)
        assert abs(sizes[0] - 10_000 / count) < 6 * math.sqrt(10_000 / count) + 1
    ends = np.array([0, 2**64 - 1], dtype=np.uint64)
    np.testing.assert_array_equal(bucket_of(ends, 7), [0, 6])


def test_buckets_are_larger_than_their_sums():
    assert bucket_count(0, 5) == bucket_count(1000, 5) == 1
    assert bucket_count(10**6, 20) == 10
    for d in (1, 20, 300, 2000):
        n = 10**8
        assert n / bucket_count(n, d) >= 2 * d
    assert bucket_count(10**12, 100) == 2**13


def test_positions_have_the_order_of_the_keys():
    keys = KEYS.range(1000, part=4)
    choice = spark_tasks.Keyed(KEYS)
    chosen, _, positions = choice(choice.of(4, 0, 1000))
    np.testing.assert_array_equal(chosen, np.arange(1000))
    np.testing.assert_array_equal(np.argsort(positions), np.argsort(keys))
    bound = 2**62
    choice = spark_tasks.Keyed(KEYS, bound=bound)
    chosen, _, positions = choice(choice.of(4, 200, 800))
    np.testing.assert_array_equal(chosen, np.flatnonzero(keys[200:] <= bound))
    np.testing.assert_array_equal(positions.argsort(), keys[200 + chosen].argsort())


def test_first_rows_are_taken_from_the_first_partitions():
    first = spark_tasks.Keyed(Places((0, 5, 5, 5, 15)), bound=12 - 1, first_part=2**32)
    chosen, _, positions = first(first.of(3, 4, 6))
    np.testing.assert_array_equal(chosen, [0, 1, 2])
    assert (np.diff(positions) > 0).all()
    assert positions[0] > first(first.of(0, 0, 5))[2].max()
    assert len(first(first.of(4, 0, 6))[0]) == 0
    assert len(first(first.of(9, 0, 6))[0]) == 0  # rows where there were none


def test_rows_survive_their_packing(rng):
    X = rng.normal(size=(50, D))
    packed = spark_tasks._packed(X[::2])
    np.testing.assert_array_equal(spark_tasks.unpacked(packed, D), X[::2])
    np.testing.assert_array_equal(spark_tasks.unpacked(packed[7:], D), X[14::2])
    chunks = pa.chunked_array([packed[:3], packed[3:3], packed[3:]])
    np.testing.assert_array_equal(spark_tasks.unpacked(chunks, D), X[::2])
    assert spark_tasks.unpacked(pa.chunked_array([], pa.binary()), D).shape == (0, D)


def failing(batches):
    yield from batches
    raise ValueError(SECRET_CELL)


def refusing(batches):
    yield from batches
    raise DataError("Column 'x1': NaN.")


def test_a_failure_on_a_worker_keeps_its_words_there(monkeypatch):
    monkeypatch.setenv("GDPPCA_THREADS", "")  # the task sets it; put back after the test
    with pytest.raises(RuntimeError, match="ValueError") as failure:
        list(spark_tasks.Task(failing, ())([]))
    assert SECRET_CELL not in str(failure.value)
    assert failure.value.__context__ is None
    assert os.environ["GDPPCA_THREADS"] == "1"


def test_a_refusal_on_a_worker_is_a_row(monkeypatch):
    monkeypatch.setenv("GDPPCA_THREADS", "")
    [row] = spark_tasks.Task(refusing, ())([])
    with pytest.raises(DataError, match=r"^Column 'x1': NaN\.$"):
        spark_tasks.raise_first(row)


def test_another_version_on_a_worker_is_refused(monkeypatch):
    monkeypatch.setenv("GDPPCA_THREADS", "")
    task = pickle.loads(
        pickle.dumps(spark_tasks.Task(spark_tasks.bucket_sums, (PAIRS,), version="0.0.1"))
    )
    [row] = task([])
    with pytest.raises(EngineError, match=r"this program has 0\.0\.1\. Install the same"):
        spark_tasks.raise_first(row)


def test_the_secret_is_not_shown():
    choice = spark_tasks.Keyed(KEYS)
    for shown in (choice, spark_tasks.Task(spark_tasks.chosen, (READER, choice))):
        assert repr(KEYS.secret)[2:-1] not in repr(shown)


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("PythonException: ModuleNotFoundError: No module named 'gdppca'", "has no gdppca"),
        ("SparkException: stage failure: (TID 7) (node-3 executor 2): HIV+", "2 of node-3"),
        ("Py4JNetworkError: HIV+", "cluster is not there"),
        ("NumberFormatException: 'HIV+'", "cannot be read"),
    ],
)
def test_reasons_quote_nothing(failure, words):
    assert words in spark._reason(failure)
    assert SECRET_CELL not in spark._reason(failure)


def marks(*batches):
    """Marks of the batches that one attempt at a partition sees."""
    rows = [pa.RecordBatch.from_pydict({"a": batch}) for batch in batches]
    chosen = spark_tasks.chosen(rows, READER, spark_tasks.Keyed(KEYS))
    return np.unique(np.concatenate([batch["mark"].to_numpy() for batch in chosen]))


def test_marks_tell_a_repeated_order_from_another(monkeypatch):
    monkeypatch.setattr(spark_tasks, "_partition", lambda: 7)
    first = marks([1.0, 2.0], [3.0])
    assert not spark_tasks.Part(PAIRS.empty(), np.union1d(first, marks([1.0, 2.0], [3.0]))).torn
    for other in (marks([2.0, 1.0], [3.0]), marks([1.0, 3.0], [2.0]), marks([1.0, 2.0], [4.0])):
        assert spark_tasks.Part(PAIRS.empty(), np.union1d(first, other)).torn
    monkeypatch.setattr(spark_tasks, "_partition", lambda: 8)
    assert not spark_tasks.Part(PAIRS.empty(), np.union1d(first, marks([2.0, 1.0], [3.0]))).torn


def test_something_else_of_spark_is_refused():
    pytest.importorskip("pyspark")
    with pytest.raises(DataError, match=r"to_spark\(\)"), SparkEngine(pd.DataFrame(), KEYS):
        pass


# On a real session


@pytest.fixture(scope="module")
def server():
    local.require_spark()
    running = local.Server()
    yield running
    running.stop()


@pytest.fixture(params=["classic", "connect"])
def session(request, server):
    return getattr(server, request.param)


@pytest.fixture
def X(rng):
    return rng.standard_t(2, size=(sum(LENGTHS), D)) + 5


@pytest.fixture
def four_buckets(monkeypatch):
    """Small tables go the long way: shuffled into buckets, merged by Spark two at a time."""
    monkeypatch.setattr(spark, "bucket_count", lambda n_samples, n_features: 4)
    monkeypatch.setattr(spark, "_MERGED_ENTRIES", 1)
    monkeypatch.setattr(spark, "_FEWEST", 2)


def keys_of(lengths, first_part=0):
    return np.concatenate([KEYS.range(n, part) for part, n in enumerate(lengths, first_part)])


def sum_in_memory(X, keys):
    order = np.argsort(keys)
    buckets = bucket_of(keys[order], 4)
    sums = [PAIRS.of(X[order[buckets == k]]) for k in range(4)]
    return merged(PAIRS, [merged(PAIRS, sums[:2]), merged(PAIRS, sums[2:])])


@pytest.mark.usefixtures("four_buckets")
def test_sample_and_sums_are_those_of_memory(session, X):
    keys = keys_of(LENGTHS, first_part=2**32)
    with SparkEngine(local.table(session, local.named(X), LENGTHS), KEYS) as engine:
        sample = engine.sample(50).values
        pairs, around = engine.total(PAIRS), engine.total(AROUND)
    lowest = np.sort(keys)[: len(sample)]
    assert 25 < len(sample) < 80
    np.testing.assert_array_equal(sample, X[[np.flatnonzero(keys == key)[0] for key in lowest]])
    expected = sum_in_memory(X, keys_of(LENGTHS)).mean()
    np.testing.assert_allclose(pairs.mean(), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(around.mean(), AROUND.of(X).mean(), rtol=0, atol=1e-12)


@pytest.mark.usefixtures("four_buckets")
def test_a_spark_that_deals_by_a_hash_gives_the_same_sum(server, X, monkeypatch):
    data = local.table(server.classic, local.named(X), LENGTHS)
    monkeypatch.delattr(type(data), "repartitionById")
    monkeypatch.delattr("pyspark.sql.dataframe.DataFrame.repartitionById")
    with SparkEngine(data, KEYS) as engine:
        result = engine.total(PAIRS).mean()
    expected = sum_in_memory(X, keys_of(LENGTHS)).mean()
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


def test_hostile_names_and_every_type_of_number(session):
    data = session.sql(
        "SELECT id AS `a.b`, id > 1 AS `A.B`, CAST(id / 4 AS DECIMAL(38, 20)) AS `c``d`, "
        "CAST(id AS TINYINT) AS place, CAST(id AS FLOAT) / 3 AS position, 'HIV+' AS t "
        "FROM range(0, 4, 1, 1)"
    )
    wanted = ["position", "c`d", "A.B", "a.b", "place"]
    with SparkEngine(data, None, Wishes(columns=wanted)) as engine:
        rows = engine.sample(10).values
    assert engine.names == tuple(wanted)
    count = np.arange(4.0)
    expected = [count / 3, count / 4, count > 1, count, count]
    np.testing.assert_array_equal(rows, np.column_stack(expected))
    with pytest.raises(ColumnTypeError, match="Column 't': not numbers"), SparkEngine(data, None):
        pass


@pytest.mark.usefixtures("four_buckets")
def test_missing_values_are_refused_by_column(server, X):
    frame = local.named(X)
    frame.loc[len(X) - 1, "x1"] = np.nan
    with (
        pytest.raises(DataError, match="Column 'x1': missing values") as refusal,
        SparkEngine(local.table(server.classic, frame, LENGTHS), KEYS) as engine,
    ):
        engine.total(PAIRS)
    assert refusal.value.__context__ is None


def test_a_table_without_rows(server):
    with SparkEngine(server.classic.sql("SELECT id, id AS b FROM range(0)"), KEYS) as engine:
        assert engine.n_samples == 0
        assert engine.sample(5).values.shape == (0, 2)
        assert engine.total(Recipe(as_sign("spherical"), 2, Blocks(8))).n_samples == 0


def test_a_stream_is_refused(server):
    endless = server.classic.readStream.format("rate").load().selectExpr("value")
    with pytest.raises(DataError, match="has no end"), SparkEngine(endless, KEYS):
        pass


def test_a_sign_of_the_user_travels(server, X):
    class Half:
        sup_norm = 0.5

        def radial(self, length):
            return np.full_like(length, 0.5)

    recipe = Recipe(as_sign(Half()), D, Blocks(8), center=np.zeros(D))
    with SparkEngine(local.table(server.classic, local.named(X), LENGTHS), KEYS) as engine:
        result = engine.total(recipe).mean()
    np.testing.assert_allclose(result, recipe.of(X).mean(), rtol=0, atol=1e-12)


def dying(attempts):
    """Rows from a Python that is killed, in one partition, at its first attempts."""

    def rows(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        for batch in batches:
            if context.partitionId() == 3 and context.attemptNumber() < attempts:
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    return rows


@pytest.mark.usefixtures("four_buckets")
def test_a_worker_that_dies_once_changes_nothing(server, X):
    data = local.table(server.classic, local.named(X), LENGTHS)
    with SparkEngine(data.mapInArrow(dying(1), data.schema), KEYS) as engine:
        result = engine.total(PAIRS).mean()
    expected = sum_in_memory(X, keys_of(LENGTHS)).mean()
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("four_buckets")
@pytest.mark.parametrize("recipe", [PAIRS, AROUND])
def test_a_worker_that_dies_once_changes_nothing_of_persons(server, X, recipe):
    frame = local.named(X).assign(who=np.arange(len(X)) % 17)
    data = local.table(server.classic, frame, LENGTHS)
    found = []
    for rows in (data, data.mapInArrow(dying(1), data.schema)):
        with SparkEngine(rows, KEYS, Wishes(persons="who")) as engine:
            assert engine.n_samples == 17
            found.append([engine.sample(9).values, engine.total(recipe).mean()])
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_ids_that_are_several_things_are_no_ids(server):
    data = server.classic.sql("SELECT id AS x, array(id) AS who FROM range(5)")
    with pytest.raises(DataError, match="'who' holds array"):
        SparkEngine(data, KEYS, Wishes(persons="who")).__enter__()


def test_a_fit_whose_worker_dies_once_spends_once(server, X, ledger):
    book, account = ledger
    data = local.table(server.connect, local.named(X), LENGTHS)
    pca = DPPCA(n_components=1, pairs=8, ledger=account)
    pca.fit(data.mapInArrow(dying(1), data.schema))
    assert pca.n_samples_ == len(X)
    assert pca.release_.feature_names == ("x0", "x1", "x2")
    assert [entry.kind for entry in book.history("patients")] == ["create", "spend", "complete"]


def test_a_worker_that_dies_for_good_spends_nothing(server, X, ledger):
    book, account = ledger
    data = local.table(server.classic, local.named(X), LENGTHS)
    with pytest.raises(EngineError, match=r"executor driver of .* Nothing was released") as failure:
        DPPCA(n_components=1, ledger=account).fit(data.mapInArrow(dying(9), data.schema))
    assert failure.value.__context__ is None
    assert failure.value.__cause__ is None
    assert [entry.kind for entry in book.history("patients")] == ["create"]


def test_a_cell_that_spark_quotes_is_not_passed_on(session, capfd):
    data = session.sql("SELECT CAST(text AS DOUBLE) AS x FROM VALUES ('1'), ('HIV+') AS t(text)")
    recipe = Recipe(as_sign("spherical"), 1, Blocks(8))
    with pytest.raises(EngineError) as failure, SparkEngine(data, KEYS) as engine:
        engine.total(recipe, silent)
    assert "cannot be read to its end" in str(failure.value)
    assert failure.value.__context__ is None
    assert SECRET_CELL not in "".join([str(failure.value), *capfd.readouterr()])


def test_a_server_that_is_not_there(server, monkeypatch):
    monkeypatch.setattr(spark, "_RETRIES", 1)
    data = local.remote(9).range(5)  # the port of "discard", where nobody listens
    with (
        pytest.raises(EngineError, match="its cluster is not there") as failure,
        pytest.warns(UserWarning, match="RETRIES_EXCEEDED"),
        SparkEngine(data, KEYS),
    ):
        pass
    assert failure.value.__context__ is None


def test_a_session_that_is_stopped(server):
    session = local.remote(server.port)
    with SparkEngine(session.range(5), KEYS) as engine:
        session.stop()
        with pytest.raises(EngineError, match="Spark could not draw a sample: its session is sto"):
            engine.sample(2)


@pytest.fixture
def vandal(server, tmp_path):
    """A sign that deletes the rows of all tasks, once, so that Spark must shuffle them again."""
    folder, done = server.folder, tmp_path / "done"

    class Vandal:
        sup_norm = 1.0

        def radial(self, length):
            from pyspark import TaskContext

            if TaskContext.get() is not None and not done.exists():
                done.touch()
                for file in folder.rglob("shuffle_*"):
                    file.unlink(missing_ok=True)
            return np.ones_like(length)

    yield Recipe(as_sign(Vandal()), D, Blocks(8))
    assert done.exists()


def test_rows_that_spark_loses_and_shuffles_again_count_once(server, X, vandal, monkeypatch):
    monkeypatch.setattr(spark, "bucket_count", lambda n_samples, n_features: 4)
    with SparkEngine(local.table(server.classic, local.named(X), LENGTHS), KEYS) as engine:
        result = engine.total(vandal).mean()
    order = np.argsort(keys_of(LENGTHS))
    buckets = bucket_of(keys_of(LENGTHS)[order], 4)
    expected = merged(PAIRS, [PAIRS.of(X[order[buckets == k]]) for k in range(4)])
    np.testing.assert_allclose(result, expected.mean(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("watched", [False, True])
def test_rows_that_are_shuffled_again_in_another_order_are_refused(
    server, X, vandal, monkeypatch, watched
):
    """Later Sparks watch over that themselves; where they do not, the marks do."""

    def in_another_order(batches):  # in here, it is sent by value: workers do not find this file
        from pyspark import TaskContext

        order = np.random.default_rng(TaskContext.get().taskAttemptId())
        for batch in batches:
            yield batch.take(pa.array(order.permutation(len(batch))))

    monkeypatch.setattr(spark, "bucket_count", lambda n_samples, n_features: 4)
    watch = "spark.sql.shuffle.orderIndependentChecksum"
    for setting in (f"{watch}.enabled", f"{watch}.enableFullRetryOnMismatch"):
        server.classic.conf.set(setting, watched)
    data = local.table(server.classic, local.named(X), LENGTHS)
    with (
        pytest.raises(EngineError, match="could count twice") as failure,
        SparkEngine(data.mapInArrow(in_another_order, data.schema), KEYS) as engine,
    ):
        engine.total(vandal)
    assert failure.value.__context__ is None
