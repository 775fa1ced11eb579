r"""Pair sums that are safe for every finite input.

The sum over pairs is a graph Laplacian (docs/proofs/kernel.md),

.. math:: \sum_{ij} w_{ij} (u_i - u_j)(u_i - u_j)^\top,

and costs one matrix product instead of one outer product per pair. Cancellation could ruin it:
two rows far from the centre and close to each other. So a pair enters the product only if
:math:`w_{ij} (|u_i|^2 + |u_j|^2)` stays below the guard, which bounds the rounding error for any
input whatever. Pairs that fail are tried again around a row of their own tile; what is still
left is summed directly, each pair scaled by its own power of two.
"""

from __future__ import annotations

import numpy as np

from gdppca.kernels.panels import Tile
from gdppca.linalg import LARGEST, SQRT2, symmetrized
from gdppca.signs import Sign, Spherical

UNIT_ROUNDOFF = 2.0**-53
LARGEST_GUARD = 4096.0
LARGEST_WEIGHT = 1e280  # so that sums of weights stay finite
DIRECT_ROWS = 1024  # differences whose outer products are summed by one matrix product
_RECENTRINGS = 8


def guard_for(chain: int, target: float) -> float:
    """Guard that keeps the product's rounding error below `target`; see `rounding_error`."""
    return min(LARGEST_GUARD, target / (2 * chain * UNIT_ROUNDOFF))


def rounding_error(chain: int, guard: float, n_features: int) -> float:
    """Proven bound η on the Frobenius error of a mean over pairs with ‖g‖∞ = 1.

    The product with `chain` successive roundings, the rounding of the centred rows, and the
    rounding of the weights (docs/proofs/kernel.md, Theorem 1). A twentieth is added for the
    terms of second order.
    """
    product = 2 * chain * guard
    centring = 4 * np.sqrt(2 * LARGEST_GUARD)  # a short last block may have a larger guard
    weights = 2 * n_features + 32
    return 1.05 * UNIT_ROUNDOFF * (product + centring + weights)


def radial_lengths(sign: Sign, squares: np.ndarray, exponent: int) -> np.ndarray:
    """ξ at the true lengths |x_i - x_j|/√2, from scaled squared distances."""
    with np.errstate(all="ignore"):
        # Two roundings, as in `direct_scatter`: the same bits on both ways.
        true = np.sqrt(squares)
        true *= 1 / SQRT2
        true *= 2.0**exponent
        if exponent > 1000:
            np.minimum(true, LARGEST, out=true)
        return np.ascontiguousarray(sign.radial(true), dtype=float)


def is_constant(sign: Sign) -> bool:
    """Whether ξ is ‖g‖∞ everywhere, so that it need not be computed."""
    return type(sign) is Spherical


def _clipped(radial: np.ndarray, bound: float) -> np.ndarray:
    """ξ held to its bound, NaN as 0: what `weigh` does inside its loop."""
    return np.nan_to_num(np.minimum(np.abs(radial), bound))


def tile_weights(
    first: Tile, second: Tile, sign: Sign, guard: float, lower: bool, weights: np.ndarray
) -> np.ndarray | None:
    """Fill the weights (p, q) of the admitted pairs, and 0 for the others.

    Returns where the refused pairs are, or None where there are none.
    """
    from gdppca.kernels import pair_loops

    pair_loops.pair_squares(first.scaled, second.scaled, lower, weights)
    radial = None if is_constant(sign) else radial_lengths(sign, weights, first.exponent)
    p, q = len(first.raw), len(second.raw)
    norms = first.norms, second.norms
    refused = pair_loops.weigh(
        weights, radial, sign.sup_norm, p, q, *norms, guard, LARGEST_WEIGHT, lower
    )
    weights[p:] = 0.0
    if not refused:
        return None
    failed = weights[:p, :q] < 0
    np.maximum(weights, 0.0, out=weights)
    return failed


def refused_scatter(
    first: Tile, second: Tile, sign: Sign, guard: float, failed: np.ndarray
) -> np.ndarray:
    """Scatter of the refused pairs: recentred products where that pays, direct sums for the rest.

    `failed` is used up: it ends as the mask of the pairs that were summed directly.
    """
    d = first.raw.shape[1]
    scatter = np.zeros((d, d))
    if failed.sum() * d > failed.size:
        scatter += _recentred_scatter(first, second, sign, guard, failed)
    i, j = np.nonzero(failed)
    return scatter + listed_scatter(first.raw, second.raw, i, j, sign)


