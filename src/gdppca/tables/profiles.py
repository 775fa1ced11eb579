"""What one column looks like to its owner, in counts; without noise, as in `checking`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from gdppca._words import counted, percent, plural
from gdppca.tables.cells import label_text
from gdppca.tables.description import Column, Description
from gdppca.tables.encode import CellReader
from gdppca.tables.names import DATE, ID, ROW_NUMBER
from gdppca.tables.spelling import day_in, number_in, trimmed, yes_no_in

FEW = 20  # cells below which nothing is concluded
_NEARLY_ALL = 0.95
_MOSTLY = 0.5
_CODES = (-9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0)  # usual ones of missing cells
_MOST_LEVELS = 30  # distinct words of what may be a category
_FAR = 5.0  # spreads that a guess is off
_FAR_SPREAD = 10.0  # times that a guessed spread is
_QUARTILES = 1.349  # distance between them in standard deviations, normal
_FORMATS = ("", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%y")
_WRONG = {  # one cell, or several
    "number": ("no number", "no numbers"),
    "yes-no": ("neither of its two words",) * 2,
    "category": ("none of its levels",) * 2,
    "date": ("no date as described", "no dates as described"),
}
_FREE_TEXT = (
    "It holds text of many kinds, no numbers. Leave it out; if it says whose row it is, give it as "
    "--person."
)
_FROM_THE_FORM = "from the form or the data dictionary, not from the data"


@dataclass(frozen=True)
class Finding:
    """Something that its owner should know of a table; `column` is None where it is about all."""

    kind: str
    column: str | None
    words: str


@dataclass(frozen=True)
class Profile:
    """One column: its cells, what they are read as, and which are missing by declaration."""

    column: Column
    declared: str  # what the file says of it
    cells: list[Any]
    values: np.ndarray
    missing: np.ndarray

    @classmethod
    def of(
        cls, column: Column, declared: str, cells: list[Any], description: Description
    ) -> Profile:
        """Read a column as a fit does."""
        reader = CellReader(column, description)
        values, missing = _each(reader, cells), _each(reader.is_gap, cells).astype(bool)
        return cls(column, declared, cells, values, missing)

    @property
    def name(self) -> str:
        """The column's."""
        return self.column.name

    @cached_property
    def words(self) -> list[str]:
        """The cells that are there, as text; to be counted, never to be shown."""
        there = (cell for cell, gap in zip(self.cells, self.missing, strict=True) if not gap)
        return [trimmed(label_text(cell) or "") for cell in there]

    @cached_property
    def distinct(self) -> int:
        """How many different cells there are."""
        return len(set(self.words))

    @cached_property
    def unreadable(self) -> int:
        """How many cells are there, and not what they should be."""
        return int((np.isnan(self.values) & ~self.missing).sum())

    @property
    def is_other(self) -> bool:
        """Whether most cells that are there are not what they should be."""
        return self.unreadable > _MOSTLY * len(self.words)

    @property
    def gaps(self) -> np.ndarray:
        """Rows in which a fit finds no cell."""
        return np.asarray(np.isnan(self.values))

    @cached_property
    def read(self) -> np.ndarray:
        """What was read."""
        return self.values[~self.gaps]

    @cached_property
    def spread(self) -> float:
        """A robust standard deviation; where most cells are equal, the ordinary one."""
        if not len(self.read):
            return 0.0
        low, high = np.quantile(self.read, [0.25, 0.75])
        return float(high - low) / _QUARTILES or float(self.read.std())

    def all_words(self, fits: Callable[[str], bool]) -> bool:
        """Whether enough cells are there, and something is true of all."""
        return len(self.words) >= FEW and all(map(fits, set(self.words)))


def _each(read: Callable[[Any], Any], cells: list[Any]) -> np.ndarray:
    """One number for every cell; a text that comes again is read once."""
    known: dict[str, float] = {}

    def number(cell: Any) -> float:
        if type(cell) is not str:
            return float(read(cell))
        if cell not in known:
            known[cell] = float(read(cell))
        return known[cell]

    return np.fromiter(map(number, cells), float, len(cells))


def oddities(profile: Profile, kind: str, described: bool) -> Iterator[Finding]:
    """What is odd about a column; `kind` is what its name looks like."""
    n, name = len(profile.cells), profile.name
    if not profile.words:
        yield Finding("missing", name, "Every cell is missing. Leave it out.")
        return
    missing = int(profile.missing.sum())
    if missing:
        share = percent(missing / n)
        yield Finding("missing", name, f"{share} of the cells are missing ({missing:,}).")
    yield from _named(profile, kind)
    if profile.distinct == 1 and n > 1:
        yield Finding("constant", name, "All cells are equal: it says nothing. Leave it out.")
    if profile.is_other or (not described and profile.declared in ("text", "date")):
        yield _not_as_meant(profile, described)
    elif profile.unreadable:
        yield _partly(profile)
    yield from _codes(profile)
    yield from _of_type(profile)
    yield from _guesses(profile)


def _named(profile: Profile, kind: str) -> Iterator[Finding]:
    """Ids, row numbers and dates, by name, by declared type, or by their cells."""
    name = profile.name
    if kind == ROW_NUMBER:
        yield Finding("id", name, "It is called like a row number, which is no measurement.")
    elif kind == ID:
        yield Finding("id", name, "It is called like an id, which is no measurement.")
    elif _like_ids(profile):
        yield Finding(
            "id",
            name,
            "Nearly all of its cells differ, as those of ids do. If it is one, leave it out; names "
            "and free text too.",
        )
    if kind == DATE and profile.column.type != "date":
        yield Finding(
            "date",
            name,
            "It is called like a date, which helps to find out who somebody is. Use a span of "
            "time, such as the age, or leave it out.",
        )


