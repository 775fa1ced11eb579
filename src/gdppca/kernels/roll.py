"""Who is who by words of 128 bits: everybody's number, and how often each one came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gdppca._errors import DataError

MOST = 2**32 - 2  # different names
_FIRST = 2**12  # slots to begin with
_FULL = 0.7  # share of the slots that are taken at most

Array = Callable[[Any, int], np.ndarray]  # a type, and how many; filled with zeros


def _in_memory(kind: Any, n: int) -> np.ndarray:
    return np.zeros(n, dtype=kind)


class Roll:
    """Names that came so far, each by two words of 64 bits.

    Parameters
    ----------
    array : callable
        Makes an array of zeros, in memory or elsewhere.
    """

    def __init__(self, array: Array = _in_memory) -> None:
        self._array = array
        self.number = 0
        self._make(_FIRST)

    def _make(self, size: int) -> None:
        self._slots = self._array(np.uint64, 2 * size).reshape(-1, 2)
        self._numbers = self._array(np.uint32, size)
        self._counts = self._array(np.int64, int(_FULL * size))

    def add(self, words: np.ndarray) -> np.ndarray:
        """Numbers from 0 of these names, which count once more each."""
        from gdppca.kernels import roll_loops

        if self.number + len(words) > MOST:
            raise DataError(f"There may be at most {MOST} rows of different persons.")
        self._make_room(self.number + len(words))
        found = np.empty(len(words), dtype=np.uint32)
        self.number = roll_loops.enter(
            words, self._slots, self._numbers, self._counts, self.number, found
        )
        return found

    def _make_room(self, number: int) -> None:
        from gdppca.kernels import roll_loops

        size = len(self._numbers)
        if number <= _FULL * size:
            return
        while number > _FULL * size:
            size *= 2
        slots, numbers, counts = self._slots, self._numbers, self._counts
        self._make(size)
        roll_loops.move(slots, numbers, self._slots, self._numbers)
        self._counts[: self.number] = counts[: self.number]

    @property
    def counts(self) -> np.ndarray:
        """How often each one came."""
        return self._counts[: self.number]

    def keys(self) -> np.ndarray:
        """The first word of each."""
        from gdppca.kernels import roll_loops

        keys = self._array(np.uint64, self.number)
        roll_loops.keys_by_number(self._slots, self._numbers, keys)
        return keys


def rows_by_code(codes: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows code by code, each code's in their own order, and where those of each begin."""
    from gdppca.kernels import roll_loops

    starts = np.cumsum(counts) - counts
    order = np.empty(len(codes), dtype=np.int64)
    roll_loops.by_code(codes, starts.copy(), order)
    return order, starts
