"""The compiled loops over single rows and given pairs; see `pair_loops` for what they promise."""

from __future__ import annotations

import math

import numpy as np

from gdppca.kernels.vectors import compiled, fma

_SIZE = np.int64(0x7FFFFFFFFFFFFFFF)  # the bits of a float but for its sign
# Sums of squares between which a row is of ordinary size: nothing overflows, and what underflows is
# below 2⁻¹⁷⁰ of the sum (docs/proofs/kernel.md). The comparison fails for NaN.
SMALLEST_SQUARE = 2.0**-900
LARGEST_SQUARE = 2.0**900
_TOGETHER = 8  # rows whose chains of sums run beside each other, to wait less


@compiled
def largest_size(table, i):
    """Largest size in row i, where no number is NaN.

    By their bits as whole numbers without a sign, which order as sizes do: a maximum of floats is
    not computed in vectors.
    """
    largest = np.int64(0)
    for k in range(table.shape[1]):
        largest = max(largest, np.float64(table[i, k]).view(np.int64) & _SIZE)
    return np.int64(largest).view(np.float64)


@compiled
def pair_differences(first, second, differences, lengths, exponents):
    """Differences of row pairs, each scaled by its own power of two to a largest entry in [½, 1).

    All rows of `first` meet the same row if `second` has one only.

    `lengths` are those of the scaled differences, summed in the order of `pair_squares`; the
    true ones are 2**exponents times as long.
    """
    for start in range(0, len(first), 4):
        stop = min(len(first), start + 4)
        for p in range(start, stop):
            exponents[p] = _scaled_difference(first, second, p, differences)
        _fill_lengths(differences, start, stop, lengths, start)


