"""From one part of a table on a cluster to rows: plain data that travels to workers.

A row may carry what it counts and the second word of its person behind its cells, so that all of
it is dealt out, kept and compared as one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from gdppca._errors import DataError
from gdppca.kernels.weights import whole_parts
from gdppca.noise import OrderKeys, Texts
from gdppca.tables.base import Recipe, Sample, Sums
from gdppca.tables.cells import label_text
from gdppca.tables.description import Column, Description
from gdppca.tables.encode import encode_frame
from gdppca.tables.frame_columns import described_matrix, frame_column, frame_columns
from gdppca.tables.frames import as_matrix
from gdppca.tables.groups import plain_labels
from gdppca.tables.headers import require_columns
from gdppca.tables.people import People
from gdppca.tables.persons import NO_IDS, without_ids
from gdppca.tables.wishes import Wishes

Keyed = tuple[np.ndarray, np.ndarray]  # rows and their keys


@dataclass(frozen=True, repr=False)
class PartReader:
    """How a part becomes rows.

    Parameters
    ----------
    names : tuple of str or None
        Columns of the analysis as the table calls them; None of an array.
    n_features : int
        Columns of numbers that they become.
    asked : Wishes
        Whose rows they are, what they count, what is known of them.
    keys : OrderKeys or None
        By which persons are ordered.
    """

    names: tuple[str, ...] | None
    n_features: int
    asked: Wishes
    keys: OrderKeys | None = None

    @property
    def columns(self) -> list[str]:
        """Columns of the table that are read; whose rows they are comes last."""
        beside = (self.asked.weights, self.asked.persons)
        return [*(self.names or ()), *(name for name in beside if name is not None)]

    def of_ids(self) -> PartReader:
        """One that is shown the ids alone."""
        return replace(self, names=(), asked=replace(self.asked, weights=None, largest_weight=None))

    @property
    def features(self) -> tuple[str, ...] | None:
        """Names of the columns of numbers."""
        told = self.asked.described
        return self.names if told is None else tuple(each.name for each in told.features)

    @property
    def width(self) -> int:
        """Numbers of a row, with what it carries."""
        return self.n_features + self._weighted + self._of_persons

    @property
    def _weighted(self) -> bool:
        return self.asked.weights is not None

    @property
    def _of_persons(self) -> bool:
        return self.asked.persons is not None

    def rows(self, part: Any) -> np.ndarray:
        """Cells of a part's rows, each row with its share of a weight where there is one."""
        values = self._values(part)
        if not self._weighted:
            return values
        shares = self.asked.shares_of(self._weights(part), len(values), "the table")
        return np.column_stack([values, shares])

    def of_persons(self, part: Any) -> Keyed:
        """Rows with the second words of their persons, and the persons' keys."""
        words = self.words(part)
        rows = np.column_stack([self.rows(part), words[:, 1].view(float)])
        return rows, np.ascontiguousarray(words[:, 0])

    def words(self, part: Any) -> np.ndarray:
        """Two words for the person of each row."""
        words, codes = self._named(part)
        return words[codes]

    def present(self, part: Any) -> Keyed:
        """Who is in a part, each once: second words as numbers, and keys."""
        words, _ = self._named(part)
        return np.ascontiguousarray(words[:, 1:]).view(float), np.ascontiguousarray(words[:, 0])

    def _named(self, part: Any) -> tuple[np.ndarray, np.ndarray]:
        """Words of persons, each once, and who of them each row is; none may be missing."""
        assert self.keys is not None
        told = self.asked.description
        missing = frozenset({*NO_IDS, *(() if told is None else told.missing)})
        texts, codes = _texts(frame_column(part, self.asked.persons))
        if any(text is None or text in missing for text in texts):
            raise without_ids()
        return self.keys.named(Texts.of(list(map(str, texts)))), codes

    def people(self, pieces: list[Keyed]) -> People:
        """Rows by their persons; all rows of a person must be there."""
        rows, keys = map(np.concatenate, zip(*pieces, strict=True))
        return People.of(rows, keys, _second_words(rows))

    def lying_together(self, rows: np.ndarray, keys: np.ndarray) -> People:
        """The same of rows that come person by person, in the order of keys."""
        return People.lying_together(rows, keys, _second_words(rows))

    def add(self, recipe: Recipe, sums: Sums, rows: np.ndarray) -> Sums:
        """Add rows that are nobody else's."""
        shares = self.shares(rows)
        parts = None if shares is None else whole_parts(1, shares)
        return recipe.add(sums, self.cells(rows), parts)

    def sum_of(self, recipe: Recipe, people: People) -> Sums:
        """The sum of all rows of some persons; where they are paired, of one row of each."""
        if recipe.center is None:
            return recipe.of(self.cells(people.some(1).rows))
        parts = whole_parts(people.rows_of_same, self.shares(people.rows))
        return recipe.of(self.cells(people.rows), parts)

    def sample(self, rows: np.ndarray, keys: np.ndarray | None) -> Sample:
        """Rows that are nobody else's as a sample."""
        shares = self.shares(rows)
        parts = None if shares is None else whole_parts(1, shares)
        return Sample(self.cells(rows), len(rows), parts, None, keys)

    def cells(self, rows: np.ndarray) -> np.ndarray:
        """What is compared of rows."""
        return np.ascontiguousarray(rows[:, : self.n_features])

    def shares(self, rows: np.ndarray) -> np.ndarray | None:
        """What rows count by their weights."""
        return rows[:, self.n_features] if self._weighted else None

    def _values(self, part: Any) -> np.ndarray:
        gaps = self.asked.gaps
        if self.asked.described is not None:
            return described_matrix(part, self.asked.described, gaps).values
        if self.names is not None and self.asked.beside:
            part = frame_columns(part, list(self.names))
        matrix = as_matrix(part, gaps).values
        if matrix.shape[1] != self.n_features:
            raise DataError(
                f"A partition has {matrix.shape[1]} columns where {self.n_features} were announced."
            )
        return matrix

    def _weights(self, part: Any) -> Any:
        """Weights as numbers; those of a described table are written as it says."""
        name = self.asked.weights
        if self.asked.description is None:
            return as_matrix(frame_columns(part, [name]), gaps=True).values[:, 0]
        return encode_frame(part, _alone(name, self.asked.description))[0][:, 0]


