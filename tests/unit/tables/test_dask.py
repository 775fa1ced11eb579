"""Dask tables: what is refused, what is repeated, and clusters that lose workers or are gone."""

import math
import os
import signal
import threading
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
import threadpoolctl

from gdppca import DPPCA, DataError, Ledger, kendall_tau
from gdppca._errors import ColumnTypeError, EngineError
from gdppca.kernels import Blocks, silent
from gdppca.kernels.parallel import THREADS_VARIABLE, usable_cores
from gdppca.noise import OrderKeys
from gdppca.signs import as_sign
from gdppca.tables import base, dask_running, dask_tasks
from gdppca.tables import dask as engines_dask
from gdppca.tables.base import Recipe
from gdppca.tables.dask import DaskEngine
from gdppca.tables.wishes import Wishes

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
cloudpickle = pytest.importorskip("cloudpickle")

KEYS = OrderKeys(b"a secret of thirty-two bytes ...")
SECRET = "HIV+"
D = 4
PAIRS = Recipe(as_sign("spherical"), D, Blocks(16))
CENTRED = Recipe(as_sign("spherical"), D, Blocks(16), center=np.zeros(D))


@pytest.fixture(autouse=True)
def small_tables_go_the_long_way(monkeypatch):
    monkeypatch.setattr(engines_dask, "_SMALLEST_TASK", 2**10)


@pytest.fixture(autouse=True)
def settings_of_dask_are_restored(monkeypatch):
    """A Client whose cluster is gone leaves Dask set to compute on it."""
    monkeypatch.setitem(dask.config.config, "scheduler", None)


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(4000, D)) * [5, 2, 1, 1] + 7
    return X[np.argsort(X[:, 0])]


def array(X, rows=300):
    return da.from_array(X, chunks=(rows, -1))


def frame(X, parts=7):
    return dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=parts)


def scatter(data, recipe=PAIRS, keys=KEYS):
    with DaskEngine(data, keys) as engine:
        return engine.total(recipe, silent).mean()


def refusal(data, columns=None):
    """Why a table is refused; no message that belongs to it quotes a cell."""
    with (
        pytest.raises((DataError, EngineError)) as refused,
        DaskEngine(data, KEYS, Wishes(columns=columns)) as it,
    ):
        it.total(PAIRS, silent)
    error = refused.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__
    return refused.value


def test_an_array_may_be_cut_anyhow(X):
    whole = scatter(array(X))
    assert np.array_equal(scatter(da.from_array(X, chunks=(300, 3))), whole)
    unknown = da.concatenate([array(X), array(X)])
    unknown = unknown[da.arange(len(unknown), chunks=300) < len(X)]
    assert math.isnan(unknown.shape[0])
    with DaskEngine(unknown, KEYS) as engine:
        assert engine.n_samples == len(X)
    np.testing.assert_allclose(scatter(unknown, CENTRED), scatter(array(X), CENTRED), atol=1e-14)


def test_frames_and_arrays_are_one(X):
    data = frame(X)
    lengths = tuple(data.map_partitions(len).compute())
    assert np.array_equal(scatter(data), scatter(data.to_dask_array(lengths=lengths)))


@pytest.mark.parametrize("recipe", [PAIRS, CENTRED])
def test_the_result_is_the_same_bits_whatever_the_schedule(X, recipe):
    with dask.config.set(scheduler="synchronous"):
        alone = scatter(array(X), recipe)
    with dask.config.set(scheduler="threads", num_workers=5):
        together = scatter(array(X), recipe)
    assert np.array_equal(alone, together)


def test_exchanges_in_several_steps_give_what_one_gives(X, monkeypatch):
    at_once = scatter(array(X))
    monkeypatch.setattr(engines_dask, "_FEW", 2)
    assert np.array_equal(scatter(array(X)), at_once)


