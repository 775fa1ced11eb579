"""The compiled inner loops; imported on first use only, because numba is slow to import.

Every loop is strict IEEE arithmetic (no fastmath) with explicit fused multiply-adds, so the
distance of a pair is a function of its two rows alone: the same bits whatever the tile, the
position in it, the common power of two or the number of threads. Signs with a hard edge depend
on that; see docs/proofs/kernel.md.

Tables lie on their side here, one line per column of the data, so that a vector of eight numbers
holds the same column of eight rows. The two loops that do most of the work name such vectors
themselves: left to itself the compiler uses half of the machine's width.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

LANES = 8  # numbers in a vector
BLOCK_PADDING = 2 * LANES  # blocks are padded with rows of zeros to a multiple of it
LINES_PADDING = 4  # centred tables are padded with lines of zeros to a multiple of it
_SIZE = np.int64(0x7FFFFFFFFFFFFFFF)  # the bits of a float but for its sign
_PANEL = 128  # columns per sweep: four rows and eight rows of them stay in the first-level cache
_LINE = ir.VectorType(ir.DoubleType(), LANES)


class _Vector(types.Type):
    def __init__(self):
        super().__init__(name="Vector")


_vector = _Vector()


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, _LINE)


def _pointer(context, builder, array_type, array, indices):
    array = context.make_array(array_type)(context, builder, array)
    item = cgutils.get_item_pointer(context, builder, array_type, array, indices)
    return builder.bitcast(item, _LINE.as_pointer())


@intrinsic
def _load(typing_context, table, i, j):
    """table[i, j : j + 8]; nothing checks that it is there and lies in one piece."""

    def codegen(context, builder, signature, args):
        return builder.load(_pointer(context, builder, table, args[0], args[1:]), align=8)

    return _vector(table, types.intp, types.intp), codegen


@intrinsic
def _store(typing_context, table, i, j, values):
    """table[i, j : j + 8] = values."""

    def codegen(context, builder, signature, args):
        builder.store(args[3], _pointer(context, builder, table, args[0], args[1:3]), align=8)

    return types.void(table, types.intp, types.intp, _vector), codegen


@intrinsic
def _spread(typing_context, number):
    """Eight times the same number."""

    def codegen(context, builder, signature, args):
        empty = ir.Constant(_LINE, ir.Undefined)
        first = builder.insert_element(empty, args[0], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, empty, zeros)

    return _vector(types.float64), codegen


@intrinsic
def _minus(typing_context, a, b):
    """Eight differences."""

    def codegen(context, builder, signature, args):
        return builder.fsub(*args)

    return _vector(_vector, _vector), codegen


@intrinsic
def _fmas(typing_context, a, b, c):
    """Eight times a · b + c, rounded once."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(_LINE, [_LINE] * 3)
        fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        return builder.call(fma, args)

    return _vector(_vector, _vector, _vector), codegen


@intrinsic
def _total(typing_context, values):
    """Sum of a vector: of its halves, of their halves, of the last two."""

    def codegen(context, builder, signature, args):
        [total] = args
        for half in (4, 2, 1):
            lanes = [ir.Constant(ir.IntType(32), lane) for lane in range(2 * half)]
            mask = ir.VectorType(ir.IntType(32), half)
            low = builder.shuffle_vector(total, total, ir.Constant(mask, lanes[:half]))
            high = builder.shuffle_vector(total, total, ir.Constant(mask, lanes[half:]))
            total = builder.fadd(low, high)
        return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))

    return types.float64(_vector), codegen


@intrinsic
def _fma(typing_context, a, b, c):
    """a · b + c, rounded once."""
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    return signature, codegen


@intrinsic
def _bits(typing_context, number):
    """The bits of a float as a whole number."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def _number(typing_context, bits):
    """The float with these bits."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


_compiled = nb.njit(nogil=True, cache=True, fastmath=False, error_model="numpy")


@_compiled
def largest_bits(bits):
    """Largest of the bit patterns of floats without their signs, which order as sizes do.

    Whole numbers, because a maximum of floats is not computed in vectors.
    """
    largest = np.int64(0)
    for i in range(bits.shape[0]):
        for k in range(bits.shape[1]):
            largest = max(largest, bits[i, k] & _SIZE)
    return largest


@_compiled
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


