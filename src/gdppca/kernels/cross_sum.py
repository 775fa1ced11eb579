"""How rows lie across given directions: what along them goes with what beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca._errors import ParameterError
from gdppca.kernels.one_sample import SignSum
from gdppca.signs import Spherical

LEAST_CLIP = 2.0**-20  # far above what could be lost where squares leave the range of floats


@dataclass(frozen=True, eq=False)
class Cross:
    """What rows are split by; made of numbers that are public or were released.

    Parameters
    ----------
    directions : array of shape (m, d)
        Orthonormal up to rounding, one per row.
    factors : array of shape (m,)
        By which what lies along each is multiplied, in (0, 1].
    clip : float
        The most that one row counts.
    """

    directions: np.ndarray
    factors: np.ndarray
    clip: float

    def __post_init__(self) -> None:
        """Refuse what the bound of a row's part does not hold for."""
        m = len(self.factors)
        fits = self.directions.ndim == 2 and len(self.directions) == m > 0
        sized = np.abs(self.directions).max(initial=0.0) <= 1.01
        factors = bool(((self.factors > 0) & (self.factors <= 1)).all())
        if not (fits and sized and factors and LEAST_CLIP <= self.clip <= 1):
            raise ParameterError("Directions, factors or clip of a cross sum are out of range.")

    def equals(self, other: Any) -> bool:
        """Whether all numbers are the same."""
        return (
            np.array_equal(self.directions, other.directions)
            and np.array_equal(self.factors, other.factors)
            and self.clip == other.clip
        )


class CrossSum(SignSum):
    r"""Mergeable sum over rows of w·a·(Db)', in one pass. Not private.

    With u the spherical sign of a row around the centre, b = Vu is what lies along the directions
    V, a = u - V'b what lies beside them, D the factors, and w = min(1, c/(|a||Db|)): a row's part
    is c long at most.

    Parameters
    ----------
    center : array of shape (d,)
        The centre, the same for all rows.
    cross : Cross
        Directions, factors and clip.
    """

    def __init__(self, center: Any, cross: Cross) -> None:
        self.cross = cross
        super().__init__(Spherical(), center)
        if cross.directions.shape[1] != self.n_features:
            raise ParameterError("The directions of a cross sum have other columns than its rows.")

    @property
    def shape(self) -> tuple[int, int]:
        """Of the sum."""
        return self.n_features, len(self.cross.directions)

    def _term(self, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        from gdppca.kernels import row_loops

        n, cross = len(rows), self.cross
        differences, lengths = np.empty_like(rows), np.empty(n)
        row_loops.pair_differences(
            rows, self.center[None], differences, lengths, np.empty(n, dtype=np.int64)
        )
        own = np.ones(n) if weights is None else weights
        along = np.empty((n, len(cross.directions)))
        row_loops.cross_parts(
            differences, lengths, cross.directions, cross.factors, cross.clip, own, along
        )
        return differences.T @ along

    def merge(self, other: SignSum) -> CrossSum:
        """Add the sum of other rows around the same centre, across the same directions."""
        if not isinstance(other, CrossSum) or not self.cross.equals(other.cross):
            raise ParameterError("Sums merge only with the same directions.")
        super().merge(other)
        return self

    def mean(self, number: int | None = None) -> np.ndarray:
        """The sum of all rows so far over their number, or over another one, (d, m)."""
        return self._total.value / (number or self.n_samples or 1)
