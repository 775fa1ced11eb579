"""Rows by their persons, where they are read in parts: who has how many, and which stand for them.

Whatever is chosen of a person's rows follows from the person's key and from that person's rows
alone: other persons may have more rows or fewer, in other places, and nothing changes here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca.kernels.weights import whole_parts
from gdppca.noise import lots
from gdppca.tables.base import Sample

MOST_EACH = 4  # rows of one person in a sample
_SAMPLE_ROWS = 2**18  # of many persons there need be fewer of each
_SAMPLE_ENTRIES = 2**25  # numbers: 256 MB
_MIXER = np.uint64(0x9E3779B97F4A7C15)


def rows_each(size: int, n_features: int) -> int:
    """How many rows of a person a sample of so many persons holds at most."""
    most = min(_SAMPLE_ROWS, _SAMPLE_ENTRIES // n_features)
    return max(1, min(MOST_EACH, most // size))


def row_hashes(rows: np.ndarray) -> np.ndarray:
    """A number of each row's cells; whole numbers, so every machine finds the same."""
    weights = _MIXER * np.arange(1, 2 * rows.shape[1], 2, dtype=np.uint64)
    hashes = np.einsum("ij,j->i", rows.view(np.uint64), weights)
    hashes ^= hashes >> np.uint64(32)
    hashes *= _MIXER
    return hashes ^ (hashes >> np.uint64(29))


@dataclass(frozen=True, eq=False, repr=False)  # holds rows
class People:
    """All rows of some persons, person by person in the order of keys.

    Parameters
    ----------
    rows : array of shape (n, k)
        Cells, and whatever else belongs to a row.
    keys : array of uint64
        Key of each row's person.
    starts : array of int
        Where the rows of each person begin.
    """

    rows: np.ndarray
    keys: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, keys: np.ndarray, others: np.ndarray) -> People:
        """Rows in any order, by keys and by words that tell apart two persons of one key.

        A person's rows are put in an order of their own, whatever order they came in.
        """
        order = np.lexsort((row_hashes(rows), others, keys))
        return cls.lying_together(rows[order], keys[order], others[order])

    @classmethod
    def lying_together(cls, rows: np.ndarray, keys: np.ndarray, others: np.ndarray) -> People:
        """Rows that come person by person, in the order of keys."""
        new = np.ones(len(keys), dtype=bool)
        new[1:] = (keys[1:] != keys[:-1]) | (others[1:] != others[:-1])
        return cls(rows, keys, np.flatnonzero(new))

    @property
    def number(self) -> int:
        """How many persons there are."""
        return len(self.starts)

    @property
    def counts(self) -> np.ndarray:
        """How many rows each person has."""
        return np.diff(np.append(self.starts, len(self.keys)))

    @property
    def _persons(self) -> np.ndarray:
        """Whose each row is, by a number from 0."""
        return np.repeat(np.arange(self.number), self.counts)

    @property
    def rows_of_same(self) -> np.ndarray:
        """For each row, how many its person has."""
        return np.repeat(self.counts, self.counts)

    def some(self, each: int) -> People:
        """At most so many random rows of each person; the first one alone is random too."""
        persons = self._persons
        places = np.arange(len(self.keys)) - self.starts[persons]
        order = np.lexsort((lots(self.keys, places), persons))
        kept = order[places < each]
        counts = np.minimum(self.counts, each)
        return People(self.rows[kept], self.keys[kept], np.cumsum(counts) - counts)

    def sample(self, shares: np.ndarray | None, n_features: int) -> Sample:
        """As a sample of persons, whose first rows are the random ones."""
        parts = whole_parts(self.rows_of_same, shares)
        values = np.ascontiguousarray(self.rows[:, :n_features])
        return Sample(values, self.number, parts, self.starts, self.keys)


def together(some: list[People]) -> People:
    """Persons of several ranges of keys, in the order of the ranges."""
    sizes = np.cumsum([0, *(len(people.keys) for people in some)])
    starts = [people.starts + size for people, size in zip(some, sizes[:-1], strict=True)]
    return People(
        np.concatenate([people.rows for people in some]),
        np.concatenate([people.keys for people in some]),
        np.concatenate(starts),
    )
