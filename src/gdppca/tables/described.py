"""Cells as a description reads them, in DuckDB's words.

Each cell by itself: nothing is learnt from other rows, and no cell stops the reading, since what
cannot be read is missing. The same rules in Python are those of `encode`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from gdppca._errors import ColumnTypeError, DataError
from gdppca.tables.cells import NO, TRUE_FALSE, YES, require_labels
from gdppca.tables.description import Column, Description
from gdppca.tables.description_rules import section
from gdppca.tables.frames import Matrix
from gdppca.tables.headers import require_columns
from gdppca.tables.spelling import day_pattern, number_in

NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
LONG = r"DECIMAL.*|U?HUGEINT"
NUMBERS = rf"U?(TINYINT|SMALLINT|INTEGER|BIGINT)|FLOAT|DOUBLE|BOOLEAN|{LONG}"
_WHOLE = r"U?(TINYINT|SMALLINT|INTEGER)|BIGINT"  # what 64 bits hold
_TEXT = r"VARCHAR|ENUM.*|UUID"
_DATES = r"DATE|TIMESTAMP.*"
_READABLE = {"number": rf"{NUMBERS}|{_TEXT}", "yes-no": rf"{NUMBERS}|{_TEXT}"}
_READABLE["date"] = rf"{_DATES}|{_TEXT}"
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Cell:
    """A column of the description and where it stands in a source."""

    column: Column
    place: int
    kind: str  # DuckDB's type

    @property
    def spelt(self) -> bool:
        """Whether it holds text."""
        return bool(re.fullmatch(_TEXT, self.kind))


@dataclass(frozen=True)
class DescribedRows:
    """The features of a description, of a source with columns c0, c1, …"""

    description: Description
    cells: tuple[Cell, ...]

    def select(self, view: str, beside: Sequence[str] = ()) -> str:
        """The question that makes features of cells; null where one is missing.

        `beside` are columns of the same rows, in DuckDB's words, which come after the features.
        """
        extra = [f"b{k}" for k in range(len(beside))]
        named = [f"{sql} AS {name}" for sql, name in zip(beside, extra, strict=True)]
        rows = f"SELECT {', '.join([*map(_as_it_stands, self.cells), *named])} FROM {view}"
        rows = f"SELECT *, {', '.join(map(self._read, self.cells))} FROM ({rows})"
        rows = f"SELECT {', '.join([*map(self._value, self.cells), *extra])} FROM ({rows})"
        features = [sql for cell in self.cells for sql in _features(cell)]
        return f"SELECT {', '.join([*features, *extra])} FROM ({rows})"

    def _read(self, cell: Cell) -> str:
        """A cell's number, where it is one and that matters, and its label."""
        k = cell.place
        typed = not cell.spelt and cell.column.type in ("number", "yes-no")
        needed = typed or cell.column.type == "number" or self._numbers_of(cell)
        number = _number(f"t{k}", cell.kind, self.description) if needed else "NULL::DOUBLE"
        label = f"t{k}" if cell.spelt else typed_label(f"t{k}", cell.kind)
        return f"{number} AS n{k}, {label} AS l{k}"

    def _codes(self, cell: Cell) -> list[str]:
        return [code.strip(" \t") for code in (*self.description.missing, *cell.column.missing)]

    def _numbers_of(self, cell: Cell) -> list[str]:
        """Codes of missing cells that are numbers; of a type, as the file or others write them."""
        signs = self.description.decimal, self.description.thousands
        codes = self._codes(cell)
        found = {number_in(code, *signs) for code in codes}
        if not cell.spelt:
            found |= {number_in(code) for code in codes}
        return [f"{number!r}::DOUBLE" for number in sorted(found - {*filter(math.isnan, found)})]

    def _value(self, cell: Cell) -> str:
        """What the cell is: a number, or the label of a category; null where it is missing."""
        k, numbers = cell.place, self._numbers_of(cell)
        coded = f"list_contains([{', '.join(numbers)}], n{k})" if numbers else "false"
        if cell.column.type == "number" and cell.spelt:
            return f"{_spelt_number(k, coded, self._codes(cell))} AS v{k}"
        missing = f"{_one_of(self._codes(cell), f'l{k}')} OR {coded}"
        return f"CASE WHEN {missing} THEN NULL ELSE {_BY_TYPE[cell.column.type](cell)} END AS v{k}"


def number_cell(cell: str, kind: str, description: Description) -> str:
    """The finite number of a cell by itself, such as a weight; null where it is none."""
    number = _number(cell, kind, description)
    return f"CASE WHEN isfinite({number}) THEN {number} END"


