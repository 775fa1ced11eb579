r"""Gaussian noise on a packed matrix.

The secure form is a discrete Gaussian on a lattice of step :math:`2^k`,
:math:`k = \lfloor\log_2\sigma\rfloor - 40`: every released value lies on the lattice whatever the
data, so its last bits say nothing, and the distribution is exact. Rounding to the lattice moves
each coordinate by at most half a step, which `lattice_slack` adds to the sensitivity. The analytic
calibration is sound on the lattice: the log-ratio per coordinate differs from the continuous one
by less than z²/24S² with S = σ/2ᵏ ≥ 2⁴⁰ (docs/proofs/noise.md).

OpenDP draws short vectors. It takes some 15 µs an entry, so long ones come from
`discrete_gaussian`, the same law a hundred times as fast (docs/decisions/0008).

The seeded form is numpy's continuous Gaussian, for simulations.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.noise.bits import Bits
from gdppca.noise.discrete_gaussian import discrete_gaussian

if TYPE_CHECKING:
    from gdppca.noise.source import Noise

_LATTICE_BITS = 40
_FINEST = -1074  # the exponent of the smallest float
_SHORT = 2**13  # entries that OpenDP draws in a tenth of a second
_LARGEST_SUM = 2.0**62


def lattice_exponent(sigma: float) -> int:
    """k: noise of standard deviation σ is drawn on multiples of 2ᵏ."""
    return math.frexp(sigma)[1] - 1 - _LATTICE_BITS  # exactly ⌊log₂ σ⌋ - 40


def lattice_slack(sigma: float, length: int) -> float:
    """How much rounding to the lattice may add to the distance of two neighbouring vectors."""
    return math.sqrt(length) * math.ldexp(1.0, lattice_exponent(sigma))


def calibrated_sigma(multiplier: float, sensitivity: float, length: int) -> float:
    """σ whose ratio to the sensitivity, the lattice's slack included, is the multiplier."""
    sigma = multiplier * (sensitivity + lattice_slack(2 * multiplier * sensitivity, length))
    if sigma > 2 * multiplier * sensitivity:  # the slack above was for a smaller σ
        raise ParameterError(
            "The noise is too large for its lattice; use a larger epsilon or delta."
        )
    return sigma


class Noised(NamedTuple):
    """Numbers with their noise, and its standard deviation; zero where there is none."""

    values: np.ndarray
    sd: float


def noised(exact: np.ndarray, multiplier: float, sensitivity: float, noise: Noise) -> Noised:
    """Exact numbers with noise of `multiplier` times their sensitivity; none for zero."""
    if multiplier == 0:
        return Noised(exact, 0.0)
    sd = calibrated_sigma(multiplier, sensitivity, exact.size)
    return Noised(noise.gaussian(exact, sd, sensitivity=sensitivity), sd)


def add_gaussian(values: np.ndarray, sigma: float, bits: Bits) -> np.ndarray:
    """Values plus independent Gaussian noise of standard deviation σ."""
    sigma = _validate.finite_positive(sigma=sigma)
    if not np.isfinite(values).all():
        raise ParameterError("Non-finite values must never reach the noise.")
    if bits.seed is not None:
        return values + bits.generator().normal(scale=sigma, size=values.shape)
    if lattice_exponent(sigma) < _FINEST:
        raise ParameterError("The noise is too small for floating point; use a larger radius.")
    draw = _drawn_by_opendp if values.size <= _SHORT else _drawn_here  # by a public number
    noisy = draw(values.ravel(), sigma, bits).reshape(values.shape)
    if not np.isfinite(noisy).all():
        raise ParameterError("The noise is too large for floating point; use a smaller radius.")
    return noisy


def _drawn_by_opendp(values: np.ndarray, sigma: float, bits: Bits) -> np.ndarray:
    return np.asarray(_opendp_gaussian(len(values), sigma)(values.tolist()), dtype=float)


@lru_cache(maxsize=16)  # making one takes as long as drawing a few numbers
def _opendp_gaussian(length: int, sigma: float) -> Any:
    """OpenDP's mechanism for vectors of that length; a function that keeps nothing of a call."""
    # Its prelude would load polars and pandas besides.
    from opendp import domains, measurements, metrics
    from opendp.mod import enable_features

    enable_features("contrib")
    domain = domains.vector_domain(domains.atom_domain(T=float, nan=False), size=length)
    metric = metrics.l2_distance(T=float)
    return measurements.make_gaussian(domain, metric, scale=sigma, k=lattice_exponent(sigma))


def _drawn_here(values: np.ndarray, sigma: float, bits: Bits) -> np.ndarray:
    k = lattice_exponent(sigma)
    return _from_lattice(values, k, discrete_gaussian(len(values), math.ldexp(sigma, -k), bits))


def _from_lattice(values: np.ndarray, k: int, noise: np.ndarray) -> np.ndarray:
    """2ᵏ (⌊v 2⁻ᵏ + 1/2⌋ + N): an exact sum of whole numbers, then one rounding to a float.

    The float is a function of the lattice point alone: post-processing.
    """
    with np.errstate(over="ignore", under="ignore"):
        steps = np.ldexp(values, -k)  # exact, or infinite, or far below one half
        huge = np.abs(steps) >= _LARGEST_SUM
        steps[huge] = 0.0
        whole = np.floor(steps)
        nearest = whole.astype(np.int64) + (steps - whole >= 0.5)
        noisy: np.ndarray = np.ldexp((nearest + noise).astype(float), k)
    for i in np.flatnonzero(huge):  # whole numbers beyond 64 bits
        noisy[i] = _long_sum(float(values[i]), k, int(noise[i]))
    return noisy


def _long_sum(value: float, k: int, noise: int) -> float:
    """The same for a value of at least 2⁶² steps, which lies on the lattice itself."""
    numerator, denominator = value.as_integer_ratio()
    if k < 0:
        point = (numerator << -k) // denominator + noise
        return point / (1 << -k)  # Python rounds this quotient correctly
    point = numerator // (denominator << k) + noise
    try:
        return float(point << k)
    except OverflowError:
        return math.inf
