"""Rows that come in batches: what `partial_fit` gathers until `finalize`."""

from __future__ import annotations

import numpy as np

from gdppca._errors import StateError
from gdppca.estimators._base import check_rows
from gdppca.estimators._settings import Settings
from gdppca.noise.bits import Rng
from gdppca.tables.base import Sums


class Batches:
    """Exact sums of the rows so far, not private, and the settings of the first batch.

    The settings, the ledger among them, stay those of the first batch: noise for other parameters
    than those of the sums would protect nobody, and a draw without its debit would be uncounted.
    """

    def __init__(self, settings: Settings, rng: Rng) -> None:
        self._settings = settings
        self._sums = [settings.recipe.empty()]  # empty while a batch is counted, and after
        self.rng = rng

    def add(self, X: np.ndarray) -> None:
        """Count a batch of rows."""
        sums = self._taken()
        sums.update(self._settings.divided(X), self.rng.permutation(len(X)))
        self._sums.append(sums)

    @np.errstate(all="ignore")  # no error or warning may depend on a cell
    def finish(self, ledger: str | None) -> tuple[np.ndarray, Settings]:
        """The scatter matrix of all rows, not private, and settings for so many; only once."""
        if self._settings.ledger is None and ledger is not None:
            raise StateError(
                "`ledger` was set after the first batch, which fixes all parameters. Set it to "
                "None again, or start again with sklearn.base.clone(...)."
            )
        sums = self._taken()
        check_rows(sums.n_samples)
        settings = self._settings.with_(n_samples=sums.n_samples)
        settings.require_noise()
        return sums.mean(), settings

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
