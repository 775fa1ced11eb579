"""What is publicly known of a table: columns, types, whose a row is, how a file is written.

Written down without looking at the data, so nothing here depends on a cell: neither the names and
the number of columns, nor the levels of a category, nor what a cell means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date

TYPES = ("number", "yes-no", "category", "date")


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
    typical, spread : float or None
        What is known beforehand of the middle and the standard deviation, in the column's unit.
    unit, label : str
        Unit of measurement, and what reports call the column.
    missing : tuple of str
        Codes of missing cells beside those of the table, as they are written.
    """

    name: str
    type: str = "number"
    levels: tuple[str, ...] = ()
    origin: date | None = None
    typical: float | None = None
    spread: float | None = None
    unit: str = ""
    label: str = ""
    missing: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns of numbers that it becomes: one, or one for every level of a category."""
        if self.type == "category":
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
    delimiter, decimal, thousands, encoding, skip, sheet
        How a file is written; None is the usual way.
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

    @property
    def features(self) -> tuple[Feature, ...]:
        """All columns of numbers, in order."""
        return tuple(feature for column in self.columns for feature in column.features)
