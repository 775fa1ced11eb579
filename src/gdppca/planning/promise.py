"""Who is protected against what, and which cells may be missing, as a plan is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.privacy import Neighbors, Protected, Unit
from gdppca.theory.rates import LEAST_RATE

_POLICIES = ("refuse", "rates")


@dataclass(frozen=True, kw_only=True, eq=False)
class Promise:
    """Unit and neighbours, and observed rates that are expected; None: no cell may be missing."""

    protected: Protected = field(default_factory=Protected)
    rates: np.ndarray | None = None

    @classmethod
    def of(cls, unit: Any, neighbors: Any, missing: Any, d: int) -> Promise:
        """As a user writes it."""
        return cls(
            protected=Protected(
                Unit(_validate.one_of(tuple(Unit), unit=unit)),
                Neighbors(_validate.one_of(tuple(Neighbors), neighbors=neighbors)),
            ),
            rates=_observed(missing, d),
        )

    @property
    def secret_size(self) -> bool:
        """Whether the number of rows is secret: sums are released, not means."""
        return self.protected.neighbors is Neighbors.ADD_REMOVE

    @property
    def who(self) -> str:
        """What is counted, in the plural."""
        return "persons" if self.protected.unit is Unit.PERSON else "rows"

    @property
    def missing(self) -> float:
        """Mean share of cells that are expected to be missing."""
        return 0.0 if self.rates is None else float(1 - self.rates.mean())


def _observed(missing: Any, d: int) -> np.ndarray | None:
    """Rates from shares of missing cells, or from what `DPPCA` calls `missing`."""
    if missing is None:
        return None
    if isinstance(missing, str):
        asked = _validate.one_of(_POLICIES, missing=missing)
        return np.ones(d) if asked == "rates" else None
    shares = _validate.floats(missing)
    if shares is None or shares.shape not in ((), (1,), (d,)):
        raise ParameterError(
            f"`missing` must be a share of missing cells, or {d} of them: one for each column."
        )
    if not ((shares >= 0) & (shares <= 1 - LEAST_RATE)).all():
        raise ParameterError(f"`missing` must hold shares between 0 and {1 - LEAST_RATE:g}.")
    return np.broadcast_to(1 - shares, (d,)).copy()
