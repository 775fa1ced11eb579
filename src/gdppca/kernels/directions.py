"""Sums of unit vectors that point from a centre to the rows, and the distances."""

from __future__ import annotations

import math

import numpy as np

from gdppca.kernels.parallel import in_order
from gdppca.kernels.weights import WHOLE

STEP = 1 / WHOLE  # what is kept of a coordinate: whole numbers, so sums are exact for n < 2**33
_TASK = 2**14


def direction_sum(
    X: np.ndarray, center: np.ndarray, parts: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Sum of the unit vectors from the centre to the rows, and every row's distance. Not private.

    Each coordinate of a unit vector is rounded to a multiple of `STEP`, by a rule that looks at
    its own row alone; with weights it is cut towards zero. A row at the centre counts as zero.
    """
    from gdppca.kernels import row_loops

    n, d = X.shape
    lengths = np.empty(n)

    def part_sum(start: int) -> np.ndarray:
        part = slice(start, start + _TASK)
        total = np.zeros(d)
        rows = np.ascontiguousarray(X[part])
        own = None if parts is None else parts[part]
        row_loops.add_directions(rows, center, 1 / STEP, own, total, lengths[part])
        return total.astype(np.int64)

    whole = sum(in_order(part_sum, range(0, n, _TASK)), start=np.zeros(d, dtype=np.int64))
    return whole * STEP, lengths


def rounded_length(length: float, n_features: int) -> float:
    """Largest norm of so many numbers once they are rounded, with room for their sum's rounding."""
    return length * (1 + 1e-6) + 0.5 * STEP * math.sqrt(n_features)
