"""Tables that come from elsewhere and are gathered in memory: a query, a lazy frame, batches."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from gdppca._errors import DataError
from gdppca.tables.base import without_its_words
from gdppca.tables.frames import as_matrix
from gdppca.tables.headers import require_columns
from gdppca.tables.sql import Query

if TYPE_CHECKING:
    from gdppca.tables.wishes import Wishes


def is_gathered(source: Any) -> bool:
    """Whether it is a query, a lazy frame of polars, or batches that come once."""
    if isinstance(source, Query) or _is_lazy(source):
        return True
    of_arrow = type(source).__module__.split(".")[0] == "pyarrow"
    return isinstance(source, Iterator) and not of_arrow


def gathered(source: Any, asked: Wishes) -> Any:
    """All rows of such a source: a frame, columns of cells by their names, or an array."""
    if isinstance(source, Query):
        return _answered(source, asked)
    if _is_lazy(source):
        return _collected(source, asked)
    return _joined(source)


def _is_lazy(source: Any) -> bool:
    kind = type(source)
    return kind.__name__ == "LazyFrame" and kind.__module__.split(".")[0] == "polars"


def _wanted(asked: Wishes, names: list[str], where: str) -> list[str]:
    """The columns that are needed: of the analysis, and beside it."""
    require_columns(names, None, where)
    features = asked.features(names, where)
    if asked.described is not None:
        asked.described.require_columns_of(names, where)
        features = [column.name for column in asked.described.columns]
    if features is None:
        return names
    require_columns(names, features, where)
    return [*features, *asked.beside]


def _answered(query: Query, asked: Wishes) -> dict[str, list[Any]]:
    found = query.columns(lambda names: _wanted(asked, names, f"'{query.shown}'"))
    if not any(found.values()):
        raise DataError("The table has no rows.")
    return found


def _collected(lazy: Any, asked: Wishes) -> Any:
    """A lazy frame, of which only the columns that are asked for are computed."""

    def collect() -> Any:
        names = _wanted(asked, lazy.collect_schema().names(), "The lazy frame")
        return lazy.select(names).collect(engine="streaming")

    return without_its_words(
        collect, lambda error: DataError("The lazy frame cannot be collected: a step of it failed.")
    )


def _joined(batches: Iterator[Any]) -> Any:
    """Batches with the same columns, one after the other; they come once."""
    if isinstance(batches, io.IOBase):
        raise DataError("An open file was passed. Give its name.")
    parts = list(batches)
    if not parts:
        raise DataError("The batches hold no rows; they can be read once only.")
    if not all(map(nw.dependencies.is_into_dataframe, parts)):
        matrices = [as_matrix(part, gaps=True).values for part in parts]
        if len({matrix.shape[1] for matrix in matrices}) > 1:
            raise _unlike()
        return np.concatenate(matrices)

    def concat() -> Any:
        frames = [nw.from_native(part, eager_only=True) for part in parts]
        if len({tuple(frame.columns) for frame in frames}) > 1:
            raise _unlike()
        return nw.concat(frames, how="vertical").to_native()

    return without_its_words(concat, lambda error: _unlike())


def _unlike() -> DataError:
    return DataError("The batches must have the same columns of the same types, in the same order.")
