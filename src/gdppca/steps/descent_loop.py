"""The compiled loop of `NSGGD`; imported on first use only, because numba is slow to import."""

from __future__ import annotations

import math
from typing import Any

import numba as nb
import numpy as np

_compiled = nb.njit(nogil=True, cache=True, fastmath=False, error_model="numpy")
_ALMOST = 1e-6  # one Newton-Schulz step from here leaves an error below 1e-12
_FAR = 0.5  # beyond it Newton-Schulz may miss the nearest orthonormal matrix


@_compiled
def _add_gradient(
    z: np.ndarray, V: np.ndarray, scores: np.ndarray, residual: np.ndarray, gradient: np.ndarray
) -> None:
    """Add Q z z'V / |Q z| with Q = I - V V', of Frobenius norm |V'z|, held to at most 1.

    Nothing is added where z lies in the span of V, up to a last bit.
    """
    d, m = V.shape
    length = 0.0
    for j in range(m):
        scores[j] = 0.0
        for k in range(d):
            scores[j] += V[k, j] * z[k]
        length += scores[j] * scores[j]
    outside = 0.0
    for k in range(d):
        residual[k] = z[k]
        for j in range(m):
            residual[k] -= V[k, j] * scores[j]
        outside += residual[k] * residual[k]
    if outside < 1e-30:
        return
    shrink = 1.0 / math.sqrt(outside * max(1.0, length))
    for k in range(d):
        for j in range(m):
            gradient[k, j] += shrink * residual[k] * scores[j]


@_compiled
def _orthonormalise(V: np.ndarray, gram: np.ndarray, row: np.ndarray) -> None:
    """Replace V by the nearest matrix with orthonormal columns, its polar factor."""
    d, m = V.shape
    while True:
        off = 0.0
        for i in range(m):
            for j in range(m):
                gram[i, j] = 0.0
                for k in range(d):
                    gram[i, j] += V[k, i] * V[k, j]
                off += (gram[i, j] - (i == j)) ** 2
        off = math.sqrt(off)
        if not off <= _FAR:
            U, _, W = np.linalg.svd(V, full_matrices=False)
            V[:, :] = np.dot(U, W)
            return
        for k in range(d):
            for j in range(m):
                row[j] = 1.5 * V[k, j]
                for i in range(m):
                    row[j] -= 0.5 * V[k, i] * gram[i, j]
            for j in range(m):
                V[k, j] = row[j]
        if off <= _ALMOST:
            return


@_compiled
def _next_pair(i: int, n: int, share: float, poisson: bool, generator: Any) -> int:
    """Index of the pair after i: a uniform one, or the next that a coin of `share` picks."""
    if not poisson:
        return min(n - 1, int(n * generator.random()))
    if share >= 1.0:
        return i + 1
    gap = math.log1p(-generator.random()) / math.log1p(-share)  # geometric
    return i + 1 + int(min(gap, float(n)))


@_compiled
def descend(
    Z: np.ndarray,
    V: np.ndarray,
    n_steps: int,
    step: float,
    sigma: float,
    batch_size: int,
    poisson: bool,
    generator: Any,
) -> None:
    """Run `n_steps` steps V ← P(V + step (∇ + E)) in place; ∇ is a sum over `batch_size`.

    A batch is `batch_size` pairs drawn with replacement, or, with `poisson`, each pair by itself
    with probability `batch_size` over the number of pairs. The entries of E have standard
    deviation σ.
    """
    n, (d, m) = len(Z), V.shape
    share = batch_size / n
    gradient, gram = np.empty((d, m)), np.empty((m, m))
    scores, row, residual = np.empty(m), np.empty(m), np.empty(d)
    for _ in range(n_steps):
        gradient[:, :] = 0.0
        drawn = 0
        i = _next_pair(-1, n, share, poisson, generator)
        while i < n and (poisson or drawn < batch_size):
            _add_gradient(Z[i], V, scores, residual, gradient)
            drawn += 1
            i = _next_pair(i, n, share, poisson, generator)
        for k in range(d):
            for j in range(m):
                change = gradient[k, j] / batch_size
                if sigma > 0.0:
                    change += sigma * generator.standard_normal()
                V[k, j] += step * change
        _orthonormalise(V, gram, row)
