"""How many rows or persons there are, where that is secret: a noisy number, public from then on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca.noise import Noise, noised
from gdppca.steps.base import OneGaussian, Rows, State

PURPOSE = "count"
SHARE = 0.02  # of μ²
# A smaller or larger number is taken for these: what is divided by it has been looked at before.
LEAST, MOST = 10.0, 2.0**40


@dataclass(frozen=True, kw_only=True)
class Count(OneGaussian):
    """The number of rows or persons.

    **Privacy.** One Gaussian event, add-remove: a row or person more or less moves it by one,
    `Moves.count` (docs/proofs/add-remove.md).
    """

    purpose, share = PURPOSE, SHARE
    needs_sample = False

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """About how many there are."""
        exact = np.array([float(table.n_samples)])
        noisy = noised(exact, self.multiplier, self.public.moves.count(), noise)
        number = within_limits(float(noisy.values[0]))
        return state.with_(number=number, number_sd=noisy.sd, events=self.events)


def within_limits(number: float) -> float:
    """A number of rows or persons that a design can be made for, whatever the noise."""
    return min(max(number, LEAST), MOST)
