"""What the workers of a Dask cluster do with rows. Errors are handed over as values."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from gdppca._errors import EngineError, GdppcaError
from gdppca.kernels.parallel import THREADS_VARIABLE
from gdppca.tables.base import SAMPLE_PARTS, Keys, Recipe, Sums, merged
from gdppca.tables.part_reader import PartReader
from gdppca.tables.people import People, row_hashes
from gdppca.tables.runs import Keyed, below, in_order

Summed = tuple[Sums, int]  # a sum and the fingerprint of its rows, where they were dealt out


def guarded(work: Callable[..., Any], *arguments: Any) -> Any:
    """What the work gives, or the error that it, or work before it, ended in."""
    for argument in arguments:
        for each in argument if isinstance(argument, list) else [argument]:
            if isinstance(each, GdppcaError):
                return each
    try:
        return work(*arguments)
    except GdppcaError as error:
        return type(error)(str(error))  # without the frames, which hold rows
    except Exception as error:  # its message may quote a cell
        return EngineError(f"A task failed with {type(error).__name__}. Nothing was released.")


def _keyed(keys: Keys, parts: list[Any], first: int, reader: PartReader) -> Iterator[Keyed]:
    """The rows of neighbouring partitions and their keys: of places, or of persons."""
    for number, part in enumerate(parts, start=first):
        if reader.asked.persons is not None:
            yield reader.of_persons(part)
        else:
            rows = reader.rows(part)
            yield rows, keys.range(len(rows), number)


def rows_below(
    bound: int, keys: Keys, parts: list[Any], first: int, reader: PartReader
) -> list[Keyed]:
    """The rows of a group whose keys, those of samples, do not lie above the bound."""
    return below(_keyed(keys, parts, SAMPLE_PARTS + first, reader), bound)


def fingerprint(pieces: list[Keyed]) -> int:
    """A number of the rows and not of their order; a row in place of another shows."""
    return sum(int(row_hashes(rows).sum()) for rows, _ in pieces) % 2**64


def sum_group(recipe: Recipe, parts: list[Any], first: int, reader: PartReader) -> Summed:
    with one_thread():
        sums = recipe.empty()
        for part in parts:
            sums = reader.add(recipe, sums, reader.rows(part))
        return sums, 0


def sum_in_order(recipe: Recipe, pieces: list[Keyed]) -> Summed:
    with one_thread():
        return recipe.of(in_order(pieces)), fingerprint(pieces)


def sum_persons(recipe: Recipe, reader: PartReader, pieces: list[Keyed]) -> Summed:
    """The sum of all persons of a range of keys, with the fingerprint of all their rows."""
    with one_thread():
        return reader.sum_of(recipe, reader.people(pieces)), fingerprint(pieces)


def sample_persons(reader: PartReader, each: int, pieces: list[Keyed]) -> People:
    """Some rows of each person of a range of keys."""
    return reader.people(pieces).some(each)


def count_persons(pieces: list[Keyed]) -> int:
    """How many persons there are in a range of keys."""
    others, keys = map(np.concatenate, zip(*pieces, strict=True))
    return len(set(zip(keys.tolist(), others.view(np.uint64)[:, 0].tolist(), strict=True)))


def merge_sums(recipe: Recipe, parts: list[Summed]) -> Summed:
    sums, fingerprints = zip(*parts, strict=True)
    with one_thread():
        return merged(recipe, sums), sum(fingerprints) % 2**64


def done(sums: Summed) -> None:
    """A sign that a sum is there, which does not keep it there."""


_summing = 0  # tasks
_summing_lock = threading.Lock()
_limits = ExitStack()


@contextmanager
def one_thread() -> Iterator[None]:
    """Sum on one thread: Dask runs as many tasks at once as a worker has cores.

    Tasks may share a process, even with the user, so the last one to leave restores what was.
    """
    global _summing
    with _summing_lock:
        if not _summing:
            _limits.enter_context(threadpool_limits(1, "blas"))
            _limits.callback(_set_threads, os.environ.get(THREADS_VARIABLE))
            _set_threads("1")
        _summing += 1
    try:
        yield
    finally:
        with _summing_lock:
            _summing -= 1
            if not _summing:
                _limits.close()


def _set_threads(wish: str | None) -> None:
    os.environ.pop(THREADS_VARIABLE, None)
    if wish is not None:
        os.environ[THREADS_VARIABLE] = wish


def split_group(
    keys: Keys, parts: list[Any], first: int, reader: PartReader, edges: np.ndarray
) -> list[Any]:
    """The pieces of a group and, at the end, its fingerprint."""
    pieces = list(_keyed(keys, parts, first, reader))
    return [*split(pieces, edges), fingerprint(pieces)]


def split_sample(
    bound: int, keys: Keys, parts: list[Any], first: int, reader: PartReader, edges: np.ndarray
) -> list[Keyed]:
    """The pieces of a group, of the persons whose keys do not lie above the bound."""
    return split(below(_keyed(keys, parts, first, reader), bound), edges)


def split_persons(reader: PartReader, part: Any, edges: np.ndarray) -> list[Any]:
    """Who is in a partition, in pieces and each once; and, at the end, how many rows it has."""
    return [*split([reader.present(part)], edges), len(part)]


def split(pieces: list[Keyed], edges: np.ndarray) -> list[Keyed]:
    """Rows between one edge and the next: slices of one array, which is cheaper than many."""
    rows, keys = pieces[0] if len(pieces) == 1 else map(np.concatenate, zip(*pieces, strict=True))
    places = np.searchsorted(edges, keys, side="right").astype(np.min_scalar_type(len(edges)))
    order = np.argsort(places, kind="stable")  # a radix sort, for small numbers
    ends = np.cumsum(np.bincount(places, minlength=len(edges) + 1))[:-1]
    return list(zip(np.split(rows[order], ends), np.split(keys[order], ends), strict=True))
