"""How many rows or persons there are, where that is secret: a noisy number, public from then on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gdppca.noise import Noise, noised
from gdppca.privacy import Event
from gdppca.steps.base import Public, Rows, State, gaussian_event

PURPOSE = "count"
SHARE = 0.02  # of μ²
LEAST = 10.0  # a smaller number is taken for this one: what is divided by it stays a number


@dataclass(frozen=True, kw_only=True)
class Count:
    """The number of rows or persons.

    **Privacy.** One Gaussian event, add-remove: a row or person more or less moves it by one,
    `Moves.count` (docs/proofs/add-remove.md).
    """

    public: Public
    mu: float  # of the whole fit
    needs_sample = False

    @property
    def _multiplier(self) -> float:
        return 1 / (self.mu * math.sqrt(SHARE))

    @property
    def events(self) -> tuple[Event, ...]:
        """One number."""
        return (gaussian_event(PURPOSE, self._multiplier),)

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """About how many there are."""
        exact = np.array([float(table.n_samples)])
        noisy = noised(exact, self._multiplier, self.public.moves.count(), noise)
        number, sd = max(float(noisy.values[0]), LEAST), noisy.sd
        return state.with_(number=number, number_sd=sd, events=self.events)
