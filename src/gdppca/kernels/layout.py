"""How tables of the compiled loops are laid out, in numbers that need no compiler to be known."""

from __future__ import annotations

LANES = 8  # numbers in a vector
BLOCK_PADDING = 2 * LANES  # blocks are padded with rows of zeros to a multiple of it
LINES_PADDING = 4  # centred tables are padded with lines of zeros to a multiple of it


def whole(number: int, step: int) -> int:
    """Round up to a multiple."""
    return -(-number // step) * step
