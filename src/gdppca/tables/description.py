"""What is publicly known of a table: columns, types, whose a row is, how a file is written.

Written down without looking at the data, so nothing here depends on a cell: neither the names and
the number of columns, nor the levels of a category, nor what a cell means.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from numbers import Real
from os import PathLike
from typing import Any

from gdppca._errors import DataError, DescriptionError
from gdppca._words import listed
from gdppca.tables import description_rules as rules
from gdppca.tables.spelling import code_text, trimmed

TYPES = rules.TYPES
_NAMED = 8  # columns that a message names at most


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the analysis, as its owner describes it.

    Parameters
    ----------
    name : str
        As it stands in the header.
    type : "number", "yes-no", "category" or "date"
        What a cell means.
    levels : tuple of str
        Of a category, all labels that there can be; of yes or no, the word for no and that for yes.
    origin : date or None
        Of a date, the day that days are counted from.
    format : str
        Of a date that is written as text, how, as "%d.%m.%Y"; left empty it is year-month-day, and
        a time of day behind it is ignored.
    typical, spread : float or None
        What is known beforehand of the middle and the standard deviation, in the column's unit; of
        a date in days.
    unit, label : str
        Unit of measurement, and what reports call the column.
    missing : tuple of str
        Codes of missing cells beside those of the table, as they are written.
    """

    name: str
    type: str = "number"
    levels: tuple[str, ...] = ()
    origin: date | None = None
    format: str = ""
    typical: float | None = None
    spread: float | None = None
    unit: str = ""
    label: str = ""
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Write alike what means the same; a `Description` checks it."""
        _rewrite(self, levels=_texts("levels", self.levels), origin=_day(self.origin))
        _rewrite(self, typical=_plain_number(self.typical), spread=_plain_number(self.spread))
        _rewrite(self, missing=tuple(dict.fromkeys(_texts("missing", self.missing))))

    @property
    def to_fill_in(self) -> tuple[tuple[str, str], ...]:
        """What its owner must still write down: its name and the key, if there is one."""
        needed = rules.NEEDED_BY.get(self.type)
        return ((self.name, needed),) if needed and not getattr(self, needed) else ()

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns of numbers that it becomes: one, or one for every level of a category."""
        if self.type == "category":
            rules.require_filled_in(self.to_fill_in)
            scale = math.sqrt((len(self.levels) - 1) / len(self.levels))
            share = 1 / len(self.levels)
            return tuple(
                Feature(f"{self.name}={level}", self, level=level, scale=scale, typical=share)
                for level in self.levels
            )
        if self.type == "yes-no":
            return (Feature(self.name, self, scale=0.5, typical=0.5),)
        return (Feature(self.name, self, typical=self.typical, spread=self.spread),)


@dataclass(frozen=True)
class Feature:
    """A column of numbers that components have loadings for."""

    name: str
    column: Column
    level: str | None = None
    scale: float | None = None  # public, for good
    typical: float | None = None  # public, to start from
    spread: float | None = None


