"""Sizes by powers of two: what is found first where no bounds are known."""

from __future__ import annotations

import numpy as np

OCTAVES = 128  # sizes from 2**-128 to 2**128 are told apart


def octave_of(sizes: np.ndarray) -> np.ndarray:
    """Exponent of each size, between -OCTAVES, zeros too, and OCTAVES; from each size alone."""
    octave = np.clip(np.frexp(sizes)[1], -OCTAVES, OCTAVES)
    return np.where(sizes == 0, -OCTAVES, octave)