def listed_scatter(
    first: np.ndarray, second: np.ndarray, i: np.ndarray, j: np.ndarray, sign: Sign
) -> np.ndarray:
    """Scatter of the pairs (i, j) of rows, summed directly."""
    d = first.shape[1]
    scatter = np.zeros((d, d))
    for start in range(0, len(i), DIRECT_ROWS):
        chunk = slice(start, start + DIRECT_ROWS)
        scatter += direct_scatter(first[i[chunk]], second[j[chunk]], sign)
    return scatter


def _recentred_scatter(
    first: Tile, second: Tile, sign: Sign, guard: float, failed: np.ndarray
) -> np.ndarray:
    """Scatter of the failed pairs that pass the guard around some row, which it unmarks."""
    from gdppca.kernels import pair_loops

    d, (p, q) = first.raw.shape[1], failed.shape
    scatter = np.zeros((d, d))
    squares = np.zeros((len(first.norms), len(second.norms)))
    pair_loops.pair_squares(first.scaled, second.scaled, False, squares)
    squares = squares[:p, :q]
    radial = radial_lengths(sign, squares, first.exponent)
    with np.errstate(all="ignore"):
        weights = (_clipped(radial, sign.sup_norm) / sign.sup_norm) ** 2 / squares
    possible = np.isfinite(first.norms[:p, None] + second.norms[:q]) & (weights <= LARGEST_WEIGHT)
    for _ in range(_RECENTRINGS):
        todo = failed & possible
        if todo.sum() * d <= todo.size:
            break
        home = int(np.argmax(todo.sum(axis=1)))
        a, b = first.around(home, first), second.around(home, first)
        with np.errstate(all="ignore"):
            admitted = todo & (weights * (a.norms[:p, None] + b.norms[:q]) <= guard)
        scatter += laplacian(a.centred[:, :p], b.centred[:, :q], np.where(admitted, weights, 0.0))
        failed &= ~admitted
    return scatter


def laplacian(a: np.ndarray, b: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ w_ij (a_i - b_j)(a_i - b_j)' for rows on their side, (d, p) and (d, q), by products."""
    own = a @ (weights.sum(axis=1) * a - 2 * (b @ weights.T)).T
    return symmetrized(own + b @ (weights.sum(axis=0) * b).T)


def direct_scatter(
    first: np.ndarray,
    second: np.ndarray,
    sign: Sign,
    divisor: float = SQRT2,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Σ w g(t) g(t)' / ‖g‖∞² with t = (first - second)/divisor row by row, without cancellation.

    All rows of `first` meet the same row if `second` has one only; weights lie in [0, 1].
    """
    from gdppca.kernels import row_loops

    differences, lengths = np.empty_like(first), np.empty(len(first))
    exponents = np.empty(len(first), dtype=np.int64)
    fill = row_loops.centred_rows if len(second) == 1 else row_loops.pair_differences
    fill(first, second, differences, lengths, exponents)
    with np.errstate(all="ignore"):
        true = np.minimum(np.ldexp(lengths * (1 / divisor), exponents), LARGEST)
        radial = _clipped(sign.radial(true), sign.sup_norm)
    factors = radial / (sign.sup_norm * np.where(lengths > 0, lengths, 1.0))
    if weights is not None:
        factors *= np.sqrt(weights)
    row_loops.scale_rows(differences, factors)  # equal rows: a zero vector, whatever ξ(0)
    return differences.T @ differences


def unit_scatter(rows: np.ndarray, center: np.ndarray) -> np.ndarray:
    """Σ uu' over the unit vectors from a centre: `direct_scatter` of the spherical sign."""
    from gdppca.kernels import row_loops

    units = np.empty_like(rows)
    row_loops.unit_rows(rows, center, units)
    return units.T @ units


def direct_rounding_error(n_features: int) -> float:
    """Proven bound η on the error of a mean of direct outer products with ‖g‖∞ = 1."""
    return 1.05 * UNIT_ROUNDOFF * (DIRECT_ROWS + 2 * n_features + 32)


def cross_rounding_error(n_features: int, n_components: int) -> float:
    """Proven bound η on the error of a mean of parts across directions, each at most one long."""
    return 1.05 * UNIT_ROUNDOFF * (DIRECT_ROWS + n_features + n_components + 32)
