"""Sums of unit vectors that point from a centre to the rows, and the distances."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gdppca.kernels.parallel import in_order
from gdppca.kernels.weights import WHOLE, whole_sum

STEP = 1 / WHOLE  # what is kept of a coordinate: whole numbers, so sums are exact for n < 2**33
_TASK = 2**14


def direction_sum(
    X: np.ndarray, center: np.ndarray, parts: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Sum of the unit vectors from the centre to the rows, and every row's distance. Not private.

    Each coordinate of a unit vector is rounded to a multiple of `STEP`, by a rule that looks at
    its own row alone; with weights it is cut towards zero. A row at the centre counts as zero, and
    so does a missing cell, NaN.
    """
    lengths = np.empty(len(X))

    def kept(part: slice, found: np.ndarray) -> np.ndarray:
        lengths[part] = found
        return np.empty(0, dtype=np.int64)

    return _whole_sum(X, center, parts, kept) * STEP, lengths


def look_sum(
    X: np.ndarray,
    center: np.ndarray,
    compared: Callable[[np.ndarray], np.ndarray],
    parts: np.ndarray | None = None,
) -> np.ndarray:
    """Sum of the unit vectors, and beside it that of a number in [-1, 1] of every distance."""

    def number(part: slice, found: np.ndarray) -> np.ndarray:
        own = None if parts is None else parts[part]
        return np.array([whole_sum(compared(found), own)])

    return _whole_sum(X, center, parts, number) * STEP


def _whole_sum(
    X: np.ndarray,
    center: np.ndarray,
    parts: np.ndarray | None,
    beside: Callable[[slice, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Whole numbers: the sum of the unit vectors, and of what is made of the distances beside."""
    from gdppca.kernels import row_loops

    n, d = X.shape

    def part_sum(start: int) -> np.ndarray:
        part = slice(start, start + _TASK)
        total, rows = np.zeros(d), np.ascontiguousarray(X[part])
        lengths = np.empty(len(rows))
        own = None if parts is None else parts[part]
        row_loops.add_directions(rows, center, 1 / STEP, own, total, lengths)
        return np.concatenate([total.astype(np.int64), beside(part, lengths)])

    first = np.concatenate([np.zeros(d, dtype=np.int64), beside(slice(0, 0), np.empty(0))])
    return np.asarray(sum(in_order(part_sum, range(0, n, _TASK)), start=first))


def rounded_length(length: float, n_features: int) -> float:
    """Largest norm of so many numbers once they are rounded, with room for their sum's rounding."""
    return length * (1 + 1e-6) + 0.5 * STEP * math.sqrt(n_features)
