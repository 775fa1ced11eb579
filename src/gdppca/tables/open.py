"""From what a user has to the engine that reads it. Optional packages load only for their own."""

from __future__ import annotations

import os
from typing import Any

from gdppca._errors import DataError
from gdppca.tables.base import Engine, OrderKeys
from gdppca.tables.sources import ArrowData, Source, Spooled, found_files


def lives_on_a_cluster(X: Any) -> bool:
    """Whether it is a Dask or Spark table, whose rows are not here."""
    return _package(X) in ("dask", "pyspark")


def open_engine(source: Any, keys: OrderKeys | None, columns: list[str] | None = None) -> Engine:
    """The engine for a source; without keys its rows are taken in the order in which they come.

    Parameters
    ----------
    source : str, path, list of paths, arrow, DuckDB, Dask or Spark table
        A file, a folder, a pattern such as "visits/*.parquet", or a table of one of the libraries.
    keys : OrderKeys or None
        Secret order of the rows.
    columns : list of str, optional
        Columns to use; all if left out.

    Returns
    -------
    Engine
        To be entered.
    """
    if columns is not None and (isinstance(columns, str) or not columns):
        raise DataError("`columns` must be a list of names.")
    package = _package(source)
    if package == "dask":
        from gdppca.tables.dask import DaskEngine

        return DaskEngine(source, keys, columns)
    if package == "pyspark":
        from gdppca.tables.spark import SparkEngine

        return SparkEngine(source, keys, columns)
    from gdppca.tables.duck import DuckEngine

    return DuckEngine(_source(source, package), keys, columns)


def _source(source: Any, package: str) -> Source:
    if isinstance(source, str | os.PathLike | list | tuple):
        return found_files(source)
    if package == "pyarrow":
        once = hasattr(source, "read_next_batch")
        return Spooled(source) if once else ArrowData(source)
    if package in ("duckdb", "_duckdb"):
        return Spooled(source)
    raise DataError(
        "The source must be a file, a folder, a pattern, or an arrow, DuckDB, Dask or Spark "
        f"table, got {type(source).__name__}. Use `fit` for tables in memory."
    )


def _package(X: Any) -> str:
    return type(X).__module__.split(".")[0]
