"""Who is protected against what, and which cells may be missing, as a plan is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.privacy import Neighbors, Protected, Unit
from gdppca.tables.description import Description, Feature
from gdppca.theory.rates import LEAST_RATE

_MOST_FEATURES = 2000  # beyond, a prediction would take minutes
_POLICIES = ("refuse", "rates")


@dataclass(frozen=True, kw_only=True, eq=False)
class Promise:
    """Unit and neighbours, observed rates that are expected, and what a description tells.

    Rates are None where no cell may be missing.
    """

    protected: Protected = field(default_factory=Protected)
    rates: np.ndarray | None = None
    features: tuple[Feature, ...] = ()
    weighted: bool = False

    @classmethod
    def of(
        cls, unit: Any, neighbors: Any, missing: Any, d: int, table: Description | None = None
    ) -> Promise:
        """As a user writes it; persons are protected where a description names them."""
        if unit is None:
            unit = Unit.ROW if table is None or table.person is None else Unit.PERSON
        return cls(
            features=() if table is None else table.features,
            weighted=table is not None and table.weight is not None,
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
    def guessed(self) -> bool:
        """Whether something is publicly known of middles or spreads of columns."""
        return any(
            feature.scale is None and (feature.typical is not None or feature.spread is not None)
            for feature in self.features
        )

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


def number_of_columns(n_features: Any, table: Description | None) -> int:
    """As it was given, or as a description tells it; both must agree."""
    d = _validate.count(n_features=n_features) if table is None else len(table.features)
    if table is not None and n_features not in (None, d):
        raise ParameterError(
            f"`n_features` is {_validate.shown(n_features)}, and the description makes {d} columns "
            "of numbers (a category has one for each level). Leave `n_features` out."
        )
    if d > _MOST_FEATURES:
        raise ParameterError(f"`n_features` must not exceed {_MOST_FEATURES} for a plan, got {d}.")
    return d
