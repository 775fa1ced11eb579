"""CSV and Parquet files to tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gdppca._errors import DataError, MissingExtraError
from gdppca.tables.cells import MISSING, numbers_spelt

_BOM = b"\xef\xbb\xbf"

_READERS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}


def read_table(
    path: str | Path, columns: list[str] | None = None, labels: str | None = None
) -> Any:
    """Read a CSV (with a header) or Parquet file into an arrow table.

    Columns of a CSV file are numbers by declaration, and each cell is read by itself: a column
    with a cell that spells none stays as it came, to be refused by name. The column of `labels`
    stays as it came, too, and is the last one.
    """
    path = Path(path)
    names = column_names(path)
    numbers = require_columns(names, columns, f"'{path}'")
    wanted = [*(name for name in numbers if name != labels), *([labels] if labels else [])]
    if _kind(path) == "csv":
        table = _without_cells(path, lambda: _csv_columns(path, wanted, labels, len(names)))
    else:
        table = _without_cells(path, lambda: _parquet_columns(path, wanted))
    if not table.num_rows:
        raise DataError(f"'{path}' has no rows.")
    return table


def column_names(path: str | Path) -> list[str]:
    """The names in a file's header."""
    path = Path(path)
    if not path.is_file() and _kind(path):
        raise DataError(f"There is no file '{path}'.")
    read = _csv_names if _kind(path) == "csv" else _parquet_names
    names: list[str] = _without_cells(path, lambda: read(path))
    if _kind(path) == "csv":
        require_header(path, names)
    require_columns(names, None, f"'{path}'")
    return names


def _kind(path: Path) -> str:
    kind = _READERS.get(path.suffix.lower())
    if kind is None:
        raise DataError(f"'{path}' must end in {' or '.join(_READERS)}.")
    return kind


def _without_cells(path: Path, read: Callable[[], Any]) -> Any:
    """What a reader gives; its messages quote cells, so they are replaced."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("Reading files needs pyarrow: pip install pyarrow.") from None
    try:
        return read()
    except UnicodeDecodeError:
        problem = f"'{path}' has column names that are not UTF-8. Save it as UTF-8."
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError, OSError):
        problem = (
            f"'{path}' cannot be read as {_kind(path)}: it is damaged, empty or has rows of "
            "different lengths."
        )
    except MemoryError:  # arrow's is one
        problem = f"'{path}' does not fit into memory."
    raise DataError(problem)  # out here, so that the reader's message is not even in __context__


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


def _csv_names(path: Path) -> list[str]:
    """Names as arrow reads them, from the first line that is not empty."""
    from pyarrow import csv, py_buffer

    with path.open("rb") as file:
        header = file.readline()
        while (not header.strip() or header.count(b'"') % 2) and (more := file.readline()):
            header += more
    names: list[str] = csv.read_csv(py_buffer(header)).column_names
    return names


def _parquet_names(path: Path) -> list[str]:
    from pyarrow import parquet

    return list(parquet.read_schema(path).names)


def _require_strict_quotes(path: Path) -> None:
    """Refuse quotes that neither enclose a cell nor are doubled inside one (RFC 4180).

    Arrow reads on after them, and the next quote, in somebody else's row, would end the cell: one
    cell would swallow the rows between.
    """
    content = np.fromfile(path, dtype=np.uint8)
    if content[:3].tobytes() == _BOM:
        content = content[3:]
    quotes = np.flatnonzero(content == ord('"'))
    around = np.concatenate([[ord("\n")], content, [ord("\n")]])  # what stands outside
    ends = np.frombuffer(b',\r\n"', dtype=np.uint8)
    opened, closed = around[quotes[::2]], around[quotes[1::2] + 2]
    if quotes.size % 2 or not (np.isin(opened, ends).all() and np.isin(closed, ends).all()):
        raise DataError(
            f"'{path}' has quotes that neither enclose a cell nor are doubled inside one: where a "
            "cell ends is not clear. Save the table again as CSV with a program that quotes cells."
        )


def _csv_columns(path: Path, wanted: list[str], labels: str | None, n_columns: int) -> Any:
    """Numbers the quick way; where a cell is not for it, all of them cell by cell."""
    import pyarrow as pa

    _require_strict_quotes(path)
    as_text = dict.fromkeys(wanted, pa.binary())
    quick = {name: pa.binary() if name == labels else pa.float64() for name in wanted}
    try:
        return _csv_table(path, quick, n_columns)
    except pa.ArrowInvalid:
        pass
    table = _csv_table(path, as_text, n_columns)
    for k, name in enumerate(wanted):
        if name != labels:
            table = table.set_column(k, name, numbers_spelt(table.column(k)))
    return table


def _csv_table(path: Path, types: dict[str, Any], n_columns: int) -> Any:
    """Columns of given types, and nothing guessed; one block, so that any cell fits into it."""
    from pyarrow import csv

    block = min(max(path.stat().st_size, 2**20), 2**31 - 1)
    return csv.read_csv(
        path,
        csv.ReadOptions(block_size=block),
        # In a file of one column an empty line is a row, as it is for DuckDB.
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=n_columns > 1),
        csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=list(MISSING)
        ),
    )


def _parquet_columns(path: Path, wanted: list[str]) -> Any:
    """Columns as they are; those with a dictionary as the values that it holds."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(path).select(wanted)
    for k, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(k, field.name, table.column(k).cast(field.type.value_type))
    return table


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
