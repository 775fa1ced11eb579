"""CSV and Parquet files to tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gdppca._errors import DataError, MissingExtraError

_READERS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}


def read_table(path: str | Path, columns: list[str] | None = None) -> Any:
    """Read a CSV (with a header) or Parquet file into an arrow table.

    Messages of the readers quote cells, so they are replaced.
    """
    path = Path(path)
    kind = _READERS.get(path.suffix.lower())
    if kind is None:
        raise DataError(f"'{path}' must end in {' or '.join(_READERS)}.")
    if not path.is_file():
        raise DataError(f"There is no file '{path}'.")
    pa, read = _reader(kind)
    try:
        table = read(path)
        names = table.column_names
    except UnicodeDecodeError:
        names = None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError, OSError):
        table = None
    except MemoryError:  # arrow's is one
        raise DataError(f"'{path}' does not fit into memory.") from None
    if table is None:  # raised out here, so that the reader's message is not even in __context__
        raise DataError(
            f"'{path}' cannot be read as {kind}: it is damaged, empty or has rows of different "
            "lengths."
        )
    if names is None:
        raise DataError(f"'{path}' has column names that are not UTF-8. Save it as UTF-8.")
    if kind == "csv":
        require_header(path, names)
    if not table.num_rows:
        raise DataError(f"'{path}' has no rows.")
    return _selected(table, columns, path)


def can_read_whole(path: Path) -> bool:
    """Whether `read_table` reads such a file."""
    return path.suffix.lower() in _READERS


def require_header(path: Path, names: Sequence[str]) -> None:
    """Refuse a CSV file whose first row is not one of names."""
    nameless = [k for k, name in enumerate(names, start=1) if not name.strip()]
    if nameless and not any(_looks_like_a_cell(name) for name in names if name.strip()):
        raise DataError(
            f"Column {nameless[0]} of '{path}' has no name; it may be an index that was saved with "
            "the table. Name it, or save the table without it."
        )
    if any(map(_looks_like_a_cell, names)):
        raise DataError(
            f"'{path}' seems to have no header, or other separators than commas: a column's name "
            "looks like a cell. The first row must hold names that start with a letter, since "
            "names are published."
        )


def _looks_like_a_cell(name: str) -> bool:
    """Whether a column name could be somebody's data: a number, a date, a word for nothing."""
    plain = name.strip().lower()
    words = ("", "na", "nan", "n/a", "null", "none", "true", "false", "yes", "no")
    return plain in words or bool(
        re.match(r"[-+<>=~.,]*\s*\d", plain) or re.search(r"[;\t|]", name)
    )


def _reader(kind: str) -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import csv, parquet
    except ImportError:
        raise MissingExtraError(
            "Reading files needs pyarrow: pip install 'gdppca[engines]'."
        ) from None

    # One block: a type is inferred from the whole file, and a column of numbers with a word far
    # down becomes a column of text, which is refused by name.
    def read_csv(path: Path) -> Any:
        block = min(max(path.stat().st_size, 2**20), 2**31 - 1)
        return csv.read_csv(path, csv.ReadOptions(block_size=block))

    return pa, {"csv": read_csv, "parquet": parquet.read_table}[kind]


def _selected(table: Any, columns: list[str] | None, path: Path) -> Any:
    return table.select(list(require_columns(table.column_names, columns, f"'{path}'")))


def require_columns(names: list[str], columns: list[str] | None, where: str) -> tuple[str, ...]:
    """The columns that are asked for, or all; each must be there, once."""
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"{where} has several columns named {', '.join(map(repr, repeated))}.")
    if columns is None:
        return tuple(names)
    if len(set(columns)) < len(columns):
        raise DataError("A column was asked for twice.")
    missing = [name for name in columns if name not in names]
    if missing:
        raise DataError(
            f"{where} has no column {', '.join(map(repr, missing))}. "
            f"It has {', '.join(map(repr, names))}."
        )
    return tuple(columns)