def _number(cell: str, kind: str, description: Description) -> str:
    """What a cell is as a number, be it infinite; null where it is none."""
    if not re.fullmatch(_TEXT, kind):
        return finite(cell, kind) if re.fullmatch(NUMBERS, kind) else "NULL::DOUBLE"
    plain = f"CAST({cell} AS VARCHAR)"
    if description.thousands:
        plain = f"replace({plain}, {literal(description.thousands)}, '')"
    if description.decimal not in (None, "."):
        plain = f"replace({plain}, {literal(description.decimal or '')}, '.')"
    spelt = f"regexp_full_match({plain}, '[ \t]*{NUMBER}[ \t]*')"
    return f"CASE WHEN {spelt} THEN TRY_CAST({plain} AS DOUBLE) END"


def chosen_columns(
    description: Description, names: list[str], columns: list[str] | None, where: str
) -> Description:
    """The same for these columns; one that names no column takes all others for numbers."""
    beside = {description.person, description.weight}
    if not description.columns:
        every = columns or [name for name in names if name not in beside]
        require_columns(names, every, where)
        return replace(description, columns=tuple(Column(name=name) for name in every))
    known = {column.name: column for column in description.columns}
    if columns is not None:
        require_columns(list(known), columns, "The description")
    chosen = tuple(known[name] for name in columns or known)
    require_columns(names, None, where)
    told = replace(description, columns=chosen)
    told.require_columns_of(names, where)
    return told


def described_rows(description: Description, types: dict[str, str], where: str) -> DescribedRows:
    """Find the columns of a description, which must be of types that can be what it says."""
    names = list(types)
    cells = tuple(
        Cell(column, names.index(column.name), types[column.name]) for column in description.columns
    )
    for cell in cells:
        column = cell.column
        require_labels(column.name, cell.kind)
        if not re.fullmatch(_READABLE.get(column.type, ".*"), cell.kind):
            raise ColumnTypeError(
                f"Column '{column.name}' of {where} is declared as {cell.kind} there, which cannot "
                f"be read as {column.type}. Give it another type in the description."
            )
    return DescribedRows(description, cells)


def refused_cells(column: Column, description: Description, where: str) -> DataError:
    """What to say of a column where a cell is missing or not as described."""
    wrong = {
        "number": "cells that are missing or no numbers",
        "yes-no": "cells that are missing or neither of its two words",
        "category": "cells that are missing or none of its levels",
        "date": "cells that are missing or no dates",
    }
    keys = {
        "number": "decimal, thousands, missing",
        "yes-no": "levels, missing",
        "category": "levels, missing",
        "date": "format, missing",
    }
    keeper = "a description"
    if description.file is not None:
        keeper = f"{description.called}, {section(column.name)} or [table]"
    return DataError(
        f"Column '{column.name}' of {where}: {wrong[column.type]}. Allow gaps by missing='rates' "
        f"(--missing rates), or leave the column out; if cells are written in another way, say so "
        f"by the keys of {keeper}: {keys[column.type]}."
    )


def featured(values: np.ndarray, description: Description, gaps: bool, where: str) -> Matrix:
    """Numbers as the features of a description; a missing one is refused unless gaps may be."""
    if not gaps:
        unfit = np.isnan(values).any(axis=0)
        for feature, wrong in zip(description.features, unfit, strict=True):
            if wrong:
                raise refused_cells(feature.column, description, where)
    return Matrix(values, tuple(feature.name for feature in description.features))


def literal(word: str | Path) -> str:
    """Text inside a statement."""
    return "'" + str(word).replace("'", "''") + "'"


def finite(cell: str, kind: str = "VARCHAR") -> str:
    """The number of a cell that holds one, unless it is infinite or too large.

    A long one by its digits, rounded once; DuckDB's own way rounds twice.
    """
    text = f"CAST({cell} AS VARCHAR)" if re.fullmatch(LONG, kind) else cell
    number = f"TRY_CAST({text} AS DOUBLE)"
    return f"CASE WHEN isfinite({number}) THEN {number} END"


def typed_label(cell: str, kind: str) -> str:
    """The label that a cell of a type is, as text; whole numbers are written so."""
    text = f"CAST({cell} AS VARCHAR)"
    if kind in ("FLOAT", "DOUBLE"):
        number = f"CAST({cell} AS DOUBLE)"
        whole = f"isfinite({number}) AND {number} = trunc({number}) AND abs({number}) < 1e38"
        whole_text = f"CAST(TRY_CAST({number} AS HUGEINT) AS VARCHAR)"
        return f"CASE WHEN {whole} THEN {whole_text} ELSE CAST({number} AS VARCHAR) END"
    return rf"regexp_replace({text}, '\.0+$', '')" if kind.startswith("DECIMAL") else text


