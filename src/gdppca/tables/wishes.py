"""What a user says of rows beside where they are: columns, whose they are, what they count."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gdppca._errors import DataError, ParameterError
from gdppca.noise import Noise
from gdppca.tables.description import Description
from gdppca.tables.persons import Persons, persons_of, weight_shares

ColumnReader = Callable[[str], Any]
# What may be the name of a column that is none of the analysis.
_BESIDE = {"persons": "an id", "weights": "a weight", "groups": "a group"}
_KEYS = {"persons": "person of [table]", "weights": "weight of [table]"}  # of a description


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What to take of a table, and how.

    Parameters
    ----------
    columns : list of str or None
        Columns of the analysis; all others if left out.
    groups : sequence of labels, str or None
        What groups the rows are in; or the name of the column that says so.
    categories : sequence or None
        The groups that there can be.
    persons : sequence of ids, str or None
        Whose each row is; or the name of the column that says so.
    weights : sequence of numbers, str or None
        Design weights; or the name of their column.
    largest_weight : float or None
        The weight from which all count alike.
    description : Description, path or None
        What is publicly known of the table.
    gaps : bool
        Whether cells may be missing.
    told : tuple of str
        Which of these the description says, and nobody else.
    """

    columns: list[str] | None = None
    groups: Any = None
    categories: Any = None
    persons: Any = None
    weights: Any = None
    largest_weight: float | None = None
    description: Any = None
    gaps: bool = False
    told: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be columns."""
        if self.columns is not None and (isinstance(self.columns, str) or not self.columns):
            raise DataError("`columns` must be a list of names.")

    @property
    def says_anything(self) -> bool:
        """Whether anything was asked for at all."""
        return self != Wishes()

    def settled(self) -> Wishes:
        """The same with what the description says, where nothing else is said."""
        if self.description is None:
            return self._checked()
        told = self.description
        if isinstance(told, str | os.PathLike):
            told = Description.load(told)
        if not isinstance(told, Description):
            raise ParameterError("`description` must be a Description or the name of its file.")
        told.require_complete()
        if self.columns is not None and told.columns:
            told = told.only(self.columns)
        persons = told.person if self.persons is None else self.persons
        weights = told.weight if self.weights is None else self.weights
        largest = told.largest_weight if self.largest_weight is None else self.largest_weight
        by_it = {"persons": (self.persons, persons), "weights": (self.weights, weights)}
        named = isinstance(weights, str) and largest is not None
        told = replace(  # a release says what was done
            told,
            person=persons if isinstance(persons, str) else None,
            weight=weights if named else None,
            largest_weight=largest if named else None,
        )
        return replace(
            self,
            description=told,
            columns=None if told.columns else self.columns,
            persons=persons,
            weights=weights,
            largest_weight=largest,
            told=tuple(w for w, (own, used) in by_it.items() if own is None and used is not None),
        )._checked()

    def _checked(self) -> Wishes:
        if self.weights is None and self.largest_weight is not None:
            raise ParameterError("`largest_weight` needs `weights`. Give both or none.")
        beside = self.beside
        if len(set(beside)) < len(beside):
            raise ParameterError("One column cannot be persons, weights and groups at once.")
        for wish, what in _BESIDE.items():
            if isinstance(name := getattr(self, wish), str) and name in self._features:
                raise ParameterError(
                    f"`{wish}` must name a column of its own: '{name}' cannot be {what} and a "
                    "column of the analysis."
                )
        return self

    @property
    def described(self) -> Description | None:
        """The description, where it says more than how a file is written."""
        told: Description | None = self.description
        return told if told is not None and told.columns else None

    @property
    def _features(self) -> list[str]:
        if self.described is not None:
            return [column.name for column in self.description.columns]
        return self.columns or []

    @property
    def beside(self) -> list[str]:
        """Names of columns that are none of the analysis."""
        return [name for wish in _BESIDE if isinstance(name := getattr(self, wish), str)]

    def require_names(self) -> None:
        """Refuse sequences: rows that are read in parts have columns beside them, and no list."""
        for name in ("persons", "weights"):
            if not isinstance(getattr(self, name), str | None):
                raise ParameterError(
                    f"`{name}` must be the name of a column where rows are read in parts. Add "
                    "them to the table as a column."
                )
        if self.weights is not None:
            weight_shares([], self.largest_weight, 0)  # refuses what is no largest weight

    def features(self, every: list[str], where: str) -> list[str] | None:
        """Columns of the analysis among all; None where those are all."""
        for wish in _BESIDE:
            name = getattr(self, wish)
            if wish in self.told:
                self.description.require_named(every, where, [(name, _KEYS[wish])])
            elif isinstance(name, str) and name not in every:
                raise ParameterError(
                    f"`{wish}` must name a column: {where} has no column '{name}'. It has "
                    f"{', '.join(map(repr, every))}."
                )
        if self.description is not None and self.description.columns:
            return None
        if self.columns is None and self.beside:
            return [name for name in every if name not in self.beside]
        return self.columns

    def unused(self, every: list[str]) -> tuple[str, ...]:
        """Columns that are neither analysed nor asked for otherwise."""
        used = {*self._features, *self.beside}
        return tuple(name for name in every if name not in used) if self._features else ()

    def persons_in(self, read: ColumnReader, n_rows: int, noise: Noise) -> Persons | None:
        """Whose each row is, where that is said."""
        if self.persons is None:
            return None
        ids = read(self.persons) if isinstance(self.persons, str) else self.persons
        codes = () if self.description is None else self.description.missing
        return persons_of(ids, n_rows, noise.keys(), codes)

    def shares_in(self, numbers: ColumnReader, n_rows: int, where: str) -> np.ndarray | None:
        """What each row counts by its weight, where there is one."""
        if self.weights is None:
            return None
        weights = numbers(self.weights) if isinstance(self.weights, str) else self.weights
        return self.shares_of(weights, n_rows, where)

    def shares_of(self, weights: Any, n_rows: int, where: str) -> np.ndarray:
        """What rows with these weights count; what is wrong is said with where it stands."""
        name = "`weights`"
        if isinstance(self.weights, str):
            place = where[:1].lower() + where[1:]  # inside a sentence
            name = f"`weights`: column '{self.weights}' of {place}"
        if "weights" in self.told:
            name = f"{name}, {_KEYS['weights']} in {self.description.called},"
        return weight_shares(weights, self.largest_weight, n_rows, name)

    def groups_in(self, read: ColumnReader) -> Any:
        """Labels of the rows."""
        return read(self.groups) if isinstance(self.groups, str) else self.groups