@pytest.mark.parametrize("count", [1, 16, 100, 1000])
def test_pieces_do_not_explode_with_the_partitions(count):
    plan = engines_dask._Plan(array(np.zeros((2, 2))))
    sources = [partial(plan.add, dask_tasks.split, []) for _ in range(count)]
    buckets = engines_dask._dealt_out(plan, sources, range(count), count)
    assert len(buckets) == count
    assert len(plan._tasks) <= 2 * 33 * count + 100


def test_many_small_partitions_are_gathered(X):
    with DaskEngine(array(X, rows=2), KEYS) as engine:
        assert len(engine._neighbours()) == len(X) * D // 2**10 + 1
        assert sum(map(len, engine._neighbours())) == 2000


def test_partitions_of_some_size_stay_where_they_are(X):
    with DaskEngine(array(X, rows=200), KEYS) as engine:
        assert [list(group) for group in engine._neighbours()] == [[k] for k in range(20)]


def test_a_large_partition_stays_alone():
    lengths = [10**6, 1, 1, 10**6]
    with DaskEngine(da.zeros((2_000_002, D), chunks=(tuple(lengths), (D,))), KEYS) as engine:
        assert [list(group) for group in engine._neighbours()] == [[0], [1, 2], [3]]


def test_columns_by_labels_that_are_not_words(X):
    data = dd.from_pandas(pd.DataFrame(X, columns=[3, 1, 4, 15]), npartitions=3)
    with DaskEngine(data, None, Wishes(columns=["4", "1"])) as engine:
        assert engine.names == ("4", "1")
        assert np.array_equal(engine.sample(10).values, X[:10, [2, 1]])


def test_columns_may_have_the_names_of_methods(X):
    names = ["chunks", "shape", "optimize", "values"]
    data = dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=3)
    np.testing.assert_allclose(scatter(data, CENTRED), scatter(array(X), CENTRED), atol=1e-14)


@pytest.mark.slow
def test_processes_without_a_cluster(X):
    alone = scatter(array(X))
    with dask.config.set(scheduler="processes", num_workers=2):
        assert np.array_equal(scatter(array(X)), alone)


def test_text_is_refused_before_anything_is_computed(X):
    def never(part):
        raise AssertionError

    data = frame(X).assign(word="a", day=pd.Timestamp("2025-10-12"))
    data = data.map_partitions(never, meta=data._meta)
    error = refusal(data)
    assert isinstance(error, ColumnTypeError)
    assert "'word', 'day'" in str(error)
    assert "no column 'shoe'" in str(refusal(data, ["a", "shoe"]))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (da.zeros(5), "got 1D array"),
        (da.zeros((5, 2, 2)), "got 3D array"),
        (da.zeros((5, 0)), "no column"),
        (da.zeros((5, 2), dtype=complex), "Complex"),
        (da.zeros((5, 2))[:, da.zeros(2) > 0], "how many columns"),
        (dd.from_pandas(pd.Series([1.0, 2.0]), npartitions=1), "whole table"),
        (dask.delayed(1), "whole table"),
    ],
)
def test_what_is_no_table_is_refused(data, reason):
    assert reason in str(refusal(data))


def test_an_array_has_no_names(X):
    assert "no column names" in str(refusal(array(X), ["a"]))


def test_a_cell_that_is_not_finite_names_its_column(X):
    X[3999, 2] = np.nan
    assert str(refusal(array(X))).startswith("Column '2': NaN or inf.")


def test_text_that_was_not_announced_is_refused_by_column(X):
    def spoil(part):
        return part.assign(b=[SECRET] * len(part))

    data = frame(X)
    assert "'b'" in str(refusal(data.map_partitions(spoil, meta=data._meta)))


def test_partitions_with_other_columns_are_refused(X):
    wider = array(X).map_blocks(lambda part: np.hstack([part, part]), dtype=float)
    assert "8 columns where 4 were announced" in str(refusal(wider))


def test_errors_of_the_tables_own_tasks_are_not_quoted(X):
    def fail(part):
        raise ValueError(SECRET)

    error = refusal(array(X).map_blocks(fail, dtype=float))
    assert isinstance(error, DataError)
    assert "failed with ValueError" in str(error)