def id_cell(cell: str, kind: str) -> str:
    """What persons are told apart by: a whole number of 64 bits, or text."""
    return f"CAST({cell} AS BIGINT)" if re.fullmatch(_WHOLE, kind) else typed_label(cell, kind)


def trimmed(cell: str) -> str:
    """Text without spaces and tabs around it."""
    return f"trim(CAST({cell} AS VARCHAR), ' \t')"


def _as_it_stands(cell: Cell) -> str:
    found = f"c{cell.place}"
    if cell.spelt and cell.column.type == "number":
        found = f"CAST({found} AS VARCHAR)"  # trimmed where that matters, which is seldom
    elif cell.spelt:
        found = trimmed(found)
    return f"{found} AS t{cell.place}"


def _texts(words: Sequence[str]) -> str:
    """A list of words in a statement; none would have no type."""
    return f"[{', '.join(map(literal, words))}]::VARCHAR[]"


def _one_of(words: Sequence[str], text: str) -> str:
    # Not IN: DuckDB makes a join of a long list, which loses the order of the rows.
    return f"list_contains({_texts(words)}, {text})"


def _spelt_number(k: int, coded: str, codes: Sequence[str]) -> str:
    """The number of a text; only what is none is compared with words."""
    text = trimmed(f"t{k}")
    words = "".join(f"WHEN {_one_of(w, text)} THEN {v}e0 " for v, w in enumerate(TRUE_FALSE))
    number = f"CASE WHEN isfinite(n{k}) AND NOT ({coded}) THEN n{k} END"
    missing = _one_of(codes, text)
    return f"CASE WHEN n{k} IS NOT NULL THEN {number} WHEN {missing} THEN NULL {words}END"


def _typed_number(cell: Cell) -> str:
    return f"n{cell.place}"


def _yes_no_value(cell: Cell) -> str:
    k, levels = cell.place, cell.column.levels
    words = [[levels[0]], [levels[1]]] if levels else [NO, YES]
    text = f"l{k}" if levels else f"lower(l{k})"
    found = "".join(f"WHEN {_one_of(w, text)} THEN {v}e0 " for v, w in enumerate(words))
    typed = "" if cell.spelt else f"WHEN n{k} = 0 THEN 0e0 WHEN n{k} = 1 THEN 1e0 "
    if not levels:  # as 0.0 and 1.0, see `spelling.yes_no_in`
        typed += "".join(
            f"WHEN regexp_full_match(l{k}, '{flag}[.,]0+') THEN {flag}e0 " for flag in (0, 1)
        )
    return f"CASE {found}{typed}END"


def _category_value(cell: Cell) -> str:
    label = f"l{cell.place}"
    return f"CASE WHEN {_one_of(cell.column.levels, label)} THEN {label} END"


def _date_value(cell: Cell) -> str:
    t, column = f"t{cell.place}", cell.column
    origin = ((column.origin or _EPOCH) - _EPOCH).days
    if not cell.spelt:
        zoned = cell.kind == "TIMESTAMP WITH TIME ZONE"  # an instant; its day is that of UTC
        day = f"CAST({f'make_timestamp(epoch_us({t}))' if zoned else t} AS DATE)"
        day = f"CASE WHEN isfinite({t}) THEN {day} END"
    elif column.format:
        spelt = f"regexp_full_match({t}, {literal(day_pattern(column.format))})"
        found = f"try_strptime({t}, {literal(column.format)})"
        day = f"CASE WHEN {spelt} THEN CAST({found} AS DATE) END"
    else:
        iso = rf"regexp_full_match({t}, '\d{{4}}-\d{{2}}-\d{{2}}([T ](?s:.*))?')"
        day = f"CASE WHEN {iso} THEN TRY_CAST(left({t}, 10) AS DATE) END"
    days = f"CAST(date_diff('day', DATE '{_EPOCH}', {day}) AS DOUBLE) - {origin}"
    return f"CASE WHEN {day} >= DATE '0001-01-01' THEN {days} END"


_BY_TYPE = {
    "number": _typed_number,
    "yes-no": _yes_no_value,
    "category": _category_value,
    "date": _date_value,
}


def _features(cell: Cell) -> list[str]:
    value = f"v{cell.place}"
    if cell.column.type != "category":
        return [f"CAST({value} AS DOUBLE)"]
    return [
        f"CASE WHEN {value} = {literal(level)} THEN 1e0 WHEN {value} IS NOT NULL THEN 0e0 END"
        for level in cell.column.levels
    ]
