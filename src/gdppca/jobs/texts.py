"""How texts that people give become what jobs take; nothing heavy is loaded here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gdppca._errors import ParameterError

if TYPE_CHECKING:  # readers load where they are used
    from gdppca.tables.sql import Query

# How a file is written.
DIALECT = ("delimiter", "decimal", "thousands", "encoding", "skip", "sheet")
_TAB = ("tab", "\\t")  # a tab as people type it


def dialect_of(written: dict[str, Any]) -> dict[str, Any]:
    """How a file is written, as far as options say it."""
    said = {name: written[name] for name in DIALECT if written.get(name) is not None}
    if said.get("delimiter") in _TAB:
        said["delimiter"] = "\t"
    return said


def question_of(data: list[str], query: str | None) -> Query | None:
    """What a database is asked, where its address stands in place of a file."""
    if query is None:
        if "://" in data[0]:
            raise ParameterError(
                "A database must be asked something: give --query 'SELECT … FROM …' beside its "
                "address."
            )
        return None
    if len(data) > 1:
        raise ParameterError("`--query` asks one database. Give one address.")
    from gdppca.tables.sql import Query

    return Query(data[0], query)


def axes_of(text: str) -> tuple[int, int]:
    """Two components as people count them, as 1,3; from zero here."""
    parts = [part.strip() for part in text.split(",")]
    counted = [int(part) - 1 for part in parts if part.isdecimal() and len(part) < 10]
    if len(parts) != 2 or len(set(counted)) != 2 or min(counted) < 0:
        raise ParameterError("`--axes` must be two different components, counted from 1, as 1,3.")
    return counted[0], counted[1]


def groups_of(text: str) -> tuple[str, list[str]]:
    """A column and the groups that there can be, as sex=female,male."""
    column, _, listed = text.partition("=")
    categories = [part.strip() for part in listed.split(",") if part.strip()]
    if not column or len(categories) < 2:
        raise ParameterError(
            "`--groups` must name a column and at least two categories, as sex=female,male. "
            "Categories are public: they are not looked up in the data."
        )
    return column.strip(), categories
