"""What Spark's workers do with rows. Errors are handed over as rows."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca._errors import EngineError, GdppcaError
from gdppca._version import __version__
from gdppca.kernels.parallel import THREADS_VARIABLE
from gdppca.tables.base import Keys, Recipe, Sums, merged
from gdppca.tables.part_reader import PartReader

BATCH = "place int, position long, mark long, content binary"  # rows, sums and errors alike
ERROR = -1  # the place of an error
_BATCH_ENTRIES = 2**22  # numbers that a worker hands over at once: 32 MB
_DIGEST_BITS, _NUMBER_BITS = 20, 24  # of a mark; the partition takes the others


@dataclass(frozen=True, repr=False)
class Task:
    """Work on a worker: with one thread, since Spark runs a task per core, and with errors as rows.

    Workers need the driver's version: another one may read, round or refuse in another way.
    """

    work: Callable[..., Iterator[Any]]
    arguments: tuple[Any, ...]
    version: str = __version__

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches of rows to batches of results."""
        os.environ[THREADS_VARIABLE] = "1"
        refusal, failure = None, None
        try:
            self._require_version()
            yield from self.work(batches, *self.arguments)
        except GdppcaError as error:
            refusal = error
        except Exception as error:
            failure = type(error).__name__
        if refusal is not None:
            yield _batch([pickle.dumps(refusal)], ERROR)
        if failure is not None:  # Spark tries again, and logs these words and not a cell
            raise RuntimeError(f"A task of gdppca ended with {failure}.")

    def table(self, table: Any) -> Any:
        """A group of rows to a table of results."""
        import pyarrow as pa

        return pa.Table.from_batches(self(table.to_batches()))

    def _require_version(self) -> None:
        if self.version != __version__:
            raise EngineError(
                f"Spark's workers have gdppca {__version__} and this program has {self.version}. "
                "Install the same version. Nothing was released."
            )


