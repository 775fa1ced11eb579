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

from dataclasses import dataclass

import numpy as np

from gdppca.linalg import LARGEST, SQRT2, symmetrized
from gdppca.signs import Sign, Spherical

UNIT_ROUNDOFF = 2.0**-53
SMALLEST = 2.0**-450  # scaled entries; their differences and squares cannot underflow
LARGEST_GUARD = 4096.0
LARGEST_WEIGHT = 1e280  # so that sums of weights stay finite
_CENTRE_ROWS = 63
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


@dataclass(frozen=True)
class Rows:
    """Stacks of rows, raw and prepared: (B, p, d) raw, scaled and centred; (B, p) norms."""

    raw: np.ndarray
    scaled: np.ndarray
    centred: np.ndarray  # a last column of ones is added: it sums weights inside the product
    norms: np.ndarray
    exponent: int

    @classmethod
    def prepare(cls, rows: np.ndarray, memory: Rows | None = None) -> Rows:
        """Scale by one power of two and centre near the middle; differences keep their bits.

        The arrays of `memory`, rows of the same shape that are needed no more, are used again.
        """
        exponent = _common_exponent(rows)
        flat = rows.reshape(-1, rows.shape[-1])
        spread = np.linspace(0, len(flat) - 1, min(len(flat), _CENTRE_ROWS)).astype(int)
        centre = np.median(np.ldexp(flat[spread], -exponent), axis=0)
        return cls._around(rows, exponent, centre, memory)

    @classmethod
    def _around(cls, raw, exponent, centre, memory=None) -> Rows:
        from gdppca.kernels import _compiled

        *stacked, d = raw.shape
        if memory is not None and memory.raw.shape == raw.shape:
            scaled, centred, norms = memory.scaled, memory.centred, memory.norms
        else:
            scaled, centred, norms = (
                np.empty(raw.shape),
                np.empty((*stacked, d + 1)),
                np.empty(stacked),
            )
        _compiled.prepare(
            raw.reshape(-1, d),
            -exponent,
            centre,
            SMALLEST,
            scaled.reshape(-1, d),
            centred.reshape(-1, d + 1),
            norms.reshape(-1),
        )
        return cls(raw, scaled, centred, norms, exponent)

    def around(self, row: np.ndarray) -> Rows:
        """The same rows, centred at another scaled row."""
        return self._around(self.raw, self.exponent, row)

    def __getitem__(self, part) -> Rows:
        """Part of the stacks, as views."""
        return Rows(
            self.raw[part], self.scaled[part], self.centred[part], self.norms[part], self.exponent
        )

    @property
    def columns(self) -> np.ndarray:
        """Scaled rows as (B, d, p), contiguous: what the distance loops read."""
        return np.ascontiguousarray(self.scaled.swapaxes(-1, -2))


def _common_exponent(rows: np.ndarray) -> int:
    from gdppca.kernels import _compiled

    bits = _compiled.largest_bits(rows.reshape(-1, rows.shape[-1]).view(np.int64))
    largest = np.array(bits, dtype=np.int64).view(float)
    # The clip keeps 2**exponent / √2 a normal number; the loops have room for the rest.
    return int(np.clip(np.frexp(largest)[1], -900, 1022))


@dataclass(frozen=True)
class Scratch:
    """Work space of a stack of tiles; fresh memory for every tile would cost more than the sums."""

    lengths: np.ndarray
    weights: np.ndarray
    ones: np.ndarray
    products: np.ndarray

    @classmethod
    def of_shape(cls, B: int, p: int, q: int, d: int) -> Scratch:
        """Work space for (B, p, q) pairs of d columns; lengths start as finite numbers."""
        shape = (B, p, q)
        return cls(np.zeros(shape), np.zeros(shape), np.ones(shape), np.zeros((B, p, d + 1)))

    def __getitem__(self, part) -> Scratch:
        """Part of the work space, as views."""
        return Scratch(self.lengths[part], self.weights[part], self.ones[part], self.products[part])


def _radial_lengths(sign: Sign, scratch: Scratch, exponent: int) -> np.ndarray:
    """ξ at the true lengths |x_i - x_j|/√2, from scaled distances."""
    if isinstance(sign, Spherical):
        return scratch.ones
    with np.errstate(all="ignore"):
        # Two roundings, as in `direct_scatter`: the same bits on both ways.
        true = scratch.lengths * (1 / SQRT2)
        true *= 2.0**exponent
        if exponent > 1000:
            np.minimum(true, LARGEST, out=true)
        return np.ascontiguousarray(sign.radial(true), dtype=float)


