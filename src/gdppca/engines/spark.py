"""Spark tables, classic and Connect: keyed, shuffled and summed by Spark's workers.

Spark repeats tasks that fail. A row's key comes from its partition and its place there, so what is
repeated comes out the same wherever Spark reads a partition in the same order again. Where it does
not, a row could count twice; marks on the rows show it, and nothing is released. Workers hand
errors over as rows: what is raised there goes to Spark's logs.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np

from gdppca._errors import (
    ColumnTypeError,
    DataError,
    EngineError,
    GdppcaError,
    MissingExtraError,
)
from gdppca._version import __version__
from gdppca.engines.base import OrderKeys, Recipe, Sums, key_threshold, merged
from gdppca.engines.files import require_columns
from gdppca.engines.frames import as_matrix, listed
from gdppca.kernels import Progress, silent
from gdppca.kernels.parallel import THREADS_VARIABLE
from gdppca.signs import Sign

_ROWS = "place int, position long, mark long, content binary"
_SUMS = "place int, content binary"
_ERROR = -1  # the place of an error
_BUCKET_ENTRIES = 2**21  # numbers that one task sorts and sums: 16 MB
_MOST_BUCKETS = 2**13
_BATCH_ENTRIES = 2**22  # numbers that a worker hands over at once: 32 MB
_MERGED_ENTRIES = 2**23  # numbers of the sums that are merged at one place: 64 MB
_FEWEST, _MOST = 4, 64  # sums that are merged at one place
_DIGEST_BITS, _NUMBER_BITS = 20, 24  # of a mark; the partition takes the others
_TORN = (
    "it lost some that it had shuffled and read them again in another order, so that some could "
    "count twice. Try again, with a table that is kept by checkpoint()."
)
_RETRIES = 5  # of the first question to a Connect server: 17 seconds
_SIGNS_OF_ABSENCE = (
    *("NO_ACTIVE_SESSION", "SESSION_OR_CONTEXT_NOT_EXISTS", "SESSION_CLOSED", "stopped"),
    *("UNAVAILABLE", "failed to connect", "Connection", "Py4JNetworkError", "shut down"),
)
# Samples have keys of their own: Spark may read in another order the next time, and whoever gets a
# low key then must not depend on who had one before.
_SAMPLE_PARTS = 2**32
_PLACE_BITS = 40  # of a position without keys; the partition takes the others


class SparkEngine:
    """Rows of a pyspark.sql.DataFrame, of a classic or of a Connect session."""

    def __init__(self, data: Any, keys: OrderKeys | None, columns: list[str] | None = None) -> None:
        self._data = data
        self._keys = keys
        self._columns = columns

    def __enter__(self) -> Self:
        _require_table(self._data)
        if _asked("look at the table", lambda: _is_endless(self._data)):
            raise DataError("A streaming table has no end. Give one that Spark reads to its end.")
        fields = _asked("look at the table", lambda: self._data.schema.fields)
        every = [field.name for field in fields]
        self._names = require_columns(every, self._columns, "The Spark table")
        self.names: tuple[str, ...] | None = self._names
        self.n_features = len(self._names)
        _refuse_text({field.name: field.dataType for field in fields}, self._names)
        places = [every.index(name) for name in self._names]
        self._table = _asked("look at the table", lambda: _as_doubles(self._data, places))
        self._lengths = _asked("count the rows", lambda: _lengths(self._table))
        self.n_samples = sum(self._lengths.values())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing was kept; Spark removes what it shuffled."""

    def sample(self, size: int) -> np.ndarray:
        """About so many random rows, in random order; all where there are no more."""
        if self._keys is None:
            choice: _Choice = _First(_quotas(self._lengths, size))
        else:
            bound = key_threshold(size, self.n_samples)
            choice = _Keyed(self._keys, bound=bound, first_part=_SAMPLE_PARTS)
        found = _asked("draw a sample", lambda: self._rows(choice).toArrow())
        _raise_first(found)
        order = np.argsort(found["position"].to_numpy(), kind="stable")
        return _unpacked(found["content"], self.n_features)[order]

    def total(self, recipe: Recipe, progress: Progress = silent) -> Sums:
        """The sum over all rows; dealt out by their keys first where their order matters."""
        progress(0, self.n_samples)
        part = self._merged(recipe)
        if part.torn:
            raise EngineError(f"Spark could not sum the rows: {_TORN} Nothing was released.")
        if part.sums.n_samples != self.n_samples:
            raise DataError("The Spark table changed while it was read. Nothing was released.")
        progress(self.n_samples, self.n_samples)
        return part.sums

    def _rows(self, choice: _Choice) -> Any:
        return self._table.mapInArrow(_Task(_chosen, (self._names, choice)), _ROWS)

    def _merged(self, recipe: Recipe) -> _Part:
        shuffled = recipe.ordered and self._keys is not None
        sum_up = self._by_bucket if shuffled else self._by_partition
        found = _asked("sum the rows", lambda: _merged_by_spark(*sum_up(recipe), recipe).toArrow())
        _raise_first(found)
        return _merged_part(found, recipe)

    def _by_bucket(self, recipe: Recipe) -> tuple[Any, int]:
        assert self._keys is not None
        count = bucket_count(self.n_samples, self.n_features)
        rows = self._rows(_Keyed(self._keys, buckets=count))
        deal_out = getattr(rows, "repartitionById", rows.repartition)  # before 4.1 by a hash
        dealt = deal_out(count, "place").sortWithinPartitions("position")
        return dealt.mapInArrow(_Task(_bucket_sums, (recipe,)), _SUMS), count

    def _by_partition(self, recipe: Recipe) -> tuple[Any, int]:
        task = _Task(_partition_sum, (self._names, recipe))
        return self._table.mapInArrow(task, _SUMS), max(self._lengths, default=0) + 1


