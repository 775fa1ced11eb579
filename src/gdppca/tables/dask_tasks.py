"""What the workers of a Dask cluster do with rows. Errors are handed over as values."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from gdppca._errors import DataError, EngineError, GdppcaError
from gdppca.kernels.parallel import THREADS_VARIABLE
from gdppca.noise import OrderKeys
from gdppca.tables.base import SAMPLE_PARTS, Recipe, Sums, merged
from gdppca.tables.frames import as_matrix
from gdppca.tables.runs import Keyed, in_order

Summed = tuple[Sums, int]  # a sum and the fingerprint of its rows, where they were dealt out

_MIXER = np.uint64(0x9E3779B97F4A7C15)


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


def _matrix(part: Any, n_features: int) -> np.ndarray:
    matrix = as_matrix(part).values
    if matrix.shape[1] != n_features:
        raise DataError(
            f"A partition has {matrix.shape[1]} columns where {n_features} were announced."
        )
    return matrix


def first_rows(part: Any, n_features: int, most: int) -> np.ndarray:
    return _matrix(part, n_features)[:most]


def _keyed(keys: OrderKeys, parts: list[Any], first: int, n_features: int) -> Iterator[Keyed]:
    """The rows of neighbouring partitions and their keys, which follow from their places."""
    for number, part in enumerate(parts, start=first):
        rows = _matrix(part, n_features)
        yield rows, keys.range(len(rows), number)


def rows_below(
    bound: int, keys: OrderKeys, parts: list[Any], first: int, n_features: int
) -> list[Keyed]:
    """The rows of a group whose keys, those of samples, do not lie above the bound."""
    return [
        (rows[chosen], found[chosen])
        for rows, found in _keyed(keys, parts, SAMPLE_PARTS + first, n_features)
        for chosen in [found <= np.uint64(bound)]
    ]


def fingerprint(pieces: list[Keyed]) -> int:
    """A number of the rows and not of their order; a row in place of another shows."""
    return sum(_row_hashes(rows) for rows, _ in pieces) % 2**64


def _row_hashes(rows: np.ndarray) -> int:
    """The sum of hashes of rows; whole numbers, so every machine finds the same."""
    weights = _MIXER * np.arange(1, 2 * rows.shape[1], 2, dtype=np.uint64)
    hashes = np.einsum("ij,j->i", rows.view(np.uint64), weights)
    hashes ^= hashes >> np.uint64(32)
    hashes *= _MIXER
    hashes ^= hashes >> np.uint64(29)
    return int(hashes.sum())


def sum_group(recipe: Recipe, parts: list[Any], first: int, n_features: int) -> Summed:
    matrices = (_matrix(part, n_features) for part in parts)
    with one_thread():
        return reduce(recipe.add, matrices, recipe.empty()), 0


def sum_in_order(recipe: Recipe, pieces: list[Keyed]) -> Summed:
    with one_thread():
        return recipe.of(in_order(pieces)), fingerprint(pieces)


def merge_sums(recipe: Recipe, parts: list[Summed]) -> Summed:
    sums, fingerprints = zip(*parts, strict=True)
    for each in sums:
        each.sign = recipe.sign  # a user's own sign does not equal itself after a journey
    with one_thread():
        return merged(recipe, sums), sum(fingerprints) % 2**64


def done(sums: Summed) -> None:
    """A sign that a sum is there, which does not keep it there."""


_busy = 0
_busy_lock = threading.Lock()
_busy_limits: list[Any] = []


@contextmanager
def one_thread() -> Iterator[None]:
    """Sum on one thread: Dask runs as many tasks at once as a worker has cores.

    Tasks may share a process, even with the user, so the last one to leave restores what was.
    """
    global _busy
    with _busy_lock:
        _busy += 1
        if _busy == 1:
            _busy_limits[:] = [os.environ.get(THREADS_VARIABLE), threadpool_limits(1, "blas")]
            os.environ[THREADS_VARIABLE] = "1"
    try:
        yield
    finally:
        with _busy_lock:
            _busy -= 1
            if not _busy:
                before, limits = _busy_limits
                limits.restore_original_limits()
                if before is None:
                    os.environ.pop(THREADS_VARIABLE, None)
                else:
                    os.environ[THREADS_VARIABLE] = before


def split_group(
    keys: OrderKeys, parts: list[Any], first: int, n_features: int, edges: np.ndarray
) -> list[Any]:
    """The pieces of a group and, at the end, its fingerprint."""
    pieces = list(_keyed(keys, parts, first, n_features))
    return [*split(pieces, edges), fingerprint(pieces)]


def split(pieces: list[Keyed], edges: np.ndarray) -> list[Keyed]:
    """Rows between one edge and the next: slices of one array, which is cheaper than many."""
    rows = np.empty((sum(len(keys) for _, keys in pieces), pieces[0][0].shape[1]))
    keys = np.empty(len(rows), dtype=np.uint64)
    places = [_places_between(keys, edges) for _, keys in pieces]
    ends = [0]
    for chosen in zip(*places, strict=True):
        stop = ends[-1]
        for (source, source_keys), few in zip(pieces, chosen, strict=True):
            start, stop = stop, stop + len(few)
            # The mode "raise" would copy twice.
            np.take(source, few, axis=0, out=rows[start:stop], mode="clip")
            np.take(source_keys, few, out=keys[start:stop], mode="clip")
        ends.append(stop)
    return [(rows[start:stop], keys[start:stop]) for start, stop in pairwise(ends)]


def _places_between(keys: np.ndarray, edges: np.ndarray) -> list[np.ndarray]:
    between = np.searchsorted(edges, keys, side="right")
    small = between.astype(np.min_scalar_type(len(edges)))
    order = np.argsort(small, kind="stable")  # a radix sort, for small numbers
    counts = np.bincount(between, minlength=len(edges) + 1)
    return np.split(order, np.cumsum(counts)[:-1])
