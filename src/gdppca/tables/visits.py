"""Whose each row is, for rows that DuckDB reads: found once by their ids, and kept as numbers.

Of an id there are 128 bits of a keyed hash, batch by batch, and no more is kept. These, numbers,
counts and keys lie in files of the private folder, so that memory does not grow with the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from gdppca.kernels.roll import Roll
from gdppca.kernels.weights import whole_parts
from gdppca.noise import OrderKeys, lots
from gdppca.tables.batches import ids_of
from gdppca.tables.persons import require_ids, without_ids

_ROWS = 2**17  # that are looked at at once
_ZEROS = 2**24  # bytes


@dataclass(frozen=True, eq=False, repr=False)
class Chosen:
    """Rows that stand for their persons, by where they are.

    Parameters
    ----------
    places : array of int
        Places of the rows, in their order.
    positions : array of int
        Where each row comes in the order of the persons' keys; the first of a person is random.
    keys : array of uint64
        Keys of the persons, by positions.
    starts : array of int
        The first position of each person.
    """

    places: np.ndarray
    positions: np.ndarray
    keys: np.ndarray
    starts: np.ndarray

    def among(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Those between two places: counted from the first one, and their positions."""
        few = slice(*np.searchsorted(self.places, [start, stop]))
        return self.places[few] - start, self.positions[few]


@dataclass(frozen=True, eq=False, repr=False)
class Visits:
    """Rows by their persons.

    Parameters
    ----------
    persons : array of int
        The number of each row's person, in the order of the rows.
    counts : array of int
        How many rows each person has.
    keys : array of uint64
        The secret key of each person.
    """

    persons: np.ndarray
    counts: np.ndarray
    keys: np.ndarray

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.persons)

    @property
    def number(self) -> int:
        """How many persons there are."""
        return len(self.counts)

    def parts(self, start: int, stop: int, shares: np.ndarray | None) -> np.ndarray:
        """How much each row between two places counts."""
        persons = self.persons[start:stop]
        if shares is None:
            return self._parts_each[persons]
        return whole_parts(self.counts[persons], shares)

    @cached_property
    def _parts_each(self) -> np.ndarray:
        """How much a row of each person counts, without weights."""
        return whole_parts(self.counts)

    def chosen(self, bound: int, each: int) -> Chosen:
        """At most so many random rows of each person whose key does not lie above a bound."""
        near = np.asarray(self.keys <= np.uint64(bound))
        there = np.flatnonzero(near)
        there = there[np.argsort(self.keys[there], kind="stable")]
        wanted = _Wanted(self.keys[there], np.asarray(self.counts[there]), each)
        index = np.empty(self.number, dtype=np.int64)
        index[there] = np.arange(len(there))
        seen = np.zeros(len(there), dtype=np.int64)
        found = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        for start in range(0, self.n_rows, _ROWS):
            persons = self.persons[start : start + _ROWS]
            places = np.flatnonzero(near[persons])
            whose = index[persons[places]]
            positions = wanted.positions(whose, _turns(whose, seen))
            kept = positions >= 0
            found.append((start + places[kept], positions[kept]))
        places, positions = map(np.concatenate, zip(*found, strict=True))
        return Chosen(places, positions, np.repeat(wanted.keys, wanted.numbers), wanted.starts)


@dataclass(frozen=True, eq=False)
class _Wanted:
    """Which of their rows persons are to show: by the key and the number of rows of each."""

    keys: np.ndarray
    counts: np.ndarray
    each: int

    @cached_property
    def numbers(self) -> np.ndarray:
        """How many rows of each."""
        return np.minimum(self.counts, self.each)

    @cached_property
    def starts(self) -> np.ndarray:
        """The first position of each."""
        return np.asarray(np.cumsum(self.numbers) - self.numbers)

    @cached_property
    def _turns(self) -> list[np.ndarray]:
        """Which rows of each, counted as they come: a random set, and a random one of it first.

        By Floyd's algorithm. Where a person has no more rows than are asked for, all of them.
        """
        turns: list[np.ndarray] = []
        for k in range(self.each):
            last = self.counts - self.each + k
            drawn = self._below(k, np.maximum(last, 0) + 1)
            taken = np.logical_or.reduce([drawn == turn for turn in turns]) if turns else False
            drawn = np.where(taken, last, drawn)
            turns.append(np.where(self.counts <= self.each, k, drawn))
        first = self._below(self.each, self.numbers)
        for k in range(1, self.each):
            swapped = first == k
            turns[0], turns[k] = (
                np.where(swapped, turns[k], turns[0]),
                np.where(swapped, turns[0], turns[k]),
            )
        return turns

    def _below(self, lot: int, ends: np.ndarray) -> np.ndarray:
        """A random number below each of these, which are below 2³²."""
        high = lots(self.keys, np.full(len(self.keys), lot)) >> np.uint64(32)
        return ((high * ends.astype(np.uint64)) >> np.uint64(32)).astype(np.int64)

    def positions(self, whose: np.ndarray, turn: np.ndarray) -> np.ndarray:
        """Where rows of these persons come, by which of their rows each is; -1 for none."""
        found = np.full(len(whose), -1, dtype=np.int64)
        for k, wanted in enumerate(self._turns):
            hit = (wanted[whose] == turn) & (k < self.numbers[whose])
            found[hit] = self.starts[whose[hit]] + k
        return found


def _turns(whose: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Which of its person's rows each one is, where `seen` were before; they are counted on."""
    order = np.argsort(whose, kind="stable")
    same = whose[order]
    new = np.flatnonzero(np.diff(same, prepend=-1))
    turns = np.empty(len(whose), dtype=np.int64)
    starts = np.repeat(new, np.diff(np.append(new, len(same))))
    turns[order] = np.arange(len(same)) - starts + seen[same]
    seen[same[new]] += np.diff(np.append(new, len(same)))
    return turns


def found_visits(relation: Any, folder: Path, keys: OrderKeys, missing: tuple[str, ...]) -> Visits:
    """Give every row the number of its person, in one pass over the ids that a relation holds.

    What DuckDB says of a failure may quote a cell.
    """
    roll, stream = Roll(partial(_array, folder)), ids_of(relation, _ROWS)
    with TemporaryFile(dir=folder) as file:
        try:
            for ids in stream:
                if ids is None:
                    raise without_ids()
                roll.add(keys.named(ids)).tofile(file)
        finally:
            stream.close()
        file.flush()
        n_rows = file.tell() // 4
        persons = np.memmap(file, np.uint32, "r") if n_rows else np.empty(0, np.uint32)
    found = roll.keys()
    require_ids(found, keys, missing)
    return Visits(persons, roll.counts, found)


def _array(folder: Path, kind: Any, n: int) -> np.ndarray:
    """An array in a file that has no name, and room on the disk: to lack it later would kill us."""
    size = n * np.dtype(kind).itemsize
    if size == 0:
        return np.empty(0, dtype=kind)
    with TemporaryFile(dir=folder) as file:
        for start in range(0, size, _ZEROS):
            file.write(bytes(min(_ZEROS, size - start)))
        file.flush()
        return np.memmap(file, dtype=kind, mode="r+", shape=(n,))
