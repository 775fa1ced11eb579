"""What a description must be: its JSON Schema, and what no schema can say.

A description is public, so messages may quote it; they name the section, the key and the remedy.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from functools import cache
from importlib import resources
from itertools import chain
from numbers import Real
from typing import Any

from gdppca._errors import DescriptionError
from gdppca._validate import shown
from gdppca._words import listed
from gdppca.tables.spelling import DIRECTIVES, code_text, day_in, number_in, trimmed

TYPES = ("number", "yes-no", "category", "date")
# What a type cannot do without, and what a template asks for.
NEEDED_BY = {"category": "levels", "date": "origin"}
_HINTS = {
    "levels": 'all labels that there can be, as ["a", "b"]',
    "origin": 'the day to count days from, as "2020-01-01"',
}
# Keys that go with some types only.
_FOR = {
    "levels": "columns of the types category and yes-no",
    "origin": "dates",
    "format": "dates",
    "typical": "numbers and dates: what is usual of indicators is known",
    "spread": "numbers and dates: what is usual of indicators is known",
}
_NAMELESS = "The name of a column is empty, or no text. Name it as in the header of the file."
_DAYS = (date(2001, 2, 3), date(2024, 11, 25), date(1987, 12, 31))
_BARE = re.compile(r"[A-Za-z0-9_-]+")

Plain = dict[str, Any]


def as_plain(plain: Any) -> Plain:
    """What a file held, with dates of TOML as text, which is how JSON holds them."""
    if isinstance(plain, Mapping):
        return {str(key): as_plain(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [as_plain(value) for value in plain]  # type: ignore[return-value]
    is_day = isinstance(plain, date) and not isinstance(plain, datetime)
    return plain.isoformat() if is_day else plain


def check(plain: Plain, *, complete: bool) -> None:
    """Refuse what breaks a rule; of an incomplete one only what was already written down."""
    _require_finite(plain)
    problems = list(_validator().iter_errors(_outline(plain)))
    _refuse(problem for problem in problems if problem.validator == "additionalProperties")
    if complete:  # a key that is misspelt is not called missing
        require_filled_in(to_fill_in(plain))
    _refuse(p for p in problems if complete or p.validator not in ("required", "minProperties"))
    _check_names(plain["columns"])
    _check_table(plain.get("table", {}), plain["columns"])
    for name, column in plain["columns"].items():
        _check_column(name, column, plain.get("table", {}))
    _require_own_names(plain["columns"])


def _outline(plain: Any) -> Any:
    """The same with one of the columns that are described alike: the schema takes 0.3 ms each."""
    columns = plain.get("columns") if isinstance(plain, Mapping) else None
    if not isinstance(columns, dict):
        return plain
    unlike = {repr(column): name for name, column in reversed(columns.items())}
    return {**plain, "columns": {name: columns[name] for name in reversed(unlike.values())}}


def _refuse(problems: Iterator[Any]) -> None:
    for problem in problems:
        raise DescriptionError(_sentence(problem))


def to_fill_in(plain: Any) -> Iterator[tuple[str, str]]:
    """Names of columns, and the keys that they need but leave out or empty."""
    columns = plain.get("columns") if isinstance(plain, Mapping) else None
    for name, column in columns.items() if isinstance(columns, Mapping) else ():
        kind = column.get("type") if isinstance(column, Mapping) else None
        needed = NEEDED_BY.get(kind) if isinstance(kind, str) else None
        if needed and column.get(needed, "") in ("", []):
            yield name, needed


def require_filled_in(gaps: Any) -> None:
    """Refuse a description in which something is still to be written down."""
    gaps = list(gaps)
    if gaps:
        wanted = [f"`{key}` in {section(name)} ({_HINTS[key]})" for name, key in gaps[:8]]
        more = [f"{len(gaps) - 8} more"] if len(gaps) > 8 else []
        raise DescriptionError(
            f"Still to be filled in: {listed(wanted + more)}. Write down what is publicly known, "
            "without looking at the data, or delete the section of a column that you do not need."
        )


def require_names(names: Sequence[Any]) -> None:
    """Refuse a column whose name is none, or stands twice."""
    if not all(isinstance(name, str) for name in names):
        raise DescriptionError("The name of a column must be a text, as in the header.")
    again = repeated(names)
    if again is not None:
        raise DescriptionError(f"The column {again!r} stands twice. Keep one.")


def repeated(words: Sequence[str]) -> str | None:
    """The first word that stands a second time."""
    seen: set[str] = set()
    for word in words:
        if word in seen:
            return word
        seen.add(word)
    return None


def section(name: str) -> str:
    """The heading of a column's section."""
    return f"[columns.{key(name)}]"


