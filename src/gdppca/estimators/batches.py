"""Rows that come in batches: what `partial_fit` gathers until `finalize`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self, cast

import numpy as np

from gdppca._errors import BudgetExceeded, StateError
from gdppca.design import Design, Shares, design_of, run
from gdppca.design.parameters import settled
from gdppca.estimators.base import PrivatePCA, check_rows, checked_matrix
from gdppca.estimators.doubts import warn_of_weakness
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


class InBatches(PrivatePCA):
    """An estimator that also takes its rows batch by batch."""

    @abstractmethod
    def _checked_design(
        self, public: Public, supply: Supply, shares: Shares | None = None
    ) -> Design:
        """Check every parameter against the shape, before any row counts."""

    @np.errstate(all="ignore")
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a batch of rows. Draws no noise and releases nothing until `finalize`.

        Parameters
        ----------
        X : table of shape (n, d)
            A batch of rows, each person in one batch only.
        y : None
            Ignored.

        Returns
        -------
        DPPCA
            Itself, holding exact sums that are not private: it refuses to be pickled.

        Notes
        -----
        **Privacy.** Rows are shuffled inside a batch only, so the guarantee assumes that the order
        of the batches does not depend on their values. The first batch fixes every parameter:
        `finalize` draws by them and debits their ledger, whatever was set since.
        """
        if hasattr(self, "release_"):
            raise StateError("The release is made. Use sklearn.base.clone(...) for new rows.")
        batches: Batches | None = self.__dict__.get("_batches")
        X = checked_matrix(self, X, reset=batches is None).values
        if batches is None:
            # Any number of rows will do until all are in.
            design = self._checked_design(Public.of(2, X.shape[1]), Supply.BATCHES)
            batches = self._batches = Batches(design, self)
        batches.add(X)
        return self

    def finalize(self) -> Self:
        """Draw the noise, once, over all rows given to `partial_fit`.

        Returns
        -------
        DPPCA
            Itself, fitted; the exact sums are gone.
        """
        batches: Batches | None = self.__dict__.get("_batches")
        if batches is None:
            raise StateError("There is nothing to finalize: call partial_fit first, finalize once.")
        table, design = batches.finish(self.ledger)
        warn_of_weakness(design, stacklevel=3)
        try:
            booking = self._booking(batches.ledger)
            state = run(design, table, batches.noise, booking)
        except BudgetExceeded:  # nothing was drawn, and the cap may be raised
            batches.give_back(table)
            raise
        self.__dict__.pop("_batches", None)
        self._view = batches.view
        return self._publish(design, state, booking, seeded=batches.noise.seeded)

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_batches", None)
        self.__dict__.pop("_view", None)

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to be pickled with exact sums inside."""
        if hasattr(self, "_batches"):
            raise StateError("Exact sums are not private and are not pickled: call finalize first.")
        state: dict[str, Any] = super().__getstate__()
        return state
