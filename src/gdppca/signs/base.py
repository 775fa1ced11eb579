"""What a generalized spatial sign is."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError, ParameterError
from gdppca.linalg import directions

_SMALLEST, _LARGEST = 1e-150, 1e150  # their squares and inverse squares are still floats
_LEGAL = (2e-100, 5e99)  # with any number of rows and any budget the matrix is one of floats


def cut_off(**parameter: Any) -> float:
    """Check a radius or bound."""
    [(name, _)] = parameter.items()
    value = _validate.finite_positive(**parameter)
    if not _SMALLEST <= value <= _LARGEST:
        raise ParameterError(f"`{name}` must lie between 1e-150 and 1e150; rescale the columns.")
    return value


def check_cut_offs(sign: Sign, *names: str) -> None:
    """Check cut-offs of a frozen sign, in ascending order, and keep them as floats."""
    for name in names:
        object.__setattr__(sign, name, cut_off(**{name: getattr(sign, name)}))
    for inner, outer in itertools.pairwise(names):
        if not getattr(sign, inner) < getattr(sign, outer):
            raise ParameterError(f"`{inner}` must be smaller than `{outer}`.")


def legal_radius(value: float) -> float:
    """Nearest radius that every sign takes, whatever the budget: it may be paid for already."""
    return min(max(value, _LEGAL[0]), _LEGAL[1])


@dataclass(frozen=True)
class Sign(ABC):
    r"""A bounded generalized spatial sign :math:`g(t) = \xi(\|t\|)\, t/\|t\|` with g(0) = 0.

    A sign keeps the direction of a difference and replaces its length s by :math:`\xi(s)`. It is
    a public choice: cut-offs are parameters, never computed from rows inside a sign.

    Notes
    -----
    **Paper.** Eq 2.2; the bound :math:`\|g\|_\infty` is `sup_norm`.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def sup_norm(self) -> float:
        """Largest length that g can have, ‖g‖∞."""

    @abstractmethod
    def radial(self, s: np.ndarray) -> np.ndarray:
        """New lengths ξ(s), elementwise: each entry may depend on its own s alone."""

    def __call__(self, t: np.ndarray) -> np.ndarray:
        """Apply g to one vector or to each row of a matrix."""
        rows = _validate.floats(t)
        if rows is None:
            raise DataError("A sign takes a vector or a matrix of numbers.")
        unit, length = directions(rows)
        return unit * self.radial(length)[..., None]

    def describe(self) -> dict[str, Any]:
        """Name, parameters and bound, as they stand in a release."""
        return {"name": self.name, "parameters": asdict(self), "sup_norm": self.sup_norm}