@dataclass(frozen=True, kw_only=True)
class Description:
    """A table as its owner describes it; plain TOML on disk.

    Parameters
    ----------
    columns : tuple of Column
        Columns of the analysis, in order.
    person : str or None
        The column that says whose row it is, where a person may have several.
    weight : str or None
        The column of design weights.
    largest_weight : float or None
        The weight above which all count alike; public.
    missing : tuple of str
        Codes of missing cells in every column, as they are written.
    delimiter, decimal, thousands, encoding : str or None
        How a text file is written; None is the usual way.
    skip : int
        Lines before the header.
    sheet : str or None
        Of a workbook, the sheet.
    file : str or None
        Where it was read from, for messages; no part of what it says.

    Notes
    -----
    **Privacy.** All of it is public: it is written down without looking at the data, and it goes
    into releases.

    Examples
    --------
    >>> from gdppca import Description
    >>> table = Description.from_dict(
    ...     {
    ...         "table": {"person": "patient"},
    ...         "columns": {
    ...             "age": {"typical": 50, "spread": 20, "missing": [-99]},
    ...             "ward": {"type": "category", "levels": ["surgery", "medicine"]},
    ...         },
    ...     }
    ... )
    >>> [feature.name for feature in table.features]
    ['age', 'ward=surgery', 'ward=medicine']
    """

    columns: tuple[Column, ...]
    person: str | None = None
    weight: str | None = None
    largest_weight: float | None = None
    missing: tuple[str, ...] = ("",)
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    skip: int = 0
    sheet: str | None = None
    file: str | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what contradicts itself; what is still to be filled in may be missing."""
        codes = tuple(dict.fromkeys(_texts("missing", self.missing)))
        _rewrite(self, columns=tuple(self.columns), missing=codes)
        _rewrite(self, largest_weight=_plain_number(self.largest_weight))
        rules.require_names([column.name for column in self.columns])
        rules.check(self.to_dict(), complete=False)
        _rewrite(self, skip=int(self.skip))

    @property
    def features(self) -> tuple[Feature, ...]:
        """All columns of numbers, in order."""
        self.require_complete()
        return tuple(feature for column in self.columns for feature in column.features)

    @property
    def to_fill_in(self) -> tuple[tuple[str, str], ...]:
        """What its owner must still write down: names of columns, and keys."""
        return tuple(gap for column in self.columns for gap in column.to_fill_in)

    def require_complete(self) -> None:
        """Refuse a template in which something is still to be filled in."""
        rules.require_filled_in(self.to_fill_in)

    @property
    def called(self) -> str:
        """What messages call it: its file, where it has one."""
        return "the description" if self.file is None else f"'{self.file}'"

    def require_columns_of(self, names: Sequence[str], where: str) -> None:
        """Refuse a table without the columns that this is about."""
        self.require_named(names, where, [(c.name, rules.section(c.name)) for c in self.columns])

    def require_named(
        self, names: Sequence[str], where: str, said: Sequence[tuple[str, str]]
    ) -> None:
        """Refuse a table without the columns that are said here, each with its place."""
        there = set(names)
        lacking = [(repr(name), place) for name, place in said if name not in there]
        if lacking:
            more = ["others"] if len(lacking) > _NAMED else []
            columns, places = (
                listed([*each[:_NAMED], *more]) for each in zip(*lacking, strict=True)
            )
            raise DataError(
                f"{where} has no column {columns}, which {self.called} names: {places}. It has "
                f"{', '.join(map(repr, names))}. Correct the name there, or delete it; or give the "
                "table that it is about."
            )

    def only(self, names: Sequence[str]) -> Description:
        """The same for some of the columns, in their order."""
        known = {column.name: column for column in self.columns}
        missing = [name for name in names if name not in known]
        if missing:
            raise DescriptionError(
                f"{self.called.capitalize() if self.file is None else self.called} has no column "
                f"{', '.join(map(repr, missing))}. Add it there, or leave it out."
            )
        return replace(self, columns=tuple(known[name] for name in names))

    @property
    def checksum(self) -> str:
        """SHA-256 of what it says, however its file is written."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), default=str)
        return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Give what JSON and TOML can hold; what is as usual is left out.

        Returns
        -------
        dict
            With the keys "table" and "columns".
        """
        plain = _told(self)
        del plain["columns"]
        columns = {column.name: _told(column) for column in self.columns}
        for column in columns.values():
            del column["name"]
        return {"table": plain, "columns": columns}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Description:
        """Check what a file held, and build the description.

        Parameters
        ----------
        plain : mapping
            With the keys "table" and "columns", as in a file.

        Returns
        -------
        Description
            A complete one.
        """
        known = rules.as_plain(plain)
        rules.check(known, complete=True)
        table = known.get("table", {})
        decimal = table.get("decimal", ".")
        columns = [
            Column(name=name, **_with_codes(column, decimal))
            for name, column in known["columns"].items()
        ]
        return cls(columns=tuple(columns), **_with_codes(table, decimal))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Description:
        """Read a description from a file.

        Parameters
        ----------
        path : str or path
            A TOML file.

        Returns
        -------
        Description
            A complete one.

        Raises
        ------
        DescriptionError
            With the file, the key and the remedy.
        """
        from gdppca.tables.description_files import read

        try:
            return replace(cls.from_dict(read(path)), file=str(path))
        except DescriptionError as error:
            problem = f"'{path}': {error}"
        raise DescriptionError(problem, file=str(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write it as a TOML file whose comments explain every key.

        Parameters
        ----------
        path : str or path
            File to write; one that exists is replaced.
        """
        from gdppca.tables.description_files import write

        write(path, self)


def _rewrite(frozen: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(frozen, name, value)


def _told(part: Column | Description) -> dict[str, Any]:
    """The fields that say something, as JSON holds them."""
    told = {}
    for key in fields(part):
        value = getattr(part, key.name)
        if key.compare and (value != key.default or key.name in ("type", "missing")):
            plain = value.isoformat() if isinstance(value, date) else value
            told[key.name] = list(plain) if isinstance(plain, tuple) else plain
    if isinstance(part, Column) and not part.missing:
        del told["missing"]
    return told


def _texts(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """Words as they are compared with cells; numbers become text."""
    if isinstance(values, str):
        raise DescriptionError(f"`{name}` must be a list of words, got one word.")
    return tuple(trimmed(code_text(value)) for value in values)


def _plain_number(value: Any) -> Any:
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    return value


def _day(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.date()
    return rules.day(value) or value if isinstance(value, str) else value


def _with_codes(keys: dict[str, Any], decimal: str) -> dict[str, Any]:
    """The same with codes that are numbers as the file writes them."""
    listed = {
        name: [code_text(value, decimal) for value in keys[name]]
        for name in ("missing", "levels")
        if name in keys
    }
    return keys | listed
