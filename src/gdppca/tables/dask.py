"""Dask arrays and frames: summed where their rows are, on threads or on a cluster.

A worker that dies takes what it made with it, and Dask has it made again by another. So keys come
from places alone, sums merge along a fixed tree, and what is repeated comes out the same, bit by
bit. Where a table gives its rows in another order when it is read again, a row could be summed
twice: fingerprints tell, and such a sum is thrown away. Tasks hand errors over as values: Dask logs
a task that raises, with what it said.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from operator import getitem
from typing import Any, Self

import numpy as np

from gdppca._errors import DataError, EngineError
from gdppca.kernels import Progress, silent
from gdppca.noise import OrderKeys
from gdppca.privacy import Unit
from gdppca.tables import dask_tasks as work
from gdppca.tables.base import InParts, Recipe, Sample, Total
from gdppca.tables.dask_running import Key, computed
from gdppca.tables.frame_columns import frame_columns
from gdppca.tables.frames import as_matrix
from gdppca.tables.part_reader import PartReader, part_reader
from gdppca.tables.people import rows_each, together
from gdppca.tables.runs import keyed_in_order
from gdppca.tables.wishes import Wishes

Source = Callable[[np.ndarray], Key]  # adds the task that splits some rows at these edges

_NAME = "The Dask table"
_LARGEST_BUCKET = 2**24  # numbers that are put in order at once: 128 MB
_SMALLEST_TASK = 2**20  # numbers; below, a task costs more than its work
_BUCKETS = 12  # to share out, for tables between these sizes
_FEW = 32  # sources and buckets that one exchange of rows connects, each with each
_BRANCHES = 8  # sums that one task merges


class DaskEngine(InParts):
    """Rows of a dask.array or dask.dataframe.

    Its own tasks must give the same rows whenever they are repeated, as Dask takes for granted.
    """

    def __enter__(self) -> Self:
        self._table, self._reader = _table(self._data, self._asked, self._keys)
        self.n_features = self._reader.n_features
        self.names = self._reader.features
        if self.unit is Unit.PERSON:
            self._lengths, self.n_samples = self._counted_persons()
        else:
            known = self._table.chunks[0] if self.names is None else (np.nan,)
            self._lengths = self._counted() if np.isnan(known).any() else [int(n) for n in known]
            self.n_samples = sum(self._lengths)
        return self

    def sample(self, size: int) -> Sample:
        """About so many random rows or persons, in random order; all where there are no more."""
        plan = _Plan(self._table)
        keys, bound = self._sampling(size, self._lengths)
        if self.unit is Unit.PERSON:
            return self._sampled_persons(plan, size, bound)
        tasks = [plan.add(work.rows_below, bound, keys, *group) for group in self._groups(plan)]
        pieces = [piece for pieces in plan.results(tasks) for piece in pieces]
        rows, found = keyed_in_order(pieces)
        return self._reader.sample(rows, None if self._keys is None else found)

    def _sampled_persons(self, plan: _Plan, size: int, bound: int) -> Sample:
        """Persons by their keys, which lie below a bound, and some rows of each."""
        each = rows_each(size, self.n_features)
        share = min(1.0, size / max(1, self.n_samples))
        count = _bucket_count(int(share * sum(self._lengths) * self._reader.width))
        add = partial(plan.add, work.split_sample, bound, self._keys)
        sources = [partial(add, *group) for group in self._groups(plan)]
        dealt = _dealt_out(plan, sources, range(count), (count << 64) // (bound + 1))
        tasks = [plan.add(work.sample_persons, self._reader, each, pieces) for pieces in dealt]
        people = together(plan.results(tasks))
        return people.sample(self._reader.shares(people.rows), self.n_features)

    def total(self, recipe: Recipe, progress: Progress = silent) -> Total:
        """The sum over all rows; dealt out by their keys first where their order matters.

        Rows of persons are dealt out always: all of one person must meet.
        """
        plan = _Plan(self._table)
        of_persons = self.unit is Unit.PERSON
        if of_persons or (recipe.ordered and self._keys is not None):
            add = partial(plan.add, work.split_group, self._keys)
            sources = [partial(add, *group) for group in self._groups(plan)]
            count = _bucket_count(sum(self._lengths) * self._reader.width)
            add_sum = partial(plan.add, work.sum_in_order, recipe)
            if of_persons:
                add_sum = partial(plan.add, work.sum_persons, recipe, self._reader)
            buckets = _dealt_out(plan, sources, range(count), count)
            sums = [add_sum(pieces) for pieces in buckets]
        else:
            sums = [plan.add(work.sum_group, recipe, *group) for group in self._groups(plan)]
        return self._merged(plan, recipe, sums, progress)

    def _merged(self, plan: _Plan, recipe: Recipe, sums: list[Key], progress: Progress) -> Total:
        """One sum of all, unless rows changed while they were read."""
        read = [plan.add(getitem, split, -1) for split in plan.tasks_of(work.split_group)]

        def rows_done(done: int, tasks: int) -> None:
            progress(self.n_samples * done // tasks, self.n_samples)

        top = _tree(plan, recipe, sums)
        [(total, summed), *fingerprints] = plan.results([top, *read], sums, rows_done)
        if summed != sum(fingerprints) % 2**64:
            raise DataError(
                "The Dask table gave its rows in another order when a part of it was read again. "
                "Nothing was released. Sort the rows inside partitions, or write them to files."
            )
        return self._checked(total, sum(self._lengths), _NAME)

    def _counted(self) -> list[int]:
        """Rows of each partition; of a frame, by one column, which may be all that is read."""
        plan = _Plan(self._table[[self._table.columns[0]]] if self.names else self._table)
        return plan.results([plan.add(len, part) for part in plan.parts])

    def _counted_persons(self) -> tuple[list[int], int]:
        """Rows of each partition, and how many persons there are in all."""
        plan = _Plan(self._table[[self._table.columns[-1]]])
        sources: list[Source] = [
            partial(plan.add, work.split_persons, self._reader, part) for part in plan.parts
        ]
        count = len(sources)
        buckets = _dealt_out(plan, sources, range(count), count)
        persons = [plan.add(work.count_persons, pieces) for pieces in buckets]
        lengths = [plan.add(getitem, split, -1) for split in plan.tasks_of(work.split_persons)]
        found = plan.results([*persons, *lengths])
        return found[count:], sum(found[:count])

    def _groups(self, plan: _Plan) -> list[tuple[list[Any], int, PartReader]]:
        """Neighbouring partitions, the number of the first, and how to read: what a task takes."""
        return [
            ([plan.parts[part] for part in group], group.start, self._reader)
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


def _table(data: Any, asked: Wishes, keys: OrderKeys | None) -> tuple[Any, PartReader]:
    """A table of whole rows and how its parts become rows; nothing is read."""
    import dask.array as da

    if isinstance(data, da.Array):
        return _array(data, asked)
    if not hasattr(data, "_meta") or not hasattr(data, "columns"):
        raise DataError(
            "A whole table is needed, a dask.array or dask.dataframe, got "
            f"{type(data).__name__}. Select columns as a frame."
        )
    labels = list(data.columns)
    known = [str(label) for label in labels]
    reader = part_reader(known, asked, keys, _NAME)
    table = data[[labels[known.index(name)] for name in reader.columns]]
    if asked.described is None:
        empty = table._meta
        as_matrix(frame_columns(empty, list(reader.names or ())) if asked.beside else empty)
    return table, reader


def _array(data: Any, asked: Wishes) -> tuple[Any, PartReader]:
    if asked.columns is not None:
        raise DataError("An array has no column names: leave `columns` out and slice the array.")
    if asked.beside or asked.description is not None:
        raise DataError(
            "An array has no column names, by which persons, weights and descriptions go. Give a "
            "dask.dataframe."
        )
    nothing = np.empty((0, *[1] * (data.ndim - 1)), data.dtype)
    as_matrix(nothing)  # refuses text and wrong dimensions
    if np.isnan(data.shape[1]):
        raise DataError(
            "The array does not know how many columns it has: X.compute_chunk_sizes() tells it."
        )
    if not data.shape[1]:
        raise DataError("The array has no column.")
    return data.rechunk({1: -1}), PartReader(None, data.shape[1], asked)


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
        self._tasks: dict[Key, tuple[Any, ...]] = {}
        # A name is all that a scheduler knows a task by: two fits must not share one.
        self._name = uuid.uuid4().hex

    def add(self, function: Callable[..., Any], *arguments: Any) -> Key:
        """One more task; arguments may be keys of others, or lists of them."""
        key = (f"gdppca-{function.__name__}-{self._name}", len(self._tasks))
        self._tasks[key] = (work.guarded, function, *arguments)
        return key

    def tasks_of(self, function: Callable[..., Any]) -> list[Key]:
        """The tasks that call this function."""
        return [key for key, (_, other, *_) in self._tasks.items() if other is function]

    def results(
        self, wanted: list[Key], steps: Sequence[Key] = (), progress: Progress = silent
    ) -> list[Any]:
        """What some tasks give; `progress` hears how many of the steps are done."""
        marks = [self.add(work.done, step) for step in steps]
        return computed(self.graph(), wanted, marks, progress)

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


def _batched(things: Sequence[Any], size: int) -> list[Any]:
    """Slices of so many."""
    return [things[start : start + size] for start in range(0, len(things), size)]


def _tree(plan: _Plan, recipe: Recipe, sums: list[Key]) -> Key:
    """Merge in the order of the sums, the same tree whatever worker is the first."""
    while len(sums) > 1:
        sums = [plan.add(work.merge_sums, recipe, few) for few in _batched(sums, _BRANCHES)]
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
    coarse = _batched(buckets, width)
    exchanged = [_exchanged(plan, few, coarse, n_buckets) for few in _batched(sources, _FEW)]
    dealt = []
    for bucket, gathered in zip(coarse, zip(*exchanged, strict=True), strict=True):
        finer: list[Source] = [partial(plan.add, work.split, pieces) for pieces in gathered]
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
