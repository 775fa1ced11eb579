"""Rows that come in batches: what `partial_fit` gathers until `finalize`."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from gdppca._errors import StateError
from gdppca.design import Design, design_of
from gdppca.design.parameters import settled
from gdppca.estimators.base import check_rows
from gdppca.estimators.showing import View, asked_of
from gdppca.estimators.surroundings import warn_before_fit
from gdppca.noise import noise_for
from gdppca.steps.base import Public
from gdppca.tables.base import Summed, Sums, Supply, divided


class Batches:
    """Exact sums of the rows so far, not private, and the parameters of the first batch.

    The parameters, the ledger among them, stay those of the first batch: noise for other ones than
    those of the sums would protect nobody, and a draw without its debit would be uncounted.
    """

    def __init__(self, design: Design, pca: Any) -> None:
        warn_before_fit(pca, getattr(pca, "feature_names_in_", None), stacklevel=5)
        self._asked = settled(asked_of(pca), design)
        self.view = View.of(pca, design)
        self._n_features, self._scale = design.public.n_features, design.start.scale
        recipe = design.start.recipe(self._n_features)
        self._sums = [recipe.empty()]  # empty while a batch is counted, and after
        self.ledger: str | None = pca.ledger
        self.noise = noise_for(pca.random_state)

    def add(self, X: np.ndarray) -> None:
        """Count a batch of rows."""
        sums = self._taken()
        sums.update(divided(X, self._scale), self.noise.permutation(len(X)))
        self._sums.append(sums)

    @np.errstate(all="ignore")  # no error or warning may depend on a cell
    def finish(self, ledger: str | None) -> tuple[Summed, Design]:
        """The sums of all rows, not private, and a design for so many; only once."""
        if self.ledger is None and ledger is not None:
            raise StateError(
                "`ledger` was set after the first batch, which fixes all parameters. Set it to "
                "None again, or start again with sklearn.base.clone(...)."
            )
        sums = self._taken()
        check_rows(sums.n_samples)
        public = Public.of(sums.n_samples, self._n_features, Supply.BATCHES)
        design = design_of(self._asked, public, Supply.BATCHES)
        return Summed(sums, self._n_features), design

    def give_back(self, table: Summed) -> None:
        """Take the sums back: nothing was drawn from them."""
        self._sums.append(cast("Sums", table.sums))

    def _taken(self) -> Sums:
        """Take the sums, so that nobody else can use them meanwhile.

        They are not put back after an error or an interrupt: some rows might be counted already.
        """
        try:
            return self._sums.pop()
        except IndexError:
            raise StateError(
                "A batch failed midway or is still under way, so some rows may be counted and "
                "others not. Start again with sklearn.base.clone(...)."
            ) from None
