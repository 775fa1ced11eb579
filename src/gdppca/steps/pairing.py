"""Rows in disjoint random pairs: one row moves one pair, and no centre is needed."""

from __future__ import annotations

import numpy as np

from gdppca.noise import Noise


def halved_differences(
    X: np.ndarray, noise: Noise, counted: np.ndarray | None = None
) -> np.ndarray:
    """(x - y)/2 over ⌊n/2⌋ disjoint random pairs; an odd last row is left out. Not private.

    Halves first: the difference of two floats near the largest one is still a float. Where only
    some rows are counted, all are paired, and pairs of two that are counted are left.
    """
    order, half = noise.permutation(len(X)), len(X) // 2
    first, second = order[:half], order[half : 2 * half]
    if counted is not None:
        both = counted[first] & counted[second]
        first, second = first[both], second[both]
    return 0.5 * X[first] - 0.5 * X[second]
