"""The design of a fit of `DPPCA`, and what it promises."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gdppca.design import Design, Supply
from gdppca.engines.base import ASSUMED_SHUFFLED, Recipe, Sums, divided
from gdppca.estimators._base import ASSUMED, ASSUMED_LOCATION, NO_NOISE, assumed_of_sign
from gdppca.kernels import Blocks
from gdppca.kernels.schemes import DEFAULT_BLOCK
from gdppca.privacy import Event, Guarantee, NonPrivateEvent, Status
from gdppca.privacy.counting import counted
from gdppca.randomness import Rng

_ASSUMED_SCALE = "The column scales were chosen without looking at the data."
_ASSUMED_ORDER = (
    "Rows came in batches whose order did not depend on their values; "
    "rows were shuffled inside each batch only."
)


@dataclass(frozen=True, kw_only=True)
class Settings(Design):
    """The design of a fit, with what it promises and how its rows are summed."""

    n_components: int | str
    ledger: str | None = field(repr=False)  # may hold a password
    seeded: bool

    @property
    def guarantee(self) -> Guarantee:
        """What the draws will promise, with everything that is taken for granted."""
        matrix = self.noise.event
        events: tuple[Event, ...] = (*self.own, matrix)
        exact = isinstance(matrix, NonPrivateEvent)
        return Guarantee(
            events=events,
            delta=self.delta,
            assumptions=self._assumptions,
            seeded=self.seeded,
            status=Status.NONE if exact else Status.PROVEN,
            reason=NO_NOISE if exact else "",
        )

    @property
    def _assumptions(self) -> tuple[str, ...]:
        assumed = list(counted(ASSUMED, entered=self.ledger is not None))
        assumed += assumed_of_sign(self.sign)
        if self.location is not None and self.wanted_location is None:
            assumed.append(ASSUMED_LOCATION)
        if self.scale is not None and self.scale_share is None:
            assumed.append(_ASSUMED_SCALE)
        if self.supply is Supply.BATCHES and self.scheme.ordered:
            assumed.append(_ASSUMED_ORDER)
        if self.supply is Supply.UNSHUFFLED and (self.scheme.ordered or self.sampled):
            assumed.append(ASSUMED_SHUFFLED)
        return tuple(assumed)

    def divided(self, values: np.ndarray) -> np.ndarray:
        """Values over the scales."""
        return divided(values, self.scale)

    @property
    def center(self) -> np.ndarray | None:
        """The centre in the units of the scaled columns."""
        return None if self.location is None else self.divided(self.location)

    @property
    def recipe(self) -> Recipe:
        """How rows that come in parts are summed."""
        size = self.scheme.size if isinstance(self.scheme, Blocks) else DEFAULT_BLOCK
        return Recipe(self.sign, self.n_features, size, self.center, self.scale)


@dataclass(frozen=True)
class Stream:
    """What `partial_fit` gathers until `finalize`: exact sums, not private.

    The settings, the ledger among them, are those of the first batch: noise for other parameters
    than those of the sums would protect nobody, and a draw without its debit would be uncounted.
    """

    sums: Sums
    rng: Rng
    settings: Settings
