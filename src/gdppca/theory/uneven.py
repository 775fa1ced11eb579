r"""Noise of a matrix that was corrected for missing cells, in the basis of its eigenvectors.

The entries of the noise are independent in the columns' own basis, with the standard deviations of
`gdppca.theory.rates.entry_sd`. In another basis V they are :math:`V^\top Z V`: no longer
independent, and drawn as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.theory.rates import checked_rates

_PRECISE = 2e10  # multiplications; beyond, what two columns have in common is left out


def finite_errors(name: str, given: np.ndarray | None, d: int) -> np.ndarray:
    """Errors as they were given, zero for none and for what is infinite."""
    if given is None:
        return np.zeros(d)
    errors = _validate.floats(given)
    if errors is None or errors.shape != (d,) or not (errors >= 0).all():
        raise ParameterError(f"`{name}` must hold {d} numbers >= 0.")
    return np.where(np.isfinite(errors), errors, 0.0)


@dataclass(frozen=True, eq=False)
class Gaps:
    """Rates of columns with missing cells, and their errors."""

    rates: np.ndarray | None
    errors: np.ndarray

    @classmethod
    def of(cls, rates: np.ndarray | None, errors: np.ndarray | None, d: int) -> Gaps:
        """Checked."""
        return cls(checked_rates(rates, d), finite_errors("rate_error", errors, d))

    @property
    def relative_error(self) -> np.ndarray:
        """Of each rate, over the rate."""
        return np.zeros_like(self.errors) if self.rates is None else self.errors / self.rates


def symmetric(generator: Any, d: int) -> np.ndarray:
    """Standard normal numbers, the same on both sides of the diagonal."""
    square = np.triu(generator.normal(size=(d, d)))
    return np.asarray(square + np.triu(square, k=1).T)


@dataclass(frozen=True, eq=False)
class EntryNoise:
    """Independent entries in the basis of the eigenvectors."""

    variances: np.ndarray

    def __bool__(self) -> bool:
        return bool(self.variances.any())

    def drawn(self, generator: Any) -> np.ndarray:
        """One draw."""
        noise = symmetric(generator, len(self.variances))
        return np.asarray(np.sqrt(self.variances) * noise)


@dataclass(frozen=True, eq=False)
class UnevenNoise:
    """Independent entries in the columns' own basis, and more of them in that of eigenvectors."""

    sd: np.ndarray  # before the turn
    vectors: np.ndarray
    beside: np.ndarray  # variances after the turn

    def __bool__(self) -> bool:
        return bool(self.sd.any() or self.beside.any())

    @property
    def variances(self) -> np.ndarray:
        r"""Of each entry after the turn, by :math:`\sum_{jk} s_{jk}^2 (v_{ja} v_{kb})^2` and more.

        A pair j ≠ k is in entry (a, b) twice, as (j, k) and as (k, j): what they have in common is
        :math:`\sum_{j \ne k} s_{jk}^2 v_{ja} v_{jb} v_{ka} v_{kb}`.
        """
        V, squares, d = self.vectors, self.vectors**2, len(self.vectors)
        entries = self.sd**2
        turned = squares.T @ entries @ squares
        if 2.0 * d**4 <= _PRECISE:
            apart = entries - np.diag(np.diag(entries))
            for a in range(d):
                both = V * V[:, [a]]
                turned[a] += np.einsum("jb,jb->b", both, apart @ both)
        return np.asarray(turned + self.beside)

    def drawn(self, generator: Any) -> np.ndarray:
        """One draw."""
        d = len(self.sd)
        turned = self.vectors.T @ (self.sd * symmetric(generator, d)) @ self.vectors
        return np.asarray(turned + np.sqrt(self.beside) * symmetric(generator, d))


@dataclass(frozen=True, eq=False)
class RateNoise:
    r"""What errors of the rates do to the corrected matrix, in the basis of its eigenvectors.

    Rates that are off by factors 1 + η, :math:`H = \operatorname{diag}(\eta)`, add to first order
    :math:`-(HC + CH - H \operatorname{diag}(C))`: the diagonal is divided once only.
    """

    errors: np.ndarray  # of each rate, over the rate
    values: np.ndarray
    vectors: np.ndarray

    def __bool__(self) -> bool:
        return bool(self.errors.any())

    @property
    def _diagonal(self) -> np.ndarray:
        """Diagonal of the corrected matrix, in the columns' own basis."""
        return np.asarray(self.vectors**2 @ self.values)

    @property
    def variances(self) -> np.ndarray:
        """Of each entry of what is added."""
        squares, own = self.vectors**2, self._diagonal
        total = self.values[:, None] + self.values
        plain, once, twice = (
            squares.T @ ((self.errors**2 * own**power)[:, None] * squares) for power in range(3)
        )
        return np.maximum(total**2 * plain - 2 * total * once + twice, 0.0)

    def added(self, generator: Any) -> np.ndarray | float:
        """One draw."""
        if not self:
            return 0.0
        eta = self.errors * generator.normal(size=len(self.errors))
        H = self.vectors.T @ (eta[:, None] * self.vectors)
        kept = self.vectors.T @ ((eta * self._diagonal)[:, None] * self.vectors)
        return np.asarray(kept - H * (self.values[:, None] + self.values))
