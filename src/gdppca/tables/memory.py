"""Rows in memory: a table like any other, of which every step may see all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gdppca.kernels import OneSample, Progress, SignSum, pair_scatter, silent
from gdppca.kernels.weights import whole_parts
from gdppca.noise import Noise
from gdppca.privacy import Unit
from gdppca.tables.base import AtHand, Exact, Recipe, Sample, Supply, Total, divided
from gdppca.tables.description import Description
from gdppca.tables.persons import Persons
from gdppca.tables.pieces import pieces_of_rows

_TURNS = 8  # pairs of persons are compared by so many random rows of each, and averaged


@dataclass(frozen=True, eq=False, repr=False)  # holds rows
class MemoryTable(AtHand):
    """Rows of floats, known to be finite or missing, and a source of secret orders."""

    values: np.ndarray
    names: tuple[str, ...] | None
    noise: Noise
    codes: np.ndarray | None = None  # which group each row is in, -1 for none
    groups: tuple[str, ...] | None = None  # names, which are public
    supply: Supply = Supply.TABLE
    persons: Persons | None = None
    shares: np.ndarray | None = None  # weights, between 0 and 1
    gaps: bool = False  # whether cells may be missing
    description: Description | None = None
    unused: tuple[str, ...] = ()  # names of columns that are neither analysed nor asked for

    @property
    def n_samples(self) -> int:
        """Rows, or persons where they have several."""
        return len(self.values) if self.persons is None else self.persons.number

    @property
    def n_features(self) -> int:
        """Columns."""
        return int(self.values.shape[1])

    @property
    def unit(self) -> Unit:
        """Whether a row is one of many of a person."""
        return Unit.ROW if self.persons is None else Unit.PERSON

    @property
    def weighted(self) -> bool:
        """Whether rows have weights of their own."""
        return self.shares is not None

    @cached_property
    def _parts(self) -> np.ndarray | None:
        """How much each row counts."""
        if self.persons is not None:
            return self.persons.parts(self.shares)
        return None if self.shares is None else whole_parts(1, self.shares)

    @cached_property
    def _sample(self) -> Sample:
        one_each = None if self.persons is None else self.persons.one_each()
        tossed = None if self.shares is None else self._tossed(self.shares, one_each)
        return Sample(self.values, self.n_samples, self._parts, one_each, tossed=tossed)

    def _tossed(self, shares: np.ndarray, one_each: np.ndarray | None) -> np.ndarray:
        """Whether each row, or the one of each person, is counted: with its share as its chance."""
        if self.persons is None:
            coins = self.noise.keys().range(len(shares))
        else:
            shares, coins = shares[one_each], self.persons.coins
        return np.asarray(coins >> np.uint64(34) < whole_parts(1, shares).astype(np.uint64))

    def pieces(self) -> Iterator[bytes]:
        """Some of its bytes, by which it is known again; not private."""
        return pieces_of_rows(self.values)

    def sample(self, size: int) -> Sample:
        """All rows: none need be left out."""
        return self._sample

    def total(self, recipe: Recipe, progress: Progress = silent) -> Total:
        """The sum over all rows, in secret random order where order matters."""
        if recipe.center is not None:
            sums = recipe.empty()
            assert isinstance(sums, SignSum)
            rows = recipe.compared(self.values) if self.gaps else divided(self.values, recipe.scale)
            sums.add_rows(rows, progress, self._parts)
            if not self.n_samples:  # who was the last one must not show by a failure
                return Exact(np.zeros(sums.shape), 0)
            return Exact(sums.mean(self.n_samples), self.n_samples)
        assert not isinstance(recipe.scheme, OneSample)  # it has a centre
        if self.persons is None:
            return Exact(self._paired(self.values, recipe, progress), self.n_samples)
        # A mean of matrices moves no farther than each of them.
        turns = (self.values[self.persons.one_each(turn)] for turn in range(_TURNS))
        mean = sum(self._paired(rows, recipe, progress) / _TURNS for rows in turns)
        return Exact(np.asarray(mean), self.n_samples)

    def _paired(self, rows: np.ndarray, recipe: Recipe, progress: Progress) -> np.ndarray:
        """Signs of pairs of whole rows."""
        X = divided(rows, recipe.scale)
        order = self.noise.permutation(len(X)) if recipe.ordered else None
        assert not isinstance(recipe.scheme, OneSample)
        return pair_scatter(X, recipe.sign, recipe.scheme, order, progress)
