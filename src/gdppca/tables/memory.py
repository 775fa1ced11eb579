"""Rows in memory: a table like any other, of which every step may see all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca.kernels import OneSample, Progress, SignSum, pair_scatter, silent
from gdppca.noise import Noise
from gdppca.tables.base import AtHand, Exact, Recipe, Supply, Total, divided


@dataclass(frozen=True, eq=False, repr=False)  # holds rows
class MemoryTable(AtHand):
    """Finite rows of floats, known to be so, and a source of secret orders."""

    values: np.ndarray
    names: tuple[str, ...] | None
    noise: Noise
    codes: np.ndarray | None = None  # which group each row is in, -1 for none
    groups: tuple[str, ...] | None = None  # names, which are public
    supply: Supply = Supply.TABLE

    @property
    def n_samples(self) -> int:
        """Rows."""
        return len(self.values)

    @property
    def n_features(self) -> int:
        """Columns."""
        return int(self.values.shape[1])

    def sample(self, size: int) -> np.ndarray:
        """All rows: none need be left out."""
        return self.values

    def total(self, recipe: Recipe, progress: Progress = silent) -> Total:
        """The sum over all rows, in secret random order where order matters."""
        X = divided(self.values, recipe.scale)
        if recipe.center is not None:
            return SignSum(recipe.sign, recipe.center).add_rows(X, progress)
        scheme = recipe.scheme
        assert not isinstance(scheme, OneSample)  # it has a centre
        order = self.noise.permutation(len(X)) if recipe.ordered else None
        return Exact(pair_scatter(X, recipe.sign, scheme, order, progress), len(X))
