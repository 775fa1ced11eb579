"""Rows in the order of their keys: pieces in memory, and runs on disk where there are too many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import numpy as np

from gdppca._errors import DataError
from gdppca.tables.base import without_its_words

Keyed = tuple[np.ndarray, np.ndarray]  # rows and their keys


def below(pieces: Iterable[Keyed], bound: int) -> list[Keyed]:
    """The rows whose keys do not lie above a bound."""
    return [(rows[few], keys[few]) for rows, keys in pieces for few in [keys <= np.uint64(bound)]]


def in_order(pieces: list[Keyed]) -> np.ndarray:
    """Rows of several pieces in the order of their keys; copied once, from piece to place."""
    return keyed_in_order(pieces)[0]


def keyed_in_order(pieces: list[Keyed]) -> Keyed:
    """The same, with the keys in their order."""
    keys = np.concatenate([keys for _, keys in pieces])
    places = np.empty(len(keys), dtype=np.intp)
    places[np.argsort(keys)] = np.arange(len(keys))
    rows = np.empty((len(keys), pieces[0][0].shape[1]))
    ends = np.cumsum([len(keys) for _, keys in pieces])
    for (piece, _), there in zip(pieces, np.split(places, ends[:-1]), strict=True):
        rows[there] = piece
    return rows, np.sort(keys)


def range_starts(count: int) -> np.ndarray:
    """Where so many ranges of all keys begin, but for the first one."""
    return np.array([(k * 2**64) // count for k in range(1, count)], dtype=np.uint64)


def regular(batches: Iterable[np.ndarray], rows: int) -> Iterator[np.ndarray]:
    """The same rows in batches of one size, but for the last one."""
    kept: list[np.ndarray] = []
    for batch in batches:
        kept.append(batch)
        count = sum(map(len, kept))
        if count >= rows:
            together = np.concatenate(kept)
            whole = count // rows * rows
            yield from (together[start : start + rows] for start in range(0, whole, rows))
            kept = [together[whole:]]
    if any(map(len, kept)):
        yield np.concatenate(kept)


def sorted_rows(
    pieces: Iterable[Keyed], n: int, at_once: int, folder: Path
) -> Iterator[np.ndarray]:
    """All n rows in the order of their keys, about so many at once.

    Runs of them are sorted and written to one file; then the rows of one range of keys after the
    other are gathered from all runs.
    """
    runs = _gathered(pieces, at_once)
    few = list(islice(runs, 2))
    if len(few) < 2:
        yield from map(in_order, few)
        return
    starts = range_starts(-(-n // at_once))
    with NamedTemporaryFile(dir=folder) as file:
        bounds = [_written(run, starts, file, folder) for run in chain(few, runs)]
        width = few[0][0][0].shape[1] + 1
        del few
        for found in zip(*map(pairwise, bounds), strict=True):
            yield in_order([_read(file, start, stop, width) for start, stop in found])


def _gathered(pieces: Iterable[Keyed], at_once: int) -> Iterator[list[Keyed]]:
    """Pieces, as many as there may be in memory at once."""
    kept: list[Keyed] = []
    for piece in pieces:
        if kept and sum(len(keys) for _, keys in (*kept, piece)) > at_once:
            yield kept
            kept = []
        kept.append(piece)
    if kept:
        yield kept


def _written(run: list[Keyed], starts: np.ndarray, file: IO[bytes], folder: Path) -> list[int]:
    """Add a run to the file, each row behind its key; where its ranges of keys begin and end."""
    records = in_order([(np.column_stack([keys.view(float), rows]), keys) for rows, keys in run])
    begin = file.tell()
    places = [0, *np.searchsorted(_keys(records), starts), len(records)]
    without_its_words(lambda: (file.write(records.data), file.flush()), lambda _: full_disk(folder))
    return [begin + int(place) * records.strides[0] for place in places]


def _read(file: IO[bytes], start: int, stop: int, width: int) -> Keyed:
    file.seek(start)
    records = np.frombuffer(file.read(stop - start)).reshape(-1, width)
    return records[:, 1:], _keys(records)


def _keys(records: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(records[:, 0]).view(np.uint64)


def full_disk(folder: Path) -> DataError:
    """What to say where rows do not fit into the folder."""
    return DataError(
        f"The disk of the temporary folder '{folder.parent}' is full: a secret random order of all "
        "rows needs about as much room as the table itself. Set TMPDIR to a folder with more."
    )
