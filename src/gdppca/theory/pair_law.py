r"""Laws of half the difference of two rows: a Gaussian of random scale.

Under both laws :math:`(X - \tilde X)/\sqrt2 = \sqrt{a}\,\Sigma^{1/2} W` with W standard Gaussian
and a scalar a apart from it. For the Gaussian law a = 1. For the t law with ν degrees of freedom
:math:`a = (\nu/2)(1/V_1 + 1/V_2)`, and since :math:`V_1 + V_2` and :math:`V_1/(V_1 + V_2)` are
independent, :math:`a = \nu/(Gz)` with G gamma of shape ν and z beta of shapes ν/2 and 1/2. Every
mean over z is a trapezoid sum after :math:`z = \mathrm{sech}^2\theta`, which turns the density
into :math:`\mathrm{sech}^\nu\theta` and converges exponentially.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from gdppca import _validate
from gdppca._errors import ParameterError

Law = str | tuple[str, float]

_STEP = 0.12
_FEWEST = 50  # steps on either side of the peak, which is narrow where ν is large
_CUT = 40.0
_CHUNK = 1_000_000  # numbers held at once


@dataclass(frozen=True)
class GaussianPairs:
    """Pairs of Gaussian rows: a = 1."""

    width: float = 1.0

    def scale_survival(self, x: np.ndarray) -> np.ndarray:
        """P(a > x)."""
        return (x < 1).astype(float)

    def radius_survival(self, square: float, n_features: int) -> float:
        """P(R² ≥ q), a chi-squared law."""
        return float(special.chdtrc(n_features, square))


@dataclass(frozen=True)
class StudentPairs:
    """Pairs of rows from the multivariate t law with ν degrees of freedom."""

    nu: float

    @property
    def width(self) -> float:
        """Roughly the spread of log a."""
        return min(1.0, self.nu**-0.5)

    @property
    def _half_range(self) -> float:
        """Distance from its peak at which the integrand over θ has fallen to e^-40."""
        log_cosh = _CUT / self.nu
        return float(log_cosh + np.log1p(np.sqrt(-np.expm1(-2 * log_cosh))))  # arcosh

    @property
    def _step(self) -> float:
        return min(_STEP, self._half_range / _FEWEST)

    def _mixture(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """1/z = cosh²θ and its weight at θ = step times index, index ≥ 0."""
        theta = self._step * index
        log_cosh = theta + np.log1p(np.exp(-2 * theta)) - np.log(2)
        log_total = special.betaln(self.nu / 2, 0.5) - np.log(2)
        weight = self._step * np.exp(-self.nu * log_cosh - log_total)
        return np.exp(2 * np.minimum(log_cosh, 350.0)), np.where(index == 0, 0.5, 1.0) * weight

    def scale_survival(self, x: np.ndarray) -> np.ndarray:
        """P(a > x) = E P(G < ν/(xz)); the mean over z has its peak where 1/z = x/2."""
        reach = np.arange(2 * self._half_range / self._step + 1)
        parts = np.array_split(x, 1 + x.size * reach.size // _CHUNK)
        return np.concatenate([self._scale_survival(part[:, None], reach) for part in parts])

    def _scale_survival(self, x: np.ndarray, reach: np.ndarray) -> np.ndarray:
        start = np.maximum(_peak(x) - self._half_range, 0.0) // self._step
        inverse, weight = self._mixture(start + reach)
        with np.errstate(over="ignore"):  # infinity gives the right answer, one
            chance = special.gammainc(self.nu, self.nu * inverse / x)
        return np.sum(weight * chance, axis=1)

    def radius_survival(self, square: float, n_features: int) -> float:
        """P(R² ≥ q), with R² = d F/z for F of the F law with d and 2ν degrees of freedom."""
        end = float(_peak(np.asarray(square / n_features))) + self._half_range
        inverse, weight = self._mixture(np.arange(end / self._step + 1))
        chance = special.betainc(
            self.nu, n_features / 2, 1 / (1 + square / (2 * self.nu * inverse))
        )
        return float(weight @ chance)


def _peak(x: np.ndarray) -> np.ndarray:
    """Positive θ with cosh²θ = x/2, zero where there is none."""
    return np.arccosh(np.sqrt(np.maximum(x / 2, 1.0)))


PairLaw = GaussianPairs | StudentPairs


def pair_law(law: Any) -> PairLaw:
    """Read ``"gaussian"`` or ``("t", nu)``."""
    if isinstance(law, str) and law == "gaussian":
        return GaussianPairs()
    if isinstance(law, (tuple, list)) and len(law) == 2 and law[0] == "t":
        return StudentPairs(_validate.finite_positive(nu=law[1]))
    raise ParameterError(f'`law` must be "gaussian" or ("t", nu), got {law!r}.')
