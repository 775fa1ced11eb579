"""Tables that come from elsewhere and are gathered in memory: a query, a lazy frame, batches."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np

from gdppca._errors import DataError
from gdppca.tables.base import without_its_words
from gdppca.tables.cells import MISSING
from gdppca.tables.described import chosen_columns
from gdppca.tables.description import Description
from gdppca.tables.formats import encoded, refused
from gdppca.tables.frames import Matrix, as_matrix
from gdppca.tables.headers import require_columns
from gdppca.tables.sql import Query


def is_gathered(source: Any) -> bool:
    """Whether it is a query, a lazy frame of polars, or batches that come once."""
    if isinstance(source, Query) or _is_lazy(source):
        return True
    of_arrow = type(source).__module__.split(".")[0] == "pyarrow"
    return isinstance(source, Iterator) and not of_arrow


def gathered(
    source: Any,
    columns: list[str] | None = None,
    description: Description | None = None,
    gaps: bool = False,
) -> Matrix:
    """All rows of such a source as numbers: columns, or the features of a description."""
    if isinstance(source, Query):
        table = _answer(source, columns, description, gaps)
    elif _is_lazy(source):
        table = _collected(source, columns, description, gaps)
    else:
        table = _joined(source, columns, description, gaps)
    if not len(table.values):
        raise DataError("The table has no rows.")
    return table


def frame_features(X: Any, description: Description | None, gaps: bool) -> Matrix:
    """A table in memory as numbers: its columns, or the features of a description."""
    if description is None:
        return as_matrix(X, gaps)
    from gdppca.tables.encode import encode_frame

    known = description
    if not known.columns and nw.dependencies.is_into_dataframe(X):
        every = [str(name) for name in getattr(X, "column_names", X.columns)]
        known = chosen_columns(known, every, None, "The table")
    values, names = encode_frame(X, known)
    return refused(Matrix(values, names), known, gaps, "the table")


def _is_lazy(source: Any) -> bool:
    kind = type(source)
    return kind.__name__ == "LazyFrame" and kind.__module__.split(".")[0] == "polars"


def _answer(
    query: Query, columns: list[str] | None, description: Description | None, gaps: bool
) -> Matrix:
    where = f"'{query.shown}'"
    chosen: list[Description] = []

    def wanted(names: list[str]) -> list[str]:
        require_columns(names, None, where)
        known = description or Description(columns=(), missing=MISSING)
        chosen.append(chosen_columns(known, names, columns, where))
        return [column.name for column in chosen[0].columns]

    found = query.columns(wanted)
    return encoded(found, chosen[0], gaps, where)


def _collected(
    lazy: Any, columns: list[str] | None, description: Description | None, gaps: bool
) -> Matrix:
    """A lazy frame, of which only the columns that are asked for are computed."""
    names = columns or (description and [column.name for column in description.columns])

    def collect() -> Any:
        known = lazy.collect_schema().names()
        if names:
            require_columns(known, names, "The lazy frame")
        return (lazy.select(names) if names else lazy).collect(engine="streaming")

    frame = without_its_words(
        collect, lambda error: DataError("The lazy frame cannot be collected: a step of it failed.")
    )
    return frame_features(frame, _narrowed(description, columns), gaps)


def _narrowed(description: Description | None, columns: list[str] | None) -> Description | None:
    if description is None or columns is None:
        return description
    return chosen_columns(description, columns, columns, "The table")


def _joined(
    batches: Iterator[Any],
    columns: list[str] | None,
    description: Description | None,
    gaps: bool,
) -> Matrix:
    """Batches with the same columns, one after the other; they come once."""
    if isinstance(batches, io.IOBase):
        raise DataError("An open file was passed. Give its name.")
    parts: list[np.ndarray] = []
    known: list[tuple[str, ...] | None] = []
    for batch in batches:
        part = frame_features(_selected(batch, columns), _narrowed(description, columns), gaps)
        known = known or [part.names]
        if parts and (part.names != known[0] or part.shape[1] != parts[0].shape[1]):
            raise DataError("The batches must have the same columns, in the same order.")
        parts.append(part.values)
    if not parts:
        raise DataError("The batches hold no rows; they can be read once only.")
    return Matrix(np.concatenate(parts), known[0])


def _selected(batch: Any, columns: list[str] | None) -> Any:
    if columns is None:
        return batch
    if not nw.dependencies.is_into_dataframe(batch):
        raise DataError("`columns` goes by names: give batches that are frames.")
    frame = nw.from_native(batch, eager_only=True)
    require_columns(list(map(str, frame.columns)), columns, "A batch")
    return frame.select(columns).to_native()
