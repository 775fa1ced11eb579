"""Answers of DuckDB as arrays of numpy, batch by batch, without a copy and without pyarrow."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import nanoarrow
import numpy as np

Column = np.ndarray | None  # None where cells are missing


def columns_of_floats(relation: Any, rows: int, gaps: bool = False) -> Generator[list[Column]]:
    """The columns of each batch, which hold doubles; with `gaps`, NaN where a cell is missing.

    A failure comes in DuckDB's own words, which may quote a cell.
    """
    stream = nanoarrow.c_array_stream(_capsule(relation, rows))
    try:
        for batch in stream:
            yield [_column(child.view(), gaps) for child in batch.children]
    finally:
        stream.release()  # or DuckDB would not take the next question


def _capsule(relation: Any, rows: int) -> Any:
    """A stream of batches of so many rows; DuckDB's own number would not suit wide tables.

    Its public way to say so, `to_arrow_reader`, needs pyarrow.
    """
    if hasattr(type(relation), "_submit"):
        return relation._submit("stream", rows).arrow_capsule()
    return relation.__arrow_c_stream__()


def _column(view: Any, gaps: bool) -> Column:
    if view.null_count and not gaps:
        return None
    numbers = np.asarray(view.buffer(1))[view.offset : view.offset + view.length]
    return _with_gaps(view, numbers) if view.null_count else numbers


def _with_gaps(view: Any, numbers: np.ndarray) -> np.ndarray:
    """Numbers of which the first buffer says, bit by bit, which are there."""
    bits = np.unpackbits(np.asarray(view.buffer(0)).view(np.uint8), bitorder="little")
    there = bits[view.offset : view.offset + view.length].astype(bool)
    return np.where(there, numbers, np.nan)


def stream_of(values: np.ndarray) -> Any:
    """A matrix as something that DuckDB can read again and again, in columns c0, c1, …"""
    columns = [np.ascontiguousarray(values[:, k], dtype=float) for k in range(values.shape[1])]
    each = [
        nanoarrow.c_array_from_buffers(nanoarrow.float64(), len(values), [None, column])
        for column in columns
    ]
    schema = nanoarrow.struct({f"c{k}": nanoarrow.float64() for k in range(len(each))})
    rows = nanoarrow.c_array_from_buffers(schema, len(values), [None], children=each)
    return _Again(rows)


class _Again:
    """Rows that give a new stream to everybody who asks."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return nanoarrow.c_array_stream(self._rows).__arrow_c_stream__(requested_schema)
