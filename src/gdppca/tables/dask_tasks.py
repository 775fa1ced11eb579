"""What the workers of a Dask cluster do with rows. Errors are handed over as values."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import reduce
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from gdppca._errors import DataError, EngineError, GdppcaError
from gdppca.kernels.parallel import THREADS_VARIABLE
from gdppca.tables.base import SAMPLE_PARTS, Keys, Recipe, Sums, merged
from gdppca.tables.frames import as_matrix
from gdppca.tables.runs import Keyed, below, in_order

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


def _keyed(keys: Keys, parts: list[Any], first: int, n_features: int) -> Iterator[Keyed]:
    """The rows of neighbouring partitions and their keys, which follow from their places."""
    for number, part in enumerate(parts, start=first):
        rows = _matrix(part, n_features)
        yield rows, keys.range(len(rows), number)


def rows_below(
    bound: int, keys: Keys, parts: list[Any], first: int, n_features: int
) -> list[Keyed]:
    """The rows of a group whose keys, those of samples, do not lie above the bound."""
    return below(_keyed(keys, parts, SAMPLE_PARTS + first, n_features), bound)


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
    keys: Keys, parts: list[Any], first: int, n_features: int, edges: np.ndarray
) -> list[Any]:
    """The pieces of a group and, at the end, its fingerprint."""
    pieces = list(_keyed(keys, parts, first, n_features))
    return [*split(pieces, edges), fingerprint(pieces)]


def split(pieces: list[Keyed], edges: np.ndarray) -> list[Keyed]:
    """Rows between one edge and the next: slices of one array, which is cheaper than many."""
    rows, keys = pieces[0] if len(pieces) == 1 else map(np.concatenate, zip(*pieces, strict=True))
    places = np.searchsorted(edges, keys, side="right").astype(np.min_scalar_type(len(edges)))
    order = np.argsort(places, kind="stable")  # a radix sort, for small numbers
    ends = np.cumsum(np.bincount(places, minlength=len(edges) + 1))[:-1]
    return list(zip(np.split(rows[order], ends), np.split(keys[order], ends), strict=True))
