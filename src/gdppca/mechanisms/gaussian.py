r"""Gaussian noise on a packed matrix.

The secure form is OpenDP's discrete Gaussian on a lattice of step :math:`2^k`,
:math:`k = \lfloor\log_2\sigma\rfloor - 40`: every released value lies on the lattice whatever the
data, so its last bits say nothing, and the distribution is exact. Rounding to the lattice moves
each coordinate by at most half a step, which `lattice_slack` adds to the sensitivity. The analytic
calibration is sound on the lattice: the log-ratio per coordinate differs from the continuous one
by less than z²/24S² with S = σ/2ᵏ ≥ 2⁴⁰ (docs/proofs/noise.md).

The seeded form is numpy's continuous Gaussian, for simulations.
"""

from __future__ import annotations

import math

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.randomness import Rng

_LATTICE_BITS = 40


def lattice_exponent(sigma: float) -> int:
    """k: noise of standard deviation σ is drawn on multiples of 2ᵏ."""
    return math.floor(math.log2(sigma)) - _LATTICE_BITS


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


def add_gaussian(values: np.ndarray, sigma: float, rng: Rng) -> np.ndarray:
    """Values plus independent Gaussian noise of standard deviation σ."""
    sigma = _validate.finite_positive(sigma=sigma)
    if not np.isfinite(values).all():
        raise ParameterError("Non-finite values must never reach the noise.")
    if rng.seeded:
        return values + rng.generator().normal(scale=sigma, size=values.shape)
    return _discrete(values, sigma)


def _discrete(values: np.ndarray, sigma: float) -> np.ndarray:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=values.size)
    mechanism = dp.m.make_gaussian(
        domain, dp.l2_distance(T=float), scale=sigma, k=lattice_exponent(sigma)
    )
    noisy = np.asarray(mechanism(values.ravel().tolist()), dtype=float).reshape(values.shape)
    if not np.isfinite(noisy).all():
        raise ParameterError("The noise is too large for floating point; use a smaller radius.")
    return noisy
