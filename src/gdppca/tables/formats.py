"""What formats declare of their columns, and those that DuckDB does not read.

Workbooks and files of statistical programs are read whole. Every cell comes with a type of its own
(workbooks) or by the column's declared one (the others): nothing is guessed from rows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gdppca._errors import DataError
from gdppca.tables import statfiles, workbooks
from gdppca.tables.cells import MISSING
from gdppca.tables.described import NUMBERS, chosen_columns, featured
from gdppca.tables.description import Description
from gdppca.tables.duck import Reader
from gdppca.tables.encode import encode
from gdppca.tables.frames import Matrix, refuse_text
from gdppca.tables.scratch import private_folder
from gdppca.tables.sources import found_files

FORMATS = (*workbooks.ENDINGS, *statfiles.ENDINGS)


def declared_columns(path: str | Path, description: Description | None = None) -> dict[str, str]:
    """Names of columns and what the file declares them to hold, from its header alone.

    "number", "yes-no", "date" or "text"; "" where a format, such as CSV, declares nothing.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"There is no file '{path}'.")
    if path.suffix.lower() in FORMATS:
        return _raw_types(path, description)
    source = found_files(path, description)
    with private_folder() as folder, Reader(source).connected(folder):
        return {
            name: "" if source.spelt else declared_type(kind) for name, kind in source.types.items()
        }


def raw_columns(
    path: str | Path, names: list[str], description: Description | None = None
) -> dict[str, list[Any]]:
    """Columns of a file that DuckDB does not read, cell by cell; None where one is missing."""
    path = Path(path)
    if path.suffix.lower() in workbooks.ENDINGS:
        return workbooks.workbook_columns(path, names, description)
    return statfiles.statfile_columns(path, names, description)


def read_raw_table(
    path: Path, columns: list[str] | None, description: Description | None, gaps: bool
) -> Matrix:
    """The features of such a file; without a description, its columns as numbers."""
    types, where = _raw_types(path, description), f"'{path}'"
    known = description or Description(columns=(), missing=MISSING)
    chosen = chosen_columns(known, list(types), columns, where)
    names = [column.name for column in chosen.columns]
    if description is None:
        refuse_text([name for name in names if types[name] in ("text", "date")])
    return encoded(raw_columns(path, names, description), chosen, gaps, where)


def encoded(columns: dict[str, Any], chosen: Description, gaps: bool, where: str) -> Matrix:
    """Cells as features; a column with missing ones is refused unless gaps may be."""
    return featured(encode(columns, chosen), chosen, gaps, where)


def _raw_types(path: Path, description: Description | None) -> dict[str, str]:
    if path.suffix.lower() in workbooks.ENDINGS:
        names = workbooks.workbook_names(path, description)
        types = dict.fromkeys(names, "")
    else:
        types, names = statfiles.statfile_types(path, description), []
    if len(names) > len(types):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"'{path}' has several columns named {', '.join(map(repr, repeated))}.")
    return types


def declared_type(kind: str) -> str:
    """What a type of DuckDB's is to a description."""
    if kind == "BOOLEAN":
        return "yes-no"
    if re.fullmatch(NUMBERS, kind):
        return "number"
    return "date" if re.fullmatch(r"DATE|TIMESTAMP.*", kind) else "text"
