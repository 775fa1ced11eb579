"""A template of a table's description, from names and declared types alone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gdppca._errors import DataError
from gdppca.tables.description import Column, Description

if TYPE_CHECKING:  # no rows are read here, and no readers loaded before they are needed
    from gdppca.tables.sql import Query

# What a file declares of a column, as the type of a description; else a number.
_TYPE_OF = {"yes-no": "yes-no", "date": "date", "text": "category"}


def describe(
    source: str | os.PathLike[str] | Query,
    *,
    person: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    skip: int = 0,
    sheet: str | None = None,
) -> Description:
    """Begin the description of a file, from its header and the types that it declares.

    Parameters
    ----------
    source : str, path or Query
        A file; a folder or a pattern whose files are one table; or a question to a database.
    person : str, optional
        The column that says whose row it is; never guessed.
    delimiter, decimal, thousands, encoding : str, optional
        How a text file is written, where it is not the usual way.
    skip : int, default 0
        Lines before the header.
    sheet : str, optional
        Of a workbook, the sheet.

    Returns
    -------
    Description
        A template: every column is a number unless the file declares another type. `levels` of
        categories and `origin` of dates are left to its owner.

    Notes
    -----
    **Privacy.** No cell is read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from gdppca import describe
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "visits.csv"
    >>> _ = file.write_text("patient,age,pulse\\n1,50,70\\n")
    >>> [column.name for column in describe(file, person="patient").columns]
    ['age', 'pulse']
    """
    if not isinstance(source, str | os.PathLike) and not hasattr(source, "statement"):
        raise DataError(
            f"`describe` takes the name of a file, got {type(source).__name__}: types of a table "
            "in memory may come from its cells. Write `Description` and `Column` yourself."
        )
    written = Description(
        columns=(), delimiter=delimiter, decimal=decimal, thousands=thousands, encoding=encoding,
        skip=skip, sheet=sheet,
    )  # fmt: skip
    kinds = _declared(source, written)
    where = getattr(source, "shown", source)
    if person is not None and person not in kinds:
        raise DataError(f"'{where}' has no column {person!r} for `person`.")
    columns = [
        Column(name=name, type=_TYPE_OF.get(kind, "number"))
        for name, kind in kinds.items()
        if name != person
    ]
    if not columns:
        raise DataError(f"'{where}' has no columns to analyse.")
    return replace(written, columns=tuple(columns), person=person)


def _declared(source: str | os.PathLike[str] | Query, written: Description) -> dict[str, str]:
    """Names of columns, and the types that the file declares; an answer declares none."""
    from gdppca.tables.formats import declared_columns
    from gdppca.tables.headers import require_columns

    if not isinstance(source, str | os.PathLike):
        return dict.fromkeys(require_columns(source.names(), None, f"'{source.shown}'"), "")
    return declared_columns(Path(source), written)
