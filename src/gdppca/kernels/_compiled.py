"""The compiled inner loops; imported on first use only, because numba is slow to import.

Every loop is strict IEEE arithmetic (no fastmath) with explicit fused multiply-adds, so the
distance of a pair is a function of its two rows alone: the same bits whatever the tile, the
position in it, the common power of two or the number of threads. Signs with a hard edge depend
on that; see docs/proofs/kernel.md.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
from numba.core import types
from numba.extending import intrinsic

_PANEL = 16  # columns per sweep: 16 × 248 doubles stay in the first-level cache


@intrinsic
def _fma(typing_context, a, b, c):
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    return signature, codegen


_compiled = nb.njit(nogil=True, cache=True, fastmath=False, error_model="numpy")


@_compiled
def largest_bits(bits):
    """Largest of the bit patterns of floats without their signs, which order as sizes do.

    Whole numbers, because a maximum of floats is not computed in vectors.
    """
    largest = np.int64(0)
    for i in range(bits.shape[0]):
        for k in range(bits.shape[1]):
            largest = max(largest, bits[i, k] & np.int64(0x7FFFFFFFFFFFFFFF))
    return largest


@_compiled
def prepare(rows, shift, centre, smallest, scaled, centred, norms):
    """Scale by 2**shift and centre each row, with a last column of ones; squared norms too.

    A row with an entry that is not zero but below `smallest` once scaled could lose digits to
    underflow. Its norm becomes infinite, so that the guard keeps it out of every product.
    """
    # Two factors, since 2**1022 times a half may not be a normal number.
    once, twice = math.ldexp(1.0, shift // 2), math.ldexp(1.0, shift - shift // 2)
    d = rows.shape[1]
    for i in range(rows.shape[0]):
        total = 0.0
        tiny = 0
        for k in range(d):
            entry = rows[i, k] * once * twice
            tiny += (abs(entry) < smallest) & (rows[i, k] != 0.0)
            scaled[i, k] = entry
            centred[i, k] = entry - centre[k]
            total += centred[i, k] * centred[i, k]
        centred[i, d] = 1.0
        norms[i] = np.inf if tiny else total


@_compiled
def tile_lengths(left, right, lower, lengths):
    """Distances between the rows of `left` (B, p, d) and the columns of `right` (B, d, q).

    With `lower` (left and right are the same rows) only entries j < i are promised: the rest is
    left as it was, or filled with distances too where that keeps the vector units busy. Two rows
    and four coordinates go at once, to read less memory per operation; the sum of a pair still
    runs over its coordinates one after the other.
    """
    p, d, q = left.shape[1], left.shape[2], right.shape[2]
    spare = np.empty(q)
    for t in range(left.shape[0]):
        rows, columns, out = left[t], right[t], lengths[t]
        for start in range(0, d, _PANEL):
            stop = min(d, start + _PANEL)
            fours = start + (stop - start) // 4 * 4
            for i in range(0, p, 2):
                i2 = min(i + 1, p - 1)
                wanted = min(q, (i2 + 15) // 16 * 16) if lower else q
                out1 = out[i]
                out2 = out[i2] if i2 > i else spare
                if start == 0:
                    for j in range(wanted):
                        out1[j] = 0.0
                        out2[j] = 0.0
                for k in range(start, fours, 4):
                    a0, a1, a2, a3 = rows[i, k], rows[i, k + 1], rows[i, k + 2], rows[i, k + 3]
                    b0, b1, b2, b3 = rows[i2, k], rows[i2, k + 1], rows[i2, k + 2], rows[i2, k + 3]
                    for j in range(wanted):
                        c0, c1 = columns[k, j], columns[k + 1, j]
                        c2, c3 = columns[k + 2, j], columns[k + 3, j]
                        s0, s1, s2, s3 = a0 - c0, a1 - c1, a2 - c2, a3 - c3
                        t0, t1, t2, t3 = b0 - c0, b1 - c1, b2 - c2, b3 - c3
                        out1[j] = _fma(s3, s3, _fma(s2, s2, _fma(s1, s1, _fma(s0, s0, out1[j]))))
                        out2[j] = _fma(t3, t3, _fma(t2, t2, _fma(t1, t1, _fma(t0, t0, out2[j]))))
                for k in range(fours, stop):
                    a0, b0 = rows[i, k], rows[i2, k]
                    for j in range(wanted):
                        s0, t0 = a0 - columns[k, j], b0 - columns[k, j]
                        out1[j] = _fma(s0, s0, out1[j])
                        out2[j] = _fma(t0, t0, out2[j])
        for i in range(p):
            row = out[i]
            for j in range(min(q, (i + 15) // 16 * 16) if lower else q):
                row[j] = math.sqrt(row[j])


@_compiled
def weigh(lengths, radial, bound, left_norms, right_norms, guard, largest, lower, weights):
    """Weights w = (ξ/(‖g‖∞ s))² of the pairs that the guard admits, -1 for the others.

    With `lower` the entries j ≥ i get weight 0.

    A pair is admitted if w (|u_i|² + |u_j|²) ≤ `guard` and w ≤ `largest`, written so that NaN and
    infinity fail: equal rows, and rows that `prepare` marked, never pass. ξ is clipped to the
    bound here, whatever the sign says. Returns the number of pairs that failed.
    """
    failed = 0
    for t in range(lengths.shape[0]):
        for i in range(lengths.shape[1]):
            end = i if lower else lengths.shape[2]
            s_row, xi_row, w_row = lengths[t, i], radial[t, i], weights[t, i]
            own, others = left_norms[t, i], right_norms[t]
            for j in range(end):
                xi = abs(xi_row[j])
                xi = xi if xi <= bound else (bound if xi > bound else 0.0)
                root = xi / (bound * s_row[j])
                w = root * root
                admitted = (w * (own + others[j]) <= guard) & (w <= largest)
                w_row[j] = w if admitted else -1.0
                failed += 0 if admitted else 1
            w_row[end:] = 0.0
    return failed


@_compiled
def forgive_equal_rows(lengths, left_rows, right_rows, weights):
    """Give weight 0 to refused pairs whose rows are equal, since g(0) = 0; return how many."""
    forgiven = 0
    for t in range(lengths.shape[0]):
        for i in range(lengths.shape[1]):
            for j in range(lengths.shape[2]):
                if weights[t, i, j] < 0 and lengths[t, i, j] == 0:
                    equal = True
                    for k in range(left_rows.shape[2]):
                        if left_rows[t, i, k] != right_rows[t, j, k]:
                            equal = False
                            break
                    if equal:
                        weights[t, i, j] = 0.0
                        forgiven += 1
    return forgiven


@_compiled
def add_column_sums(weights, sums):
    """Add Σ_i w_ij to sums (B, q)."""
    for t in range(weights.shape[0]):
        for i in range(weights.shape[1]):
            for j in range(weights.shape[2]):
                sums[t, j] += weights[t, i, j]


@_compiled
def laplacian_rows(centred, products, degrees):
    """Turn the rows Σ_j w_ij (u_j, 1) of `products` into deg_i u_i - 2 Σ_j w_ij u_j, in place.

    The degree is the row's weight sum, the last entry of the product, plus `degrees`.
    """
    d = products.shape[1] - 1
    for i in range(products.shape[0]):
        degree = products[i, d] + degrees[i]
        for k in range(d):
            products[i, k] = degree * centred[i, k] - 2.0 * products[i, k]


@_compiled
def _largest_difference(a, b, shrink):
    largest = 0.0
    for k in range(a.shape[0]):
        largest = max(largest, abs(shrink * a[k] - shrink * b[k]))
    return largest


@_compiled
def pair_differences(first, second, differences, lengths, exponents):
    """Differences of row pairs, each scaled by its own power of two to a largest entry in [½, 1).

    `lengths` are those of the scaled differences, summed in the order of `tile_lengths`; the
    true ones are 2**exponents times as long.
    """
    for p in range(first.shape[0]):
        a, b, out = first[p], second[p], differences[p]
        shrink, shift = 1.0, 0
        largest = _largest_difference(a, b, shrink)
        if largest == np.inf:
            # What a quarter rounds away is below 1e-600 of the largest entry.
            shrink, shift = 0.25, 2
            largest = _largest_difference(a, b, shrink)
        exponent = math.frexp(largest)[1]
        # Two factors, since 2**1074 is not a number.
        once = math.ldexp(1.0, -exponent // 2)
        twice = math.ldexp(1.0, -exponent - (-exponent // 2))
        total = 0.0
        for k in range(a.shape[0]):
            out[k] = (shrink * a[k] - shrink * b[k]) * once * twice
            total = _fma(out[k], out[k], total)
        lengths[p] = math.sqrt(total)
        exponents[p] = exponent + shift


@_compiled
def add_directions(rows, centre, scale, total, lengths):
    """Add rint(scale · u) over the unit vectors u from the centre; lengths of the differences.

    Every term is a function of its own row alone and a whole number, so the sums are exact
    while they stay below 2**53. Halves first: a difference of two floats is then a float.
    """
    d = rows.shape[1]
    half = np.empty(d)
    for i in range(rows.shape[0]):
        largest = 0.0
        for k in range(d):
            half[k] = 0.5 * rows[i, k] - 0.5 * centre[k]
            largest = max(largest, abs(half[k]))
        unit = 2.0
        if largest == 0.0:
            lengths[i] = 0.0
            continue
        if largest < 1e-140 or largest > 1e140:  # squares could leave the range of floats
            exponent = math.frexp(largest)[1]
            for k in range(d):
                half[k] = math.ldexp(half[k], -exponent)
            unit = math.ldexp(1.0, min(exponent + 1, 1023))
        square = 0.0
        for k in range(d):
            square += half[k] * half[k]
        root = math.sqrt(square)
        lengths[i] = min(root * unit, 1.7976931348623157e308)
        factor = scale / root
        for k in range(d):
            total[k] += np.rint(half[k] * factor)