def bucket_count(n_samples: int, n_features: int) -> int:
    """Into how many buckets the keys are dealt; a bucket's sum is smaller than its rows."""
    rows = max(_BUCKET_ENTRIES // n_features, 16 * n_features)
    return min(max(1, -(-n_samples // rows)), _MOST_BUCKETS)


def bucket_of(keys: np.ndarray, count: int) -> np.ndarray:
    """Buckets of keys, in the order of the keys."""
    return ((keys >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)).astype(np.int32)


def _require_table(data: Any) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "Spark tables need pyarrow, here and on the workers: pip install 'gdppca[engines]'."
        ) from None
    from pyspark.sql import DataFrame

    if not isinstance(data, DataFrame):
        raise DataError(
            f"A pyspark.sql.DataFrame is needed, got {type(data).__name__}. A pandas-on-Spark "
            "frame becomes one by to_spark()."
        )


def _is_endless(data: Any) -> bool:
    """Whether it streams; the first question, to a Connect server that may not be there."""
    if not type(data).__module__.startswith("pyspark.sql.connect"):
        return data.isStreaming
    from pyspark.sql.connect.client.retries import DefaultPolicy

    client = data.sparkSession.client
    before = client.get_retry_policies()  # ten minutes
    client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    try:
        return data.isStreaming
    finally:
        client.set_retry_policies(before)


def _refuse_text(types: dict[str, Any], names: tuple[str, ...]) -> None:
    from pyspark.sql.types import BooleanType, NumericType

    text = [name for name in names if not isinstance(types[name], NumericType | BooleanType)]
    if text:
        raise ColumnTypeError(
            f"{listed(text)}: not numbers. Use other columns, or code these as numbers yourself."
        )


def _as_doubles(data: Any, wanted: list[int]) -> Any:
    """Some columns as doubles, called by their places: names may differ in case only.

    Expressions are text, here and below: column objects of classic and Connect sessions differ.
    """
    placed = data.toDF(*(f"c{k}" for k in range(len(data.columns))))
    return placed.selectExpr(*(f"CAST(c{k} AS DOUBLE) AS c{k}" for k in wanted))


def _lengths(table: Any) -> dict[int, int]:
    """Rows of each partition that has any."""
    counts = table.selectExpr("spark_partition_id() AS place").groupBy("place").count()
    return {row["place"]: row["count"] for row in counts.collect()}


def _quotas(lengths: dict[int, int], size: int) -> dict[int, int]:
    """How many of the first rows lie in each partition."""
    quotas = {}
    for part in sorted(lengths):
        quotas[part] = min(lengths[part], size)
        size -= quotas[part]
    return quotas


def _merged_by_spark(sums: Any, count: int, recipe: Recipe) -> Any:
    """Merge neighbours until there are so few sums that the driver can hold them."""
    few = min(max(_MERGED_ENTRIES // (2 * recipe.n_features**2), _FEWEST), _MOST)
    task = _Task(_group_sum, (recipe, few))
    while count > few:
        groups = sums.selectExpr("*", f"floor(place / {few}) AS family").groupBy("family")
        sums = groups.applyInArrow(lambda table: task.table(table), _SUMS)  # a plain function
        count = -(-count // few)
    return sums


def _raise_first(found: Any) -> None:
    """Raise the first error that a worker handed over."""
    for k in np.flatnonzero(found["place"].to_numpy() == _ERROR):
        raise pickle.loads(found["content"][int(k)].as_py())


def _asked(wish: str, action: Callable[[], Any]) -> Any:
    """What Spark answers; its complaints are replaced, since they may quote cells."""
    failure = None
    with _silent_logs():
        try:
            return action()
        except GdppcaError:
            raise
        except Exception as error:  # they have no common root
            failure = f"{type(error).__name__}: {error}"
    # Raised out here, so that the complaint is not even in __context__.
    raise EngineError(f"Spark could not {wish}: {_reason(failure)} Nothing was released.")


@contextmanager
def _silent_logs() -> Iterator[None]:
    """Keep Spark's Python side from logging its complaints."""
    from pyspark.logger import PySparkLogger

    logs = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")]
    before = [log.disabled for log in logs]
    try:
        for log in logs:
            log.disabled = True
        yield
    finally:
        for log, disabled in zip(logs, before, strict=True):
            log.disabled = disabled


def _reason(failure: str) -> str:
    if "No module named 'gdppca" in failure:
        return (
            f"the Python of its workers has no gdppca. Install gdppca {__version__} there, or set "
            "PYSPARK_PYTHON to a Python that has it before the session starts."
        )
    place = re.search(r"\(TID \d+\) \(([\w.:-]+) executor ([\w-]+)\)", failure)
    if place is not None:
        host, executor = place.groups()
        return (
            f"a task failed as often as Spark allows, at last on executor {executor} of {host}. "
            "Spark's logs say why."
        )
    if "indeterminate" in failure:
        return _TORN
    kind = failure.split(":")[0]
    if any(sign in failure for sign in _SIGNS_OF_ABSENCE):
        return (
            f"its session is stopped or its cluster is not there ({kind}). Start a new session and "
            "make the table again."
        )
    return f"the table cannot be read to its end ({kind}). Spark's logs say why."


# What runs on workers.


@dataclass(frozen=True, repr=False)
class _Task:
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
            yield _error_batch(refusal, rows=self.work is _chosen)
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
class _Keyed:
    """Choose rows by their secret keys."""

    keys: OrderKeys
    bound: int = 2**64 - 1
    buckets: int = 1
    first_part: int = 0

    def __call__(self, part: int, start: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which of n rows, from a place of a partition on; their buckets and positions."""
        keys = self.keys.of(np.arange(start, start + n), self.first_part + part)
        chosen = np.flatnonzero(keys <= np.uint64(self.bound))
        keys = keys[chosen]
        signed = (keys ^ np.uint64(2**63)).view(
            np.int64
        )  # the same order; Spark's longs are signed
        return chosen, bucket_of(keys, self.buckets), signed


@dataclass(frozen=True)
class _First:
    """Choose the first rows of each partition."""

    quotas: dict[int, int]

    def __call__(self, part: int, start: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which of n rows, from a place of a partition on; their buckets and positions."""
        chosen = np.arange(max(0, min(n, self.quotas.get(part, 0) - start)))
        return chosen, np.zeros(len(chosen), np.int32), (part << _PLACE_BITS) + start + chosen


_Choice = _Keyed | _First


@dataclass(frozen=True)
class _Part:
    """A sum, and the marks of its rows if they were shuffled."""

    sums: Sums
    marks: np.ndarray

    @property
    def torn(self) -> bool:
        """Whether rows of one batch come from two attempts that saw different rows there.

        Then they need not have had the same keys each time. One may be in two buckets.
        """
        return len(np.unique(self.marks >> _DIGEST_BITS)) < len(self.marks)

    def dumped(self, recipe: Recipe) -> bytes:
        """As bytes, less the sign: a user's own has code, and no equal but itself."""
        file = io.BytesIO()
        _Pickler(file, recipe.sign).dump(self)
        return file.getvalue()

    @classmethod
    def loaded(cls, content: bytes, recipe: Recipe) -> _Part:
        """From bytes, with the sign that the recipe has here."""
        return _Unpickler(io.BytesIO(content), recipe.sign).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, sign: Sign) -> None:
        super().__init__(file)
        self._sign = sign

    def persistent_id(self, thing: Any) -> str | None:
        return "sign" if thing is self._sign else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, sign: Sign) -> None:
        super().__init__(file)
        self._sign = sign

    def persistent_load(self, name: str) -> Sign:
        return self._sign


def _chosen(batches: Iterable[Any], names: tuple[str, ...], choice: _Choice) -> Iterator[Any]:
    """Some rows, with their buckets, positions and marks."""
    part = _partition()
    step = max(1, _BATCH_ENTRIES // len(names))
    start, seen = 0, hashlib.blake2b(digest_size=8)
    for number, rows in enumerate(_matrices(batches, names)):
        seen.update(rows.data)
        chosen, bucket, position = choice(part, start, len(rows))
        for first in range(0, len(chosen), step):
            few = slice(first, first + step)
            content = _packed(rows[chosen[few]])
            yield _rows_batch(bucket[few], position[few], _mark(part, number, seen), content)
        start += len(rows)


def _mark(part: int, number: int, seen: Any) -> int:
    """Partition, number of the batch, and a digest of all rows so far in their order."""
    digest = int.from_bytes(seen.digest(), "little") % 2**_DIGEST_BITS
    return (part << _NUMBER_BITS | number) << _DIGEST_BITS | digest


def _partition_sum(batches: Iterable[Any], names: tuple[str, ...], recipe: Recipe) -> Iterator[Any]:
    """The sum of a partition, in the order of its rows."""
    sums = recipe.empty()
    for rows in _matrices(batches, names):
        sums = recipe.add(sums, rows)
    if sums.n_samples:
        yield _sums_batch(_partition(), _Part(sums, np.empty(0, np.int64)).dumped(recipe))


def _bucket_sums(batches: Iterable[Any], recipe: Recipe) -> Iterator[Any]:
    """The sums of the buckets that were dealt to this task, in the order of their keys."""
    parts: dict[int, _Part] = {}
    for batch in batches:
        _raise_first(batch)
        rows = _unpacked(batch["content"], recipe.n_features)
        places, marks = batch["place"].to_numpy(), batch["mark"].to_numpy()
        for place in map(int, np.unique(places)):
            mine = places == place
            so_far = parts.get(place) or _Part(recipe.empty(), marks[:0])
            parts[place] = _Part(
                recipe.add(so_far.sums, rows[mine]), np.union1d(so_far.marks, marks[mine])
            )
    for place, part in parts.items():
        yield _sums_batch(place, part.dumped(recipe))


def _group_sum(batches: Iterable[Any], recipe: Recipe, few: int) -> Iterator[Any]:
    """One sum of a few neighbours."""
    import pyarrow as pa

    table = pa.Table.from_batches(list(batches))
    _raise_first(table)
    part = _merged_part(table, recipe)
    yield _sums_batch(table["place"][0].as_py() // few, part.dumped(recipe))


def _merged_part(table: Any, recipe: Recipe) -> _Part:
    """One sum, merged in the order of the places."""
    order = np.argsort(table["place"].to_numpy())
    parts = [_Part.loaded(table["content"][int(k)].as_py(), recipe) for k in order]
    marks = [np.empty(0, np.int64), *(part.marks for part in parts)]
    return _Part(merged(recipe, (part.sums for part in parts)), np.unique(np.concatenate(marks)))


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def _matrices(batches: Iterable[Any], names: tuple[str, ...]) -> Iterator[np.ndarray]:
    """Rows as matrices of finite numbers; columns are refused by their own names."""
    import pyarrow as pa

    for batch in batches:
        yield as_matrix(pa.Table.from_batches([batch]).rename_columns(list(names))).values


def _packed(rows: np.ndarray) -> Any:
    """Each row as one cell of bytes: Spark moves it faster than many columns."""
    import pyarrow as pa

    rows = np.ascontiguousarray(rows)
    ends = np.arange(len(rows) + 1, dtype=np.int32) * np.int32(rows.itemsize * rows.shape[1])
    return pa.Array.from_buffers(
        pa.binary(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(rows)]
    )


def _unpacked(cells: Any, d: int) -> np.ndarray:
    """Rows from cells of bytes, without making an object of each."""
    chunks = [
        _unpacked_chunk(chunk, d) for chunk in getattr(cells, "chunks", [cells]) if len(chunk)
    ]
    return np.concatenate([np.empty((0, d)), *chunks])


def _unpacked_chunk(cells: Any, d: int) -> np.ndarray:
    _, ends, content = cells.buffers()
    start = np.frombuffer(ends, np.int32)[cells.offset]
    return np.frombuffer(content, float, len(cells) * d, start).reshape(-1, d)


def _rows_batch(bucket: np.ndarray, position: np.ndarray, mark: int, content: Any) -> Any:
    import pyarrow as pa

    columns = {
        "place": pa.array(bucket, pa.int32()),
        "position": pa.array(position, pa.int64()),
        "mark": pa.array(np.full(len(bucket), mark)),
        "content": content,
    }
    return pa.RecordBatch.from_pydict(columns)


def _sums_batch(place: int, content: bytes) -> Any:
    import pyarrow as pa

    columns = {"place": pa.array([place], pa.int32()), "content": pa.array([content], pa.binary())}
    return pa.RecordBatch.from_pydict(columns)


def _error_batch(error: GdppcaError, *, rows: bool) -> Any:
    import pyarrow as pa

    content = pickle.dumps(error)
    if not rows:
        return _sums_batch(_ERROR, content)
    return _rows_batch(np.array([_ERROR]), np.array([0]), 0, pa.array([content], pa.binary()))
