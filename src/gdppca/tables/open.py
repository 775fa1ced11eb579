"""From what a user has to the table that reads it, for Python, command line and browser alike.

Optional packages load only for their own.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from gdppca._errors import DataError, GdppcaError, ParameterError
from gdppca.noise import Noise, OrderKeys
from gdppca.tables.base import Table
from gdppca.tables.description import Description
from gdppca.tables.files import can_read_whole, column_names, is_raw, read_labels, read_table
from gdppca.tables.frames import Matrix
from gdppca.tables.gathered import frame_features, gathered, is_gathered
from gdppca.tables.groups import group_codes
from gdppca.tables.memory import MemoryTable
from gdppca.tables.sources import ArrowData, Numbers, Source, Spooled, files_behind, found_files

_LARGEST_AT_ONCE = 2**28  # bytes of a file that is read whole
_PATHS = (str, os.PathLike)
_OF_DUCKDB = ("duckdb", "_duckdb")


def open_table(
    source: Any,
    noise: Noise,
    *,
    columns: list[str] | None = None,
    groups: Any = None,
    categories: Any = None,
    assume_shuffled: bool = False,
    whole: bool | None = None,
    description: Description | None = None,
    gaps: bool = False,
) -> Table:
    """The table behind a source.

    Parameters
    ----------
    source : table, str, path or list of paths
        numpy, pandas, polars or arrow in memory; a file, a folder, a pattern such as
        "visits/*.parquet"; an arrow, DuckDB, Dask or Spark table; or a `Table`, which is itself.
    noise : Noise
        Source of secret orders.
    columns : list of str, optional
        Columns to use; all if left out.
    groups : sequence of labels or str, optional
        What groups the rows are in; of a file, the name of a column, which is none of the analysis.
    categories : sequence, optional
        The groups that there can be.
    assume_shuffled : bool, default False
        Take rows that are read in parts in the order that they have.
    whole : bool, optional
        Whether all rows must be in memory (True) or are read in parts (False). None reads what
        lies in memory and small files whole, and everything else in parts.
    description : Description, optional
        What is publicly known of the table; its features are the columns then.
    gaps : bool, default False
        Whether missing cells are NaN; they are refused otherwise.

    Returns
    -------
    Table
        To be entered.
    """
    if isinstance(source, Table):
        if assume_shuffled or any(wish is not None for wish in (columns, groups, categories)):
            raise ParameterError("A table that is open has its columns, groups and order already.")
        return source
    _check_columns(columns)
    if isinstance(source, str) and not source.strip():  # would be the folder that one is in
        raise DataError("The name of the file is empty.")
    if whole is not False and isinstance(source, _PATHS):
        _require_there(source)
    package = _package(source)
    if whole is not False and not _comes_in_parts(source, package, assume_shuffled, whole):
        if assume_shuffled:
            raise ParameterError("`assume_shuffled` is for rows that are read in parts.")
        table, labels = _in_memory(source, noise, columns, groups, description, gaps)
        if groups is None and categories is None:
            return table
        codes, names = group_codes(labels, categories, table.n_samples)
        return replace(table, codes=codes, groups=names)
    if whole:
        raise ParameterError(
            "`variances`, `score_map` and `groups`, like every estimator but DPPCA, need a table "
            "in memory, or one CSV or Parquet file that fits into memory."
        )
    keys = None if assume_shuffled else noise.keys()
    return _in_parts(source, package, keys, columns, description, gaps)


def _check_columns(columns: list[str] | None) -> None:
    if columns is not None and (isinstance(columns, str) or not columns):
        raise DataError("`columns` must be a list of names.")


def _require_there(name: str | os.PathLike[str]) -> None:
    """Refuse a name of nothing; a text may be somebody's cell, or many, and is not quoted."""
    try:
        there = Path(name).is_dir() or bool(files_behind(Path(name)))
    except (OSError, ValueError):  # too long for a name, say
        there = False
    if not there:
        quoted = "of that name" if isinstance(name, str) else f"'{name}'"
        raise DataError(f"There is no file {quoted}.")


def _comes_in_parts(source: Any, package: str, assume_shuffled: bool, whole: bool | None) -> bool:
    """Whether rows are read in parts: they live elsewhere, are many, or keep their order."""
    if package in ("dask", "pyspark", *_OF_DUCKDB):
        return True
    if is_gathered(source):
        return assume_shuffled and not whole
    if not _is_files(source):
        return False
    [first, *others] = [source] if isinstance(source, _PATHS) else list(source)
    file = Path(first)
    if others or not file.is_file() or not can_read_whole(file):
        return True
    large = file.stat().st_size > _LARGEST_AT_ONCE and not is_raw(file)
    return not whole and (assume_shuffled or large)


