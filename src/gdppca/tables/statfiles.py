"""Files of SPSS, Stata and SAS, by pyreadstat: columns of declared types, missing ones apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from gdppca._errors import DataError
from gdppca.tables.base import require_package, without_its_words
from gdppca.tables.description import Description
from gdppca.tables.headers import require_columns

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
ENDINGS = tuple(_READERS)
_DAY = 86_400  # seconds
_SPSS, _OTHERS = date(1582, 10, 14), date(1960, 1, 1)
# Formats whose numbers are days or moments, with how many of them make a day, and the first day.
_DATES = {
    "SPSS": [(r"[AEJS]?DATE\d*|DATETIME[\d.]*|YMDHMS[\d.]*", _DAY, _SPSS)],
    "Stata": [(r"%-?t?d.*", 1, _OTHERS), (r"%-?t[cC].*", 1000 * _DAY, _OTHERS)],
    "SAS": [
        (r"(DATETIME|E8601DT|E8601DX|E8601DZ|E8601LX)[\d.]*", _DAY, _OTHERS),
        (r"(DATE|DDMMYY|MMDDYY|YYMMDD|WEEKDAT|E8601DA|E8601DN|JULIAN|NLDATE)[A-Z\d.]*", 1, _OTHERS),
    ],
}
_PROGRAMS = {".dta": "Stata", ".sas7bdat": "SAS", ".xpt": "SAS"}


def statfile_types(path: Path, description: Description | None = None) -> dict[str, str]:
    """What the file declares its columns to hold: number, date or text."""
    _, known = _read(path, description, metadataonly=True)
    return {name: _kind(path, known, name) for name in known.column_names}


def statfile_columns(
    path: Path, names: list[str], description: Description | None = None
) -> dict[str, list[Any]]:
    """Columns by their names: floats, days or text; None where a cell is missing."""
    types = statfile_types(path, description)
    require_columns(list(types), names, f"'{path}'")
    # Portable files know their columns by number alone: asking for some of them gives none.
    wanted = {} if path.suffix.lower() == ".por" else {"usecols": list(names)}
    cells, known = _read(path, description, **wanted)
    return {name: _cells(path, known, name, cells[name]) for name in names}


def _read(path: Path, description: Description | None, **wanted: Any) -> tuple[Any, Any]:
    require_package(
        "pyreadstat",
        "Reading files of SPSS, Stata and SAS needs pyreadstat: pip install 'gdppca[statfiles]'.",
    )
    import pyreadstat

    read = getattr(pyreadstat, _READERS[path.suffix.lower()])
    encoding = description.encoding if description else None
    # Days as numbers: one that no calendar has would stop the reading of all others.
    plainly = {"output_format": "dict", "disable_datetime_conversion": True, "encoding": encoding}
    return without_its_words(
        lambda: read(str(path), **plainly, **wanted),
        lambda error: DataError(
            f"'{path}' cannot be read as {path.suffix.lower()}: it is damaged, empty, or its "
            "letters are in another encoding than it says. Give it (--encoding latin-1, "
            'or encoding = "latin-1" in the description), or save the file again.'
        ),
    )


def _kind(path: Path, known: Any, name: str) -> str:
    if known.readstat_variable_types[name].startswith("string"):
        return "text"
    return "number" if _calendar(path, known, name) is None else "date"


def _calendar(path: Path, known: Any, name: str) -> tuple[int, date] | None:
    """How many units make a day and which day is the first, where a column holds days."""
    written = known.original_variable_types[name] or ""
    for pattern, units, origin in _DATES[_PROGRAMS.get(path.suffix.lower(), "SPSS")]:
        if re.fullmatch(pattern, written):
            return units, origin
    return None


def _cells(path: Path, known: Any, name: str, cells: Any) -> list[Any]:
    calendar = _calendar(path, known, name)
    if _kind(path, known, name) == "text":
        each: Callable[[Any], Any] = _text
    else:
        each = _number if calendar is None else lambda cell: _day(cell, *calendar)
    return [each(cell) for cell in cells]


def _text(cell: Any) -> str | None:
    """Text; a file of fixed widths has spaces behind it, and none is an empty text."""
    return cell if isinstance(cell, str) else None


def _number(cell: Any) -> float | None:
    """A number; what a program keeps for missing ones is a letter or nothing."""
    return float(cell) if isinstance(cell, int | float) else None


def _day(cell: Any, units: int, origin: date) -> date | None:
    try:
        return origin + timedelta(days=float(cell) // units)
    except (TypeError, ValueError, OverflowError):  # missing, or none that a calendar has
        return None
