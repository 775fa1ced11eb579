"""Winsorised radius: short differences keep their length, long ones are pulled back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca.signs.base import Sign, check_cut_offs


@dataclass(frozen=True)
class WithRadius(Sign):
    """A sign with one cut-off, which is its bound too unless it says otherwise."""

    radius: float

    def __post_init__(self) -> None:
        """Check the cut-off."""
        check_cut_offs(self, "radius")

    @property
    def sup_norm(self) -> float:
        """The cut-off."""
        return self.radius


@dataclass(frozen=True)
class Winsor(WithRadius):
    r"""Winsorization, :math:`\xi(s) = \min(s, r)`.

    Good for: light tails with a known unit, where the middle of the data should keep its shape.
    The paper takes :math:`r = \sqrt d`.

    Notes
    -----
    **Paper.** Eq 2.4.

    Examples
    --------
    >>> from gdppca.signs import Winsor
    >>> Winsor(radius=1.0)([[0.3, 0.4], [30.0, 40.0]])
    array([[0.3, 0.4],
           [0.6, 0.8]])
    """

    name = "winsor"

    def radial(self, s: np.ndarray) -> np.ndarray:
        """Length, but at most the radius."""
        return np.minimum(s, self.radius)