def _is_files(source: Any) -> bool:
    """Whether it names files; a list of words may be somebody's cells, which no error may quote."""
    if isinstance(source, _PATHS):
        return True
    listed = isinstance(source, list | tuple) and len(source) > 0
    return listed and all(isinstance(each, os.PathLike) for each in source)


def _in_memory(
    source: Any,
    noise: Noise,
    columns: list[str] | None,
    groups: Any,
    description: Description | None,
    gaps: bool,
) -> tuple[MemoryTable, Any]:
    """A table in memory, and the labels of its rows."""
    if _is_files(source):
        [file] = map(Path, [source] if isinstance(source, _PATHS) else source)
        beside = groups if isinstance(groups, str) else None
        features = _features(file, columns, beside, description)
        matrix = read_table(file, features, description, gaps)
        groups = groups if beside is None else read_labels(file, beside, description)
    elif is_gathered(source):
        matrix = gathered(source, columns, description, gaps)
    elif columns is not None:
        raise ParameterError("`columns` are for files: select those of a table before.")
    else:
        matrix = frame_features(source, description, gaps)
    return MemoryTable(matrix.values, matrix.names, noise), groups


def _features(
    file: Path, columns: list[str] | None, beside: str | None, description: Description | None
) -> list[str] | None:
    """Columns of the analysis beside one that holds labels."""
    if beside is None:
        return columns
    every = column_names(file, description)
    if beside not in every:
        raise ParameterError(f"'{file}' has no column '{beside}' for the groups.")
    if columns is None and description is not None and description.columns:
        columns = [column.name for column in description.columns]
    if columns is None:
        return [name for name in every if name != beside]
    if beside in columns:
        raise ParameterError(f"'{beside}' cannot be a group and a column of the analysis.")
    return columns


def _in_parts(
    source: Any,
    package: str,
    keys: OrderKeys | None,
    columns: list[str] | None,
    description: Description | None,
    gaps: bool,
) -> Table:
    if package in ("dask", "pyspark") and (description is not None or gaps):
        raise ParameterError("Tables of Dask and Spark take neither a description nor gaps.")
    if package == "dask":
        from gdppca.tables.dask import DaskEngine

        return DaskEngine(source, keys, columns)
    if package == "pyspark":
        from gdppca.tables.spark import SparkEngine

        return SparkEngine(source, keys, columns)
    from gdppca.tables.duck import DuckEngine

    matrix = _whole_only(source, columns, description, gaps)
    if matrix is not None:
        return DuckEngine(Numbers(matrix, "The table"), keys, gaps=gaps)
    return DuckEngine(_source(source, package, description), keys, columns, description, gaps)


def _whole_only(
    source: Any, columns: list[str] | None, description: Description | None, gaps: bool
) -> Matrix | None:
    """What can be read in parts only after it was read whole; None for everything else."""
    if is_gathered(source):
        return gathered(source, columns, description, gaps)
    if _is_files(source):
        files = [Path(each) for each in ([source] if isinstance(source, _PATHS) else source)]
        if len(files) == 1 and is_raw(files[0]):
            return read_table(files[0], columns, description, gaps)
    return None


def _source(source: Any, package: str, description: Description | None) -> Source:
    if isinstance(source, str | os.PathLike | list | tuple):
        return _files(source, description)
    if package == "pyarrow":
        once = hasattr(source, "read_next_batch")
        return Spooled(source) if once else ArrowData(source)
    if package in _OF_DUCKDB:
        return Spooled(source)
    raise DataError(
        "The source must be a file, a folder, a pattern, or an arrow, DuckDB, Dask or Spark "
        f"table, got {type(source).__name__}. Use `fit` for tables in memory."
    )


def _files(source: Any, description: Description | None) -> Source:
    """Files by their names; what the system says of things that are none may quote them."""
    try:
        return found_files(source, description)
    except GdppcaError:
        raise
    except (OSError, TypeError, ValueError):
        pass
    raise DataError("The source does not name files: give a file, a folder, a pattern or a list.")


def _package(X: Any) -> str:
    return type(X).__module__.split(".")[0]
