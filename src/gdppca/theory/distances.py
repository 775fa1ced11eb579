"""Distances between subspaces (F10)."""

from __future__ import annotations

import numpy as np

from gdppca.linalg import SQRT2, part_outside, sin_theta

__all__ = ["projector_distance", "sin_theta"]


def projector_distance(first: np.ndarray, second: np.ndarray) -> float:
    r"""Frobenius distance between the projectors onto two subspaces.

    Parameters
    ----------
    first, second
        As in `sin_theta`.

    Returns
    -------
    float
        Between zero and :math:`\sqrt{2m}`.

    Notes
    -----
    **Paper.** :math:`\|\hat V \hat V^\top - V V^\top\|_F`, the loss of Figure 1: √2 times the
    length of the vector of sines of all m angles, where `sin_theta` takes the largest one.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import projector_distance
    >>> round(projector_distance(np.eye(3)[:1], np.array([[1.0, 1.0, 0.0]])), 6)
    1.0
    """
    return float(SQRT2 * np.linalg.norm(part_outside(first, second)))
