"""Pieces of a table by which it is known again: all of a small one, some of a large one.

A fingerprint of ten million rows must not cost a further pass over them. So of what is large,
pieces are taken at even steps, its first and its last among them, and its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_PIECE = 2**16  # bytes
_PIECES = 64
MOST_FILES = 64  # of more, none is looked at


def pieces_of(table: Any) -> Iterator[bytes] | None:
    """Pieces of a table in memory or in few files; None of any other."""
    own = getattr(table, "pieces", None)
    return None if own is None else own()


def pieces_of_rows(values: np.ndarray) -> Iterator[bytes]:
    """Of numbers in memory."""
    yield repr(values.shape).encode()
    step = max(_PIECE // max(values.shape[1] * 8, 1), 1)
    for start, stop in _places(len(values), step):
        yield np.ascontiguousarray(values[start:stop], dtype="<f8").tobytes()


def pieces_of_files(paths: Sequence[Path]) -> Iterator[bytes] | None:
    """Of files as they lie on the disk, whatever their names."""
    return _read(paths) if len(paths) <= MOST_FILES else None


def _read(paths: Sequence[Path]) -> Iterator[bytes]:
    for path in paths:
        size = path.stat().st_size
        yield f"{size} bytes".encode()
        with open(path, "rb") as stream:
            for start, stop in _places(size, _PIECE):
                stream.seek(start)
                yield stream.read(stop - start)


def _places(length: int, step: int) -> Iterator[tuple[int, int]]:
    """Where pieces start and stop."""
    if length <= step * _PIECES:
        yield from ((start, min(start + step, length)) for start in range(0, length, step))
        return
    for k in range(_PIECES):
        start = k * (length - step) // (_PIECES - 1)
        yield start, start + step
