"""Vectors of eight numbers for the compiled loops, which name them themselves.

Left to itself the compiler uses half of the machine's width. Every operation is strict IEEE
arithmetic (no fastmath) with explicit fused multiply-adds.
"""

from __future__ import annotations

import numba as nb
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

from gdppca.kernels.layout import LANES

_LINE = ir.VectorType(ir.DoubleType(), LANES)

compiled = nb.njit(nogil=True, cache=True, fastmath=False, error_model="numpy")


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
def load(typing_context, table, i, j):
    """table[i, j : j + 8]; nothing checks that it is there and lies in one piece."""

    def codegen(context, builder, signature, args):
        return builder.load(_pointer(context, builder, table, args[0], args[1:]), align=8)

    return _vector(table, types.intp, types.intp), codegen


@intrinsic
def store(typing_context, table, i, j, values):
    """table[i, j : j + 8] = values."""

    def codegen(context, builder, signature, args):
        builder.store(args[3], _pointer(context, builder, table, args[0], args[1:3]), align=8)

    return types.void(table, types.intp, types.intp, _vector), codegen


@intrinsic
def spread(typing_context, number):
    """Eight times the same number."""

    def codegen(context, builder, signature, args):
        empty = ir.Constant(_LINE, ir.Undefined)
        first = builder.insert_element(empty, args[0], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, empty, zeros)

    return _vector(types.float64), codegen


@intrinsic
def minus(typing_context, a, b):
    """Eight differences."""

    def codegen(context, builder, signature, args):
        return builder.fsub(*args)

    return _vector(_vector, _vector), codegen


@intrinsic
def fmas(typing_context, a, b, c):
    """Eight times a · b + c, rounded once."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(_LINE, [_LINE] * 3)
        fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        return builder.call(fma, args)

    return _vector(_vector, _vector, _vector), codegen


@intrinsic
def total(typing_context, values):
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
def fma(typing_context, a, b, c):
    """a · b + c, rounded once."""
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    return signature, codegen


@compiled
def zeros4():
    """Four vectors of zeros."""
    zero = spread(0.0)
    return zero, zero, zero, zero


@compiled
def load4(table, i, j):
    """table[i : i + 4, j : j + 8]."""
    return load(table, i, j), load(table, i + 1, j), load(table, i + 2, j), load(table, i + 3, j)


@compiled
def spread4(table, i, j):
    """Eight times each of table[i : i + 4, j]."""
    a, b = spread(table[i, j]), spread(table[i + 1, j])
    return a, b, spread(table[i + 2, j]), spread(table[i + 3, j])


@compiled
def store4(table, i, j, values):
    """table[i : i + 4, j : j + 8] = values."""
    store(table, i, j, values[0])
    store(table, i + 1, j, values[1])
    store(table, i + 2, j, values[2])
    store(table, i + 3, j, values[3])


@compiled
def minus4(a, b):
    """Four times eight differences."""
    return minus(a[0], b[0]), minus(a[1], b[1]), minus(a[2], b[2]), minus(a[3], b[3])


@compiled
def fmas4(a, b, c):
    """Eight times a · b + c, rounded once, of one vector a and four b and c."""
    return fmas(a, b[0], c[0]), fmas(a, b[1], c[1]), fmas(a, b[2], c[2]), fmas(a, b[3], c[3])
