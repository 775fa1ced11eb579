"""A user's own ξ, with a stated bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca._errors import ParameterError
from gdppca.signs.base import Sign, check_cut_offs

_PROBES = np.concatenate([[0.0], np.logspace(-300, 300, 601), np.logspace(-3, 3, 601)])


@dataclass(frozen=True)
class Custom(Sign):
    r"""Any length map ξ with a stated bound.

    Good for: trying out a sign of your own. The map must be elementwise and must not be derived
    from the data. The bound is what the noise is scaled to; the kernels clip ξ to it, so a map
    that breaks its word loses accuracy, not privacy.

    Parameters
    ----------
    length_map : callable
        ξ: takes an array of lengths s ≥ 0 and returns an array of the same shape.
    bound : float
        Stated ‖g‖∞.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.signs import Custom
    >>> Custom(np.tanh, bound=1.0)([0.0, 100.0])
    array([0., 1.])
    """

    length_map: Callable[[np.ndarray], np.ndarray]
    bound: float
    name = "custom"

    def __post_init__(self) -> None:
        """Check the bound, and probe the map on lengths that have nothing to do with data."""
        check_cut_offs(self, "bound")
        _probe(self)

    @property
    def sup_norm(self) -> float:
        """The stated bound."""
        return self.bound

    def radial(self, s: np.ndarray) -> np.ndarray:
        """The user's ξ."""
        return np.asarray(self.length_map(np.asarray(s)), dtype=float)

    def describe(self) -> dict[str, Any]:
        """Name and bound; a callable cannot be published."""
        return {"name": self.name, "parameters": {}, "sup_norm": self.sup_norm}


def _probe(sign: Custom) -> None:
    with np.errstate(all="ignore"):
        together = sign.radial(_PROBES)
        parts = [sign.radial(part) for part in np.array_split(_PROBES, 7)]
    if together.shape != _PROBES.shape:
        raise ParameterError("The sign's `radial` must return one length per length.")
    if not np.array_equal(together, np.concatenate(parts), equal_nan=True):
        raise ParameterError(
            "The sign's `radial` must be elementwise: a value may depend on its own length only, "
            "or one row could move every pair. Give cut-offs as fixed parameters."
        )
    if not np.all(np.abs(together) <= sign.sup_norm * (1 + 1e-9)):
        raise ParameterError(
            "The sign's `radial` goes beyond its stated `sup_norm` (or is NaN). Noise is scaled to "
            "that bound: state one that holds for every length."
        )
