"""Rows prepared for the loops over pairs: on their side, scaled and centred, by the block."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gdppca.kernels.layout import BLOCK_PADDING, LANES, LINES_PADDING, whole

SMALLEST = 2.0**-450  # scaled entries; their differences and squares cannot underflow
_CENTRE_ROWS = 63


@dataclass(frozen=True)
class Rows:
    """Rows of a table in some order; a part is taken without a copy of the whole."""

    X: np.ndarray
    order: np.ndarray | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.X if self.order is None else self.order)

    def part(self, start: int, stop: int) -> Rows:
        """Rows start to stop in the order."""
        if self.order is None:
            return Rows(self.X[start:stop])
        return Rows(self.X, self.order[start:stop])

    @property
    def taken(self) -> np.ndarray:
        """The rows themselves; without an order, a view."""
        return self.X if self.order is None else np.take(self.X, self.order, axis=0)


@dataclass(frozen=True)
class Tile:
    """Prepared rows, on their side: raw (p, d), scaled and centred (d, padded p), their norms."""

    raw: np.ndarray
    scaled: np.ndarray
    centred: np.ndarray  # padded with lines of zeros
    norms: np.ndarray  # squared; infinite for rows that must not enter a product
    exponent: int

    def around(self, i: int, of: Tile) -> Tile:
        """The same rows, centred at row i of a tile with the same scale."""
        centred = self.scaled - of.scaled[:, [i]]
        norms = np.where(np.isfinite(self.norms), (centred**2).sum(axis=0), np.inf)
        return replace(self, centred=centred, norms=norms)


@dataclass(frozen=True)
class Panels:
    """Prepared rows by the block: several blocks lie side by side in a panel (d, width)."""

    raw: np.ndarray
    size: int  # rows of a block
    padded: int  # the same with rows of zeros behind
    slots: int  # blocks of a panel
    scaled: np.ndarray
    centred: np.ndarray
    norms: np.ndarray
    exponent: int

    @classmethod
    def prepare(
        cls, raw: np.ndarray, centre: np.ndarray, size: int, slots: int, memory: Panels | None
    ) -> Panels:
        """Scale by one power of two and centre near the middle; differences keep their bits.

        The arrays of `memory`, panels that are needed no more, are used again if they fit.
        """
        from gdppca.kernels import pair_loops

        exponent = _common_exponent(raw)
        # Rows are below 4 in size now. A centre from elsewhere may be any number: all are right.
        centre = np.minimum(np.maximum(np.ldexp(centre, -exponent), -4), 4)
        padded, panels = whole(size, BLOCK_PADDING), -(-len(raw) // (size * slots))
        if memory is not None and len(memory.scaled) == panels:
            scaled, centred, norms = memory.scaled, memory.centred, memory.norms
        else:
            d = raw.shape[1]
            width = slots * padded + LANES  # whole pages would fight over the cache
            scaled = np.zeros((panels, d, width))
            centred = np.zeros((panels, whole(d, LINES_PADDING), width))
            norms = np.zeros((panels, width))
        pair_loops.prepare(
            raw, -exponent, centre, SMALLEST, size, padded, slots, scaled, centred, norms
        )
        return cls(raw, size, padded, slots, scaled, centred, norms, exponent)

    def __len__(self) -> int:
        """Number of blocks."""
        return -(-len(self.raw) // self.size)

    def __getitem__(self, block: int) -> Tile:
        """One block, as views."""
        panel, slot = divmod(block, self.slots)
        part = slice(slot * self.padded, (slot + 1) * self.padded)
        return Tile(
            self.raw[block * self.size : (block + 1) * self.size],
            self.scaled[panel][:, part],
            self.centred[panel][:, part],
            self.norms[panel][part],
            self.exponent,
        )


def middle_of(rows: Rows) -> np.ndarray:
    """Coordinatewise median of some rows, those spread over the table in its order."""
    spread = np.linspace(0, len(rows) - 1, min(len(rows), _CENTRE_ROWS)).astype(int)
    few = rows.X[spread if rows.order is None else rows.order[spread]]
    half = len(few) // 2
    return np.partition(few, half, axis=0)[half]


def _common_exponent(rows: np.ndarray) -> int:
    from gdppca.kernels import row_loops

    exponent = math.frexp(row_loops.largest_size(rows.reshape(1, -1), 0))[1]
    # The bounds keep 2**exponent / √2 a normal number; the loops have room for the rest.
    return min(max(exponent, -900), 1022)