def key(name: str) -> str:
    """A key as TOML writes it."""
    return name if _BARE.fullmatch(name) else quoted(name)


def quoted(text: str) -> str:
    """Text as TOML writes it, which is as JSON does but for one letter."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def day(text: str) -> date | None:
    """The day that a text says in full, as 2020-01-31."""
    return day_in(text) if len(text) == len("2020-01-31") else None


@cache
def _schema() -> Plain:
    file = resources.files("gdppca.tables").joinpath("schemas/description.json")
    schema: Plain = json.loads(file.read_text(encoding="utf-8"))
    return schema


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(_schema())


def _keys(path: Sequence[Any]) -> Plain:
    """What the schema says of the keys of the section that a path leads to."""
    match path:
        case []:
            return _schema()["properties"]
        case ["table", *_]:
            return _schema()["properties"]["table"]["properties"]
    return _schema()["$defs"]["column"]["properties"]


def _sentence(problem: Any) -> str:
    """What the schema does not like, for a person."""
    path = list(problem.absolute_path)
    depth = {"table": 1, "columns": 2}.get(path[0], 0) if path else 0
    inside, place = path[depth : depth + 1], path[:depth]
    if problem.validator == "additionalProperties":
        unknown = next(name for name in problem.instance if name not in _keys(path))
        return f"{_where(path)}{_unknown(unknown, path)}"
    if not path and problem.validator == "type":
        return "A description is a table of keys with the sections [table] and [columns.…]."
    if path == ["columns"] and problem.validator in ("pattern", "not"):
        return _NAMELESS
    if problem.validator in ("required", "minProperties"):
        return "No column is described. Write a section for each, as [columns.age]."
    if not inside:
        return f"{_where(path)}Must be a section with keys below it, as [columns.age]."
    [name] = inside
    if problem.validator_value == {}:  # nothing may stand there
        return f"{_where(place)}`{name}` is for {_FOR[name]}. Delete it, or change `type`."
    value = problem.instance
    return (
        f"{_where(place)}`{name}` must be {_keys(place)[name]['description']}, got {_got(value)}."
    )


def _got(value: Any) -> str:
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, Mapping):
        return "a section"
    return shown(value)


def _where(path: Sequence[Any]) -> str:
    match path:
        case ["columns", name, *_]:
            return f"{section(str(name))}: "
        case ["table" | "columns" as heading, *_]:
            return f"[{heading}]: "
    return ""


def _unknown(name: str, path: Sequence[Any]) -> str:
    """There is no such key; which one may be meant."""
    known = list(_keys(path))
    close = get_close_matches(name, known, 1)
    if close:
        meant = f"Did you mean `{close[0]}`?"
    elif path != ["table"] and name in _keys(["table"]):
        meant = "It belongs below [table]."
    elif path == [] or (path == ["table"] and name in _keys(["columns", ""])):
        meant = "Keys of a column stand below its own heading, as [columns.age]."
    else:
        meant = f"Known are {listed([f'`{each}`' for each in known])}."
    return f"There is no key {name!r}. {meant}"


def _require_finite(plain: Any, path: tuple[Any, ...] = ()) -> None:
    """Refuse numbers that JSON has no word for, wherever they stand."""
    if isinstance(plain, Mapping | list):
        parts = plain.items() if isinstance(plain, Mapping) else enumerate(plain)
        for name, part in parts:
            _require_finite(part, (*path, name))
    elif isinstance(plain, Real) and not _is_finite(plain):
        name = next((step for step in reversed(path) if isinstance(step, str)), "")
        raise DescriptionError(
            f"{_where(path)}`{name}` must be finite; a word such as nan stands in quotes."
        )


def _is_finite(number: Real) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _check_names(columns: Plain) -> None:
    """Refuse names that no header has; the schema says the same."""
    if any(not name.strip() or re.search("[\ud800-\udfff]", name) for name in columns):
        raise DescriptionError(_NAMELESS)


def _check_table(table: Plain, columns: Plain) -> None:
    person, weight = table.get("person"), table.get("weight")
    for role, name in (("person", person), ("weight", weight)):
        if name in columns:
            raise DescriptionError(
                f"[table]: `{role}` is {name!r}, which is a column of the analysis as well. "
                f"Delete {section(name)}, or choose another."
            )
    if person is not None and person == weight:
        raise DescriptionError(f"[table]: `person` and `weight` are both {person!r}.")
    if (weight is None) != (table.get("largest_weight") is None):
        given = "weight" if weight is not None else "largest_weight"
        raise DescriptionError(
            f"[table]: `{given}` stands alone. `weight` names a column, and `largest_weight` the "
            "weight above which all count alike, chosen without looking at the data. Give both."
        )
    _check_signs(table)
    _check_encoding(table.get("encoding"))


def _check_signs(table: Plain) -> None:
    decimal, thousands = table.get("decimal", "."), table.get("thousands")
    if decimal == thousands:
        raise DescriptionError(
            f"[table]: `decimal` and `thousands` are both {decimal!r}"
            f"{'' if 'decimal' in table else ', which is usual for decimals'}. Give another."
        )
    if decimal == table.get("delimiter"):
        raise DescriptionError(
            f"[table]: `decimal` and `delimiter` are both {decimal!r}. Give another."
        )


def _check_encoding(encoding: str | None) -> None:
    if encoding is None:
        return
    try:
        "a".encode(encoding)
    except (LookupError, ValueError):
        raise DescriptionError(
            f"[table]: `encoding` is none that is known, got {shown(encoding)}. Usual ones are "
            "'utf-8', 'utf-16', 'latin-1' and 'windows-1252'."
        ) from None


def _check_column(name: str, column: Plain, table: Plain) -> None:
    where = f"{section(name)}: "
    levels = [trimmed(code_text(level)) for level in column.get("levels", ())]
    if "" in levels:
        raise DescriptionError(f"{where}A level of `levels` is empty. Name it, or delete it.")
    again = repeated(levels)
    if again is not None:
        raise DescriptionError(f"{where}The level {again!r} stands twice in `levels`. Keep one.")
    _require_not_missing(where, levels, column, table)
    if "origin" in column and day(column["origin"]) is None:
        raise DescriptionError(f"{where}`origin` is no day of the calendar. Write 2020-01-31.")
    if "format" in column and not _tells_days(column["format"]):
        rule = _keys(["columns", name])["format"]["description"]
        raise DescriptionError(f"{where}`format` must be {rule}, and must tell the whole day.")


def _require_not_missing(where: str, levels: list[str], column: Plain, table: Plain) -> None:
    """Refuse a level that no cell could have, since it means a missing one."""
    signs = table.get("decimal"), table.get("thousands")
    codes = [trimmed(code_text(code, signs[0] or "."))
             for code in chain(column.get("missing", ()), table.get("missing", ("",)))]  # fmt: skip
    numbers = [number_in(code, *signs) for code in codes]
    for level in levels:
        spelt = number_in(level, *signs)
        if level in codes or any(number == spelt for number in numbers):
            raise DescriptionError(
                f"{where}The level {level!r} is also a code of `missing`. Keep one of them; codes "
                "of some columns only stand in the sections of those columns."
            )


def _tells_days(written_as: str) -> bool:
    """Whether a format is understood by all readers, and gives back the day that was written."""
    if not set(re.findall("%(.?)", written_as, re.DOTALL)) <= DIRECTIVES:
        return False
    try:
        return all(day_in(each.strftime(written_as), written_as) == each for each in _DAYS)
    except (ValueError, re.error):
        return False


def _require_own_names(columns: Plain) -> None:
    """Refuse a level whose indicator would be called as another column is."""
    owners: dict[str, str] = {}
    for name, column in columns.items():
        is_category = column.get("type") == "category"
        levels = [trimmed(code_text(level)) for level in column.get("levels", ())]
        for feature in [f"{name}={level}" for level in levels] if is_category else [name]:
            if owners.setdefault(feature, name) != name:
                raise DescriptionError(
                    f"The columns {owners[feature]!r} and {name!r} would both give {feature!r}. "
                    "Rename one of them in the file."
                )