@_compiled
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
                s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = _spread(0.0)
                if start > 0:
                    s0, s1 = _load(squares, i, j), _load(squares, i + 1, j)
                    s2, s3 = _load(squares, i + 2, j), _load(squares, i + 3, j)
                    s4, s5 = _load(squares, i + 4, j), _load(squares, i + 5, j)
                    s6, s7 = _load(squares, i + 6, j), _load(squares, i + 7, j)
                for k in range(start, min(d, start + _PANEL)):
                    others = _load(seconds, k, j)
                    t0 = _minus(others, _spread(firsts[k, i]))
                    t1 = _minus(others, _spread(firsts[k, i + 1]))
                    t2 = _minus(others, _spread(firsts[k, i + 2]))
                    t3 = _minus(others, _spread(firsts[k, i + 3]))
                    t4 = _minus(others, _spread(firsts[k, i + 4]))
                    t5 = _minus(others, _spread(firsts[k, i + 5]))
                    t6 = _minus(others, _spread(firsts[k, i + 6]))
                    t7 = _minus(others, _spread(firsts[k, i + 7]))
                    s0, s1 = _fmas(t0, t0, s0), _fmas(t1, t1, s1)
                    s2, s3 = _fmas(t2, t2, s2), _fmas(t3, t3, s3)
                    s4, s5 = _fmas(t4, t4, s4), _fmas(t5, t5, s5)
                    s6, s7 = _fmas(t6, t6, s6), _fmas(t7, t7, s7)
                _store4(squares, i, j, s0, s1, s2, s3)
                _store4(squares, i + 4, j, s4, s5, s6, s7)


@_compiled
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


@_compiled
def add_degrees(weights, first_degrees, second_degrees):
    """Add the weight sums Σ_j w_ij to (1, p) and Σ_i w_ij to (1, q) degrees."""
    one = _spread(1.0)
    for i in range(first_degrees.shape[1]):
        line = _spread(0.0)
        for j in range(0, second_degrees.shape[1], LANES):
            w = _load(weights, i, j)
            line = _fmas(one, w, line)
            _store(second_degrees, 0, j, _fmas(one, w, _load(second_degrees, 0, j)))
        first_degrees[0, i] += _total(line)


@_compiled
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


@_compiled
def _wide_lines(weights, centred, j, products):
    zero = _spread(0.0)
    e, f = _degrees(weights, j), _degrees(weights, j + LANES)
    g, h = _degrees(weights, j + 2 * LANES), _degrees(weights, j + 3 * LANES)
    for k in range(0, centred.shape[0], LINES_PADDING):
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
        c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = zero
        for i in range(centred.shape[1]):
            u0, u1 = _spread(centred[k, i]), _spread(centred[k + 1, i])
            u2, u3 = _spread(centred[k + 2, i]), _spread(centred[k + 3, i])
            v, w = _load(weights, i, j), _load(weights, i, j + LANES)
            a0, a1, a2, a3 = _fmas4(v, u0, u1, u2, u3, a0, a1, a2, a3)
            b0, b1, b2, b3 = _fmas4(w, u0, u1, u2, u3, b0, b1, b2, b3)
            v, w = _load(weights, i, j + 2 * LANES), _load(weights, i, j + 3 * LANES)
            c0, c1, c2, c3 = _fmas4(v, u0, u1, u2, u3, c0, c1, c2, c3)
            d0, d1, d2, d3 = _fmas4(w, u0, u1, u2, u3, d0, d1, d2, d3)
        _store_lines(e, a0, a1, a2, a3, centred, k, j, products)
        _store_lines(f, b0, b1, b2, b3, centred, k, j + LANES, products)
        _store_lines(g, c0, c1, c2, c3, centred, k, j + 2 * LANES, products)
        _store_lines(h, d0, d1, d2, d3, centred, k, j + 3 * LANES, products)


@_compiled
def _narrow_lines(weights, centred, j, products):
    zero = _spread(0.0)
    e, f = _degrees(weights, j), _degrees(weights, j + LANES)
    for k in range(0, centred.shape[0], LINES_PADDING):
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
        for i in range(centred.shape[1]):
            u0, u1 = _spread(centred[k, i]), _spread(centred[k + 1, i])
            u2, u3 = _spread(centred[k + 2, i]), _spread(centred[k + 3, i])
            v, w = _load(weights, i, j), _load(weights, i, j + LANES)
            a0, a1, a2, a3 = _fmas4(v, u0, u1, u2, u3, a0, a1, a2, a3)
            b0, b1, b2, b3 = _fmas4(w, u0, u1, u2, u3, b0, b1, b2, b3)
        _store_lines(e, a0, a1, a2, a3, centred, k, j, products)
        _store_lines(f, b0, b1, b2, b3, centred, k, j + LANES, products)


