r"""Laws of weighted sums of squared Gaussians, by Laplace inversion.

:math:`Q_\ell = \lambda_\ell \chi^2_3 + \sum_{j \ne \ell} \lambda_j \chi^2_1` has the transform
:math:`D(s)/(1 + 2\lambda_\ell s)` with :math:`D(s) = \prod_j (1 + 2\lambda_j s)^{-1/2}`, so

.. math:: P(Q_\ell \le t) = \frac{1}{2\pi i} \int \frac{e^{st} D(s)}{s\,(1 + 2\lambda_\ell s)} ds.

The path is a hyperbola through the saddle point of :math:`e^{st} D(s)/s`. Its slope stays below
45°, which makes the size of the integrand fall along it for every spectrum; nothing cancels, so
even tiny probabilities keep their digits. The trapezoid rule converges exponentially.

Levels are named by their saddle point s, not by t: :math:`t(s) = 1/s + \sum_j \lambda_j/(1 +
2\lambda_j s)` falls from infinity to zero, and the law is smooth in log s at the scale of one
whatever the spectrum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize

_STEP = 0.1
_U = np.arange(0.0, 5.1, _STEP)
_SLOPE = 0.6
_PATH = 1j * np.sinh(_U) - _SLOPE * (np.cosh(_U) - 1)
_PATH_WEIGHTS = _STEP / np.pi * (1j * np.cosh(_U) - _SLOPE * np.sinh(_U))
_PATH_WEIGHTS[0] /= 2  # the other half of the path is its mirror image
_CHUNK = 250_000  # complex numbers held at once
_CERTAIN = -40.0


@dataclass(frozen=True)
class QuadraticForm:
    """Distinct weights λ, the largest equal to one, and how often each occurs."""

    weights: np.ndarray
    counts: np.ndarray

    @property
    def order(self) -> int:
        """Number d of squares."""
        return int(self.counts.sum())

    def level(self, s: np.ndarray) -> np.ndarray:
        """The level t whose saddle point is s."""
        return 1 / s + (self.weights / (1 + 2 * np.outer(s, self.weights))) @ self.counts

    def curvature(self, s: np.ndarray) -> np.ndarray:
        """Second derivative of log(e^{st} D(s)/s), which is also -dt/ds."""
        shrunk = self.weights / (1 + 2 * np.outer(s, self.weights))
        return 1 / s**2 + 2 * shrunk**2 @ self.counts

    def saddle(self, t: float) -> float:
        """The saddle point s of the level t."""
        low, high = -np.log(t), np.log1p(self.order / 2) - np.log(t)

        def excess(log_s: float) -> float:
            return float(self.level(np.exp([log_s]))[0] / t - 1)

        return float(np.exp(optimize.brentq(excess, low - 1e-9, high + 1e-9, xtol=1e-15)))

    def tail_bound(self, s: np.ndarray) -> np.ndarray:
        """Chernoff's bound on P(Q_l ≤ t(s)), one column per distinct weight."""
        grown = np.log1p(2 * np.outer(s, self.weights))
        exponent = s * self.level(s) - 0.5 * grown @ self.counts
        return np.minimum(np.exp(exponent[:, None] - grown), 1.0)

    def certain(self, s: np.ndarray) -> np.ndarray:
        """Whether P(Q_l ≤ t(s)) is one to the last digit, by Chernoff's bound at -1/4."""
        exponent = (
            np.log(2) - 0.25 * self.level(s) - 0.5 * np.log1p(-0.5 * self.weights) @ self.counts
        )
        return exponent < _CERTAIN

    def tilted_mean(self, s: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """Sum of mass times P(Q_l ≤ t(s)), one entry per distinct weight."""
        certain = self.certain(s)
        return mass[certain].sum() + self._inverted(s[~certain], mass[~certain])

    def _inverted(self, s: np.ndarray, mass: np.ndarray) -> np.ndarray:
        rows = max(1, _CHUNK // (_U.size * self.weights.size))
        parts = range(0, s.size, rows)
        return sum(
            (self._tilted_sum(s[k : k + rows], mass[k : k + rows]) for k in parts),
            start=np.zeros(self.weights.size),
        )

    def _tilted_sum(self, s: np.ndarray, mass: np.ndarray) -> np.ndarray:
        width = self.curvature(s) ** -0.5
        path = s[:, None] + width[:, None] * _PATH
        grown = 1 + 2 * path[..., None] * self.weights
        grown_total = np.einsum("kul,l->ku", np.log(grown), self.counts)  # BLAS threads are slower
        exponent = path * self.level(s)[:, None] - 0.5 * grown_total
        common = np.exp(exponent) / path * (mass * width)[:, None] * _PATH_WEIGHTS
        return np.einsum("ku,kul->l", common, 1 / grown).imag