def test_rows_that_come_and_go_are_noticed(X):
    readings = []

    def shrinking(part):
        readings.append(1)
        return part[: 4000 - len(readings)]

    data = da.from_array(X, chunks=(-1, -1)).map_blocks(
        shrinking, dtype=float, chunks=((math.nan,), (D,)), meta=np.empty((0, D))
    )
    assert "changed while it was read" in str(refusal(data))


def blas_threads():
    pools = threadpoolctl.threadpool_info()
    return [pool["num_threads"] for pool in pools if pool["user_api"] == "blas"]


def test_rows_in_another_order_when_they_are_read_again_are_noticed(X, monkeypatch):
    """As after the loss of a worker: some buckets hold pieces of another reading than others."""
    exchanged = engines_dask._exchanged

    def split_turned(keys, parts, first, n_features, edges):
        turned = [part[::-1] for part in parts]
        return dask_tasks.split_group(keys, turned, first, n_features, edges)

    def half_read_again(plan, sources, buckets, n_buckets):
        again = [partial(plan.add, split_turned, *source.args[1:]) for source in sources]
        first = exchanged(plan, sources, buckets, n_buckets)
        second = exchanged(plan, again, buckets, n_buckets)
        return first[: len(first) // 2] + second[len(first) // 2 :]

    monkeypatch.setattr(engines_dask, "_exchanged", half_read_again)
    assert "another order" in str(refusal(array(X)))
    same = np.ones_like(X)  # nobody is counted twice where all are the same
    assert scatter(array(same)).shape == (D, D)


def test_fingerprints_know_rows_and_not_their_order(X):
    def fingerprint(rows):
        return dask_tasks.fingerprint([(np.ascontiguousarray(rows), None)])

    assert fingerprint(X) == fingerprint(X[::-1])
    assert fingerprint(X) != fingerprint(np.concatenate([X[:1], X[:-1]]))
    assert fingerprint(X) != fingerprint(X[:, ::-1])
    few = np.eye(D)  # sums of columns agree, rows do not
    assert fingerprint(few) != fingerprint(np.concatenate([np.ones((1, D)), np.zeros((D - 1, D))]))


def test_threads_are_left_as_they_were(X, monkeypatch):
    monkeypatch.setenv(THREADS_VARIABLE, "3")
    with (
        threadpoolctl.threadpool_limits(2, "blas"),
        dask.config.set(scheduler="threads", num_workers=4),
    ):
        before = blas_threads()
        for _ in range(5):
            scatter(array(X))
        assert blas_threads() == before
    assert os.environ[THREADS_VARIABLE] == "3"


def test_sums_take_one_thread_each(monkeypatch):
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)
    with dask_tasks.one_thread():
        with dask_tasks.one_thread():
            assert usable_cores() == 1
        assert usable_cores() == 1
    assert THREADS_VARIABLE not in os.environ


def test_fit_takes_dask_tables(X):
    settings = {"epsilon": math.inf, "location": np.full(D, 7.0), "random_state": 0}
    in_memory = DPPCA(**settings).fit(pd.DataFrame(X, columns=list("abcd")))
    pca = DPPCA(**settings).fit(frame(X))
    np.testing.assert_allclose(pca.scatter_, in_memory.scatter_, rtol=0, atol=1e-12)
    assert list(pca.feature_names_in_) == list("abcd")
    assert DPPCA(**settings).fit(array(X)).n_samples_ == len(X)


def test_a_client_that_left_its_setting_behind_is_named(X, monkeypatch):
    monkeypatch.setitem(dask.config.config, "scheduler", "dask.distributed")
    assert "Connect a Client" in str(refusal(array(X)))


def test_an_array_has_no_column_of_ids(X):
    with pytest.raises(DataError, match=r"Give a dask\.dataframe"):
        DaskEngine(array(X), KEYS, Wishes(persons="a")).__enter__()


