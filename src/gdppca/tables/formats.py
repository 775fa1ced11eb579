"""What formats declare of their columns, and those that DuckDB does not read.

Workbooks and files of statistical programs are read whole. Every cell comes with a type of its own
(workbooks) or by the column's declared one (the others): nothing is guessed from rows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gdppca._errors import DataError
from gdppca._words import listed
from gdppca.tables import statfiles, workbooks
from gdppca.tables.cells import MISSING
from gdppca.tables.described import NUMBERS, chosen_columns, featured
from gdppca.tables.description import Description
from gdppca.tables.duck import Reader
from gdppca.tables.encode import encode
from gdppca.tables.frames import Matrix, refuse_text
from gdppca.tables.scratch import private_folder
from gdppca.tables.sources import files_behind, found_files

_NAMED = 5  # files and columns in a sentence
FORMATS = (*workbooks.ENDINGS, *statfiles.ENDINGS)


def declared_columns(path: str | Path, description: Description | None = None) -> dict[str, str]:
    """Names of columns and what the file declares them to hold, from its header alone.

    "number", "yes-no", "date" or "text"; "" where a format, such as CSV, declares nothing.
    """
    path = Path(path)
    if not path.is_file():
        return _of_several(path, description)
    if path.suffix.lower() in FORMATS:
        return _raw_types(path, description)
    source = found_files(path, description)
    with private_folder() as folder, Reader(source).connected(folder):
        return {
            name: "" if source.spelt else declared_type(kind) for name, kind in source.types.items()
        }


def _of_several(path: Path, description: Description | None) -> dict[str, str]:
    """The same of a folder or a pattern whose files are one table; several tables are named."""
    files = files_behind(path)
    if not files:
        raise DataError(_nothing_in(path) if path.is_dir() else f"There is no file '{path}'.")
    tables: dict[frozenset[tuple[str, str]], list[Path]] = {}
    declared = {file: declared_columns(file, description) for file in files}
    for file, kinds in declared.items():
        tables.setdefault(frozenset(kinds.items()), []).append(file)
    if len(tables) > 1:
        told = "; ".join(_table_in_words(own, list(declared[own[0]])) for own in tables.values())
        raise DataError(
            f"'{path}' holds {len(tables)} different tables: {told}. Describe them one by one, or "
            "put the files of each into a folder of their own."
        )
    found_files(path, description)  # files of several kinds are refused as by a fit
    return declared[files[0]]


def _table_in_words(files: list[Path], names: list[str]) -> str:
    shown = [f"'{file.name}'" for file in files[:_NAMED]]
    more = [f"{len(files) - _NAMED} more"] if len(files) > _NAMED else []
    columns = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    return f"{listed([*shown, *more])} with the columns {columns}"


def _nothing_in(folder: Path) -> str:
    """Why no table was found in a folder, and what lies there that can be read by itself."""
    alone = sorted(each for each in folder.iterdir() if each.suffix.lower() in FORMATS)
    if not alone:
        return f"There is no file in '{folder}' that can be described."
    named = listed([f"'{each}'" for each in alone[:_NAMED]], "or")
    return (
        f"'{folder}' holds no table in parts: workbooks and files of statistics are read one by "
        f"one. Give {named} itself."
    )


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
