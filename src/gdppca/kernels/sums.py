"""What every sum over rows needs: finite rows in, and an accumulator that keeps its errors."""

from __future__ import annotations

import numpy as np

from gdppca._errors import DataError
from gdppca._validate import floats
from gdppca.kernels.parallel import in_order

_CHECKED = 2**22  # numbers that a thread looks at


def finite_matrix(X: np.ndarray) -> np.ndarray:
    """Rows as a contiguous float matrix without NaN and inf."""
    rows = floats(X)
    if rows is None:
        raise DataError("Rows must form a matrix of numbers.")
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise DataError(
            f"Rows must form a matrix with at least one column, got shape {rows.shape}."
        )
    rows = np.ascontiguousarray(rows)
    if not all_finite(rows):
        raise DataError("Rows hold NaN or inf; only finite numbers can be compared.")
    return rows


def all_finite(X: np.ndarray) -> bool:
    """Whether a matrix that lies in one piece holds neither NaN nor inf."""
    numbers = X.reshape(-1)
    parts = [numbers[start : start + _CHECKED] for start in range(0, X.size, _CHECKED)]
    # Threads for a small table would take longer than the look at it.
    return all(map(_are_finite, parts) if len(parts) < 2 else list(in_order(_are_finite, parts)))


def _are_finite(numbers: np.ndarray) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(numbers.sum()) or np.isfinite(numbers).all())


class CompensatedSum:
    """Matrix sum that keeps its rounding errors (Neumaier), so that long streams stay exact."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape
        self._high = np.zeros(shape)
        self._low = np.zeros(shape)

    def add(self, term: np.ndarray) -> None:
        """Add one matrix; what the addition rounds away goes to the low part."""
        total = self._high + term
        virtual = total - self._high
        self._low += (self._high - (total - virtual)) + (term - virtual)
        self._high = total

    def add_parts(self, parts: tuple[np.ndarray, ...], factor: float = 1.0) -> None:
        """Add another sum, times a factor."""
        for part in parts:
            self.add(factor * part)

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """High and low part."""
        return self._high, self._low

    @property
    def value(self) -> np.ndarray:
        """The sum."""
        return self._high + self._low
