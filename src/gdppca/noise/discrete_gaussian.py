r"""Exact discrete Gaussian integers, tens of thousands at a time.

The law on the integers is proportional to :math:`e^{-y^2/2S^2}`. Rejection with one decision for
each proposal: coins are tossed until the first head, v tails before it choose the strip
:math:`[v 2^b, (v+1) 2^b)`, b fair bits a point y in it, and the point is kept with probability

.. math:: p(y) = A\, 2^v e^{-y^2/2S^2} \le 1,

which undoes the coins. A fair sign follows, with minus zero thrown away.

Nothing is rounded. A decision is U < p(y) for a uniform U of as many bits as it takes: the first
53 are compared with floating-point bounds around p(y), wide enough for any exponential that is
right to nine digits, and where they cannot tell, whole numbers go on with more bits. So the law is
exact although numpy does the work (docs/proofs/noise.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gdppca._errors import ParameterError
from gdppca.noise.bits import Bits

LARGEST_SCALE = 2.0**41  # exclusive; the noise then fits whole numbers of 64 bits with ease

_CHUNK = 2**15  # proposals; their arrays stay in the cache
_COINS = 23  # of a word of 64 bits: the sign, then the coins, then up to 40 bits of the point
_POINT_BITS = 40
_PARTS = 256  # A is a whole number of these
_RELATIVE = 2.0**-30  # how far the floating-point p may be off, see the proof
_ABSOLUTE = 2.0**-60


@dataclass(frozen=True)
class _Law:
    """The scale S, the bits b of a strip's width, and A in 256ths."""

    scale: float
    bits: int
    parts: int


def _law(scale: float) -> _Law:
    """2ᵇ ≤ S < 2ᵇ⁺¹, and the largest A such that A 2ᵛ exp(-y²/2S²) ≤ 1 in every strip v.

    The strip begins at y = v 2ᵇ. The exponent of 2ᵛ exp(-v²h²/2), h = 2ᵇ/S in (1/2, 1], is concave
    in v with its top between 0.69 and 2.78, so the worst strip is among the first four.
    """
    bits = math.frexp(scale)[1] - 1
    h = math.ldexp(1.0, bits) / scale
    least = min(math.exp(v * v * h * h / 2) / 2**v for v in range(4))
    return _Law(scale, bits, math.floor(_PARTS * least * (1 - 2.0**-20)))


def discrete_gaussian(size: int, scale: float, bits: Bits) -> np.ndarray:
    """Independent integers from the discrete Gaussian law of scale 1 ≤ S < 2**41, exactly."""
    if not 1 <= scale < LARGEST_SCALE:
        raise ParameterError("The noise is drawn on a lattice between one and 2**41 steps per σ.")
    law = _law(scale)
    drawn = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        kept = _kept(law, min(_CHUNK, 2 * (size - filled) + 64), bits)[: size - filled]
        drawn[filled : filled + len(kept)] = kept
        filled += len(kept)
    return drawn


def _kept(law: _Law, proposals: int, bits: Bits) -> np.ndarray:
    """What is kept of so many proposals."""
    words, uniforms = bits.words(2 * proposals).reshape(2, -1)
    tails, points = _proposed(law, words)
    keep, unsure = _decided(law, tails, points, uniforms)
    for i in np.flatnonzero(unsure):
        tails_i, points[i] = _all_coins(law, int(tails[i]), int(points[i]), bits)
        keep[i] = _decided_exactly(law, tails_i, int(points[i]), int(uniforms[i]), bits)
    negative = (words >> np.uint64(63)).astype(bool)
    keep &= ~(negative & (points == 0))
    drawn: np.ndarray = np.where(negative, -points, points)[keep]
    return drawn


def _proposed(law: _Law, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tails before the first head, 23 where there is none yet, and the points."""
    coins = (words >> np.uint64(_POINT_BITS)) & np.uint64(2**_COINS - 1)
    tails = _COINS - np.frexp(coins.astype(float))[1].astype(np.int64)  # leading zeros
    within = (words & np.uint64(2**law.bits - 1)).astype(np.int64)
    return tails, (tails << law.bits) + within


def _decided(
    law: _Law, tails: np.ndarray, points: np.ndarray, uniforms: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where U < p(y) for sure, and where floating point or the coins leave it open."""
    z = points / law.scale
    p = np.ldexp(np.exp(-0.5 * z * z), tails) * (law.parts / _PARTS)
    doubt = _RELATIVE * p + _ABSOLUTE
    u = (uniforms >> np.uint64(11)) * 2.0**-53  # U lies in [u, u + 2⁻⁵³]
    keep = u + 2.0**-53 <= p - doubt
    unsure = ~keep & (u < p + doubt) | (tails == _COINS)
    return keep, unsure


def _all_coins(law: _Law, tails: int, point: int, bits: Bits) -> tuple[int, int]:
    """Go on tossing where no head has come."""
    more = 0
    if tails == _COINS:
        while (word := int(bits.words(1)[0])) == 0:
            more += 64
        more += 64 - word.bit_length()
    return tails + more, point + (more << law.bits)


def _decided_exactly(law: _Law, tails: int, point: int, uniform: int, source: Bits) -> bool:
    """Whether U < p(y), in whole numbers; `uniform` holds the first 64 bits of U."""
    gamma = Fraction(point) ** 2 / (2 * Fraction(law.scale) ** 2)
    bits = 64
    while True:
        low, high = _exponential_bounds(gamma, bits + 64)
        top = (law.parts << tails << bits << (bits + 64)) // _PARTS  # both sides times all these
        if (uniform + 1) * high <= top:
            return True
        if uniform * low >= top:
            return False
        uniform = (uniform << 64) | int(source.words(1)[0])
        bits += 64


def _exponential_bounds(gamma: Fraction, bits: int) -> tuple[int, int]:
    """Whole numbers around 2**bits exp(γ), γ ≥ 0, by its series, rounded down and rounded up."""
    low = high = term_low = term_high = 1 << bits
    k = 0
    while k < 2 * gamma or term_high > 1:
        k += 1
        term_low = term_low * gamma.numerator // (gamma.denominator * k)
        term_high = -(-term_high * gamma.numerator // (gamma.denominator * k))
        low += term_low
        high += term_high
    return low, high + term_high  # later terms halve: they sum to less than the last one
