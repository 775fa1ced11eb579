"""Spark tables, classic and Connect: keyed, shuffled and summed by Spark's workers.

Spark repeats tasks that fail. A row's key comes from its partition and its place there, so what is
repeated comes out the same wherever Spark reads a partition in the same order again. Where it does
not, a row could count twice; marks on the rows show it, and nothing is released. Workers hand
errors over as rows: what is raised there goes to Spark's logs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from gdppca._errors import DataError, EngineError
from gdppca._version import __version__
from gdppca.kernels import Progress, silent
from gdppca.tables import spark_tasks as work
from gdppca.tables.base import (
    SAMPLE_PARTS,
    InParts,
    Recipe,
    Sums,
    changed,
    require_package,
    without_its_words,
)
from gdppca.tables.frames import refuse_text
from gdppca.tables.headers import require_columns

_BUCKET_ENTRIES = 2**21  # numbers that one task sorts and sums: 16 MB
_MOST_BUCKETS = 2**13
_MERGED_ENTRIES = 2**23  # numbers of the sums that are merged at one place: 64 MB
_FEWEST, _MOST = 4, 64  # sums that are merged at one place
_TORN = (
    "it lost some that it had shuffled and read them again in another order, so that some could "
    "count twice. Try again, with a table that is kept by checkpoint()."
)
_RETRIES = 5  # of the first question to a Connect server: 17 seconds
_SIGNS_OF_ABSENCE = (
    *("NO_ACTIVE_SESSION", "SESSION_OR_CONTEXT_NOT_EXISTS", "SESSION_CLOSED", "stopped"),
    *("UNAVAILABLE", "failed to connect", "Connection", "Py4JNetworkError", "shut down"),
)


class SparkEngine(InParts):
    """Rows of a pyspark.sql.DataFrame, of a classic or of a Connect session."""

    def __enter__(self) -> Self:
        _require_table(self._data)
        fields = _asked("look at the table", lambda: self._data.schema.fields)
        every = [field.name for field in fields]
        self.names = self._names = require_columns(every, self._columns, "The Spark table")
        self.n_features = len(self._names)
        places = [every.index(name) for name in self._names]
        refuse_text([every[k] for k in places if not _is_number(fields[k].dataType)])
        self._table = _asked("look at the table", lambda: _as_doubles(self._data, places))
        self._lengths = _asked("count the rows", lambda: _lengths(self._table))
        self.n_samples = sum(self._lengths)
        return self

    def sample(self, size: int) -> np.ndarray:
        """About so many random rows, in random order; all where there are no more."""
        keys, bound = self._sampling(size, self._lengths)
        choice = work.Keyed(keys, bound=bound, first_part=SAMPLE_PARTS)
        found = _asked("draw a sample", lambda: self._rows(choice).toArrow())
        work.raise_first(found)
        order = np.argsort(found["position"].to_numpy(), kind="stable")
        return work.unpacked(found["content"], self.n_features)[order]

    def total(self, recipe: Recipe, progress: Progress = silent) -> Sums:
        """The sum over all rows; dealt out by their keys first where their order matters."""
        progress(0, self.n_samples)
        part = self._merged(recipe)
        if part.torn:
            raise EngineError(f"Spark could not sum the rows: {_TORN} Nothing was released.")
        if part.sums.n_samples != self.n_samples:
            raise changed("The Spark table")
        progress(self.n_samples, self.n_samples)
        return part.sums

    def _rows(self, choice: work.Keyed) -> Any:
        return self._table.mapInArrow(work.Task(work.chosen, (self._names, choice)), work.BATCH)

    def _merged(self, recipe: Recipe) -> work.Part:
        shuffled = recipe.ordered and self._keys is not None
        sum_up = self._by_bucket if shuffled else self._by_partition
        found = _asked("sum the rows", lambda: _merged_by_spark(*sum_up(recipe), recipe).toArrow())
        return work.merged_part(found, recipe)

    def _by_bucket(self, recipe: Recipe) -> tuple[Any, int]:
        assert self._keys is not None
        count = bucket_count(self.n_samples, self.n_features)
        rows = self._rows(work.Keyed(self._keys, buckets=count))
        deal_out = getattr(rows, "repartitionById", rows.repartition)  # before 4.1 by a hash
        dealt = deal_out(count, "place").sortWithinPartitions("position")
        return dealt.mapInArrow(work.Task(work.bucket_sums, (recipe,)), work.BATCH), count

    def _by_partition(self, recipe: Recipe) -> tuple[Any, int]:
        task = work.Task(work.partition_sum, (self._names, recipe))
        return self._table.mapInArrow(task, work.BATCH), len(self._lengths)


def bucket_count(n_samples: int, n_features: int) -> int:
    """Into how many buckets the keys are dealt; a bucket's sum is smaller than its rows."""
    rows = max(_BUCKET_ENTRIES // n_features, 16 * n_features)
    return min(max(1, -(-n_samples // rows)), _MOST_BUCKETS)


def _require_table(data: Any) -> None:
    require_package(
        "pyarrow",
        "Spark tables need pyarrow, here and on the workers: pip install 'gdppca[spark]'.",
    )
    from pyspark.sql import DataFrame

    if not isinstance(data, DataFrame):
        raise DataError(
            f"A pyspark.sql.DataFrame is needed, got {type(data).__name__}. A pandas-on-Spark "
            "frame becomes one by to_spark()."
        )
    if _asked("look at the table", lambda: _is_endless(data)):
        raise DataError("A streaming table has no end. Give one that Spark reads to its end.")


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


def _is_number(kind: Any) -> bool:
    from pyspark.sql.types import BooleanType, NumericType

    return isinstance(kind, NumericType | BooleanType)


def _as_doubles(data: Any, wanted: list[int]) -> Any:
    """Some columns as doubles, called by their places: names may differ in case only.

    Expressions are text, here and below: column objects of classic and Connect sessions differ.
    """
    placed = data.toDF(*(f"c{k}" for k in range(len(data.columns))))
    return placed.selectExpr(*(f"CAST(c{k} AS DOUBLE) AS c{k}" for k in wanted))


def _lengths(table: Any) -> list[int]:
    """Rows of each partition, up to the last one that has any."""
    counts = table.selectExpr("spark_partition_id() AS place").groupBy("place").count()
    found = {row["place"]: row["count"] for row in counts.collect()}
    return [found.get(part, 0) for part in range(max(found, default=-1) + 1)]


def _merged_by_spark(sums: Any, count: int, recipe: Recipe) -> Any:
    """Merge neighbours until there are so few sums that the driver can hold them."""
    few = min(max(_MERGED_ENTRIES // (2 * recipe.n_features**2), _FEWEST), _MOST)
    task = work.Task(work.group_sum, (recipe, few))
    while count > few:
        groups = sums.selectExpr("*", f"floor(place / {few}) AS family").groupBy("family")
        sums = groups.applyInArrow(lambda table: task.table(table), work.BATCH)  # a plain function
        count = -(-count // few)
    return sums


def _asked(wish: str, action: Callable[[], Any]) -> Any:
    """What Spark answers; its complaints are replaced, since they may quote cells."""

    def said(error: Exception) -> EngineError:
        reason = _reason(f"{type(error).__name__}: {error}")
        return EngineError(f"Spark could not {wish}: {reason} Nothing was released.")

    with _silent_logs():
        return without_its_words(action, said)


@contextmanager
def _silent_logs() -> Iterator[None]:
    """Keep Spark's Python side from logging its complaints."""
    from pyspark.logger import PySparkLogger

    logs = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")]
    before = [log.disabled for log in logs]
    for log in logs:
        log.disabled = True
    try:
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
