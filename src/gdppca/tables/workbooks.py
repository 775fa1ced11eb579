"""Workbooks of Excel and LibreOffice, by python-calamine: cells as they are typed, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gdppca._errors import DataError
from gdppca.tables.base import require_package, without_its_words
from gdppca.tables.description import Description
from gdppca.tables.headers import looks_like_a_cell, require_columns

ENDINGS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
_ZIP, _OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_LOCKED = "EncryptedPackage".encode("utf-16-le")
_EMPTY = ""  # what calamine gives for no cell


def workbook_names(path: Path, description: Description | None = None) -> list[str]:
    """The names in the header of a sheet."""
    header, _ = _sheet(path, description)
    return [name for name in header if name]


def workbook_columns(
    path: Path, names: list[str], description: Description | None = None
) -> dict[str, list[Any]]:
    """Columns of a sheet by their names, cell by cell; None where there is no cell."""
    header, rows = _sheet(path, description)
    require_columns([name for name in header if name], names, f"'{path}'")
    places = [header.index(name) for name in names]
    return {
        name: [None if row[place] == _EMPTY else row[place] for row in rows]
        for name, place in zip(names, places, strict=True)
    }


def _sheet(path: Path, description: Description | None) -> tuple[list[str], list[list[Any]]]:
    """The names in a sheet's header, "" where there is none, and the rows below that hold a cell.

    What stands below or beside a column's name decides nothing: a column without one is none.
    """
    _require_workbook(path)
    skip = description.skip if description else 0
    with _opened(path) as book:
        name = _sheet_name(path, book.sheet_names, description.sheet if description else None)
        every = without_its_words(
            lambda: book.get_sheet_by_name(name).to_python(skip_empty_area=False),
            lambda error: _damaged(path),
        )
    rows = [row for row in every[skip:] if any(cell != _EMPTY for cell in row)]
    if not rows:
        raise DataError(
            f"Sheet '{name}' of '{path}' is empty{f' after {skip} rows' if skip else ''}. Give "
            "another (--sheet, or sheet in the description)."
        )
    return _header(path, name, rows[0]), rows[1:]


def _header(path: Path, sheet: str, row: list[Any]) -> list[str]:
    names = [cell.strip() if isinstance(cell, str) else cell for cell in row]
    there = [name for name in names if name != _EMPTY]
    if not all(isinstance(name, str) and not looks_like_a_cell(name) for name in there):
        raise DataError(
            f"Sheet '{sheet}' of '{path}' seems to have no header: a column's name looks like a "
            "cell. The first row must hold names that start with a letter, since names are "
            "published. If lines of titles stand before it, give --skip, or skip in the "
            "description, with how many."
        )
    if len(there) == 1 and len(names) > 1:
        raise DataError(
            f"The first row of sheet '{sheet}' of '{path}' has one name, but the sheet has more "
            "columns: if it is a title, give --skip, or skip in the description, with how many "
            "rows stand before the header."
        )
    return [str(name) for name in names]


def _sheet_name(path: Path, names: list[str], wanted: str | None) -> str:
    listed = ", ".join(repr(name) for name in names)
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in names:
        return str(wanted)
    if wanted is None:
        raise DataError(
            f"'{path}' has several sheets: {listed}. Name one: --sheet {names[0]!r}, or "
            f'sheet = "{names[0]}" in the description.'
            if names
            else f"'{path}' has no sheet."
        )
    raise DataError(f"'{path}' has no sheet '{wanted}'. It has {listed}.")


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    require_package(
        "python_calamine", "Reading workbooks needs python-calamine: pip install 'gdppca[excel]'."
    )
    from python_calamine import CalamineWorkbook, PasswordError

    def said(error: Exception) -> DataError:
        return _locked(path) if isinstance(error, PasswordError) else _damaged(path)

    book = without_its_words(lambda: CalamineWorkbook.from_path(str(path)), said)
    try:
        yield book
    finally:
        book.close()


def _locked(path: Path) -> DataError:
    return DataError(
        f"'{path}' is protected by a password. Open it, and save it without one in a place that "
        "is safe."
    )


def _damaged(path: Path) -> DataError:
    return DataError(f"'{path}' cannot be read as {path.suffix.lower()}: it is damaged.")


def _require_workbook(path: Path) -> None:
    """Refuse what is called a workbook and is none, by how its format begins."""
    with path.open("rb") as file:
        start = file.read(2**16)
    old = path.suffix.lower() == ".xls"
    if start.startswith(_OLD) and _LOCKED in start:
        raise _locked(path)
    if start.startswith(_ZIP) and old:
        raise DataError(f"'{path}' is a workbook of the newer kind: give it the ending .xlsx.")
    if start.startswith(_OLD) and not old:
        raise DataError(
            f"'{path}' is a workbook of the older kind, or protected by a password: give it the "
            "ending .xls, or save it without a password."
        )
    if not start.startswith((_ZIP, _OLD)) and not (old and start[:1] == b"\x09"):
        raise DataError(_what_else(path, start))


def _what_else(path: Path, start: bytes) -> str:
    if not start:
        return f"'{path}' is empty."
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b"<"):
        return (
            f"'{path}' is a web page that is called {path.suffix}. Open it in a spreadsheet "
            "program and save it as .xlsx or .csv."
        )
    if b"\0" not in text or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return (
            f"'{path}' is text that is called {path.suffix}: give it the ending .csv, or .tsv "
            "where tabs separate its cells."
        )
    return str(_damaged(path))