def _second_words(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows[:, -1]).view(np.uint64)


def part_reader(every: list[str], asked: Wishes, keys: OrderKeys | None, where: str) -> PartReader:
    """How to read a table with these columns; one that is lacking is refused by its name."""
    wanted, told = asked.features(every, where), asked.described
    if told is not None:
        require_columns(every, None, where)
        told.require_columns_of(every, where)
        names = tuple(column.name for column in told.columns)
        return PartReader(names, len(told.features), asked, keys)
    names = require_columns(every, wanted, where)
    if not names:
        raise DataError(f"{where} has no column.")
    return PartReader(names, len(names), asked, keys)


def _alone(name: str, description: Description) -> Description:
    """A description of one column of numbers."""
    return replace(
        description,
        columns=(Column(name=name),),
        person=None,
        weight=None,
        largest_weight=None,
    )


def _texts(ids: Any) -> tuple[list[str | None], np.ndarray]:
    """Texts of ids, each once where that is quick to find, and which of them each row has."""
    series = nw.from_native(ids, series_only=True)
    kind = series.dtype
    if series.null_count():
        return [None], np.empty(0, np.int64)
    if kind.is_integer() or kind.is_float() or kind == nw.Boolean:
        found, codes = np.unique(series.to_numpy(), return_inverse=True)
        return [label_text(label) for label in found.tolist()], codes
    labels = map(label_text, plain_labels(ids, "persons", "ids"))
    texts = [None if label is None else label.strip(" \t") for label in labels]
    place = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    return list(place), np.fromiter((place[text] for text in texts), np.int64, len(texts))
