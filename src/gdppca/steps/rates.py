"""The share of the cells of each column that is there: what signs with gaps are divided by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca.noise import Noise, noised
from gdppca.steps.base import OneGaussian, Rows, State
from gdppca.theory import rate_errors, shrunk_rates

PURPOSE = "rates"
SHARE = 0.05  # of what scales, centre and matrix have together, of μ²


@dataclass(frozen=True, kw_only=True)
class Rates(OneGaussian):
    """The observed share of every column.

    **Privacy.** One Gaussian event: a row, one random one of each person, moves each of d counts by
    at most one, `Moves.rates` (docs/proofs/missing.md). Which cells of a row are missing is
    protected as the cells are.
    """

    purpose, share = PURPOSE, SHARE
    needs_sample = True

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """Rates, shrunk to their mean as far as their noise asks for it."""
        sample = table.sample(self.public.n_seen)
        there = np.count_nonzero(~np.isnan(sample.single), axis=0).astype(float)
        bound = self.public.moves.rates(self.public.n_features)
        noisy = noised(there, self.multiplier, bound, noise)
        rates = shrunk_rates(noisy.values / sample.number, noisy.sd / sample.number)
        return state.with_(
            rates=rates,
            rate_error=rate_errors(rates, noisy.sd / sample.number, sample.number),
            events=self.events,
        )
