"""Answers of DuckDB as arrays of numpy, batch by batch, without a copy and without pyarrow."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import nanoarrow
import numpy as np

Column = np.ndarray | None  # None where cells are missing


def columns_of_floats(relation: Any, rows: int) -> Generator[list[Column]]:
    """The columns of each batch, which hold doubles.

    A failure comes in DuckDB's own words, which may quote a cell.
    """
    stream = nanoarrow.c_array_stream(_capsule(relation, rows))
    try:
        for batch in stream:
            yield [_column(child.view()) for child in batch.children]
    finally:
        stream.release()  # or DuckDB would not take the next question


def _capsule(relation: Any, rows: int) -> Any:
    """A stream of batches of so many rows; DuckDB's own number would not suit wide tables.

    Its public way to say so, `to_arrow_reader`, needs pyarrow.
    """
    if hasattr(type(relation), "_submit"):
        return relation._submit("stream", rows).arrow_capsule()
    return relation.__arrow_c_stream__()


def _column(view: Any) -> Column:
    if view.null_count:
        return None
    return np.asarray(view.buffer(1))[view.offset : view.offset + view.length]
