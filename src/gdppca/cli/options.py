"""Options that commands ask for, from the table in options.toml; how their texts become values.

Names are those of `DPPCA`, `fit_release` and `plan`, but for the words in `OPTION_OF`.
"""

from __future__ import annotations

import csv
import inspect
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gdppca._errors import ParameterError

if TYPE_CHECKING:  # readers load where they are used
    from gdppca.tables.sql import Query

# What the messages of Python call otherwise than the command line does.
OPTION_OF = {
    "n_components": "components",
    "n_features": "columns",
    "n_samples": "rows",
    "random_state": "seed",
    "persons": "person",
    "weights": "weight",
    "description": "table",
    "share of the map": "score_map",
    "share of the variances": "variances",
}
# How a file is written.
DIALECT = ("delimiter", "decimal", "thousands", "encoding", "skip", "sheet")
# What the owner of a release calls otherwise than the command line does.
OWNED_AS = {
    "curator": "curators",
    "use": "intended_use",
    "date": "publication_date",
    "author": "authors",
}


def _count_or_word(text: str) -> int | str:
    return int(text) if text.isdecimal() and len(text) <= 15 else text


def _count_share_or_word(text: str) -> int | float | str:
    found = _count_or_word(text)
    return _number_or_word(text) if isinstance(found, str) else found


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _numbers_or_word(text: str) -> list[float] | str | None:
    if text == "none":
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text


def columns_of(listed: list[str] | None) -> list[str] | None:
    """Names from texts with commas, in which a name with a comma is quoted."""
    try:
        names = [name for row in csv.reader(listed or [], skipinitialspace=True) for name in row]
    except csv.Error:
        raise ParameterError("`--columns` must be names on one line, with commas.") from None
    return [name.strip() for name in names if name.strip()] or None


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


def require_private_radius(radius: Any, quantile: float | None) -> None:
    """Refuse a quantile that nothing would be done with."""
    if quantile is not None and radius != "quantile":
        raise ParameterError("`--quantile` goes with `--radius quantile` only. Give both or none.")


# Kinds of options: a type, or how the text becomes a number where it is one.
_TYPES: dict[str, Any] = {
    "float": float,
    "int": int,
    "flag": bool,
    "text": str,
    "texts": list[str],
    "path": Path,
    "paths": list[Path],
}
_PARSERS: dict[str, Callable[[str], Any]] = {
    "count or word": _count_or_word,
    "count, share or word": _count_share_or_word,
    "number or word": _number_or_word,
    "numbers or word": _numbers_or_word,
}
_TABLE = tomllib.loads(files("gdppca.cli").joinpath("options.toml").read_text(encoding="utf-8"))


def options_of(command: str) -> inspect.Signature:
    """Options of a command as typer reads them."""
    known = _TABLE["shared"] | _TABLE[command]
    return inspect.Signature([_parameter(name, known[name]) for name in known["asks"].split()])


def spelt_options(command: str) -> dict[str, str]:
    """How a command spells its options, by their names; an argument has no dashes."""
    known = _TABLE["shared"] | _TABLE[command]
    rows = {name: known[name] for name in known["asks"].split()}
    return {
        name: row.get("names", [f"--{name.replace('_', '-')}"])[0]
        for name, row in rows.items()
        if not row.get("argument")
    }


def _parameter(name: str, row: dict[str, Any]) -> inspect.Parameter:
    kind = row["kind"]
    told: Any = typer.Option(*row.get("names", ()), help=row["help"])
    if row.get("argument"):
        told = typer.Argument(help=row["help"])
    if kind in _PARSERS:
        told.parser, told.metavar = _PARSERS[kind], "<text>"
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[_TYPES.get(kind, Any), told],
        default=inspect.Parameter.empty if row.get("required") else row.get("default"),
    )