def test_persons_of_many_partitions_are_counted_once(X, monkeypatch):
    monkeypatch.setattr(engines_dask, "_FEW", 2)
    data = pd.DataFrame(X, columns=list("abcd")).assign(who=np.arange(len(X)) % 37)
    for parts in (1, 5, 40):
        with DaskEngine(
            dd.from_pandas(data, npartitions=parts), KEYS, Wishes(persons="who")
        ) as engine:
            assert engine.n_samples == 37
            assert sum(engine._lengths) == len(X)


# On a real cluster


@pytest.fixture(scope="module")
def cluster():
    quick = {"distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(quick),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


def wide_and_slow(n=60_000):
    """Rows made on the workers, partition by partition."""

    def slowly(part):
        time.sleep(0.05)
        return part

    rows = da.random.default_rng(1).normal(size=(n, D), chunks=(n // 30, D))
    return (rows * [5, 2, 1, 1]).map_blocks(slowly, dtype=float)


class Killer(threading.Thread):
    """Kills a worker, for good and without warning, when it holds pieces of a shuffle."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.victim = None
        self.ready = threading.Event()

    def run(self):
        with distributed.Client(self.cluster, set_as_default=False) as client:
            pids = client.run(os.getpid)
            self.ready.set()
            deadline = time.monotonic() + 60
            while self.victim is None and time.monotonic() < deadline:
                for address, keys in client.has_what().items():
                    if sum("getitem" in str(key) for key in keys) > 5 and self.victim is None:
                        self.victim = pids[address]
                        os.kill(self.victim, signal.SIGKILL)


def fitted(cluster, **settings):
    killer = Killer(cluster)
    killer.start()
    assert killer.ready.wait(60)
    pca = DPPCA(location=None, pairs=64, **settings).fit(wide_and_slow())
    killer.join()
    assert killer.victim is not None
    return pca


@pytest.mark.slow
def test_a_worker_killed_during_the_fit_changes_nothing(cluster, client):
    settings = {"epsilon": math.inf, "random_state": 3}
    undisturbed = DPPCA(location=None, pairs=64, **settings).fit(wide_and_slow())
    assert np.array_equal(fitted(cluster, **settings).scatter_, undisturbed.scatter_)


def slow_visits():
    """Rows of 2000 persons, made on the workers."""
    rows = dd.from_dask_array(wide_and_slow(), columns=list("abcd"))

    def with_persons(part):
        return part.assign(patient=[f"P{hash(row) % 2000}" for row in part["a"].round(3)])

    meta = rows._meta.assign(patient=pd.Series([], dtype=str))
    return rows.map_partitions(with_persons, meta=meta)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [PAIRS, CENTRED])
def test_a_worker_killed_while_persons_meet_changes_nothing(cluster, client, recipe):
    def found():
        with DaskEngine(slow_visits(), KEYS, Wishes(persons="patient")) as engine:
            sample = engine.sample(100)
            return sample.values, sample.parts, engine.total(recipe, silent).mean()

    undisturbed = found()
    killer = Killer(cluster)
    killer.start()
    assert killer.ready.wait(60)
    for one, other in zip(found(), undisturbed, strict=True):
        assert np.array_equal(one, other)
    killer.join()
    assert killer.victim is not None


@pytest.mark.slow
def test_a_worker_killed_during_the_fit_spends_nothing_twice(cluster, client, tmp_path):
    address = f"sqlite:///{tmp_path}/budget.db"
    Ledger(address).create("patients", epsilon=2.0, delta=1e-6)
    pca = fitted(cluster, epsilon=1.0, delta=1e-6, ledger=f"{address}#patients")
    assert pca.guarantee_.epsilon == pytest.approx(1.0)
    assert Ledger(address).account("patients").spends == 1
    assert Ledger(address).remaining("patients") > 0.5


def test_a_cluster_gives_the_bits_of_one_machine_and_keeps_nothing(X, client):
    on_cluster = [scatter(array(X), recipe) for recipe in (PAIRS, CENTRED)]
    until = time.monotonic() + 30  # what is given back is on its way for a moment
    while kept := client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
        assert time.monotonic() < until, kept
        time.sleep(0.05)
    with dask.config.set(scheduler="synchronous"):
        alone = [scatter(array(X), recipe) for recipe in (PAIRS, CENTRED)]
    assert np.array_equal(on_cluster, alone)


def test_rows_kept_on_the_cluster_are_used_where_they_are(X, client):
    kept = array(X).persist()
    assert np.array_equal(scatter(kept), scatter(array(X)))
    assert scatter(frame(X).persist()).shape == (D, D)


def test_tasks_refuse_without_a_word_in_the_logs(X, caplog):
    X[17, 1] = np.inf
    with (
        distributed.LocalCluster(1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        assert "Column '1'" in str(refusal(array(X)))
    assert "Compute Failed" not in caplog.text


@pytest.mark.slow
def test_a_task_that_takes_its_workers_down_ends(client):
    def die(part):
        os._exit(1)

    error = refusal(
        da.zeros((100, D), chunks=(100, D)).map_blocks(die, dtype=float, meta=np.empty((0, D)))
    )
    assert isinstance(error, EngineError)
    assert "took its workers down" in str(error)


@pytest.mark.parametrize("end", ["workers", "scheduler", "before", "kept"])
def test_a_cluster_that_is_gone_is_an_error_and_spends_nothing(end, monkeypatch, tmp_path):
    monkeypatch.setattr(dask_running, "_PATIENCE", 0.5)
    address = f"sqlite:///{tmp_path}/budget.db"
    Ledger(address).create("patients", epsilon=2.0, delta=1e-6)
    pca = DPPCA(location=None, ledger=f"{address}#patients")
    with (
        distributed.LocalCluster(1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        client._timeout = 1  # to connect again to what is gone
        data = wide_and_slow().persist() if end == "kept" else wide_and_slow()
        if end == "kept":
            client.close()
        if end == "before":
            cluster.close()
        if end in ("workers", "scheduler"):
            act = (lambda: cluster.scale(0)) if end == "workers" else cluster.close
            threading.Timer(0.3, act).start()
        with pytest.raises(EngineError, match=r"no worker|was lost|is gone"):
            pca.fit(data)
    assert not hasattr(pca, "release_")
    assert len(Ledger(address).history("patients")) == 1


@pytest.mark.parametrize("assume_shuffled", [False, True])
@pytest.mark.parametrize("location", ["private", None])
def test_a_missing_cell_outside_the_sample_spends_nothing(
    location, assume_shuffled, X, monkeypatch, ledger
):
    monkeypatch.setattr(base, "LARGEST_SAMPLE", 50)
    book, account = ledger
    pca = DPPCA(1, location=location, ledger=account)
    bad = X.copy()
    bad[-1, 0] = np.nan
    with pytest.raises(DataError, match="NaN or inf"):
        pca.fit_stream(array(bad), assume_shuffled=assume_shuffled)
    assert book.account("patients").spends == 0
    pca.fit_stream(array(X), assume_shuffled=assume_shuffled)
    assert book.account("patients").spends == 1


class Half:
    """A user's own sign: half a unit vector."""

    sup_norm = 0.5

    def radial(self, s):
        return np.full_like(s, 0.5)


def test_sums_of_a_users_own_sign_merge_after_a_journey(X):
    recipe = Recipe(as_sign(Half()), D, Blocks(16))
    parts = [(recipe.of(rows), 0) for rows in (X[:320], X[320:])]
    travelled = [cloudpickle.loads(cloudpickle.dumps(part)) for part in parts]
    assert travelled[0][0].sign != recipe.sign
    total, _ = dask_tasks.merge_sums(recipe, travelled)
    np.testing.assert_allclose(total.mean(), kendall_tau(X, Half(), pairs=16), atol=1e-14)
