"""Checks that the formulas share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError


def spectrum(**parameter: Any) -> np.ndarray:
    """Return eigenvalues as a float vector: finite, none below zero, not all zero."""
    [(name, _)] = parameter.items()
    values = finite_spectrum(**parameter)
    if (values < 0).any() or not values.max() > 0:
        raise ParameterError(f"`{name}` must hold numbers >= 0, not all zero.")
    return values


def finite_spectrum(**parameter: Any) -> np.ndarray:
    """Return a non-empty vector of finite floats; its entries are never printed."""
    [(name, values)] = parameter.items()
    array = _validate.floats(values)
    if array is None:
        raise ParameterError(f"`{name}` must be a sequence of numbers.")
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise ParameterError(f"`{name}` must be a non-empty vector of finite numbers.")
    return array


def descending(values: np.ndarray) -> np.ndarray:
    """Return the eigenvalues, largest first."""
    return np.sort(values)[::-1]


def eigengap(values: np.ndarray, n_components: int) -> float:
    """Return how far the m-th largest eigenvalue lies above the next; m must be below d."""
    m = _validate.count(n_components=n_components)
    if m >= values.size:
        raise ParameterError(
            f"`n_components` must be below the number of eigenvalues, {values.size}, got {m}."
        )
    ordered = descending(values)
    return float(ordered[m - 1] - ordered[m])


def ratio(numerator: float, denominator: float) -> float:
    """Divide; a vanishing denominator gives infinity, as a bound without an eigengap should."""
    return float(numerator / denominator) if denominator > 0 else math.inf


def gap_factor(values: np.ndarray, n_components: int) -> float:
    """Return the largest eigenvalue over the eigengap."""
    return ratio(values.max(), eigengap(values, n_components))


def corrupted_share(alpha: float) -> float:
    """Return α, which must lie in [0, 1)."""
    return 0.0 if alpha == 0 else _validate.fraction(alpha=alpha)