def _clipped(radial: np.ndarray, bound: float) -> np.ndarray:
    """ξ held to its bound, NaN as 0: what `weigh` does inside its loop."""
    return np.nan_to_num(np.minimum(np.abs(radial), bound))


def tile_weights(left, right, right_columns, sign, guard, lower, scratch):
    """Fill the weights of the admitted pairs of a stack of tiles (B, p, q).

    Returns the scatter of all the other pairs, or None where every pair was admitted.
    """
    from gdppca.kernels import _compiled

    lengths, weights = scratch.lengths, scratch.weights
    _compiled.tile_lengths(left.scaled, right_columns, lower, lengths)
    radial = _radial_lengths(sign, scratch, left.exponent)
    refused = _compiled.weigh(
        lengths,
        radial,
        sign.sup_norm,
        left.norms,
        right.norms,
        guard,
        LARGEST_WEIGHT,
        lower,
        weights,
    )
    if refused:
        refused -= _compiled.forgive_equal_rows(lengths, left.raw, right.raw, weights)
    if not refused:
        return None
    failed = weights < 0
    weights[failed] = 0.0
    return _refused_scatter(left, right, sign, guard, lengths, radial, failed)


def _refused_scatter(left, right, sign, guard, lengths, radial, failed):
    """Scatter of the refused pairs: recentred products where that pays, direct sums for the rest.

    `failed` is used up: it ends as the mask of the pairs that were summed directly.
    """
    d = left.raw.shape[-1]
    scatter = np.zeros((d, d))
    for t in np.flatnonzero(failed.sum(axis=(1, 2)) * d > failed[0].size):
        with np.errstate(all="ignore"):
            weights = (_clipped(radial[t], sign.sup_norm) / (sign.sup_norm * lengths[t])) ** 2
        possible = np.isfinite(left.norms[t][:, None] + right.norms[t]) & (
            weights <= LARGEST_WEIGHT
        )
        for _ in range(_RECENTRINGS):
            todo = failed[t] & possible
            if todo.sum() * d <= todo.size:
                break
            home = left.scaled[t, np.argmax(todo.sum(axis=1))]
            a, b = left[t].around(home), right[t].around(home)
            with np.errstate(all="ignore"):
                admitted = todo & (weights * (a.norms[:, None] + b.norms) <= guard)
            scatter += laplacian(a.centred, b.centred, np.where(admitted, weights, 0.0))
            failed[t] &= ~admitted
    tile, i, j = np.nonzero(failed)
    for start in range(0, len(tile), DIRECT_ROWS):
        chunk = slice(start, start + DIRECT_ROWS)
        first, second = left.raw[tile[chunk], i[chunk]], right.raw[tile[chunk], j[chunk]]
        scatter += direct_scatter(first, second, sign)
    return scatter


def laplacian(a: np.ndarray, b: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ w_ij (a_i - b_j)(a_i - b_j)' for rows with a last column of ones, by matrix products."""
    cross = weights @ b
    a, b = a[:, :-1], b[:, :-1]
    own = a.T @ (cross[:, -1:] * a - 2 * cross[:, :-1])
    return symmetrized(own + b.T @ (weights.sum(axis=0)[:, None] * b))


def direct_scatter(
    first: np.ndarray, second: np.ndarray, sign: Sign, divisor: float = SQRT2
) -> np.ndarray:
    """Σ g(t) g(t)' / ‖g‖∞² with t = (first - second)/divisor row by row, without cancellation."""
    from gdppca.kernels import _compiled

    differences, lengths = np.empty_like(first), np.empty(len(first))
    exponents = np.empty(len(first), dtype=np.int64)
    _compiled.pair_differences(first, second, differences, lengths, exponents)
    with np.errstate(all="ignore"):
        true = np.minimum(np.ldexp(lengths * (1 / divisor), exponents), LARGEST)
        radial = _clipped(sign.radial(true), sign.sup_norm)
    factors = radial / (sign.sup_norm * np.where(lengths > 0, lengths, 1.0))
    signed = differences * factors[:, None]  # equal rows: a zero vector, whatever ξ(0)
    return signed.T @ signed


def direct_rounding_error(n_features: int) -> float:
    """Proven bound η on the error of a mean of direct outer products with ‖g‖∞ = 1."""
    return 1.05 * UNIT_ROUNDOFF * (DIRECT_ROWS + 2 * n_features + 32)
