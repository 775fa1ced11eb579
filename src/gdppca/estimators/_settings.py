"""The design of a fit of `DPPCA`, and what it promises."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gdppca.design import Design, Supply
from gdppca.estimators._base import assumed_of_sign, promise
from gdppca.kernels import Blocks
from gdppca.kernels.schemes import DEFAULT_BLOCK
from gdppca.privacy import Assumption, Guarantee, NonPrivateEvent, assumptions
from gdppca.steps.centre import centre_bias
from gdppca.tables.base import Recipe, divided
from gdppca.theory import components_above_noise


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
        return promise(
            (*self.own, matrix),
            self.delta,
            entered=self.ledger is not None,
            seeded=self.seeded,
            noiseless=isinstance(matrix, NonPrivateEvent),
            assumed=self._assumed,
        )

    @property
    def _assumed(self) -> tuple[Assumption, ...]:
        """What is taken for granted beside what every estimator does."""
        assumed = list(assumed_of_sign(self.sign))
        if self.location is not None and self.wanted_location is None:
            assumed.append(assumptions.PUBLIC_CENTRE)
        if self.scale is not None and self.scale_share is None:
            assumed.append(assumptions.PUBLIC_SCALE)
        if self.supply is Supply.BATCHES and self.scheme.ordered:
            assumed.append(assumptions.SHUFFLED_INSIDE)
        if self.supply is Supply.UNSHUFFLED and (self.scheme.ordered or self.sampled):
            assumed.append(assumptions.ORDER_AS_IT_CAME)
        return tuple(assumed)

    def divided(self, values: np.ndarray) -> np.ndarray:
        """Values over the scales."""
        return divided(values, self.scale)

    @property
    def center(self) -> np.ndarray | None:
        """The centre in the units of the scaled columns."""
        return None if self.location is None else self.divided(self.location)

    def n_kept(self, eigenvalues: np.ndarray) -> int:
        """How many directions are kept: as many as asked for, or as stand above the noise."""
        if not isinstance(self.n_components, str):
            return self.n_components
        centred = self.location is not None
        bias = centre_bias(self.drawn, self.n_seen, self.n_features) if centred else 0.0
        return components_above_noise(eigenvalues, self.noise.noise_sd, self.n_samples, bias)

    @property
    def recipe(self) -> Recipe:
        """How rows that come in parts are summed."""
        size = self.scheme.size if isinstance(self.scheme, Blocks) else DEFAULT_BLOCK
        return Recipe(self.sign, self.n_features, size, self.center, self.scale)
