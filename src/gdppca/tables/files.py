"""One file as a whole: text, Parquet, workbooks, files of statistical programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from gdppca._errors import DataError
from gdppca.tables.cells import label_cell, label_text, require_labels
from gdppca.tables.description import Column, Description
from gdppca.tables.duck import Reader
from gdppca.tables.formats import FORMATS, declared_columns, raw_columns, read_raw_table
from gdppca.tables.frames import Matrix
from gdppca.tables.headers import require_columns
from gdppca.tables.scratch import private_folder
from gdppca.tables.sources import Files
from gdppca.tables.strict_csv import check_csv

_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".pq")


def read_table(
    path: str | Path,
    columns: list[str] | None = None,
    description: Description | None = None,
    gaps: bool = False,
) -> Matrix:
    """The numbers in a file, in the order of its rows: columns, or the features of a description.

    Each cell is read by itself. Where one is missing or cannot be read, the column is refused, or
    the number is NaN (`gaps`).
    """
    path = Path(path)
    if is_raw(path):
        _require_file(path)
        table = read_raw_table(path, columns, description, gaps)
    else:
        table = _read_by_duckdb(path, columns, description, gaps)
    if not len(table.values):
        raise DataError(f"'{path}' has no rows.")
    return table


def _read_by_duckdb(
    path: Path, columns: list[str] | None, description: Description | None, gaps: bool
) -> Matrix:
    with ExitStack() as stack:
        source = stack.enter_context(strictly(path, description))
        reader = Reader(source, columns, description, gaps)
        stack.enter_context(reader.opened())
        return Matrix(reader.everything(), reader.names)


def read_labels(
    path: str | Path, column: str, description: Description | None = None
) -> list[str | None]:
    """Labels as text, each by its own cell; None where there is none.

    Text stays as it stands. Numbers that are whole are written so, whatever the column's type.
    """
    path = Path(path)
    if is_raw(path):
        _require_file(path)
        return [label_text(cell) for cell in raw_columns(path, [column], description)[column]]
    with strictly(path, description) as source:
        reader = Reader(source)
        with reader.connected() as connection:
            require_columns(list(source.types), [column], source.name)
            kind = source.types[column]
            require_labels(column, kind)
            cell = label_cell(f"c{list(source.types).index(column)}", kind)
            reader.plainly(source.open_labels)
            cells = reader.plainly(lambda: connection.sql(f"SELECT {cell} FROM labels").fetchall())
        return [label_text(label) for [label] in cells]


def read_numbers(
    path: str | Path, column: str, description: Description | None = None
) -> np.ndarray:
    """One column of numbers, such as weights, as a description writes them; NaN for gaps."""
    known = description or Description(columns=())
    alone = replace(
        known, columns=(Column(name=column),), person=None, weight=None, largest_weight=None
    )
    return read_table(path, None, alone, gaps=True).values[:, 0]


def column_names(path: str | Path, description: Description | None = None) -> list[str]:
    """The names in a file's header."""
    path = Path(path)
    if is_raw(path):
        _require_file(path)
        return list(declared_columns(path, description))
    with strictly(path, description) as source, Reader(source).connected():
        return list(source.types)


def can_read_whole(path: Path) -> bool:
    """Whether `read_table` reads such a file."""
    return path.name.lower().endswith(_ENDINGS) or is_raw(path)


def is_raw(path: Path) -> bool:
    """Whether a file is read by another than DuckDB, and never in parts."""
    return path.suffix.lower() in FORMATS


def _require_file(path: Path) -> None:
    if not path.is_file():
        raise DataError(f"There is no file '{path}'.")


@contextmanager
def strictly(path: Path, description: Description | None = None) -> Iterator[Files]:
    """A file that is there and, if it is CSV, clear about where its cells end."""
    if not can_read_whole(path):
        raise DataError(f"'{path}' must end in {', '.join((*_ENDINGS, *FORMATS))}.")
    _require_file(path)
    try:
        with ExitStack() as stack:
            source = Files([path], f"'{path}'", description)
            if source.kind == "csv":
                check_csv(source, path, lambda: stack.enter_context(private_folder()))
            yield source
    except MemoryError:
        raise DataError(f"'{path}' does not fit into memory.") from None
