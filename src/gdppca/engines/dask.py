"""Dask arrays and frames: summed where their rows are, on threads or on a cluster.

A worker that dies takes what it made with it, and Dask has it made again by another. So keys come
from places alone, sums merge along a fixed tree, and what is repeated comes out the same, bit by
bit. Where a table gives its rows in another order when it is read again, a row could be summed
twice: fingerprints tell, and such a sum is thrown away. Tasks hand errors over as values: Dask logs
a task that raises, with what it said.
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import contextmanager, suppress
from functools import partial, reduce
from itertools import accumulate, pairwise
from operator import getitem
from time import monotonic
from types import TracebackType
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from gdppca._errors import DataError, EngineError, GdppcaError
from gdppca._version import __version__
from gdppca.engines.base import OrderKeys, Recipe, Sums, key_threshold, merged
from gdppca.engines.files import require_columns
from gdppca.engines.frames import as_matrix
from gdppca.kernels import Progress, silent
from gdppca.kernels.parallel import THREADS_VARIABLE

Key = tuple[str, int]  # of a task
Keyed = tuple[np.ndarray, np.ndarray]  # rows and their keys
Source = Callable[[np.ndarray], Key]  # adds the task that splits some rows at these edges
Summed = tuple[Sums, int]  # a sum and the fingerprint of its rows, where they were dealt out

_LARGEST_BUCKET = 2**24  # numbers that are put in order at once: 128 MB
_SMALLEST_TASK = 2**20  # numbers; below, a task costs more than its work
_BUCKETS = 12  # to share out, for tables between these sizes
_FEW = 32  # sources and buckets that one exchange of rows connects, each with each
_BRANCHES = 8  # sums that one task merges
_PATIENCE = 60.0  # seconds that a cluster may be without any worker
_GLANCE = 0.5  # seconds between two looks at a cluster
_MIXER = np.uint64(0x9E3779B97F4A7C15)


class DaskEngine:
    """Rows of a dask.array or dask.dataframe.

    Its own tasks must give the same rows whenever they are repeated, as Dask takes for granted.
    """

    def __init__(self, data: Any, keys: OrderKeys | None, columns: list[str] | None = None) -> None:
        self._data = data
        self._keys = keys
        self._columns = columns

    def __enter__(self) -> Self:
        self._table, self.names, self.n_features = _table(self._data, self._columns)
        known = _known_lengths(self._table) if self.names is None else None
        self._lengths = self._counted() if known is None else known
        self.n_samples = sum(self._lengths)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing was written; what the tasks made is gone with their futures."""

    def sample(self, size: int) -> np.ndarray:
        """About so many random rows, in random order; all where there are no more."""
        if self._keys is None:
            return self._first_rows(size)
        plan = _Plan(self._table)
        bound = key_threshold(size, self.n_samples)
        tasks = [plan.add(_below, bound, self._keys, *group) for group in self._groups(plan)]
        return _in_order([piece for pieces in _computed(plan, tasks) for piece in pieces])

    def total(self, recipe: Recipe, progress: Progress = silent) -> Sums:
        """The sum over all rows; dealt out by their keys first where their order matters."""
        plan = _Plan(self._table)
        if recipe.ordered and self._keys is not None:
            sources = [partial(plan.add, _split_group, self._keys, *g) for g in self._groups(plan)]
            count = _bucket_count(self.n_samples * self.n_features)
            buckets = _dealt_out(plan, sources, range(count), count)
            sums = [plan.add(_sum_in_order, recipe, pieces) for pieces in buckets]
        else:
            sums = [plan.add(_sum_group, recipe, *group) for group in self._groups(plan)]
        read = [plan.add(getitem, split, -1) for split in plan.tasks_of(_split_group)]

        def rows_done(done: int, tasks: int) -> None:
            progress(self.n_samples * done // tasks, self.n_samples)

        top = _tree(plan, recipe, sums)
        [(total, summed), *fingerprints] = _computed(plan, [top, *read], sums, rows_done)
        if total.n_samples != self.n_samples:
            raise DataError("The Dask table changed while it was read. Nothing was released.")
        if summed != sum(fingerprints) % 2**64:
            raise DataError(
                "The Dask table gave its rows in another order when a part of it was read again. "
                "Nothing was released. Sort the rows inside partitions, or write them to files."
            )
        return total

    def _counted(self) -> list[int]:
        """Rows of each partition; of a frame, by one column, which may be all that is read."""
        plan = _Plan(self._table[[self._table.columns[0]]] if self.names else self._table)
        return _computed(plan, [plan.add(len, part) for part in plan.parts])

    def _first_rows(self, size: int) -> np.ndarray:
        before = [0, *accumulate(self._lengths)]
        plan = _Plan(self._table)
        tasks = [
            plan.add(_first, part, self.n_features, size - start)
            for part, start in zip(plan.parts, before, strict=False)
            if start < size
        ]
        return np.concatenate(_computed(plan, tasks))

    def _groups(self, plan: _Plan) -> list[tuple[list[Any], int, int]]:
        """Neighbouring partitions, the number of the first, and of columns: what one task takes."""
        return [
            ([plan.parts[part] for part in group], group.start, self.n_features)
            for group in self._neighbours()
        ]

    def _neighbours(self) -> list[range]:
        """Partitions that one task takes: one, which stays where it is, or several small ones.

        Small is what costs more to hand on, as a task or as a sum, than to move.
        """
        most = max(_SMALLEST_TASK, self.n_features**2)
        starts, filled = [0], 0
        for part, length in enumerate(self._lengths):
            if filled and filled + length * self.n_features > most:
                starts.append(part)
                filled = 0
            filled += length * self.n_features
        return [range(*pair) for pair in pairwise([*starts, len(self._lengths)])]


def _table(data: Any, columns: list[str] | None) -> tuple[Any, tuple[str, ...] | None, int]:
    """A table of whole rows and numbers, its names and its number of columns; nothing is read."""
    import dask.array as da

    if isinstance(data, da.Array):
        return _array(data, columns)
    if not hasattr(data, "_meta") or not hasattr(data, "columns"):
        raise DataError(
            "A whole table is needed, a dask.array or dask.dataframe, got "
            f"{type(data).__name__}. Select columns as a frame."
        )
    labels = list(data.columns)
    known = [str(label) for label in labels]
    names = require_columns(known, columns, "The Dask table")
    if not names:
        raise DataError("The Dask table has no column.")
    table = data[[labels[known.index(name)] for name in names]]
    as_matrix(table._meta)  # refuses text
    return table, names, len(names)


def _array(data: Any, columns: list[str] | None) -> tuple[Any, None, int]:
    if columns is not None:
        raise DataError("An array has no column names: leave `columns` out and slice the array.")
    nothing = np.empty((0, *[1] * (data.ndim - 1)), data.dtype)
    as_matrix(nothing)  # refuses text and wrong dimensions
    if np.isnan(data.shape[1]):
        raise DataError(
            "The array does not know how many columns it has: X.compute_chunk_sizes() tells it."
        )
    if not data.shape[1]:
        raise DataError("The array has no column.")
    return data.rechunk({1: -1}), None, data.shape[1]


def _known_lengths(table: Any) -> list[int] | None:
    """Rows of each partition of an array, where they need no counting."""
    lengths = table.chunks[0]
    return None if np.isnan(lengths).any() else [int(length) for length in lengths]


def _bucket_count(entries: int) -> int:
    """Buckets for so many numbers: from the table alone, not from the cluster."""
    in_each = min(max(-(-entries // _BUCKETS), _SMALLEST_TASK), _LARGEST_BUCKET)
    return max(1, -(-entries // in_each))


class _Plan:
    """A graph of tasks over the partitions of a table, written down task by task."""

    def __init__(self, table: Any) -> None:
        from dask.core import flatten

        self._table = table if _kept(table) else _optimized(table)
        self.parts = list(flatten(self._table.__dask_keys__()))
        self._tasks: dict[Key, tuple] = {}
        # A name is all that a scheduler knows a task by: two fits must not share one.
        self._name = uuid.uuid4().hex

    def add(self, work: Callable, *arguments: Any) -> Key:
        """One more task; arguments may be keys of others, or lists of them."""
        key = (f"gdppca-{work.__name__.strip('_')}-{self._name}", len(self._tasks))
        self._tasks[key] = (_task, work, *arguments)
        return key

    def tasks_of(self, work: Callable) -> list[Key]:
        """The tasks that do this work."""
        return [key for key, (_, other, *_) in self._tasks.items() if other is work]

    def graph(self) -> Any:
        """All tasks, for Dask."""
        from dask.highlevelgraph import HighLevelGraph

        return HighLevelGraph.from_collections(self._name, self._tasks, [self._table])


def _kept(table: Any) -> bool:
    """Whether rows were made already and are kept on a cluster, which must be there."""
    if "distributed" not in sys.modules:
        return False
    from distributed import futures_of

    futures = futures_of(table)
    if any(future.cancelled() for future in futures):
        raise EngineError("The rows were kept on a Dask cluster that is gone. Load them again.")
    return bool(futures)


def _optimized(table: Any) -> Any:
    """The table with fewer tasks; rows that are kept (2026.8) would get lost here."""
    import dask

    return table.optimize() if hasattr(table, "columns") else dask.optimize(table)[0]


def _task(work: Callable, *arguments: Any) -> Any:
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


def _first(part: Any, n_features: int, most: int) -> np.ndarray:
    return _matrix(part, n_features)[:most]


def _keyed(keys: OrderKeys, parts: list[Any], first: int, n_features: int) -> Iterator[Keyed]:
    """The rows of neighbouring partitions and their keys, which follow from their places."""
    for number, part in enumerate(parts, start=first):
        rows = _matrix(part, n_features)
        yield rows, keys.range(len(rows), number)


def _below(bound: int, keys: OrderKeys, *group: Any) -> list[Keyed]:
    """The rows of a group whose keys do not lie above the bound."""
    return [
        (rows[chosen], found[chosen])
        for rows, found in _keyed(keys, *group)
        for chosen in [found <= np.uint64(bound)]
    ]


def _in_order(pieces: list[Keyed]) -> np.ndarray:
    """Rows of several pieces in the order of their keys; copied once, from piece to place."""
    keys = np.concatenate([keys for _, keys in pieces])
    places = np.empty(len(keys), dtype=np.intp)
    places[np.argsort(keys)] = np.arange(len(keys))
    rows = np.empty((len(keys), pieces[0][0].shape[1]))
    ends = np.cumsum([len(keys) for _, keys in pieces])
    for (piece, _), there in zip(pieces, np.split(places, ends[:-1]), strict=True):
        rows[there] = piece
    return rows


def _fingerprint(pieces: list[Keyed]) -> int:
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


def _sum_group(recipe: Recipe, parts: list[Any], first: int, n_features: int) -> Summed:
    matrices = (_matrix(part, n_features) for part in parts)
    with _one_thread():
        return reduce(recipe.add, matrices, recipe.empty()), 0


def _sum_in_order(recipe: Recipe, pieces: list[Keyed]) -> Summed:
    with _one_thread():
        return recipe.of(_in_order(pieces)), _fingerprint(pieces)


def _merge(recipe: Recipe, parts: list[Summed]) -> Summed:
    sums, fingerprints = zip(*parts, strict=True)
    for each in sums:
        each.sign = recipe.sign  # a user's own sign does not equal itself after a journey
    with _one_thread():
        return merged(recipe, sums), sum(fingerprints) % 2**64


def _done(sums: Summed) -> None:
    """A sign that a sum is there, which does not keep it there."""


_busy = 0
_busy_lock = threading.Lock()
_busy_limits: list[Any] = []


@contextmanager
def _one_thread() -> Iterator[None]:
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


def _tree(plan: _Plan, recipe: Recipe, sums: list[Key]) -> Key:
    """Merge in the order of the sums, the same tree whatever worker is the first."""
    while len(sums) > 1:
        starts = range(0, len(sums), _BRANCHES)
        sums = [plan.add(_merge, recipe, sums[start : start + _BRANCHES]) for start in starts]
    return sums[0]


def _dealt_out(
    plan: _Plan, sources: Sequence[Source], buckets: range, n_buckets: int
) -> list[list[Key]]:
    """The pieces of each bucket; a bucket is a range of keys.

    Each source with each bucket would be a million pieces for a thousand sources: where there are
    many, batches of sources go to coarse buckets first, and those are dealt out in turn.
    """
    if len(sources) <= _FEW or len(buckets) <= _FEW:
        return _exchanged(plan, sources, [range(b, b + 1) for b in buckets], n_buckets)
    width = -(-len(buckets) // _FEW)
    coarse = [buckets[start : start + width] for start in range(0, len(buckets), width)]
    batches = [sources[start : start + _FEW] for start in range(0, len(sources), _FEW)]
    exchanged = [_exchanged(plan, batch, coarse, n_buckets) for batch in batches]
    dealt = []
    for bucket, gathered in zip(coarse, zip(*exchanged, strict=True), strict=True):
        finer: list[Source] = [partial(plan.add, _split, pieces) for pieces in gathered]
        dealt += _dealt_out(plan, finer, bucket, n_buckets)
    return dealt


def _exchanged(
    plan: _Plan, sources: Sequence[Source], buckets: list[range], n_buckets: int
) -> list[list[Key]]:
    """Split each source; the pieces of each bucket, in the order of the sources."""
    starts = [(bucket.start * 2**64) // n_buckets for bucket in buckets]
    edges = np.array(starts[1:], dtype=np.uint64)
    splits = [source(edges) for source in sources]
    return [[plan.add(getitem, split, k) for split in splits] for k in range(len(buckets))]


def _split_group(
    keys: OrderKeys, parts: list[Any], first: int, n_features: int, edges: np.ndarray
) -> list[Any]:
    """The pieces of a group and, at the end, its fingerprint."""
    pieces = list(_keyed(keys, parts, first, n_features))
    return [*_split(pieces, edges), _fingerprint(pieces)]


def _split(pieces: list[Keyed], edges: np.ndarray) -> list[Keyed]:
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


def _computed(
    plan: _Plan, wanted: list[Key], steps: list[Key] | None = None, progress: Progress = silent
) -> list[Any]:
    """Results of some tasks; `progress` hears how many of the steps are done.

    What goes wrong outside of our tasks may quote cells, so it is replaced.
    """
    marks = [plan.add(_done, step) for step in steps or []]
    client = _client()
    failure = None
    try:
        if client is None:
            results = _on_this_machine(plan.graph(), wanted, marks, progress)
        else:
            results = _on_cluster(client, plan.graph(), wanted, marks, progress)
    except GdppcaError:
        raise
    except Exception as error:
        failure = _failed(error) if client is None else _lost(error)
    if failure is not None:  # raised out here, so that the message is not even in __context__
        raise failure
    for result in results:
        if isinstance(result, GdppcaError):
            raise result
    return results


def _client() -> Any:
    """The client of the cluster that Dask would use now, if any."""
    from dask.base import get_scheduler

    if "distributed" not in sys.modules:
        return None
    from distributed import Client

    try:
        owner = getattr(get_scheduler(), "__self__", None)
    except RuntimeError:
        raise EngineError(
            "Dask is set to compute on a cluster, and there is no Client that could be asked, or "
            "an asynchronous one only. Connect a Client, or use "
            "dask.config.set(scheduler='threads')."
        ) from None
    return owner if isinstance(owner, Client) else None


def _on_this_machine(graph: Any, wanted: list[Key], marks: list[Key], progress: Progress) -> list:
    from dask import threaded
    from dask.base import get_scheduler
    from dask.callbacks import Callback

    left = set(marks)

    def finished(key: Any, *_: Any) -> None:
        if key in left:
            left.remove(key)
            progress(len(marks) - len(left), len(marks))

    get = get_scheduler() or threaded.get
    with Callback(posttask=finished):
        return list(get(graph, [*wanted, *marks]))[: len(wanted)]


def _on_cluster(
    client: Any, graph: Any, wanted: list[Key], marks: list[Key], progress: Progress
) -> list[Any]:
    from distributed import wait

    futures = client.get(graph, [*wanted, *marks], sync=False)
    results, signs = futures[: len(wanted)], futures[len(wanted) :]
    last_seen, shown = monotonic(), 0
    try:
        while not (all(f.done() for f in results) or any(f.status == "error" for f in results)):
            with suppress(TimeoutError):
                wait(results, timeout=_GLANCE)
            last_seen = _seen_workers(client, last_seen)
            if (done := sum(sign.done() for sign in signs)) > shown:
                progress(shown := done, len(signs))
        for future in results:
            if future.status == "error":
                raise _failed(future.exception())
        if shown < len(signs):
            progress(len(signs), len(signs))
        return client.gather(results)
    finally:
        if client.status == "running":
            with suppress(Exception):
                client.cancel(futures)


def _seen_workers(client: Any, last: float) -> float:
    """When there was a worker; Dask itself would wait for a new one for ever."""
    if client.nthreads():
        return monotonic()
    if monotonic() - last > _PATIENCE:
        raise EngineError(
            f"The Dask cluster had no worker for {_PATIENCE:.0f} seconds. Nothing was released. "
            f"Start workers that have gdppca {__version__} and fit again."
        )
    return last


def _lost(error: BaseException) -> EngineError:
    return EngineError(
        f"The Dask cluster was lost ({type(error).__name__}). Nothing was released. Look after its "
        "scheduler, connect a new Client and fit again."
    )


def _failed(error: BaseException) -> GdppcaError:
    """What to say of a task of the table itself, instead of what it said."""
    kind = type(error)
    if kind.__name__ == "KilledWorker":
        return EngineError(
            "One task took its workers down again and again; too little memory is the usual "
            "reason. Nothing was released. Use smaller partitions, or workers with more memory."
        )
    if kind is RuntimeError and "deserialization" in str(error):  # by the scheduler
        return EngineError(
            f"The Dask scheduler does not understand the tasks. Install gdppca {__version__} on "
            "it and on the workers."
        )
    of_dask = kind.__module__.startswith("distributed")
    if of_dask or isinstance(error, CancelledError | BrokenExecutor):
        return _lost(error)
    return DataError(
        f"The Dask table cannot be computed: a task of its own failed with {kind.__name__}. "
        "Nothing was released. Its own compute() says more."
    )
