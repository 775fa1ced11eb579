"""SipHash-2-4 with 128 bits, in compiled loops: a keyed hash that is made for short texts.

J.-P. Aumasson, D. J. Bernstein: SipHash, a fast short-input PRF, 2012. To whoever does not know
the key its words look drawn at random, one pair for each text.
"""

from __future__ import annotations

import numba as nb
import numpy as np

_SPACE, _TAB = 32, 9
_u64 = np.uint64
_START = tuple(
    _u64(word)
    for word in (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
)
_LONG, _SECOND = _u64(0xEE), _u64(0xDD)
_compiled = nb.njit(nogil=True, cache=True, error_model="numpy")


@_compiled
def _turned(word, bits):
    return (word << _u64(bits)) | (word >> _u64(64 - bits))


@_compiled
def _round(a, b, c, d):
    a += b
    c += d
    b = _turned(b, 13) ^ a
    d = _turned(d, 16) ^ c
    a = _turned(a, 32)
    c += b
    a += d
    b = _turned(b, 17) ^ c
    d = _turned(d, 21) ^ a
    c = _turned(c, 32)
    return a, b, c, d


@_compiled
def _taken_in(state, word):
    a, b, c, d = state
    d ^= word
    a, b, c, d = _round(a, b, c, d)
    a, b, c, d = _round(a, b, c, d)
    return a ^ word, b, c, d


@_compiled
def _word(data, start, length):
    word = _u64(0)
    for k in range(length):
        word |= _u64(data[start + k]) << _u64(8 * k)
    return word


@_compiled
def _begun(key):
    return (
        key[0] ^ _START[0],
        key[1] ^ _START[1] ^ _LONG,
        key[0] ^ _START[2],
        key[1] ^ _START[3],
    )


@_compiled
def _ended(state, words, i):
    a, b, c, d = state
    c ^= _LONG
    for _ in range(4):
        a, b, c, d = _round(a, b, c, d)
    words[i, 0] = a ^ b ^ c ^ d
    b ^= _SECOND
    for _ in range(4):
        a, b, c, d = _round(a, b, c, d)
    words[i, 1] = a ^ b ^ c ^ d


@_compiled
def hash_texts(data, starts, stops, key, words):
    """Two words of each text, which is bytes between two places without blanks around them."""
    for i in range(len(starts)):
        start, stop = np.int64(starts[i]), np.int64(stops[i])
        while start < stop and (data[start] == _SPACE or data[start] == _TAB):
            start += 1
        while start < stop and (data[stop - 1] == _SPACE or data[stop - 1] == _TAB):
            stop -= 1
        state, length = _begun(key), stop - start
        while stop - start >= 8:
            state = _taken_in(state, _word(data, start, 8))
            start += 8
        last = (_u64(length) << _u64(56)) | _word(data, start, stop - start)
        _ended(_taken_in(state, last), words, i)


@_compiled
def hash_numbers(numbers, key, words):
    """Two words of each whole number: those of its eight bytes."""
    for i in range(len(numbers)):
        state = _taken_in(_begun(key), _u64(numbers[i]))
        _ended(_taken_in(state, _u64(8) << _u64(56)), words, i)
