r"""What else shrunken loadings are off by, beside their own posterior, to first order.

Directions turn among each other, and errors of private scales and of observed rates change the
matrix column by column.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gdppca.theory.leading import Leading
from gdppca.theory.uncertainty import ScaleNoise

_MOST_TURNED = 0.5  # squared sine beyond which two directions are mixed up, whatever the noise


def beside_the_posterior(leading: Leading, scale_error: np.ndarray, target: str) -> np.ndarray:
    """Variances of loadings, (d, m): turns among the components, private scales, rates."""
    variances = _turns(leading, sampling=target == "population")
    if scale_error.any():
        variances = variances + _of_scales(leading, scale_error)
    if leading.known.gaps.relative_error.any():
        variances = variances + _of_rates(leading)
    return variances


def _turns(leading: Leading, *, sampling: bool) -> np.ndarray:
    """Two components turn by noise over the gap between them; noise widens the gap that shows."""
    m, theta = leading.m, leading.spikes[: leading.m]
    noise = leading.between(sampling=sampling)[:m, :m]
    gap = (theta[:, None] - theta) ** 2
    turned = np.minimum(noise / np.maximum(gap - 4 * noise, noise), _MOST_TURNED)
    turned = np.where(np.isfinite(turned), turned, 0.0)
    np.fill_diagonal(turned, 0.0)
    return leading.plain**2 @ turned


def _of_scales(leading: Leading, errors: np.ndarray) -> np.ndarray:
    r"""Scales off by factors :math:`e^{\eta}`: entry (a, k) in the basis of the eigenvectors is
    :math:`\sum_l \eta_l v_{la} v_{lk}` times a gain, see `gdppca.theory.uncertainty.ScaleNoise`.
    """
    r, d = leading.r, leading.d
    values = np.concatenate([leading.sizes, np.full(d - r, max(leading.bulk, 0.0))])
    gain = ScaleNoise.of(values, np.eye(d), np.ones(d)).gain[: r + 1]
    parts = []
    for k, shares in enumerate(_over_gaps(leading)):
        moved = _filtered(leading, shares * gain[:, k])
        parts.append(moved**2 @ (errors * leading.plain[:, k]) ** 2)
    return np.array(parts).T


def _of_rates(leading: Leading) -> np.ndarray:
    r"""Rates off by factors 1 + η: entry (a, k) is
    :math:`\sum_l \eta_l v_{la} v_{lk} (C_{ll} - \lambda_a - \lambda_k)`, `RateNoise`.
    """
    values = np.append(leading.sizes, max(leading.bulk, 0.0))
    own, errors = np.diag(leading.matrix), leading.known.gaps.relative_error
    parts = []
    for k, shares in enumerate(_over_gaps(leading)):
        first = _filtered(leading, shares) * own
        moved = first - _filtered(leading, shares * (values + values[k]))
        parts.append(moved**2 @ (errors * leading.plain[:, k]) ** 2)
    return np.array(parts).T


def _over_gaps(leading: Leading) -> Iterator[np.ndarray]:
    """For each component, one over its gap to the others and to the bulk, (r + 1,)."""
    theta = np.append(leading.spikes, 0.0)
    noise = np.sqrt(2 * leading.private.mean())
    for k in range(leading.m):
        gap = theta[k] - theta
        gap = np.where(gap < 0, -1.0, 1.0) * np.maximum(np.abs(gap), max(noise, 1e-12))
        shares = 1 / gap
        shares[k] = 0.0
        yield shares


def _filtered(leading: Leading, shares: np.ndarray) -> np.ndarray:
    """The matrix with the components' directions weighed so, and the bulk by the last, (d, d)."""
    V, bulk = leading.vectors, shares[-1]
    return (V * (shares[:-1] - bulk)) @ V.T + bulk * np.eye(leading.d)
