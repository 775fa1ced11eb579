"""How much a row counts: whole numbers of 2⁻³⁰, so that what one person counts never exceeds one.

A person's rows share a weight of one. As floats their weights could add up to more than that; as
whole numbers that are rounded down they cannot (docs/proofs/persons.md).
"""

from __future__ import annotations

import numpy as np

WHOLE = 2**30  # what one row, or all rows of one person, count at most
_TASK = 2**20  # rows whose whole numbers add up to a float exactly


def whole_parts(rows_each: np.ndarray | int, share: np.ndarray | None = None) -> np.ndarray:
    """⌊2³⁰ s/n⌋ for every row: n rows of the same person, a share s in [0, 1] of its own."""
    whole = WHOLE if share is None else np.floor(np.ldexp(share, 30)).astype(np.int64)
    return np.asarray(whole // rows_each, dtype=np.int64)


def counted(index: np.ndarray, parts: np.ndarray | None, bins: int) -> np.ndarray:
    """How much counts in every bin; exact. Rows with a negative index count nowhere."""
    if parts is None:
        return np.bincount(index[index >= 0], minlength=bins).astype(float)
    total = np.zeros(bins, dtype=np.int64)
    for start in range(0, len(index), _TASK):
        few, own = index[start : start + _TASK], parts[start : start + _TASK]
        there = few >= 0
        found = np.bincount(few[there], weights=own[there].astype(float), minlength=bins)
        total += found.astype(np.int64)
    return np.ldexp(total.astype(float), -30)


def exact_sums(values: np.ndarray, parts: np.ndarray | None, bits: int = 30) -> np.ndarray:
    """Sums over rows of numbers between -1 and 1, each rounded to a multiple of 2⁻³⁰; exact.

    With weights each number is cut towards zero: a person's numbers never add up to more than one.
    """
    bits = bits if parts is None else 30
    return np.ldexp(whole_sum(values, parts, bits).astype(float), -bits)


def whole_sum(values: np.ndarray, parts: np.ndarray | None, bits: int = 30) -> np.ndarray:
    """The same as whole numbers of 2⁻³⁰, or of another power where rows count whole."""
    if parts is None:
        whole = np.rint(np.ldexp(values, bits)).astype(np.int64)
    else:
        own = parts.reshape(-1, *(1,) * (values.ndim - 1))
        whole = np.trunc(values * own).astype(np.int64)
    return np.asarray(whole.sum(axis=0))
