"""Engines of every kind for the suites: a new one adds a line to `ENGINES`."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import spark as local_spark
from pyarrow import parquet

from gdppca.tables.duck import DuckEngine
from gdppca.tables.sources import ArrowData, found_files
from gdppca.tables.wishes import Wishes

# A factory makes an engine of a table that is cut into parts: frames with the same columns.


def csv_files(parts, keys, asked, folder):
    paths = [folder / f"{k:03}.csv" for k in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        part.to_csv(path, index=False)
    return DuckEngine(found_files(paths, asked.description), keys, asked)


def parquet_files(parts, keys, asked, folder):
    paths = [folder / f"{k:03}.parquet" for k in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        parquet.write_table(pa.Table.from_pandas(part, preserve_index=False), path)
    return DuckEngine(found_files(paths, asked.description), keys, asked)


def arrow_chunks(parts, keys, asked, folder):
    chunks = [pa.Table.from_pandas(part, preserve_index=False) for part in parts]
    return DuckEngine(ArrowData(pa.concat_tables(chunks)), keys, asked)


def dask_frame(parts, keys, asked, folder):
    dask = pytest.importorskip("dask")
    from dask import dataframe

    from gdppca.tables.dask import DaskEngine

    lazy = [dask.delayed(part) for part in parts]
    return DaskEngine(
        dataframe.from_delayed(lazy, meta=parts[0][:0], verify_meta=False), keys, asked
    )


def spark_table(parts, keys, asked, folder):
    from pyspark.sql import SparkSession

    from gdppca.tables.spark import SparkEngine

    session, lengths = SparkSession.getActiveSession(), [len(part) for part in parts]
    return SparkEngine(local_spark.table(session, pd.concat(parts), lengths), keys, asked)


ENGINES = {
    "csv": csv_files,
    "parquet": parquet_files,
    "arrow": arrow_chunks,
    "dask": dask_frame,
    "dask cluster": dask_frame,
    "spark": spark_table,
}
SLOW = ("spark", "dask cluster")  # to start


@pytest.fixture(scope="module")
def two_workers():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def spark_server():
    local_spark.require_spark()
    server = local_spark.Server()
    yield server
    server.stop()


@pytest.fixture
def small_tables_go_the_long_way(monkeypatch):
    """Engines treat small tables as one piece; here they are to be split and merged."""
    from gdppca.tables import dask, spark

    monkeypatch.setattr(spark, "bucket_count", lambda n_samples, n_features: 4)
    monkeypatch.setattr(spark, "_MERGED_ENTRIES", 1)
    monkeypatch.setattr(dask, "_SMALLEST_TASK", 1)
    monkeypatch.setattr(dask, "_BUCKETS", 6)
    monkeypatch.setattr(dask, "_FEW", 3)


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in ENGINES]
)
def opened(request, tmp_path, small_tables_go_the_long_way):
    """Open an engine: of a frame, cut into parts of these lengths."""
    numbers = itertools.count()

    def open_(frame, lengths=(20, 23), keys=None, **wishes):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        ends = np.cumsum([0, *lengths])
        parts = [frame[start:stop] for start, stop in itertools.pairwise(ends)]
        return ENGINES[request.param](parts, keys, Wishes(**wishes).settled(), folder)

    if request.param == "dask cluster":
        with request.getfixturevalue("two_workers").as_current():
            yield open_
    else:
        if request.param == "spark":
            request.getfixturevalue("spark_server")
        yield open_