def _like_ids(profile: Profile) -> bool:
    """Whether whole numbers or words hardly ever repeat; measurements with decimals never do."""
    if len(profile.words) < FEW or profile.distinct < _NEARLY_ALL * len(profile.words):
        return False
    if _written_as_date(profile) is not None or profile.column.type == "date":
        return False
    whole = bool(len(profile.read)) and bool((profile.read == np.round(profile.read)).all())
    return whole or profile.is_other


def _written_as_date(profile: Profile) -> str | None:
    """The format in which every cell is a day, if there is one."""
    if profile.declared == "date":
        return ""
    return next((way for way in _FORMATS if profile.all_words(partial(_is_day, way))), None)


def _is_day(way: str, word: str) -> bool:
    return day_in(word, way) is not None


def _not_as_meant(profile: Profile, described: bool) -> Finding:
    """What a column may be of which most cells are not what they should be."""
    where = "" if described else " in a description (gdppca describe)"
    way, name = _written_as_date(profile), profile.name
    if profile.column.type == "date":
        such = f', such as format = "{way}"' if way else ""
        return Finding(
            "date", name, f"Most cells cannot be read as dates: say how they are written{such}."
        )
    if way is not None and profile.column.type != "date":
        written = f' with format = "{way}"' if way else ""
        said = f'type = "date"{written} and an origin{where}'
        return Finding("date", name, f"Its cells are dates. Say so: {said}, or leave it out.")
    if profile.all_words(lambda word: number_in(word) == number_in(word)):
        said = f'type = "number"{where}'
        return Finding("text", name, f"Its cells are numbers that are stored as text: {said}.")
    if profile.all_words(lambda word: number_in(word, ",", ".") == number_in(word, ",", ".")):
        said = '--decimal , or decimal = "," in the description'
        return Finding("text", name, f"Its cells are numbers with a decimal comma: {said}.")
    if profile.column.type != "number":
        wrong = _WRONG[profile.column.type][1]
        return Finding(
            "levels", name, f"Most cells that are there are {wrong}: is it the spelling?"
        )
    if profile.distinct > _MOST_LEVELS:
        return Finding("text", name, _FREE_TEXT)
    yes_no = profile.all_words(lambda word: yes_no_in(word) == yes_no_in(word))
    kind = 'type = "yes-no"' if yes_no else 'type = "category" with levels'
    return Finding(
        "text", name,
        f"Most cells are text, no numbers: {kind}{where}, taken {_FROM_THE_FORM}; or leave it out.",
    )  # fmt: skip


def _partly(profile: Profile) -> Finding:
    n = profile.unreadable
    wrong = _WRONG[profile.column.type][n > 1]
    kind = "levels" if profile.column.type in ("category", "yes-no") else "unreadable"
    lacks = "a level or a code" if kind == "levels" else "a code"
    return Finding(
        kind, profile.name,
        f"{n:,} {plural(n, 'cell')} {'is' if n == 1 else 'are'} {wrong}, and counted as missing by "
        f"--missing rates. If {lacks} of missing cells was forgotten, add it {_FROM_THE_FORM}.",
    )  # fmt: skip


def _codes(profile: Profile) -> Iterator[Finding]:
    """Numbers that are far from all others and usual codes of missing cells."""
    read = profile.read
    if profile.column.type != "number" or len(read) < FEW or not profile.spread:
        return
    far = np.abs(read - np.median(read)) > _FAR * profile.spread
    n = int((far & np.isin(read, _CODES) & ((read == read.min()) | (read == read.max()))).sum())
    if n:
        yield Finding(
            "codes", profile.name,
            f"{n:,} {plural(n, 'cell')} at the end of its range {'is' if n == 1 else 'are'} a "
            f"number that often stands for a missing cell, as -99 or 999 do. If it does, write it "
            f"into missing, {_FROM_THE_FORM}.",
        )  # fmt: skip


def _of_type(profile: Profile) -> Iterator[Finding]:
    """Columns that another type would suit better."""
    few, kind = profile.distinct <= _MOST_LEVELS, profile.column.type
    if kind == "number" and set(np.unique(profile.read)) == {0.0, 1.0}:
        yield Finding(
            "type", profile.name,
            'Its numbers are 0 and 1: if it is a yes or no, type = "yes-no" in a description gives '
            "it a scale that costs nothing.",
        )  # fmt: skip
    numbers = profile.all_words(lambda word: number_in(word) == number_in(word))
    if kind == "category" and numbers and not few:
        many = counted(profile.distinct, "number")
        yield Finding("type", profile.name, f"It holds {many}: is it a category?")


def _guesses(profile: Profile) -> Iterator[Finding]:
    """Guesses of the description that are far from what the cells are."""
    column, breaks = profile.column, "A guess that was taken from this output breaks the promise."
    if len(profile.read) < FEW:
        return
    width = column.spread or profile.spread
    if column.typical is not None and width > 0:
        off = abs(float(np.median(profile.read)) - column.typical)
        if off > _FAR * width:
            yield Finding(
                "guess", profile.name,
                f"Most cells are more than {_FAR:g} spreads away from typical: is it another unit? "
                f"Correct it {_FROM_THE_FORM}. {breaks}",
            )  # fmt: skip
    if column.spread and profile.spread > 0:
        ratio = profile.spread / column.spread
        if not 1 / _FAR_SPREAD < ratio < _FAR_SPREAD:
            more = "more" if ratio > 1 else "less"
            yield Finding(
                "guess", profile.name,
                f"Its cells spread far {more} than spread says: is it another unit? Correct it "
                f"{_FROM_THE_FORM}. {breaks}",
            )  # fmt: skip
