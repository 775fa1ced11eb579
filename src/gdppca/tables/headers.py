"""Names of columns: what the header of a file says, and which of them are wanted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gdppca._errors import DataError
from gdppca.tables.dialects import LONGEST_LINE

_BOM = b"\xef\xbb\xbf"
_SEPARATORS = {";": ";", "\t": r"\t", "|": "|", ",": ","}  # as they are written


def csv_header(
    path: Path, delimiter: str = ",", known_as: Path | None = None
) -> tuple[int, list[str]]:
    """The lines of a CSV file up to its first row, as DuckDB counts them, and the names there."""
    with path.open("rb") as file:
        start = file.readline(LONGEST_LINE)
        line, lines = start.removeprefix(_BOM), 1
        while line and not line.strip(b"\r\n"):
            line, lines = file.readline(LONGEST_LINE), lines + 1
        while line.count(b'"') % 2 and len(line) < LONGEST_LINE and (more := file.readline()):
            line += more
    text = None
    with suppress(UnicodeDecodeError):
        text = line.decode()
    if text is None:  # raised out here, so that the line is not even in __context__
        raise DataError(
            f"'{known_as or path}' has column names that are not UTF-8. Give its encoding "
            "(--encoding, or encoding in the description), such as latin-1 or cp1252, or save it "
            "as UTF-8."
        )
    names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    # Behind a mark DuckDB does not see that the first name is quoted.
    return lines + (names[0].count("\n") if names and start.startswith(_BOM) else 0), names


def parquet_names(nodes: Sequence[tuple[str, int | None]]) -> list[str]:
    """Names of whole columns, from all parts of a Parquet schema and how many parts each has."""
    names, inside = [], 0
    for name, parts in nodes[1:]:
        if not inside:
            names.append(name)
        inside += (parts or 0) - bool(inside)
    return names


def require_header(path: Path, names: Sequence[str], delimiter: str = ",") -> None:
    """Refuse a CSV file whose first row is not one of names."""
    nameless = [k for k, name in enumerate(names, start=1) if not name.strip()]
    if nameless and not any(looks_like_a_cell(name) for name in names if name.strip()):
        raise DataError(
            f"Column {nameless[0]} of '{path}' has no name; it may be an index that was saved with "
            "the table. Name it, or save the table without it; if lines of titles stand before the "
            "header, give --skip, or skip in the description, with how many."
        )
    other = _other_separator(names, delimiter)
    if other:
        sign = _SEPARATORS[other]
        raise DataError(
            f"'{path}' looks as if cells were separated by '{sign}': give --delimiter '{sign}', or "
            f'delimiter = "{sign}" in the description.'
        )
    if any("\ufffd" in name for name in names):
        raise DataError(
            f"'{path}' has column names that are not in the encoding that was given. Give another "
            "(--encoding, or encoding in the description), such as utf-8, latin-1 or cp1252."
        )
    if any(map(looks_like_a_cell, names)):
        raise DataError(
            f"'{path}' seems to have no header, or other separators than {_said(delimiter)}: a "
            "column's name looks like a cell. The first row must hold names that start with a "
            "letter, since names are published."
        )


def _said(delimiter: str) -> str:
    return "commas" if delimiter == "," else repr(delimiter)


def _other_separator(names: Sequence[str], delimiter: str) -> str | None:
    """What separates the names of a header that is read as one name, if something does."""
    if len(names) != 1:
        return None
    found = max(_SEPARATORS, key=names[0].count)
    parts = names[0].split(found)
    fine = len(parts) > 1 and found != delimiter and not any(map(looks_like_a_cell, parts))
    return found if fine else None


def looks_like_a_cell(name: str) -> bool:
    """Whether a column name could be somebody's data: a number, a date, a word for nothing."""
    plain = name.strip().lower()
    words = ("", "na", "nan", "n/a", "null", "none", "true", "false", "yes", "no")
    return plain in words or bool(
        re.match(r"[-+<>=~.,]*\s*\d", plain) or re.search(r"[;\t|]", name)
    )


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
