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
# A smaller or larger number is taken for these: what is divided by it has been looked at before.
LEAST, MOST = 10.0, 2.0**40


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
        number = within_limits(float(noisy.values[0]))
        return state.with_(number=number, number_sd=noisy.sd, events=self.events)


def within_limits(number: float) -> float:
    """A number of rows or persons that a design can be made for, whatever the noise."""
    return min(max(number, LEAST), MOST)