@dataclass(frozen=True, repr=False)
class Keyed:
    """Choose rows by their keys."""

    keys: Keys
    bound: int = 2**64 - 1
    buckets: int = 1
    first_part: int = 0

    def of(self, part: int, start: int, n: int) -> np.ndarray:
        """Keys of n rows, from a place of a partition on."""
        return self.keys.of(np.arange(start, start + n), self.first_part + part)

    def __call__(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which rows by their keys; their buckets and positions."""
        chosen = np.flatnonzero(keys <= np.uint64(self.bound))
        keys = keys[chosen]
        return chosen, bucket_of(keys, self.buckets, self.bound), positions(keys)


@dataclass(frozen=True)
class Part:
    """A sum, and the marks of its rows if they were shuffled."""

    sums: Sums
    marks: np.ndarray

    @property
    def torn(self) -> bool:
        """Whether rows of one batch come from two attempts that saw different rows there.

        Then they need not have had the same keys each time. One may be in two buckets.
        """
        return len(np.unique(self.marks >> _DIGEST_BITS)) < len(self.marks)

    def batch(self, place: int) -> Any:
        """What a worker hands over; a user's own sign travels with its code."""
        from pyspark import cloudpickle

        return _batch([cloudpickle.dumps(self)], place)


def chosen(batches: Iterable[Any], reader: PartReader, choice: Keyed) -> Iterator[Any]:
    """Some rows, with their buckets, positions and marks."""
    part = _partition()
    step = max(1, _BATCH_ENTRIES // reader.width)
    start, seen = 0, hashlib.blake2b(digest_size=8)
    for number, table in enumerate(_tables(batches, reader)):
        if reader.asked.persons is None:
            rows = reader.rows(table)
            keys = choice.of(part, start, len(rows))
        else:
            rows, keys = reader.of_persons(table)
        seen.update(rows.data)
        chosen, bucket, position = choice(keys)
        for first in range(0, len(chosen), step):
            few = slice(first, first + step)
            content = _packed(rows[chosen[few]])
            yield _batch(content, bucket[few], position[few], _mark(part, number, seen))
        start += len(rows)


def _mark(part: int, number: int, seen: Any) -> int:
    """Partition, number of the batch, and a digest of all rows so far in their order."""
    digest = int.from_bytes(seen.digest(), "little") % 2**_DIGEST_BITS
    return (part << _NUMBER_BITS | number) << _DIGEST_BITS | digest


def persons_present(batches: Iterable[Any], reader: PartReader) -> Iterator[Any]:
    """Who is in a partition: both words of each person as one cell, at least once."""
    for table in _tables(batches, reader):
        others, keys = reader.present(table)
        yield _batch(_packed(np.column_stack([keys.view(float), others])), 0)


def person_sums(batches: Iterable[Any], recipe: Recipe, reader: PartReader) -> Iterator[Any]:
    """The sums of all persons of the buckets that were dealt to this task."""
    for place, (rows, keys, marks) in _by_place(batches, reader.width).items():
        sums = reader.sum_of(recipe, reader.people([(rows, keys)]))
        yield Part(sums, np.unique(marks)).batch(place)


def person_samples(batches: Iterable[Any], reader: PartReader, each: int) -> Iterator[Any]:
    """Some rows of each person of the buckets that were dealt to this task, person by person."""
    for place, (rows, keys, _) in _by_place(batches, reader.width).items():
        few = reader.people([(rows, keys)]).some(each)
        yield _batch(_packed(few.rows), place, positions(few.keys))


def _by_place(batches: Iterable[Any], width: int) -> dict[int, tuple[np.ndarray, ...]]:
    """Rows, keys and marks of each bucket, all of it at once."""
    found: dict[int, list[tuple[np.ndarray, ...]]] = {}
    for batch in batches:
        raise_first(batch)
        rows = unpacked(batch["content"], width)
        places, marks = batch["place"].to_numpy(), batch["mark"].to_numpy()
        keys = keys_at(batch["position"].to_numpy())
        for place in map(int, np.unique(places)):
            mine = places == place
            found.setdefault(place, []).append((rows[mine], keys[mine], marks[mine]))
    return {
        place: tuple(map(np.concatenate, zip(*pieces, strict=True)))
        for place, pieces in found.items()
    }


def partition_sum(batches: Iterable[Any], reader: PartReader, recipe: Recipe) -> Iterator[Any]:
    """The sum of a partition, in the order of its rows."""
    sums = recipe.empty()
    for table in _tables(batches, reader):
        sums = reader.add(recipe, sums, reader.rows(table))
    if sums.n_samples:
        yield Part(sums, np.empty(0, np.int64)).batch(_partition())


def bucket_sums(batches: Iterable[Any], recipe: Recipe) -> Iterator[Any]:
    """The sums of the buckets that were dealt to this task, in the order of their keys."""
    parts: dict[int, Part] = {}
    for batch in batches:
        raise_first(batch)
        rows = unpacked(batch["content"], recipe.n_features)
        places, marks = batch["place"].to_numpy(), batch["mark"].to_numpy()
        for place in map(int, np.unique(places)):
            mine = places == place
            so_far = parts.get(place) or Part(recipe.empty(), marks[:0])
            parts[place] = Part(
                recipe.add(so_far.sums, rows[mine]), np.union1d(so_far.marks, marks[mine])
            )
    for place, part in parts.items():
        yield part.batch(place)


def group_sum(batches: Iterable[Any], recipe: Recipe, few: int) -> Iterator[Any]:
    """One sum of a few neighbours."""
    import pyarrow as pa

    table = pa.Table.from_batches(list(batches))
    part = merged_part(table, recipe)
    yield part.batch(table["place"][0].as_py() // few)


def merged_part(table: Any, recipe: Recipe) -> Part:
    """One sum, merged in the order of the places."""
    raise_first(table)
    order = np.argsort(table["place"].to_numpy())
    parts = [pickle.loads(table["content"][int(k)].as_py()) for k in order]
    marks = [np.empty(0, np.int64), *(part.marks for part in parts)]
    return Part(merged(recipe, (part.sums for part in parts)), np.unique(np.concatenate(marks)))


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def _tables(batches: Iterable[Any], reader: PartReader) -> Iterator[Any]:
    """Rows as tables of arrow whose columns have their own names, by which they are refused."""
    import pyarrow as pa

    for batch in batches:
        yield pa.Table.from_batches([batch]).rename_columns(reader.columns)


def _packed(rows: np.ndarray) -> Any:
    """Each row as one cell of bytes: Spark moves it faster than many columns."""
    import pyarrow as pa

    rows = np.ascontiguousarray(rows)
    ends = np.arange(len(rows) + 1, dtype=np.int32) * np.int32(rows.itemsize * rows.shape[1])
    return pa.Array.from_buffers(
        pa.binary(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(rows)]
    )


def unpacked(cells: Any, d: int) -> np.ndarray:
    """Rows from cells of bytes, without making an object of each."""
    cells = cells.combine_chunks() if hasattr(cells, "chunks") else cells
    if not len(cells):
        return np.empty((0, d))
    _, ends, content = cells.buffers()
    start = np.frombuffer(ends, np.int32)[cells.offset]
    return np.frombuffer(content, float, len(cells) * d, start).reshape(-1, d)


def _batch(content: Any, place: Any, position: Any = 0, mark: int = 0) -> Any:
    """Cells of bytes with numbers beside them: one for all of them, or one for each."""
    import pyarrow as pa

    columns = {
        "place": np.full(len(content), place, np.int32),
        "position": np.full(len(content), position, np.int64),
        "mark": np.full(len(content), mark, np.int64),
        "content": pa.array(content, pa.binary()),
    }
    return pa.RecordBatch.from_pydict(columns)


def bucket_of(keys: np.ndarray, count: int, bound: int = 2**64 - 1) -> np.ndarray:
    """Buckets of keys up to a bound, in the order of the keys."""
    high, width = keys >> np.uint64(32), np.uint64((bound >> 32) + 1)
    return (high * np.uint64(count) // width).astype(np.int32)


def positions(keys: np.ndarray) -> np.ndarray:
    """Keys as Spark's longs, which have a sign, in the same order."""
    return (keys ^ np.uint64(2**63)).view(np.int64)


def keys_at(positions: np.ndarray) -> np.ndarray:
    """The keys again."""
    return np.ascontiguousarray(positions).view(np.uint64) ^ np.uint64(2**63)


def raise_first(found: Any) -> None:
    """Raise the first error that a worker handed over."""
    for k in np.flatnonzero(found["place"].to_numpy() == ERROR):
        raise_failure(found["content"][int(k)].as_py())


def raise_failure(content: Any) -> None:
    """Raise an error that a worker handed over, if there is one."""
    if content is not None:
        raise pickle.loads(bytes(content))
