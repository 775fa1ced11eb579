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
from gdppca.privacy import Unit
from gdppca.tables import spark_tasks as work
from gdppca.tables.base import (
    SAMPLE_PARTS,
    InParts,
    Recipe,
    Sample,
    Total,
    require_package,
    without_its_words,
)
from gdppca.tables.frames import refuse_text
from gdppca.tables.part_reader import part_reader
from gdppca.tables.people import rows_each

_NAME = "The Spark table"
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
        self._reader = part_reader(every, self._asked, self._keys, _NAME)
        self.names, self.n_features = self._reader.features, self._reader.n_features
        columns = self._columns_of(fields)
        self._table = _asked("look at the table", lambda: _selected(self._data, columns))
        self._lengths = _asked("count the rows", lambda: _lengths(self._table))
        self.n_samples = self._n_rows = sum(self._lengths)
        if self.unit is Unit.PERSON:
            self.n_samples = self._counted_persons()
        return self

    def _columns_of(self, fields: list[Any]) -> dict[int, bool]:
        """Places of the columns that are read, and whether each is one of numbers."""
        asked, every = self._asked, [field.name for field in fields]
        numbers = set(self._reader.columns) - {asked.persons}
        if asked.described is not None:
            numbers = set()
        refuse_text([n for n in every if n in numbers and not _is_number(fields, n)])
        if asked.persons is not None:
            _require_labels(fields[every.index(asked.persons)])
        return {every.index(name): name in numbers for name in self._reader.columns}

    def _counted_persons(self) -> int:
        """How many persons there are, by all bits of their words."""
        task = work.Task(work.persons_present, (self._reader.of_ids(),))

        def ask() -> Any:
            ids = self._table.select(self._table.columns[-1])
            return (
                ids.mapInArrow(task, work.BATCH)
                .selectExpr(
                    "count(DISTINCT IF(place >= 0, content, NULL)) AS persons",
                    "max(IF(place < 0, content, NULL)) AS failure",
                )
                .collect()
            )

        [found] = _asked("count the persons", ask)
        work.raise_failure(found["failure"])
        return int(found["persons"])

    def sample(self, size: int) -> Sample:
        """About so many random rows or persons, in random order; all where there are no more."""
        keys, bound = self._sampling(size, self._lengths)
        if self.unit is Unit.PERSON:
            return self._sampled_persons(size, bound)
        choice = work.Keyed(keys, bound=bound, first_part=SAMPLE_PARTS)
        rows, found = self._collected(lambda: self._rows(choice).toArrow())
        return self._reader.sample(rows, None if self._keys is None else found)

    def _sampled_persons(self, size: int, bound: int) -> Sample:
        """Persons by their keys, which lie below a bound, and some rows of each."""
        each = rows_each(size, self.n_features)
        share = min(1.0, size / max(1, self.n_samples))
        dealt = self._dealt(bucket_count(int(share * self._n_rows), self._reader.width), bound)
        task = work.Task(work.person_samples, (self._reader, each))
        rows, keys = self._collected(lambda: dealt().mapInArrow(task, work.BATCH).toArrow())
        people = self._reader.lying_together(rows, keys)
        return people.sample(self._reader.shares(rows), self.n_features)

    def _collected(self, ask: Callable[[], Any]) -> tuple[np.ndarray, np.ndarray]:
        """Rows and their keys, in the order of the keys."""
        found = _asked("draw a sample", ask)
        work.raise_first(found)
        positions = found["position"].to_numpy()
        order = np.argsort(positions, kind="stable")
        rows = work.unpacked(found["content"], self._reader.width)[order]
        return rows, work.keys_at(positions[order])

    def total(self, recipe: Recipe, progress: Progress = silent) -> Total:
        """The sum over all rows; dealt out by their keys first where their order matters.

        Rows of persons are dealt out always: all of one person must meet.
        """
        progress(0, self.n_samples)
        part = self._merged(recipe)
        if part.torn:
            raise EngineError(f"Spark could not sum the rows: {_TORN} Nothing was released.")
        total = self._checked(part.sums, self._n_rows, _NAME)
        progress(self.n_samples, self.n_samples)
        return total

    def _rows(self, choice: work.Keyed) -> Any:
        return self._table.mapInArrow(work.Task(work.chosen, (self._reader, choice)), work.BATCH)

    def _merged(self, recipe: Recipe) -> work.Part:
        shuffled = recipe.ordered and self._keys is not None
        sum_up = self._by_bucket if shuffled else self._by_partition
        if self.unit is Unit.PERSON:
            sum_up = self._by_person
        found = _asked("sum the rows", lambda: _merged_by_spark(*sum_up(recipe), recipe).toArrow())
        return work.merged_part(found, recipe)

    def _dealt(self, count: int, bound: int = 2**64 - 1) -> Callable[[], Any]:
        """Rows whose keys do not lie above a bound, dealt into buckets and in order there."""
        assert self._keys is not None
        choice = work.Keyed(self._keys, bound=bound, buckets=count)

        def dealt() -> Any:
            rows = self._rows(choice)
            deal_out = getattr(rows, "repartitionById", rows.repartition)  # before 4.1 by a hash
            return deal_out(count, "place").sortWithinPartitions("position")

        return dealt

    def _by_bucket(self, recipe: Recipe) -> tuple[Any, int]:
        count = bucket_count(self.n_samples, self.n_features)
        task = work.Task(work.bucket_sums, (recipe,))
        return self._dealt(count)().mapInArrow(task, work.BATCH), count

    def _by_person(self, recipe: Recipe) -> tuple[Any, int]:
        count = bucket_count(self._n_rows, self._reader.width)
        task = work.Task(work.person_sums, (recipe, self._reader))
        return self._dealt(count)().mapInArrow(task, work.BATCH), count

    def _by_partition(self, recipe: Recipe) -> tuple[Any, int]:
        task = work.Task(work.partition_sum, (self._reader, recipe))
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


def _is_number(fields: list[Any], name: str) -> bool:
    from pyspark.sql.types import BooleanType, NumericType

    kind = next(field.dataType for field in fields if field.name == name)
    return isinstance(kind, NumericType | BooleanType)


def _require_labels(field: Any) -> None:
    from pyspark.sql.types import AtomicType

    if not isinstance(field.dataType, AtomicType):
        raise DataError(
            f"The column '{field.name}' holds {field.dataType.typeName()}, which are no labels. "
            "Use one that holds words, numbers or dates."
        )


def _selected(data: Any, wanted: dict[int, bool]) -> Any:
    """Some columns, numbers as doubles, called by their places: names may differ in case only.

    Expressions are text, here and below: column objects of classic and Connect sessions differ.
    """
    placed = data.toDF(*(f"c{k}" for k in range(len(data.columns))))
    cells = (
        f"CAST(c{k} AS DOUBLE) AS c{k}" if is_number else f"c{k}" for k, is_number in wanted.items()
    )
    return placed.selectExpr(*cells)


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
