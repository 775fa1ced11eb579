"""Who is protected against what, and which cells may be missing: what that does to a plan.

The numbers that a design knows stand here alone, for plans that it cannot make yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.linalg import SQRT2
from gdppca.privacy import Event, Neighbors, Protected, Unit
from gdppca.steps.base import gaussian_event
from gdppca.theory.rates import LEAST_RATE

COUNT_SHARE = 0.02  # of μ², for the number of rows where it is secret
RATE_SHARE = 0.05  # of μ², for observed rates
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
    def needs_centre(self) -> bool:
        """Whether pairs cannot be compared."""
        return self.secret_size or self.rates is not None

    @property
    def who(self) -> str:
        """What is counted, in the plural."""
        return "persons" if self.protected.unit is Unit.PERSON else "rows"

    @property
    def missing(self) -> float:
        """Mean share of cells that are expected to be missing."""
        return 0.0 if self.rates is None else float(1 - self.rates.mean())

    # --- What the design knows: its steps, its sensitivities ---------------------------------

    @property
    def shares(self) -> dict[str, float]:
        """Shares of μ² that are drawn before everything else, by purpose."""
        taken = {"count": COUNT_SHARE * self.secret_size}
        taken["rates"] = RATE_SHARE * (self.rates is not None)
        return {purpose: share for purpose, share in taken.items() if share}

    def events_before(self, mu: float) -> tuple[Event, ...]:
        """The draws of them."""
        return tuple(
            gaussian_event(purpose, 0.0 if math.isinf(mu) else 1 / (mu * math.sqrt(share)))
            for purpose, share in self.shares.items()
        )

    @property
    def noise_ratio(self) -> float:
        """Noise of the matrix over that of replace-one: a sum moves by r², a mean by √2 r²/n."""
        return 1 / SQRT2 if self.secret_size else 1.0

    def rows_of_walk(self, n: int) -> int:
        """Rows whose looks and unit vectors move as little under replace-one: half as far."""
        return 2 * n if self.secret_size else n

    def rate_noise(self, n: int, mu: float) -> float:
        """Noise of each rate: all d move by one, together by √d, out of n."""
        if self.rates is None or math.isinf(mu):
            return 0.0
        return math.sqrt(len(self.rates)) / (n * mu * math.sqrt(RATE_SHARE))


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
