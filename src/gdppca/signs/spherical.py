"""The unit sphere: only directions count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca.signs.base import Sign


@dataclass(frozen=True)
class Spherical(Sign):
    r"""Spatial sign, :math:`\xi(s) = 1`.

    Good for: almost everything, hence the default. Needs no cut-off. Among all signs with the
    same bound it has the largest eigengap on elliptical data, so the least harm from the noise.

    Notes
    -----
    **Paper.** Eq 2.3.

    Examples
    --------
    >>> from gdppca.signs import Spherical
    >>> Spherical()([3.0, 4.0])
    array([0.6, 0.8])
    """

    name = "spherical"

    @property
    def sup_norm(self) -> float:
        """One."""
        return 1.0

    def radial(self, s: np.ndarray) -> np.ndarray:
        """One everywhere."""
        return np.ones_like(s)
