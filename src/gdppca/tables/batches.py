"""Answers of DuckDB as arrays of numpy, batch by batch, without a copy and without pyarrow."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import nanoarrow
import numpy as np

from gdppca.noise import Texts

Column = np.ndarray | None  # None where cells are missing
_VIEWS = "vu"  # arrow's texts in pieces of 16 bytes
_TEXTS = ("u", "U", _VIEWS)
_INSIDE = 12  # bytes that such a piece holds itself


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


def ids_of(relation: Any, rows: int) -> Generator[Texts | np.ndarray | None]:
    """The first column of each batch, of texts or whole numbers; None where one is missing."""
    stream = nanoarrow.c_array_stream(_capsule(relation, rows))
    try:
        for batch in stream:
            yield _ids(batch.child(0))
    finally:
        stream.release()


def texts_in_arrow(series: Any) -> list[Texts] | None:
    """Texts of a series that speaks arrow, piece by piece; None where one is missing or no text."""
    found = []
    for piece in nanoarrow.c_array_stream(series):
        if piece.schema.format not in _TEXTS:
            return None
        texts = _ids(piece)
        if not isinstance(texts, Texts):
            return None
        found.append(texts)
    return found


def _ids(array: Any) -> Texts | np.ndarray | None:
    view = array.view()
    if view.null_count:
        return None
    if array.schema.format == _VIEWS:
        return _viewed_texts(view)
    if array.schema.format not in _TEXTS:
        return _column(view, gaps=False)
    places = np.asarray(view.buffer(1))[view.offset : view.offset + view.length + 1]
    return Texts(np.asarray(view.buffer(2)).view(np.uint8), places[:-1], places[1:])


def _viewed_texts(view: Any) -> Texts:
    """Texts of 16 bytes each: how long it is and itself, or in which buffer and where it lies."""
    words = np.asarray(view.buffer(1)).view(np.int32).reshape(-1, 4)
    buffers = [np.asarray(view.buffer(k)).view(np.uint8) for k in range(1, view.n_buffers - 1)]
    begins = np.cumsum([0, *map(len, buffers)])
    words = words[view.offset : view.offset + view.length]
    own = 16 * (view.offset + np.arange(view.length)) + 4
    long = words[:, 0] > _INSIDE
    own[long] = begins[words[long, 2] + 1] + words[long, 3]
    return Texts(np.concatenate(buffers), own, own + words[:, 0])


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
