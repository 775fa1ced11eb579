"""The compiled inner loops over pairs; imported on first use only: numba is slow to import.

Every loop is strict IEEE arithmetic (no fastmath) with explicit fused multiply-adds, so the
distance of a pair is a function of its two rows alone: the same bits whatever the tile, the
position in it, the common power of two or the number of threads. Signs with a hard edge depend
on that; see docs/proofs/kernel.md.

Tables lie on their side here, one line per column of the data, so that a vector of eight numbers
holds the same column of eight rows.
"""

from __future__ import annotations

import math

import numpy as np

from gdppca.kernels import vectors as vec
from gdppca.kernels.layout import BLOCK_PADDING, LANES, LINES_PADDING
from gdppca.kernels.vectors import compiled

_PANEL = 128  # columns per sweep: four rows and eight rows of them stay in the first-level cache


@compiled
def prepare(rows, shift, centre, smallest, size, padded, slots, scaled, centred, norms):
    """Lay rows on their side, scaled by 2**shift, and centred; squared norms too.

    Panels (N, d, width) hold `slots` blocks of `size` rows side by side, each with rows of zeros
    behind. A row with an entry that is not zero but below `smallest` once scaled could lose digits
    to underflow. Its norm becomes infinite, so that the guard keeps it out of every product.
    """
    for block in range(slots * len(scaled)):
        few = rows[block * size : (block + 1) * size]
        left = block % slots * padded
        place = scaled[block // slots, :, left : left + padded]
        place[:, len(few) :] = 0.0
        for k in range(len(place)):
            for i in range(len(few)):
                place[k, i] = few[i, k]
    # Two factors, since 2**1022 times a half may not be a normal number.
    once, twice = math.ldexp(1.0, shift // 2), math.ldexp(1.0, shift - shift // 2)
    norms[:] = 0.0
    for panel in range(len(scaled)):
        for k in range(scaled.shape[1]):
            line, shifted, squares = scaled[panel, k], centred[panel, k], norms[panel]
            for i in range(len(line)):
                entry = line[i] * once * twice
                marked = (abs(entry) < smallest) & (line[i] != 0.0)
                line[i] = entry
                shifted[i] = entry - centre[k]
                squares[i] += np.inf if marked else shifted[i] * shifted[i]


@compiled
def pair_squares(firsts, seconds, lower, squares):
    """Squared distances between the rows of `firsts` (d, p) and `seconds` (d, q), as (p, q).

    With `lower` (both are the same rows) only entries i < j are promised. Eight rows meet eight at
    once, to read less memory per operation; the sum of a pair runs over its columns one after
    the other.
    """
    d, p = firsts.shape
    for start in range(0, d, _PANEL):
        for j in range(0, seconds.shape[1], LANES):
            for i in range(0, min(p, j + LANES) if lower else p, 8):
                a = b = vec.zeros4()
                if start > 0:
                    a, b = vec.load4(squares, i, j), vec.load4(squares, i + 4, j)
                for k in range(start, min(d, start + _PANEL)):
                    others = vec.load(seconds, k, j)
                    a = _with_squares(others, firsts, k, i, a)
                    b = _with_squares(others, firsts, k, i + 4, b)
                vec.store4(squares, i, j, a)
                vec.store4(squares, i + 4, j, b)


@compiled
def _with_squares(others, firsts, k, i, sums):
    """Add the squares of the differences from four rows in column k."""
    a, b = (
        vec.minus(others, vec.spread(firsts[k, i])),
        vec.minus(others, vec.spread(firsts[k, i + 1])),
    )
    c, d = (
        vec.minus(others, vec.spread(firsts[k, i + 2])),
        vec.minus(others, vec.spread(firsts[k, i + 3])),
    )
    return (
        vec.fmas(a, a, sums[0]),
        vec.fmas(b, b, sums[1]),
        vec.fmas(c, c, sums[2]),
        vec.fmas(d, d, sums[3]),
    )


@compiled
def weigh(squares, radial, bound, p, q, first_norms, second_norms, guard, largest, lower):
    """Turn squared distances s² into weights w = (ξ/(‖g‖∞ s))², -1 where the guard refuses.

    Without `radial` ξ is the bound everywhere. Entries beyond (p, q) get weight 0, and with
    `lower` those i ≥ j too.

    A pair is admitted if w (|u_i|² + |u_j|²) ≤ `guard` and w ≤ `largest`, written so that NaN and
    infinity fail: rows that `prepare` marked never pass. Equal rows get weight 0, since g(0) = 0:
    unmarked rows are at distance 0 only if they are equal. ξ is clipped to the bound here,
    whatever the sign says. Returns the number of pairs that were refused.
    """
    refused = 0
    for i in range(p):
        start = i + 1 if lower else 0
        squares[i, :start] = 0.0
        squares[i, q:] = 0.0
        row, others = squares[i, start:q], second_norms[start:q]
        xis = row if radial is None else radial[i, start:q]
        for j in range(len(row)):
            part = 1.0
            if radial is not None:
                xi = abs(xis[j])
                part = (xi if xi <= bound else (bound if xi > bound else 0.0)) / bound
            norms = first_norms[i] + others[j]
            w = part * part / row[j]
            admitted = (w * norms <= guard) & (w <= largest)
            equal = (row[j] == 0.0) & (norms < np.inf)
            row[j] = w if admitted else (0.0 if equal else -1.0)
            refused += 0 if admitted | equal else 1
    return refused


@compiled
def add_degrees(weights, first_degrees, second_degrees):
    """Add the weight sums Σ_j w_ij to (1, p) and Σ_i w_ij to (1, q) degrees."""
    one = vec.spread(1.0)
    for i in range(first_degrees.shape[1]):
        line = vec.spread(0.0)
        for j in range(0, second_degrees.shape[1], LANES):
            w = vec.load(weights, i, j)
            line = vec.fmas(one, w, line)
            vec.store(second_degrees, 0, j, vec.fmas(one, w, vec.load(second_degrees, 0, j)))
        first_degrees[0, i] += vec.total(line)


@compiled
def _laplacian_lines(weights, centred, products):
    """Fill deg_j u_j - Σ_i w_ij u_i for the rows of a block, all weights of which are given.

    Four columns meet 32 rows at once, or sixteen at the end.
    """
    width = centred.shape[1]
    whole = width - width % (4 * LANES)
    for j in range(0, whole, 4 * LANES):
        _wide_lines(weights, centred, j, products)
    for j in range(whole, width, BLOCK_PADDING):
        _narrow_lines(weights, centred, j, products)


@compiled
def _wide_lines(weights, centred, j, products):
    j1, j2, j3 = j + LANES, j + 2 * LANES, j + 3 * LANES
    e, f = _degrees(weights, j), _degrees(weights, j1)
    g, h = _degrees(weights, j2), _degrees(weights, j3)
    for k in range(0, centred.shape[0], LINES_PADDING):
        a = b = c = d = vec.zeros4()
        for i in range(centred.shape[1]):
            u = vec.spread4(centred, k, i)
            a = vec.fmas4(vec.load(weights, i, j), u, a)
            b = vec.fmas4(vec.load(weights, i, j1), u, b)
            c = vec.fmas4(vec.load(weights, i, j2), u, c)
            d = vec.fmas4(vec.load(weights, i, j3), u, d)
        _store_lines(e, a, centred, k, j, products)
        _store_lines(f, b, centred, k, j1, products)
        _store_lines(g, c, centred, k, j2, products)
        _store_lines(h, d, centred, k, j3, products)


@compiled
def _narrow_lines(weights, centred, j, products):
    e, f = _degrees(weights, j), _degrees(weights, j + LANES)
    for k in range(0, centred.shape[0], LINES_PADDING):
        a = b = vec.zeros4()
        for i in range(centred.shape[1]):
            u = vec.spread4(centred, k, i)
            a = vec.fmas4(vec.load(weights, i, j), u, a)
            b = vec.fmas4(vec.load(weights, i, j + LANES), u, b)
        _store_lines(e, a, centred, k, j, products)
        _store_lines(f, b, centred, k, j + LANES, products)


@compiled
def _degrees(weights, j):
    degrees = vec.spread(0.0)
    for i in range(weights.shape[0]):
        degrees = vec.fmas(vec.spread(1.0), vec.load(weights, i, j), degrees)
    return degrees


@compiled
def _store_lines(degrees, sums, centred, k, j, products):
    """Fill degrees · u - sums for four lines."""
    whole = vec.fmas4(degrees, vec.load4(centred, k, j), vec.zeros4())
    vec.store4(products, k, j, vec.minus4(whole, sums))


@compiled
def _add_lower_product(centred, products, width, scatter):
    """Add the lower half of centred · products', which is symmetric.

    Four lines meet four at once, each pair of lines in a vector of eight sums.
    """
    for k in range(0, centred.shape[0], LINES_PADDING):
        for m in range(0, k + LINES_PADDING, LINES_PADDING):
            a = b = c = d = vec.zeros4()
            for j in range(0, width, LANES):
                u, v = vec.load4(centred, k, j), vec.load4(products, m, j)
                a, b = vec.fmas4(v[0], u, a), vec.fmas4(v[1], u, b)
                c, d = vec.fmas4(v[2], u, c), vec.fmas4(v[3], u, d)
            _add_totals(a, k, m, scatter)
            _add_totals(b, k, m + 1, scatter)
            _add_totals(c, k, m + 2, scatter)
            _add_totals(d, k, m + 3, scatter)


@compiled
def _add_totals(sums, k, m, scatter):
    scatter[k, m] += vec.total(sums[0])
    scatter[k + 1, m] += vec.total(sums[1])
    scatter[k + 2, m] += vec.total(sums[2])
    scatter[k + 3, m] += vec.total(sums[3])


@compiled
def block_squares(scaled, padded, slots, squares):
    """Squared distances (B, p, p) inside each block of panels (N, d, width)."""
    for block in range(squares.shape[0]):
        left = block % slots * padded
        x = scaled[block // slots, :, left : left + padded]
        pair_squares(x, x, True, squares[block])


@compiled
def add_blocks(panels, sizes, radial, bound, limits, refused, pairs, scatter):
    """Add U'(D - W)U of every block, lower half.

    `panels` are the scaled rows, the centred ones and their norms; `sizes` the rows of a block,
    the same padded, and the blocks of a panel; `limits` the guard and the largest weight.

    What belongs to a block stays in the first-level cache, what belongs to a panel in the second.
    A few refused pairs are listed in `pairs` (m, 2) by their rows; where a block has many, or the
    list is full, they are only counted in `refused`. Returns the length of the list.
    """
    (scaled, centred, norms), (size, padded, slots), (guard, largest) = panels, sizes, limits
    listed = 0
    weights = np.empty((padded, padded + LANES))
    products = np.zeros(centred.shape[1:])
    for block in range(len(refused)):
        panel, left = block // slots, block % slots * padded
        right = left + padded
        x, u = scaled[panel, :, left:right], centred[panel, :, left:right]
        lengths = norms[panel, left:right]
        pair_squares(x, x, True, weights)
        xi = None if radial is None else radial[block]
        count = weigh(weights, xi, bound, size, size, lengths, lengths, guard, largest, True)
        if count * len(x) <= size**2 and listed + count <= len(pairs):
            _list_refused(weights, size, block * size, pairs[listed : listed + count])
            listed += count
        else:
            refused[block] = count
        _mirror(weights, size)
        _laplacian_lines(weights, u, products[:, left:right])
        if block == len(refused) - 1 or right == slots * padded:
            _add_lower_product(centred[panel], products, right, scatter)
    return listed


@compiled
def _list_refused(weights, size, first, pairs):
    """Write down the rows of the refused pairs, of which there are as many as `pairs` has room."""
    listed = 0
    if len(pairs) > 0:
        for i in range(size):
            for j in range(i + 1, size):
                if weights[i, j] < 0:
                    pairs[listed, 0], pairs[listed, 1] = first + i, first + j
                    listed += 1


@compiled
def _mirror(weights, size):
    """Copy the upper half of the weights to the lower, refused ones and padding as 0."""
    for i in range(size):
        weights[i, i] = 0.0
        for j in range(i):
            w = max(weights[j, i], 0.0)
            weights[j, i] = w
            weights[i, j] = w
    weights[size:] = 0.0
