"""Options that commands ask for, from the table in options.toml; how their texts become values.

Names are those of `DPPCA`, `fit_release` and `plan`, but for the words in `OPTION_OF`.
"""

from __future__ import annotations

import csv
import inspect
import tomllib
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer

from gdppca._errors import ParameterError
from gdppca.cli.config import variables_of
from gdppca.jobs.texts import DIALECT as DIALECT
from gdppca.jobs.texts import dialect_of as dialect_of
from gdppca.jobs.texts import question_of as question_of

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


_ONLY_WITH = {  # what nothing would be done with by itself, and the option and word that it needs
    "quantile": ("radius", "quantile"),
    "quantile_share": ("radius", "quantile"),
    "scale_share": ("scale", "private"),
}


def without_unused(asked: dict[str, Any]) -> dict[str, Any]:
    """The same less what was left out; what nothing would be done with is refused."""
    for name, (other, word) in _ONLY_WITH.items():
        if asked.get(name) is not None and asked.get(other) != word:
            option = name.replace("_", "-")
            raise ParameterError(
                f"`--{option}` goes with `--{other} {word}` only. Give both or none."
            )
    return {k: v for k, v in asked.items() if v is not None or k not in _ONLY_WITH}


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


EVERYWHERE = tuple(_TABLE["everywhere"])  # options of every command, which it is not told of


def options_of(command: str, words: Sequence[str]) -> inspect.Signature:
    """Options of a command, which is called by these words, as typer reads them."""
    known = _TABLE["shared"] | _TABLE[command]
    asked = {name: known[name] for name in known["asks"].split()} | _TABLE["everywhere"]
    return inspect.Signature([_parameter(name, row, words) for name, row in asked.items()])


def spelt_options(command: str) -> dict[str, str]:
    """How a command spells its options, by their names; an argument has no dashes."""
    known = _TABLE["shared"] | _TABLE[command]
    rows = {name: known[name] for name in known["asks"].split()}
    return {
        name: row.get("names", [f"--{name.replace('_', '-')}"])[0]
        for name, row in rows.items()
        if not row.get("argument")
    }


def _parameter(name: str, row: dict[str, Any], words: Sequence[str]) -> inspect.Parameter:
    kind = row["kind"]
    told: Any = typer.Option(
        *row.get("names", ()),
        help=row["help"],
        envvar=variables_of(words, name),
        show_envvar=False,
    )
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
