"""Whether a CSV file is clear about where its cells end: one cell must not swallow other rows."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gdppca._errors import DataError
from gdppca.tables.dialects import require_letters
from gdppca.tables.headers import csv_header
from gdppca.tables.sources import Files, unreadable

_BLOCK = 2**24  # bytes


def check_csv(source: Files, path: Path, folder: Callable[[], Path]) -> None:
    """Refuse a file whose quotes are not strict; `folder` is for a plain copy, where it needs one.

    Letters that are not UTF-8 are made so: where one cell is none, the others stay what they are.
    """
    require_letters(path, source.dialect)
    if not source.dialect.plain or path.suffix.lower() == ".gz":
        source.copy_plainly(folder())
    marks = _marks(source.read_from(path))
    if not marks.is_text:
        csv_header(source.read_from(path), source.dialect.delimiter, path)  # names must be text
        source.copy_plainly(folder())
        marks = _marks(source.read_from(path))
    file, delimiter = source.read_from(path), source.dialect.delimiter
    if marks.quotes.size:
        _require_strict_quotes(file, path, marks.quotes, delimiter)
    if marks.mixed:
        _require_one_length(file, path, marks.quotes, delimiter)
    source.strict = not marks.mixed


@dataclass(frozen=True, eq=False)
class _Marks:
    """Where quotes stand, and whether there are several kinds of line ends."""

    quotes: np.ndarray
    mixed: bool
    is_text: bool


def _marks(path: Path) -> _Marks:
    quotes, ends, is_text = [np.empty(0, int)], Counter[bytes](), True
    decoder = codecs.getincrementaldecoder("utf-8")()
    for k, block in enumerate(_blocks(path)):
        quotes.append(k * _BLOCK + np.flatnonzero(np.frombuffer(block, np.uint8) == ord('"')))
        ends.update({end: block.count(end) for end in (b"\r", b"\n", b"\r\n")})
        try:
            decoder.decode(block)
        except UnicodeDecodeError:
            is_text = False
    mixed = ends[b"\r"] and ends[b"\n"] and len(set(ends.values())) > 1
    return _Marks(np.concatenate(quotes), bool(mixed), is_text)


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _require_strict_quotes(file: Path, path: Path, quotes: np.ndarray, delimiter: str) -> None:
    """Refuse quotes that neither enclose a cell nor are doubled inside one (RFC 4180).

    The next quote, in somebody else's row, would end the cell: one cell would swallow the rows
    between.
    """
    content = np.memmap(file, np.uint8, "r")
    start = len(codecs.BOM_UTF8) if content[:3].tobytes() == codecs.BOM_UTF8 else 0
    around = np.frombuffer(delimiter.encode() + b'\r\n"', np.uint8)
    opening, closing = quotes[::2], quotes[1::2] + 1
    opened = (opening == start) | np.isin(content[opening - 1], around)
    closed = (closing == len(content)) | np.isin(content[closing % len(content)], around)
    if quotes.size % 2 or not (opened.all() and closed.all()):
        raise DataError(
            f"'{path}' has quotes that neither enclose a cell nor are doubled inside one: where a "
            "cell ends is not clear. Save the table again as CSV with a program that quotes cells."
        )


def _require_one_length(file: Path, path: Path, quotes: np.ndarray, delimiter: str) -> None:
    """Refuse rows that are too long, in a file with line ends of several kinds.

    DuckDB's strict way knows one kind only, and its other way drops cells in silence.
    """
    content = np.memmap(file, np.uint8, "r")
    _, names = csv_header(file, delimiter, path)
    marks = np.flatnonzero(np.isin(content, np.frombuffer(delimiter.encode() + b"\r\n", np.uint8)))
    marks = marks[np.searchsorted(quotes, marks) % 2 == 0]  # outside of quotes
    ends = np.flatnonzero(content[marks] != ord(delimiter))
    separators = np.diff(np.concatenate([[-1], ends, [marks.size]])) - 1
    # None are those of an empty line, or of what DuckDB refuses.
    if not np.isin(separators, [0, len(names) - 1]).all():
        raise unreadable(f"'{path}'", "csv")
