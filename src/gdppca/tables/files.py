"""One CSV or Parquet file as a whole."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gdppca._errors import DataError
from gdppca.tables.cells import label_cell, label_text, require_labels
from gdppca.tables.duck import Reader
from gdppca.tables.frames import Matrix
from gdppca.tables.headers import csv_header, require_columns
from gdppca.tables.sources import Files, unreadable

_ENDINGS = (".csv", ".parquet", ".pq")
_BLOCK = 2**24  # bytes


def read_table(
    path: str | Path, columns: list[str] | None = None, description=None, gaps=False
) -> Matrix:
    """The numbers in a CSV (with a header) or Parquet file, in the order of its rows.

    Columns of a CSV file are numbers by declaration, and each cell is read by itself.
    """

    with _source(Path(path)) as source, Reader(source, columns).opened() as reader:
        table = Matrix(reader.everything(), reader.names)
    if not len(table.values):
        raise DataError(f"'{path}' has no rows.")
    return table


def read_labels(path: str | Path, column: str, description=None) -> list[str | None]:
    """Labels as text, each by its own cell; None where there is none.

    Text stays as it stands. Numbers that are whole are written so, whatever the column's type.
    """
    with _source(Path(path)) as source:
        reader = Reader(source)
        with reader.connected() as connection:
            require_columns(list(source.types), [column], source.name)
            kind = source.types[column]
            require_labels(column, kind)
            cell = label_cell(f"c{list(source.types).index(column)}", kind)
            reader.plainly(source.open_labels)
            cells = reader.plainly(lambda: connection.sql(f"SELECT {cell} FROM labels").fetchall())
        return [label_text(source.decoded(label)) for [label] in cells]


def column_names(path: str | Path, description=None) -> list[str]:
    """The names in a file's header."""
    with _source(Path(path)) as source, Reader(source).connected():
        return list(source.types)


def can_read_whole(path: Path) -> bool:
    """Whether `read_table` reads such a file."""
    return path.suffix.lower() in _ENDINGS


@contextmanager
def _source(path: Path) -> Iterator[Files]:
    """A file that is there and, if it is CSV, clear about where its cells end."""
    if not can_read_whole(path):
        raise DataError(f"'{path}' must end in {' or '.join(_ENDINGS)}.")
    if not path.is_file():
        raise DataError(f"There is no file '{path}'.")
    try:
        checked = _checked_csv(path) if path.suffix.lower() == ".csv" else {}
        yield Files([path], f"'{path}'", **checked)
    except MemoryError:
        raise DataError(f"'{path}' does not fit into memory.") from None


def _checked_csv(path: Path) -> dict[str, Any]:
    """How to read a CSV file, whose quotes must be strict."""
    quotes, ends, is_text = [np.empty(0, int)], Counter[bytes](), True
    decoder = codecs.getincrementaldecoder("utf-8")()
    for k, block in enumerate(_blocks(path)):
        quotes.append(k * _BLOCK + np.flatnonzero(np.frombuffer(block, np.uint8) == ord('"')))
        ends.update({end: block.count(end) for end in (b"\r", b"\n", b"\r\n")})
        try:
            decoder.decode(block)
        except UnicodeDecodeError:  # then bytes are read as if they were letters
            is_text = False
    places = np.concatenate(quotes)
    if places.size:
        _require_strict_quotes(path, places)
    mixed = ends[b"\r"] and ends[b"\n"] and len(set(ends.values())) > 1
    if mixed:
        _require_one_length(path, places)
    return {"encoding": "utf-8" if is_text else "latin-1", "strict": not mixed}


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _require_strict_quotes(path: Path, quotes: np.ndarray) -> None:
    """Refuse quotes that neither enclose a cell nor are doubled inside one (RFC 4180).

    The next quote, in somebody else's row, would end the cell: one cell would swallow the rows
    between.
    """
    content = np.memmap(path, np.uint8, "r")
    start = len(codecs.BOM_UTF8) if content[:3].tobytes() == codecs.BOM_UTF8 else 0
    around = np.frombuffer(b',\r\n"', np.uint8)
    opening, closing = quotes[::2], quotes[1::2] + 1
    opened = (opening == start) | np.isin(content[opening - 1], around)
    closed = (closing == len(content)) | np.isin(content[closing % len(content)], around)
    if quotes.size % 2 or not (opened.all() and closed.all()):
        raise DataError(
            f"'{path}' has quotes that neither enclose a cell nor are doubled inside one: where a "
            "cell ends is not clear. Save the table again as CSV with a program that quotes cells."
        )


def _require_one_length(path: Path, quotes: np.ndarray) -> None:
    """Refuse rows that are too long, in a file with line ends of several kinds.

    DuckDB's strict way knows one kind only, and its other way drops cells in silence.
    """
    content = np.memmap(path, np.uint8, "r")
    _, names = csv_header(path)
    marks = np.flatnonzero(np.isin(content, np.frombuffer(b",\r\n", np.uint8)))
    marks = marks[np.searchsorted(quotes, marks) % 2 == 0]  # outside of quotes
    ends = np.flatnonzero(content[marks] != ord(","))
    commas = np.diff(np.concatenate([[-1], ends, [marks.size]])) - 1
    # None are those of an empty line, or of what DuckDB refuses.
    if not np.isin(commas, [0, len(names) - 1]).all():
        raise unreadable(f"'{path}'", "csv")