@compiled
def _scaled_difference(first, second, p, differences):
    """Fill the difference of pair p, scaled, and return the exponent of the scale."""
    d, q = first.shape[1], min(p, len(second) - 1)
    shift = 0
    for k in range(d):
        differences[p, k] = first[p, k] - second[q, k]
    largest = largest_size(differences, p)
    if largest == np.inf:
        # What a quarter rounds away is below 1e-600 of the largest entry.
        shift = 2
        for k in range(d):
            differences[p, k] = 0.25 * first[p, k] - 0.25 * second[q, k]
        largest = largest_size(differences, p)
    exponent = math.frexp(largest)[1]
    # Two factors, since 2**1074 is not a number.
    once = math.ldexp(1.0, -exponent // 2)
    twice = math.ldexp(1.0, -exponent - (-exponent // 2))
    for k in range(d):
        differences[p, k] = differences[p, k] * once * twice
    return exponent + shift


@compiled
def _fill_lengths(rows, start, stop, lengths, place):
    """Lengths of at most four rows, columns one after the other; four at once, to wait less."""
    s0 = s1 = s2 = s3 = 0.0
    if stop - start == 4:
        for k in range(rows.shape[1]):
            x0, x1, x2 = rows[start, k], rows[start + 1, k], rows[start + 2, k]
            x3 = rows[start + 3, k]
            s0, s1, s2, s3 = fma(x0, x0, s0), fma(x1, x1, s1), fma(x2, x2, s2), fma(x3, x3, s3)
        lengths[place], lengths[place + 1] = math.sqrt(s0), math.sqrt(s1)
        lengths[place + 2], lengths[place + 3] = math.sqrt(s2), math.sqrt(s3)
        return
    for i in range(start, stop):
        s0 = 0.0
        for k in range(rows.shape[1]):
            s0 = fma(rows[i, k], rows[i, k], s0)
        lengths[place + i - start] = math.sqrt(s0)


@compiled
def _chains(rows, start, squares):
    """Sums of squares of eight rows, columns one after the other, as in `_fill_lengths`."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for k in range(rows.shape[1]):
        x0, x1, x2 = rows[start, k], rows[start + 1, k], rows[start + 2, k]
        x3, x4, x5 = rows[start + 3, k], rows[start + 4, k], rows[start + 5, k]
        x6, x7 = rows[start + 6, k], rows[start + 7, k]
        s0, s1, s2, s3 = fma(x0, x0, s0), fma(x1, x1, s1), fma(x2, x2, s2), fma(x3, x3, s3)
        s4, s5, s6, s7 = fma(x4, x4, s4), fma(x5, x5, s5), fma(x6, x6, s6), fma(x7, x7, s7)
    squares[0], squares[1], squares[2], squares[3] = s0, s1, s2, s3
    squares[4], squares[5], squares[6], squares[7] = s4, s5, s6, s7


@compiled
def _squares(rows, start, stop, squares):
    """Sums of squares of at most eight rows; the same bits however many there are."""
    if stop - start == _TOGETHER:
        _chains(rows, start, squares)
        return
    for i in range(start, stop):
        own = 0.0
        for k in range(rows.shape[1]):
            own = fma(rows[i, k], rows[i, k], own)
        squares[i - start] = own


@compiled
def centred_rows(rows, centre, differences, lengths, exponents):
    """What `pair_differences` fills, for a centre: rows of ordinary size are not scaled.

    Which way a row goes is seen in its own differences alone. Both ways give the same bits, but for
    the power of two, wherever nothing underflows.
    """
    n, d = rows.shape
    squares = np.empty(_TOGETHER)
    for start in range(0, n, _TOGETHER):
        stop = min(n, start + _TOGETHER)
        for i in range(start, stop):
            for k in range(d):
                differences[i, k] = rows[i, k] - centre[0, k]
        _squares(differences, start, stop, squares)
        for i in range(start, stop):
            if SMALLEST_SQUARE <= squares[i - start] <= LARGEST_SQUARE:
                lengths[i], exponents[i] = math.sqrt(squares[i - start]), 0
            else:
                exponents[i] = _scaled_difference(rows, centre, i, differences)
                _fill_lengths(differences, i, i + 1, lengths, i)


@compiled
def unit_rows(rows, centre, units):
    """Unit vectors from the centre to the rows, zero where there is no difference.

    The same bits as those of `centred_rows` over their lengths.
    """
    n, d = rows.shape
    squares, root, exponents = np.empty(_TOGETHER), np.empty(1), np.empty(1, np.int64)
    for start in range(0, n, _TOGETHER):
        stop = min(n, start + _TOGETHER)
        for i in range(start, stop):
            for k in range(d):
                units[i, k] = rows[i, k] - centre[0, k]
        _squares(units, start, stop, squares)
        for i in range(start, stop):
            root[0] = math.sqrt(squares[i - start])
            if not SMALLEST_SQUARE <= squares[i - start] <= LARGEST_SQUARE:
                exponents[0] = _scaled_difference(rows, centre, i, units)
                _fill_lengths(units, i, i + 1, root, 0)
            factor = 1.0 / root[0] if root[0] > 0.0 else 0.0
            for k in range(d):
                units[i, k] *= factor


@compiled
def scale_rows(rows, factors):
    """Multiply every row by a number of its own."""
    for i in range(len(rows)):
        for k in range(rows.shape[1]):
            rows[i, k] *= factors[i]


@compiled
def add_directions(rows, centre, scale, parts, total, lengths):
    """Add rint(scale · u) over the unit vectors u from the centre; lengths of the differences.

    With parts a row counts that much instead of the scale, and is cut towards zero. Every term is
    a function of its own row alone and a whole number, so the sums are exact while they stay below
    2**53. Halves first: a difference of two floats is then a float. A cell that is missing, NaN, is
    at the centre.
    """
    n, d = rows.shape
    halves, squares = np.empty((_TOGETHER, d)), np.empty(_TOGETHER)
    factors, root = np.empty(_TOGETHER), np.empty(1)
    for start in range(0, n, _TOGETHER):
        few = min(_TOGETHER, n - start)
        for i in range(few):
            for k in range(d):
                halves[i, k] = 0.5 * rows[start + i, k] - 0.5 * centre[k]
        _squares(halves, 0, few, squares)
        for i in range(few):
            root[0], unit = math.sqrt(squares[i]), 2.0
            if not SMALLEST_SQUARE <= squares[i] <= LARGEST_SQUARE:
                unit = _half_difference(rows, start + i, centre, halves, i)
                _fill_lengths(halves, i, i + 1, root, 0)
            lengths[start + i] = min(root[0] * unit, 1.7976931348623157e308)
            own = scale if parts is None else parts[start + i]
            factors[i] = own / root[0] if root[0] > 0.0 else 0.0
        for i in range(few):
            factor = factors[i]
            if parts is None:
                for k in range(d):
                    total[k] += np.rint(halves[i, k] * factor)
            else:
                for k in range(d):
                    total[k] += np.trunc(halves[i, k] * factor)


@compiled
def _half_difference(rows, row, centre, halves, i):
    """Fill (row - centre)/2, scaled where squares could leave the range of floats.

    Returns how much longer the difference is.
    """
    for k in range(len(centre)):
        there = not np.isnan(rows[row, k])
        halves[i, k] = 0.5 * rows[row, k] - 0.5 * centre[k] if there else 0.0
    largest = largest_size(halves, i)
    if largest == 0.0 or 1e-140 <= largest <= 1e140:
        return 2.0
    exponent = math.frexp(largest)[1]
    for k in range(len(centre)):
        halves[i, k] = math.ldexp(halves[i, k], -exponent)
    return math.ldexp(1.0, min(exponent + 1, 1023))


@compiled
def cross_parts(rows, lengths, directions, factors, clip, weights, along):
    """Turn rows, differences of so many lengths, into w·a, and fill Db for every one.

    With u the row over its length, b = Vu for the rows V of `directions`, a = u - V'b is what is
    beside them, D are the factors, and w is the row's weight, less where |a||Db| is above `clip`.
    Sums run in a fixed order, so that every part is a function of its own row alone.
    """
    m, d = directions.shape
    for i in range(len(rows)):
        root = lengths[i] if lengths[i] > 0.0 else 1.0  # a row at the centre is zero
        for k in range(d):
            rows[i, k] /= root
        for j in range(m):
            dot = 0.0
            for k in range(d):
                dot = fma(directions[j, k], rows[i, k], dot)
            along[i, j] = dot
        size = 0.0
        for j in range(m):
            for k in range(d):
                rows[i, k] = fma(-along[i, j], directions[j, k], rows[i, k])
            along[i, j] *= factors[j]
            size = fma(along[i, j], along[i, j], size)
        own = 0.0
        for k in range(d):
            own = fma(rows[i, k], rows[i, k], own)
        size = math.sqrt(size) * math.sqrt(own)
        kept = weights[i] if size <= clip else weights[i] * (clip / size)
        for k in range(d):
            rows[i, k] *= kept