@_compiled
def _degrees(weights, j):
    degrees = _spread(0.0)
    for i in range(weights.shape[0]):
        degrees = _fmas(_spread(1.0), _load(weights, i, j), degrees)
    return degrees


@_compiled
def _store_lines(degrees, s0, s1, s2, s3, centred, k, j, products):
    zero = _spread(0.0)
    _store(products, k, j, _minus(_fmas(degrees, _load(centred, k, j), zero), s0))
    _store(products, k + 1, j, _minus(_fmas(degrees, _load(centred, k + 1, j), zero), s1))
    _store(products, k + 2, j, _minus(_fmas(degrees, _load(centred, k + 2, j), zero), s2))
    _store(products, k + 3, j, _minus(_fmas(degrees, _load(centred, k + 3, j), zero), s3))


@_compiled
def _fmas4(p, u0, u1, u2, u3, s0, s1, s2, s3):
    return _fmas(p, u0, s0), _fmas(p, u1, s1), _fmas(p, u2, s2), _fmas(p, u3, s3)


@_compiled
def _store4(table, k, j, s0, s1, s2, s3):
    _store(table, k, j, s0)
    _store(table, k + 1, j, s1)
    _store(table, k + 2, j, s2)
    _store(table, k + 3, j, s3)


@_compiled
def _add_lower_product(centred, products, width, scatter):
    """Add the lower half of centred · products', which is symmetric.

    Four lines meet four at once, each pair of lines in a vector of eight sums.
    """
    zero = _spread(0.0)
    for k in range(0, centred.shape[0], LINES_PADDING):
        for m in range(0, k + LINES_PADDING, LINES_PADDING):
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
            c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = zero
            for j in range(0, width, LANES):
                p, q = _load(products, m, j), _load(products, m + 1, j)
                r, s = _load(products, m + 2, j), _load(products, m + 3, j)
                u0, u1 = _load(centred, k, j), _load(centred, k + 1, j)
                u2, u3 = _load(centred, k + 2, j), _load(centred, k + 3, j)
                a0, a1, a2, a3 = _fmas4(p, u0, u1, u2, u3, a0, a1, a2, a3)
                b0, b1, b2, b3 = _fmas4(q, u0, u1, u2, u3, b0, b1, b2, b3)
                c0, c1, c2, c3 = _fmas4(r, u0, u1, u2, u3, c0, c1, c2, c3)
                d0, d1, d2, d3 = _fmas4(s, u0, u1, u2, u3, d0, d1, d2, d3)
            _add_totals(a0, a1, a2, a3, k, m, scatter)
            _add_totals(b0, b1, b2, b3, k, m + 1, scatter)
            _add_totals(c0, c1, c2, c3, k, m + 2, scatter)
            _add_totals(d0, d1, d2, d3, k, m + 3, scatter)


@_compiled
def _add_totals(s0, s1, s2, s3, k, m, scatter):
    scatter[k, m] += _total(s0)
    scatter[k + 1, m] += _total(s1)
    scatter[k + 2, m] += _total(s2)
    scatter[k + 3, m] += _total(s3)


