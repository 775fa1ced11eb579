r"""What rows with missing cells tell of their scores: by the law that was released, row by row.

With columns of covariance :math:`C = V'\Lambda V + r(I - V'V)`, V as rows, the likeliest scores of
a row are those that its cells o speak for,
:math:`E[Vz \mid z_o] = \Lambda (rI + V_oV_o'(\Lambda - r))^{-1} V_o z_o`. Of a whole row: Vz.
V, Λ and r are those of the released matrix; nothing else is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from gdppca.linalg import LARGEST
from gdppca.noise.bits import generator_for
from gdppca.signs import Spherical
from gdppca.steps.base import State
from gdppca.tables.base import divided, filled
from gdppca.theory import variance_shares

_ROWS_AT_ONCE = 2**14
_LEAST = 1e-3  # of the largest variance, that every direction has
_PATTERNS = 1000  # of missing cells, simulated
_SEED = 20_251_119  # of a simulation without data; any number would do


@lru_cache(maxsize=16)
def _variances(eigenvalues: tuple[float, ...], rates: tuple[float, ...] | None) -> np.ndarray:
    """Variances behind eigenvalues of signs, up to a factor; several steps ask for the same."""
    return variance_shares(np.array(eigenvalues), None if rates is None else np.array(rates))


@dataclass(frozen=True, eq=False)
class Likely:
    """The law of the columns, in the units of their scales and up to a factor."""

    components: np.ndarray  # V, as rows
    leading: np.ndarray  # Λ, none below `rest`
    rest: float

    @classmethod
    def of(cls, state: State) -> Self:
        """By a released matrix: its leading values, and the mean of all others."""
        values, m = state.eigenvalues, len(state.components)
        assert values is not None
        least = max(_LEAST * float(values[0]), np.finfo(float).tiny)
        rest = max(float(np.mean(values[m:])), least) if len(values) > m else least
        shape = np.append(np.maximum(values[:m], rest), np.full(len(values) - m, rest))
        if isinstance(state.sign, Spherical):  # its matrix is flatter than the columns'
            rates = None if state.rates is None else tuple(state.rates.tolist())
            shape = _variances(tuple(shape.tolist()), rates)
        largest = float(shape.max(initial=0.0))
        shape = shape / largest if 0 < largest < np.inf else np.ones_like(shape)  # up to a factor
        rest = max(float(shape[m:].mean()) if len(shape) > m else 0.0, _LEAST)
        return cls(state.components, np.maximum(shape[:m], rest), rest)

    def scores(self, rows: np.ndarray, state: State) -> np.ndarray:
        """Scores of rows around the released centre, never NaN; each from its own row alone."""
        scores = np.empty((len(rows), len(self.components)))
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            some = slice(start, start + _ROWS_AT_ONCE)
            scores[some] = self._scores(rows[some], state)
        return scores

    def _scores(self, rows: np.ndarray, state: State) -> np.ndarray:
        center = np.zeros(rows.shape[1]) if state.location is None else state.location
        away = np.clip(filled(rows, center) - center, -LARGEST, LARGEST)
        z = divided(away, state.scale)
        # Every row is scaled by its own power of two, so that no sum overflows.
        _, exponent = np.frexp(np.max(np.abs(z), axis=1))
        seen = np.einsum("nd,kd->nk", np.ldexp(z, -exponent[:, None]), self.components)
        likely = np.linalg.solve(self._gram(~np.isnan(rows)), seen[..., None])[..., 0]
        likely = likely * self.leading
        return np.clip(np.ldexp(likely, exponent[:, None]), -LARGEST, LARGEST)

    def _gram(self, there: np.ndarray) -> np.ndarray:
        """rI + V_o V_o'(Λ - r) for every row."""
        V = self.components
        known = np.einsum("kd,nd,ld->nkl", V, there.astype(float), V)
        return known * (self.leading - self.rest) + self.rest * np.eye(len(V))

    def reliabilities(self, rates: np.ndarray) -> np.ndarray:
        """Shares of the scores' variances that likely scores have, (patterns, m).

        For patterns of cells that are missing completely at random, as often as released rates say.
        """
        drawn = generator_for(_SEED).random((_PATTERNS, len(rates)))
        there = drawn < rates
        known = np.einsum("kd,nd,ld->nkl", self.components, there.astype(float), self.components)
        likely = np.linalg.solve(self._gram(there), known)  # and Λ at both sides, over Λ
        return np.clip(np.einsum("nkk->nk", likely) * self.leading, 0.0, 1.0)
