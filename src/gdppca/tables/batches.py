"""Answers of DuckDB as arrays of numpy, batch by batch, and nothing is copied or installed for it.

DuckDB hands its answers over through the C stream interface of arrow: a few structs that it fills.
Numpy looks at the numbers where they are, so files need no library of arrow.
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from typing import Any

import numpy as np

Column = np.ndarray | None  # None where cells are missing


class _Array(ctypes.Structure):
    """A batch, or one column of it; the layout is fixed for good by arrow's specification."""


_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Array._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset")),
    *((name, ctypes.c_int64) for name in ("n_buffers", "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", _Release),
    ("private_data", ctypes.c_void_p),
]


class _Stream(ctypes.Structure):
    """Where the batches come from."""

    _fields_ = [
        ("get_schema", ctypes.c_void_p),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Array))),
        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("release", _Release),
        ("private_data", ctypes.c_void_p),
    ]


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def columns_of_floats(relation: Any, rows: int) -> Generator[list[Column]]:
    """The columns of each batch, which hold doubles; they are gone when the next one is asked for.

    A failure is a RuntimeError with DuckDB's own words, which may quote a cell.
    """
    capsule = _capsule(relation, rows)
    where = _pointer(capsule, b"arrow_array_stream")
    stream = _Stream.from_address(where)
    try:
        while True:
            batch = _Array()
            if stream.get_next(where, ctypes.byref(batch)):
                raise RuntimeError((stream.get_last_error(where) or b"").decode(errors="replace"))
            if not batch.release:
                return
            columns = [_column(batch.children[k].contents) for k in range(batch.n_children)]
            try:
                yield columns
            finally:
                columns.clear()  # a traceback may keep the list, but not arrays without memory
                batch.release(ctypes.addressof(batch))
    finally:
        stream.release(where)  # or DuckDB would not take the next question


def _capsule(relation: Any, rows: int) -> Any:
    """A stream of batches of so many rows; DuckDB's own number would not suit wide tables."""
    if hasattr(type(relation), "_submit"):
        return relation._submit("stream", rows).arrow_capsule()
    return relation.__arrow_c_stream__()


def _column(array: _Array) -> Column:
    if array.null_count:
        return None
    if not array.length:
        return np.empty(0)
    place = ctypes.cast(array.buffers[1], ctypes.POINTER(ctypes.c_double))
    return np.ctypeslib.as_array(place, (array.offset + array.length,))[array.offset :]
