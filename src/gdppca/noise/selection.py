"""Choosing one of many by noisy scores, and integer noise for comparisons."""

from __future__ import annotations

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.noise.bits import Bits

_LARGEST_SCALE = 2.0**40


def noisy_argmax(scores: np.ndarray, epsilon: float, bits: Bits) -> int:
    """Index of a nearly largest score, ε-differentially private for scores of sensitivity one.

    Exponential noise of scale 2/ε on every score, largest wins: permute-and-flip (McKenna and
    Sheldon 2020), drawn exactly by OpenDP.
    """
    scale = 2 / _validate.finite_positive(epsilon=epsilon)
    if not np.isfinite(scores).all():
        raise ParameterError("Non-finite scores must never reach the noise.")
    if bits.seed is not None:
        return int(np.argmax(scores + bits.generator().exponential(scale, size=len(scores))))
    from opendp import domains, measurements, measures, metrics
    from opendp.mod import enable_features

    enable_features("contrib")
    domain = domains.vector_domain(domains.atom_domain(T=float, nan=False))
    metric, measure = metrics.linf_distance(T=float), measures.max_divergence()
    choose = measurements.make_noisy_max(domain, metric, measure, scale=scale)
    return int(choose(scores.tolist()))


def integer_laplace(size: int, scale: float, bits: Bits) -> np.ndarray:
    """Independent integers from the discrete Laplace law of the given scale, at most 2**40.

    Larger noise could reach the ends of 64-bit integers, where the data would show through.
    """
    scale = _validate.finite_positive(scale=scale)
    if scale > _LARGEST_SCALE:
        raise ParameterError("The noise is too large for whole numbers; use a larger epsilon.")
    if bits.seed is not None:
        p = -np.expm1(-1 / scale)
        first, second = bits.generator().geometric(p, size=(2, size))
        return np.asarray(first - second)
    from opendp import domains, measurements, metrics
    from opendp.mod import enable_features

    enable_features("contrib")
    domain = domains.vector_domain(domains.atom_domain(T="i64"))
    noise = measurements.make_laplace(domain, metrics.l1_distance(T="i64"), scale=scale)
    return np.array(noise([0] * size), dtype=np.int64)
