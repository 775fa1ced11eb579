"""Rows in disjoint random pairs: one row moves one pair, and no centre is needed."""

from __future__ import annotations

import numpy as np

from gdppca.noise import Noise


def halved_differences(X: np.ndarray, noise: Noise) -> np.ndarray:
    """(x - y)/2 over ⌊n/2⌋ disjoint random pairs; an odd last row is left out. Not private.

    Halves first: the difference of two floats near the largest one is still a float.
    """
    order, half = noise.permutation(len(X)), len(X) // 2
    return 0.5 * X[order[:half]] - 0.5 * X[order[half : 2 * half]]
