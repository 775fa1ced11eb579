r"""What lies across the components of an elliptical law, clipped, tells of their directions.

Let u be the spherical sign of a row, b = V'u what lies along m directions and a = (I - VV')u what
lies beside them. Directions that are off by a small turn E see

.. math:: E[w\, a_l b_k] \approx s_k E_{lk}, \qquad
    s_k = E[w b_k^2] - \Bigl(E[w q] + E\Bigl[w 1_{w<1}\, q b_k^2
    \Bigl(\frac{1}{|a|^2} - \frac{D_k^2}{|Db|^2}\Bigr)\Bigr]\Bigr)

with :math:`w = \min(1, c/(|a||Db|))` and q the mean square of :math:`a_l`, l in the bulk. So the
mean of :math:`w a (Db)^\top` over rows, divided by its slopes, is a Newton step towards the truth.
Only its noise counts, and that grows with m(d - m) numbers instead of d(d + 1)/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from gdppca.noise.bits import generator_for

_SEED, _DRAWS = 20_251_118, 4000  # of simulated rows; the same everywhere
_WISHARTS = 40
_STEPS, _STILL = 100, 1e-9  # of the fixed point that finds variances
_LEAST_FACTOR = 1e-3  # of a component, however much larger than the others it is
_QUANTILES = (0.5, 0.65, 0.8, 0.9)  # of |a||Db|, at which a row may be clipped
_LARGEST_CLIP = 0.5  # |a||b| is never above it
_LEAST_CLIP = 1e-4
_LEAST_SLOPE = 1e-9
_LARGEST_VARIANCE = 1e12
_LEAST_SHARE = 1e-9  # of the bulk
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class CrossLaw:
    """Squares of the signs of simulated rows, split by m components above a flat bulk.

    Parameters
    ----------
    variances : array of shape (m,)
        λ of the components, over that of the bulk.
    along : array of shape (rows, m)
        b_k².
    beside : array of shape (rows,)
        |a|².
    bulk : array of shape (rows,)
        q, the mean square of a coordinate of the bulk.
    """

    variances: np.ndarray
    along: np.ndarray
    beside: np.ndarray
    bulk: np.ndarray

    @classmethod
    def of(cls, shares: np.ndarray, d: int) -> CrossLaw:
        """The law whose sign's matrix has these eigenvalues above a flat bulk, and trace one."""
        generator, m = generator_for(_SEED), len(shares)
        squares = generator.standard_normal((_DRAWS, m)) ** 2
        rest = generator.chisquare(d - m, _DRAWS)
        wanted = np.maximum(shares * (d - m) / max(1 - float(shares.sum()), _LEAST_SHARE), 1.0)
        variances = wanted.copy()
        for _ in range(_STEPS):  # λ ← λ φ/φ(λ), as in `spherical_eigenvalues_inverse`
            over = 1 / (squares @ variances + rest)
            reached = variances * (over @ squares) * (d - m) / (over @ rest)
            variances = np.clip(variances * wanted / reached, 1.0, _LARGEST_VARIANCE)
            if np.abs(wanted / reached - 1).max() < _STILL:
                break
        along = squares * variances
        total = along.sum(axis=1) + rest
        return cls(variances, along / total[:, None], rest / total, rest / total / (d - m))

    @cached_property
    def factors(self) -> np.ndarray:
        """D: one over the root of each component's variance, the largest one."""
        roots = np.sqrt(self.variances.min() / self.variances)
        return np.clip(roots, _LEAST_FACTOR, 1.0)

    @cached_property
    def _sizes(self) -> np.ndarray:
        return np.asarray(np.sqrt(self.beside * self._weighed))

    @cached_property
    def _weighed(self) -> np.ndarray:
        """|Db|²."""
        return np.asarray(self.along @ self.factors**2)

    @property
    def clips(self) -> list[float]:
        """Where a row may be clipped: at quantiles of its length, or hardly ever."""
        found = [float(np.quantile(self._sizes, q)) for q in _QUANTILES]
        return [float(np.clip(c, _LEAST_CLIP, _LARGEST_CLIP)) for c in (*found, _LARGEST_CLIP)]

    def _kept(self, clip: float) -> np.ndarray:
        return np.minimum(1.0, clip / np.maximum(self._sizes, _TINY))

    def slopes(self, clip: float) -> np.ndarray:
        """How much of a turn shows in w·a·(Db)', (m,)."""
        w, factors = self._kept(clip), self.factors
        clipped = w * (w < 1) * self.bulk
        lost = (clipped / self.beside) @ self.along
        lost -= factors**2 * ((clipped / np.maximum(self._weighed, _TINY)) @ self.along)
        shown = w @ self.along - w @ self.bulk - lost
        return np.maximum(factors * shown / len(w), _LEAST_SLOPE)

    def sampling(self, clip: float) -> Sampling:
        """What the sampling of rows does to a loading, times their number, (m,) each."""
        rows, w = len(self.bulk), self._kept(clip)
        mean = self.along.mean(axis=0)
        in_matrix = 1 / np.maximum(mean - self.bulk.mean(), _LEAST_SLOPE)
        across = self.factors / self.slopes(clip)
        plain, once, twice = ((w**power * self.bulk) @ self.along / rows for power in range(3))
        apart = plain * in_matrix**2 - 2 * once * in_matrix * across + twice * across**2
        return Sampling(plain * in_matrix**2, twice * across**2, np.maximum(apart, 0.0))


@dataclass(frozen=True, eq=False)
class Sampling:
    """Variances of a loading times the number of rows: by either statistic, and between them."""

    matrix: np.ndarray
    cross: np.ndarray
    apart: np.ndarray

    def averaged(self, told: np.ndarray) -> np.ndarray:
        """The same of an average, of which a cross part has told so much."""
        mixed = (1 - told) * self.matrix + told * self.cross
        return np.asarray(mixed - told * (1 - told) * self.apart)


def largest_turn(variances: np.ndarray, others: int) -> float:
    """Expected squared sine of the largest angle, where m directions turn towards so many others.

    `variances` are those of the noise of each, (m,): what is expected of the largest eigenvalue of
    a Wishart matrix between their roots.
    """
    roots = np.sqrt(variances)
    turns = roots[:, None] * _wishart(others, len(variances)) * roots
    return float(np.linalg.eigvalsh(turns)[:, -1].mean())


@lru_cache(maxsize=8)
def _wishart(others: int, m: int) -> np.ndarray:
    """The same draws of it everywhere, (draws, m, m)."""
    normal = generator_for(_SEED).standard_normal((_WISHARTS, others, m))
    return np.asarray(np.swapaxes(normal, 1, 2) @ normal)
