"""Ball, quad, shell and linearly redescending signs of Raymaekers and Rousseeuw (2019).

They write g(t) = t ξ(‖t‖); here, as in the paper, ξ is the new length itself, so each ξ below is
theirs times s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca.signs.base import Sign, check_cut_offs, cut_off
from gdppca.signs.winsor import WithRadius


@dataclass(frozen=True)
class Ball(WithRadius):
    r"""Ball, :math:`\xi(s) = s` for :math:`s \le r`, zero beyond.

    Good for: gross outliers when the cut-off is well chosen; drops everything outside the ball.

    Examples
    --------
    >>> from gdppca.signs import Ball
    >>> Ball(radius=1.0)([0.3, 0.4]), Ball(radius=1.0)([30.0, 40.0])
    (array([0.3, 0.4]), array([0., 0.]))
    """

    name = "ball"

    def radial(self, s: np.ndarray) -> np.ndarray:
        """Length within the radius, zero beyond."""
        return np.where(np.asarray(s) <= self.radius, s, 0.0)


@dataclass(frozen=True)
class Quad(WithRadius):
    r"""Quadratic winsorization, :math:`\xi(s) = s` for :math:`s \le r`, :math:`r^2/s` beyond.

    Good for: heavy tails with some contamination; smooth, and redescends without a hard edge.

    Examples
    --------
    >>> from gdppca.signs import Quad
    >>> Quad(radius=1.0)([0.0, 4.0])
    array([0.  , 0.25])
    """

    name = "quad"

    def radial(self, s: np.ndarray) -> np.ndarray:
        """Length within the radius, r²/s beyond."""
        return np.minimum(s, self.radius * (self.radius / np.maximum(s, self.radius)))


@dataclass(frozen=True)
class Shell(Sign):
    r"""Shell, :math:`\xi(s) = s` for :math:`a \le s \le b`, zero elsewhere.

    Good for: data whose centre is crowded with near-copies; drops the nearest and farthest pairs.

    Examples
    --------
    >>> from gdppca.signs import Shell
    >>> Shell(inner=1.0, outer=9.0)([[0.3, 0.4], [3.0, 4.0]])
    array([[0., 0.],
           [3., 4.]])
    """

    inner: float
    outer: float
    name = "shell"

    def __post_init__(self) -> None:
        """Check the two cut-offs."""
        check_cut_offs(self, "inner", "outer")

    @property
    def sup_norm(self) -> float:
        """The outer cut-off."""
        return self.outer

    def radial(self, s: np.ndarray) -> np.ndarray:
        """Length inside the shell, zero elsewhere."""
        s = np.asarray(s)
        return np.where((self.inner <= s) & (s <= self.outer), s, 0.0)


@dataclass(frozen=True)
class LinearlyRedescending(Sign):
    r"""Linearly redescending, :math:`\xi(s) = s` up to r, then :math:`s (b-s)/(b-r)`, zero after b.

    Good for: gross outliers without the hard edge of the ball. With :math:`b = 2r`, the default,
    its bound is r.

    Examples
    --------
    >>> from gdppca.signs import LinearlyRedescending
    >>> LinearlyRedescending(radius=1.0).radial([0.5, 1.0, 1.5, 3.0])
    array([0.5 , 1.  , 0.75, 0.  ])
    """

    radius: float
    outer: float | None = None
    name = "lr"

    def __post_init__(self) -> None:
        """Check the two cut-offs; the outer one is twice the radius unless given."""
        if self.outer is None:
            object.__setattr__(self, "outer", 2 * cut_off(radius=self.radius))
        check_cut_offs(self, "radius", "outer")

    @property
    def _outer(self) -> float:
        assert self.outer is not None
        return self.outer

    @property
    def sup_norm(self) -> float:
        """Height of the parabola s (b-s)/(b-r) where it peaks beyond r, else r."""
        peak = max(self._outer / 2, self.radius)
        return peak * ((self._outer - peak) / (self._outer - self.radius))

    def radial(self, s: np.ndarray) -> np.ndarray:
        """Length up to the radius, then down to zero."""
        fade = (self._outer - np.minimum(s, self._outer)) / (self._outer - self.radius)
        return np.minimum(np.asarray(s) * np.minimum(fade, 1.0), self.sup_norm)
