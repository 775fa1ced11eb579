"""What every sum over rows needs: finite rows in, and an accumulator that keeps its errors."""

from __future__ import annotations

import numpy as np

from gdppca._errors import DataError


def finite_matrix(X: np.ndarray) -> np.ndarray:
    """Rows as a contiguous float matrix without NaN and inf."""
    X = np.ascontiguousarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] == 0:
        raise DataError(f"Rows must form a matrix with at least one column, got shape {X.shape}.")
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()) or all(np.isfinite(row).all() for row in X):
            return X
    raise DataError("Rows hold NaN or inf; only finite numbers can be compared.")


class CompensatedSum:
    """Matrix sum that keeps its rounding errors (Neumaier), so that long streams stay exact."""

    def __init__(self, d: int) -> None:
        self.order = d
        self._high = np.zeros((d, d))
        self._low = np.zeros((d, d))

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
