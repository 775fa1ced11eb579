"""Cells to numbers by a description: what a cell is depends on that cell and the description alone.

NaN stands for a cell that is missing and for one that cannot be read; neither stops the reading.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np

from gdppca._errors import DataError
from gdppca.tables.cells import label_text
from gdppca.tables.description import Column, Description
from gdppca.tables.spelling import day_in, flag_in, number_in, trimmed, yes_no_in

_NUMBERS = "iuf"  # kinds of numpy
_MISSING = math.nan


def encode(columns: Mapping[str, Any], description: Description) -> np.ndarray:
    """The features of a described table as floats (n, number of features), NaN where missing.

    Features are raw: indicators are 0 and 1, dates are days since their origin.
    """
    features = description.features
    description.require_columns_of(list(columns), "The table")
    found = [columns[column.name] for column in description.columns]
    return _side_by_side(found, description, len(features))


def encode_frame(X: Any, description: Description) -> tuple[np.ndarray, tuple[str, ...]]:
    """The features of a pandas, polars or arrow table, and their names; columns go by name."""
    if not nw.dependencies.is_into_dataframe(X):
        raise DataError(
            "A description goes by the names of columns: give a frame or a file, got "
            f"{type(X).__name__}."
        )
    features = description.features
    names = [str(name) for name in getattr(X, "column_names", X.columns)]
    description.require_columns_of(names, "The table")
    if len(set(names)) < len(names):
        raise DataError("Several columns have one name. Rename them.")
    every = dict(zip(names, nw.from_native(X, eager_only=True).iter_columns(), strict=True))
    found = [every[column.name] for column in description.columns]
    values = _side_by_side(found, description, len(features))
    return values, tuple(feature.name for feature in features)


def _side_by_side(found: list[Any], description: Description, d: int) -> np.ndarray:
    """Every column by itself, into a matrix that is laid out row by row."""
    values, place = np.empty((0, d)), 0
    for k, (column, given) in enumerate(zip(description.columns, found, strict=True)):
        block = _features(_cells(given, column.name), column, description)
        if k == 0:
            values = np.empty((len(block), d))
        if len(block) != len(values):
            raise DataError(f"Column '{column.name}' has another length than the others.")
        values[:, place : place + block.shape[1]] = block
        place += block.shape[1]
    return values


def _features(cells: Any, column: Column, description: Description) -> np.ndarray:
    """The features of one column (n, k): its numbers, or the indicators of its levels."""
    codes = _read(cells, CellReader(column, description))
    if column.type != "category":
        return codes[:, None]
    indicators = (codes[:, None] == np.arange(len(column.levels))).astype(float)
    indicators[np.isnan(codes)] = np.nan
    return indicators


# --- Columns as libraries hold them --------------------------------------------------------------


def _cells(given: Any, name: str) -> Any:
    """A column as an array of numbers, flags or days, or else as a list of cells."""
    if isinstance(given, nw.Series) or nw.dependencies.is_into_series(given):
        given = _from_series(nw.from_native(given, series_only=True))
    if isinstance(given, np.ndarray) and given.ndim != 1:
        raise DataError(f"Column '{name}' must be one cell after the other, got {given.ndim}D.")
    plain = isinstance(given, np.ndarray) and not isinstance(given, np.ma.MaskedArray)
    if plain and given.dtype.kind in "biufM":
        return given
    listed_by = next((way for way in ("tolist", "to_pylist") if hasattr(given, way)), None)
    return getattr(given, listed_by)() if listed_by else list(given)


def _from_series(series: nw.Series[Any]) -> Any:
    kind = series.dtype
    if isinstance(kind, nw.Datetime) and kind.time_zone is not None:
        # An instant; its day is that of UTC.
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if kind.is_integer() or kind.is_float():
        return (series.cast(nw.Float64) if series.null_count() else series).to_numpy()
    whole = kind == nw.Boolean and not series.null_count()
    return series.to_numpy() if whole or kind in (nw.Date, nw.Datetime) else series.to_list()


# --- From cells to numbers ------------------------------------------------------------------------


def _read(cells: Any, reader: CellReader) -> np.ndarray:
    """One number for every cell; a text that comes again is read once."""
    if isinstance(cells, np.ndarray):
        return _read_array(cells, reader)
    known = _Known(reader)
    each = (known[cell] if type(cell) is str else reader(cell) for cell in cells)
    return np.fromiter(each, float, len(cells))


class _Known(dict[str, float]):
    """Texts that were read; only texts, since 1, 1.0 and True are one key and not one label."""

    def __init__(self, reader: CellReader) -> None:
        self._reader = reader

    def __missing__(self, text: str) -> float:
        self[text] = value = self._reader(text)
        return value


def _read_array(cells: np.ndarray, reader: CellReader) -> np.ndarray:
    kind = cells.dtype.kind
    if kind == "M":
        return _read_days(cells, reader)
    if reader.column.type == "number":
        values = cells.astype(float)
        values[~np.isfinite(values) | np.isin(values, reader.typed_codes)] = np.nan
        return values
    distinct, places = np.unique(cells.astype(float) if kind == "f" else cells, return_inverse=True)
    return np.array([reader(cell) for cell in distinct.tolist()], float)[places]


def _read_days(cells: np.ndarray, reader: CellReader) -> np.ndarray:
    if reader.column.type != "date" or reader.has_codes_of_days:
        fine = cells if cells.dtype == "M8[D]" else cells.astype("M8[us]")
        return _read(fine.astype(object).tolist(), reader)
    days = (cells.astype("M8[D]") - np.datetime64(reader.origin, "D")).astype(float)
    days[np.isnat(cells)] = np.nan
    return days


class CellReader:
    """The rule for one cell of a column: its number, or the place of its level; NaN for none."""

    def __init__(self, column: Column, description: Description) -> None:
        self.column = column
        self.origin = column.origin or date(1970, 1, 1)
        self._signs = description.decimal, description.thousands
        self._codes = frozenset(map(trimmed, (*description.missing, *column.missing)))
        numbers = {number_in(code, *self._signs) for code in self._codes}
        self._numbers = frozenset(number for number in numbers if not math.isnan(number))
        self._by_type: Callable[[Any, str], float] = {
            "number": self._number,
            "yes-no": self._yes_no,
            "category": self._category,
            "date": self._date,
        }[column.type]
        self._level = {level: float(k) for k, level in enumerate(column.levels)}

    @property
    def typed_codes(self) -> list[float]:
        """Codes that a cell of a number type can be: by their value, or by their text."""
        by_text = {number_in(code): code for code in self._codes}
        return [*self._numbers, *(n for n, code in by_text.items() if label_text(n) == code)]

    @property
    def has_codes_of_days(self) -> bool:
        """Whether a code of missing cells may be the text of a typed date."""
        return any(day_in(code) is not None for code in self._codes)

    def __call__(self, cell: Any) -> float:
        """Read a cell. Whatever a strange one does, it is missing, and no error quotes it."""
        try:
            return self._read(_plain(cell))
        except MemoryError:
            raise
        except Exception:
            return _MISSING

    def is_gap(self, cell: Any) -> bool:
        """Whether a cell is missing by declaration, not since it cannot be read."""
        cell = _plain(cell)
        return cell is None or cell != cell or self._is_code(cell, trimmed(_label(cell)))

    def _read(self, cell: Any) -> float:
        if cell is None or cell != cell:  # NaN and NaT are not themselves
            return _MISSING
        text = trimmed(_label(cell))
        return _MISSING if self._is_code(cell, text) else self._by_type(cell, text)

    def _is_code(self, cell: Any, text: str) -> bool:
        return text in self._codes or self._typed_or_spelt(cell, text) in self._numbers

    def _typed_or_spelt(self, cell: Any, text: str) -> float:
        typed = isinstance(cell, Real | Decimal)
        return float(cell) if typed else number_in(text, *self._signs)

    def _number(self, cell: Any, text: str) -> float:
        number = self._typed_or_spelt(cell, text)
        if math.isnan(number) and isinstance(cell, str | bytes):
            return flag_in(text)
        return number if math.isfinite(number) else _MISSING

    def _yes_no(self, cell: Any, text: str) -> float:
        found = self._level.get(text, _MISSING) if self._level else yes_no_in(text)
        if math.isnan(found) and isinstance(cell, Real | Decimal) and cell in (0, 1):
            return 1.0 if cell == 1 else 0.0  # never -0.0
        return found

    def _category(self, cell: Any, text: str) -> float:
        return self._level.get(text, _MISSING)

    def _date(self, cell: Any, text: str) -> float:
        day = cell if isinstance(cell, date) else day_in(text, self.column.format)
        if isinstance(day, datetime):
            day = (day.astimezone(UTC) if day.tzinfo else day).date()
        return _MISSING if day is None else float((day - self.origin).days)


def _plain(cell: Any) -> Any:
    """A cell of numpy as Python holds it; spans of time are no numbers."""
    if isinstance(cell, np.datetime64):
        return cell.astype("M8[D]" if cell.dtype == "M8[D]" else "M8[us]").item()
    if isinstance(cell, np.timedelta64):
        return str(cell)
    return cell.item() if isinstance(cell, np.generic) else cell


def _label(cell: Any) -> str:
    """A cell as text, which for true and false is as files write them."""
    return str(cell).lower() if isinstance(cell, bool) else label_text(cell) or ""
