"""Trimmed spatial sign: directions of the near pairs only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca.signs.winsor import WithRadius


@dataclass(frozen=True)
class Trimmed(WithRadius):
    r"""Trimmed spatial sign, :math:`\xi(s) = 1` for :math:`s \le c`, zero beyond.

    Good for: tables with poisoned rows. Its bound is one whatever the cut-off c, so it costs no
    more noise than the spherical sign, and pairs that hold an outlier drop out altogether. A
    cut-off near the 0.9 quantile of the pairs' distances over √2 works well.

    Examples
    --------
    >>> from gdppca.signs import Trimmed
    >>> near_only = Trimmed(radius=10.0)
    >>> near_only([3.0, 4.0]), near_only([30.0, 40.0])
    (array([0.6, 0.8]), array([0., 0.]))
    """

    name = "trimmed"

    @property
    def sup_norm(self) -> float:
        """One."""
        return 1.0

    def radial(self, s: np.ndarray) -> np.ndarray:
        """One within the cut-off, zero beyond."""
        return np.where(np.asarray(s) <= self.radius, 1.0, 0.0)
