"""From what a user has to the table that reads it, for Python, command line and browser alike.

Optional packages load only for their own.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gdppca._errors import DataError, GdppcaError, ParameterError
from gdppca.noise import Noise, OrderKeys
from gdppca.tables.base import Table
from gdppca.tables.description import Description
from gdppca.tables.files import (
    can_read_whole,
    column_names,
    is_raw,
    read_labels,
    read_numbers,
    read_table,
)
from gdppca.tables.frame_columns import (
    described_matrix,
    frame_column,
    frame_columns,
    frame_names,
    frame_numbers,
    plain_matrix,
)
from gdppca.tables.frames import Matrix, as_matrix
from gdppca.tables.gathered import gathered, is_gathered
from gdppca.tables.groups import group_codes
from gdppca.tables.memory import MemoryTable
from gdppca.tables.sources import ArrowData, Source, Spooled, files_behind, found_files
from gdppca.tables.wishes import Wishes

_LARGEST_AT_ONCE = 2**28  # bytes of a file that is read whole
_PATHS = (str, os.PathLike)
_OF_DUCKDB = ("duckdb", "_duckdb")


def open_table(
    source: Any,
    noise: Noise,
    *,
    assume_shuffled: bool = False,
    whole: bool | None = None,
    **wishes: Any,
) -> Table:
    """The table behind a source.

    Parameters
    ----------
    source : table, str, path or list of paths
        numpy, pandas, polars or arrow in memory; a file, a folder, a pattern such as
        "visits/*.parquet"; an arrow, DuckDB, Dask or Spark table; or a `Table`, which is itself.
    noise : Noise
        Source of secret orders.
    assume_shuffled : bool, default False
        Take rows that are read in parts in the order that they have.
    whole : bool, optional
        Whether all rows must be in memory (True) or are read in parts (False). None reads what
        lies in memory and small files whole, and everything else in parts.
    **wishes
        Columns, groups, persons, weights, description: see `Wishes`.

    Returns
    -------
    Table
        To be entered.
    """
    asked = Wishes(**wishes)
    if isinstance(source, Table):
        if assume_shuffled or asked.says_anything:
            raise ParameterError("A table that is open has its columns, groups and order already.")
        return source
    asked = asked.settled()
    if isinstance(source, str) and not source.strip():  # would be the folder that one is in
        raise DataError("The name of the file is empty.")
    if whole is not False and isinstance(source, _PATHS):
        _require_there(source)
    package = _package(source)
    if _is_whole_only(source):
        return _in_memory(source, noise, asked)
    if whole is not False and not _comes_in_parts(source, package, assume_shuffled, whole):
        if assume_shuffled:
            raise ParameterError("`assume_shuffled` is for rows that are read in parts.")
        return _in_memory(source, noise, asked)
    if whole:
        raise ParameterError(
            "`variances`, `score_map` and `groups`, like every estimator but DPPCA, need a table "
            "in memory, or one CSV or Parquet file that fits into memory."
        )
    return _in_parts(source, package, None if assume_shuffled else noise.keys(), asked)


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


def _is_whole_only(source: Any) -> bool:
    """Whether it is held in memory whatever is asked for: a workbook, a query, a lazy frame."""
    if is_gathered(source):
        return True
    return isinstance(source, _PATHS) and is_raw(Path(source))


def _is_files(source: Any) -> bool:
    """Whether it names files; a list of words may be somebody's cells, which no error may quote."""
    if isinstance(source, _PATHS):
        return True
    listed = isinstance(source, list | tuple) and len(source) > 0
    return listed and all(isinstance(each, os.PathLike) for each in source)


def _in_memory(source: Any, noise: Noise, asked: Wishes) -> MemoryTable:
    """A table in memory, with whose its rows are, what they count, and their groups."""
    every: list[str] = []
    where = "the table"
    if _is_files(source):
        [file] = map(Path, [source] if isinstance(source, _PATHS) else source)
        where = f"'{file}'"
        matrix, read = _from_file(file, asked), partial(_label_column, file, asked)
        numbers = partial(_number_column, file, asked)
        if asked.columns is not None or asked.described is not None:
            every = column_names(file, asked.description)
    else:
        if is_gathered(source):
            source = gathered(source, asked)
        elif asked.columns is not None:
            raise ParameterError("`columns` are for files: select those of a table before.")
        matrix, read = _from_frame(source, asked), partial(frame_column, source)
        numbers = partial(frame_numbers, source, asked.description)
    n = len(matrix.values)
    table = MemoryTable(
        matrix.values,
        matrix.names,
        noise,
        persons=asked.persons_in(read, n, noise),
        shares=asked.shares_in(numbers, n, where),
        gaps=asked.gaps,
        description=asked.described,
        unused=asked.unused(every),
    )
    if asked.groups is None and asked.categories is None:
        return table
    codes, names = group_codes(asked.groups_in(read), asked.categories, n)
    return replace(table, codes=codes, groups=names)


def _from_file(file: Path, asked: Wishes) -> Matrix:
    """The numbers in a file."""
    columns = asked.columns
    if asked.beside:
        columns = asked.features(column_names(file, asked.description), f"'{file}'")
    return read_table(file, columns, asked.description, asked.gaps)


def _label_column(file: Path, asked: Wishes, name: str) -> Any:
    return read_labels(file, name, asked.description)


def _number_column(file: Path, asked: Wishes, name: str) -> Any:
    return read_numbers(file, name, asked.description)


def _from_frame(source: Any, asked: Wishes) -> Matrix:
    """The numbers of a frame, of columns or of an array."""
    names = asked.columns
    if asked.beside:
        names = asked.features(frame_names(source), "The table")
    if asked.described is not None:
        return described_matrix(source, asked.described, asked.gaps)
    if type(source) is dict:
        return plain_matrix(source, names, asked.gaps)
    return as_matrix(source if names is None else frame_columns(source, names), asked.gaps)


def _in_parts(source: Any, package: str, keys: OrderKeys | None, asked: Wishes) -> Table:
    if package == "dask":
        from gdppca.tables.dask import DaskEngine

        return DaskEngine(source, keys, asked)
    if package == "pyspark":
        from gdppca.tables.spark import SparkEngine

        return SparkEngine(source, keys, asked)
    from gdppca.tables.duck import DuckEngine

    return DuckEngine(_source(source, package, asked.description), keys, asked)


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
