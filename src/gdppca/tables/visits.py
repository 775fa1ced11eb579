"""Whose each row is, for rows that DuckDB reads: found once by exact ids, and kept as numbers.

Ids are looked at by DuckDB alone, which may write them into the private folder, and are dropped as
soon as every row has the number of its person. Numbers, counts and keys lie in that folder too, so
that memory does not grow with the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from gdppca.kernels.weights import whole_parts
from gdppca.noise import OrderKeys
from gdppca.tables.batches import columns_of_floats
from gdppca.tables.described import literal
from gdppca.tables.people import lots
from gdppca.tables.persons import NO_IDS, without_ids

_ROWS = 2**18  # that are looked at at once
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
        return whole_parts(self.counts[self.persons[start:stop]], shares)

    def chosen(self, bound: int, each: int) -> Chosen:
        """At most so many random rows of each person whose key does not lie above a bound."""
        there = np.flatnonzero(self.keys <= np.uint64(bound))
        there = there[np.argsort(self.keys[there], kind="stable")]
        wanted = _Wanted(self.keys[there], np.asarray(self.counts[there]), each)
        index = np.full(self.number, -1, dtype=np.int64)
        index[there] = np.arange(len(there))
        seen = np.zeros(len(there), dtype=np.int64)
        found = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        for start in range(0, self.n_rows, _ROWS):
            whose = index[self.persons[start : start + _ROWS]]
            places = np.flatnonzero(whose >= 0)
            whose = whose[places]
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


def found_visits(
    connection: Any, ids: str, folder: Path, keys: OrderKeys, missing: tuple[str, ...]
) -> Visits:
    """Give every row the number of its person; `ids` is the question for ids, in DuckDB's words.

    What DuckDB says of a failure may quote a cell.
    """
    ask = connection.execute
    ask(f"CREATE OR REPLACE TEMP TABLE visits AS {ids}")
    ask(
        "CREATE OR REPLACE TEMP TABLE persons AS "
        "SELECT id, count(*) AS visits FROM visits GROUP BY id"
    )
    _require_ids(connection, missing)
    [[n_rows]] = ask("SELECT count(*) FROM visits").fetchall()
    [[n_persons]] = ask("SELECT count(*) FROM persons").fetchall()
    secret = f"unhex({literal(keys.secret.hex())})"  # no message or log shows a question
    digest = f"sha256({secret} || encode(CAST(id AS VARCHAR)))"
    key = f"CAST('0x' || left({digest}, 16) AS UBIGINT)"
    of_persons = connection.sql(f"SELECT rowid, visits, {key} FROM persons")
    counts, order_keys = _laid_out(of_persons, n_persons, folder, np.int64, np.uint64)
    whose = "SELECT v.rowid, p.rowid FROM visits v JOIN persons p ON v.id = p.id"
    small = np.uint32 if n_persons < 2**32 else np.int64
    [persons] = _laid_out(connection.sql(whose), n_rows, folder, small)
    ask("DROP TABLE visits")
    ask("DROP TABLE persons")
    return Visits(persons, counts, order_keys)


def _require_ids(connection: Any, missing: tuple[str, ...]) -> None:
    nobody = ", ".join(map(literal, (*NO_IDS, *missing)))
    unknown = f"id IS NULL OR trim(CAST(id AS VARCHAR)) IN ({nobody})"
    if connection.execute(f"SELECT 1 FROM persons WHERE {unknown} LIMIT 1").fetchall():
        raise without_ids()


def _laid_out(relation: Any, n: int, folder: Path, *kinds: type) -> list[np.ndarray]:
    """Columns of numbers, each at the place that the first column says, in files."""
    found = [_array(folder, kind, n) for kind in kinds]
    stream = columns_of_floats(relation, _ROWS)
    try:
        for places, *columns in stream:
            for array, column in zip(found, columns, strict=True):
                array[places] = column
    finally:
        stream.close()
    return found


def _array(folder: Path, kind: type, n: int) -> np.ndarray:
    """An array in a file that has no name, and room on the disk: to lack it later would kill us."""
    size = n * np.dtype(kind).itemsize
    if size == 0:
        return np.empty(0, dtype=kind)
    with TemporaryFile(dir=folder) as file:
        for start in range(0, size, _ZEROS):
            file.write(bytes(min(_ZEROS, size - start)))
        file.flush()
        return np.memmap(file, dtype=kind, mode="r+", shape=(n,))
