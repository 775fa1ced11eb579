"""Descriptions as TOML files: read by the standard library, written by a template with comments."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gdppca._errors import DescriptionError
from gdppca._files import write_whole
from gdppca.tables.description_rules import key, quoted
from gdppca.tables.names import ID, doubtful_names

if TYPE_CHECKING:
    from jinja2 import Template

    from gdppca.tables.description import Description

_LARGEST_FILE = 2**24  # bytes
_LARGEST_WRITTEN_OUT = 1e15


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """What a TOML file holds; what it holds instead is not quoted."""
    file = Path(path)
    if not file.is_file():
        raise DescriptionError("There is no such file. Make one with gdppca describe.")
    if file.stat().st_size > _LARGEST_FILE:
        raise DescriptionError("It is too large for a description. Is it the table itself?")
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        problem = "It is not UTF-8. Save it again as text in UTF-8."
    except (ValueError, RecursionError) as error:
        problem = _not_toml(str(error))
    raise DescriptionError(problem)


def _not_toml(said: str) -> str:
    """Where the file stops being TOML; the reader's own words may quote the file."""
    line = re.search(r"\(at line (\d+), column \d+\)$", said)
    where = f"line {line[1]}" if line else "its end"
    return (
        f"It is not TOML; look at {where}. A key stands once in its section, and text in quotes: "
        'unit = "years". Lines of one section stand below its heading.'
    )


def write(path: str | PathLike[str], description: Description) -> None:
    """Write a description, whole or not at all."""
    write_whole(Path(path), as_toml(description).encode())


def as_toml(description: Description) -> str:
    """A description with comments that explain every key to the owner of a table."""
    plain = description.to_dict()
    columns = plain["columns"]
    for name, needed in description.to_fill_in:
        columns[name][needed] = "" if needed == "origin" else []
    return _template().render(
        table=plain["table"],
        columns=columns,
        to_fill_in=dict(description.to_fill_in),
        persons=[name for name, kind in doubtful_names(columns) if kind == ID],
    )


def _value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float) and value.is_integer() and abs(value) <= _LARGEST_WRITTEN_OUT:
        return str(int(value))
    return quoted(value) if isinstance(value, str) else repr(value)


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("gdppca.tables"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"toml": _value, "key": key}
    return environment.get_template("description.toml.j2")