@_compiled
def block_squares(scaled, padded, slots, squares):
    """Squared distances (B, p, p) inside each block of panels (N, d, width)."""
    for block in range(squares.shape[0]):
        left = block % slots * padded
        x = scaled[block // slots, :, left : left + padded]
        pair_squares(x, x, True, squares[block])


@_compiled
def add_blocks(
    scaled,
    centred,
    norms,
    radial,
    bound,
    size,
    padded,
    slots,
    guard,
    largest,
    refused,
    pairs,
    scatter,
):
    """Add U'(D - W)U of every block, lower half.

    What belongs to a block stays in the first-level cache, what belongs to a panel in the second.
    A few refused pairs are listed in `pairs` (m, 2) by their rows; where a block has many, or the
    list is full, they are only counted in `refused`. Returns the length of the list.
    """
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


@_compiled
def _list_refused(weights, size, first, pairs):
    """Write down the rows of the refused pairs, of which there are as many as `pairs` has room."""
    listed = 0
    if len(pairs) > 0:
        for i in range(size):
            for j in range(i + 1, size):
                if weights[i, j] < 0:
                    pairs[listed, 0], pairs[listed, 1] = first + i, first + j
                    listed += 1


@_compiled
def _mirror(weights, size):
    """Copy the upper half of the weights to the lower, refused ones and padding as 0."""
    for i in range(size):
        weights[i, i] = 0.0
        for j in range(i):
            w = max(weights[j, i], 0.0)
            weights[j, i] = w
            weights[i, j] = w
    weights[size:] = 0.0


@_compiled
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


@_compiled
def _scaled_difference(first, second, p, differences):
    """Fill the difference of pair p, scaled, and return the exponent of the scale."""
    d, q = first.shape[1], min(p, len(second) - 1)
    shift = 0
    for k in range(d):
        differences[p, k] = first[p, k] - second[q, k]
    largest = _largest(differences, p)
    if largest == np.inf:
        # What a quarter rounds away is below 1e-600 of the largest entry.
        shift = 2
        for k in range(d):
            differences[p, k] = 0.25 * first[p, k] - 0.25 * second[q, k]
        largest = _largest(differences, p)
    exponent = math.frexp(largest)[1]
    # Two factors, since 2**1074 is not a number.
    once = math.ldexp(1.0, -exponent // 2)
    twice = math.ldexp(1.0, -exponent - (-exponent // 2))
    for k in range(d):
        differences[p, k] = differences[p, k] * once * twice
    return exponent + shift


@_compiled
def _largest(table, i):
    """Largest size in row i, where no number is NaN; see `largest_bits`."""
    largest = np.int64(0)
    for k in range(table.shape[1]):
        largest = max(largest, _bits(table[i, k]) & _SIZE)
    return _number(largest)


@_compiled
def _fill_lengths(rows, start, stop, lengths, place):
    """Lengths of at most four rows, columns one after the other; four at once, to wait less."""
    s0 = s1 = s2 = s3 = 0.0
    if stop - start == 4:
        for k in range(rows.shape[1]):
            x0, x1, x2 = rows[start, k], rows[start + 1, k], rows[start + 2, k]
            x3 = rows[start + 3, k]
            s0, s1, s2, s3 = _fma(x0, x0, s0), _fma(x1, x1, s1), _fma(x2, x2, s2), _fma(x3, x3, s3)
        lengths[place], lengths[place + 1] = math.sqrt(s0), math.sqrt(s1)
        lengths[place + 2], lengths[place + 3] = math.sqrt(s2), math.sqrt(s3)
        return
    for i in range(start, stop):
        s0 = 0.0
        for k in range(rows.shape[1]):
            s0 = _fma(rows[i, k], rows[i, k], s0)
        lengths[place + i - start] = math.sqrt(s0)


@_compiled
def add_directions(rows, centre, scale, total, lengths):
    """Add rint(scale · u) over the unit vectors u from the centre; lengths of the differences.

    Every term is a function of its own row alone and a whole number, so the sums are exact
    while they stay below 2**53. Halves first: a difference of two floats is then a float.
    """
    halves, units = np.empty((4, rows.shape[1])), np.empty(4)
    for start in range(0, len(rows), 4):
        few = min(4, len(rows) - start)
        for i in range(few):
            units[i] = _half_difference(rows, start + i, centre, halves, i)
        _fill_lengths(halves, 0, few, lengths, start)
        for i in range(few):
            root = lengths[start + i]
            lengths[start + i] = min(root * units[i], 1.7976931348623157e308)
            if root > 0.0:
                factor = scale / root
                for k in range(len(total)):
                    total[k] += np.rint(halves[i, k] * factor)


@_compiled
def _half_difference(rows, row, centre, halves, i):
    """Fill (row - centre)/2, scaled where squares could leave the range of floats.

    Returns how much longer the difference is.
    """
    for k in range(len(centre)):
        halves[i, k] = 0.5 * rows[row, k] - 0.5 * centre[k]
    largest = _largest(halves, i)
    if largest == 0.0 or 1e-140 <= largest <= 1e140:
        return 2.0
    exponent = math.frexp(largest)[1]
    for k in range(len(centre)):
        halves[i, k] = math.ldexp(halves[i, k], -exponent)
    return math.ldexp(1.0, min(exponent + 1, 1023))
