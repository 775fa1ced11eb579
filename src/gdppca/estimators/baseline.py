"""How the methods that ours is compared with are fitted: one way for all."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from gdppca import _validate
from gdppca._errors import PrivacyWarning
from gdppca.design import Design, Shares
from gdppca.estimators.base import (
    PrivatePCA,
    check_components,
    check_rows,
    kept,
)
from gdppca.ledgers import check_ledger
from gdppca.noise import noise_for
from gdppca.privacy.budget import warn_of_large_delta
from gdppca.privacy.spending import epsilon_at
from gdppca.steps.base import Public, Step
from gdppca.tables.base import Table


@dataclass(eq=False, repr=False)
class Baseline(PrivatePCA):
    """A method with one table, one debit and a list of steps; a subclass says which."""

    _least_rows: ClassVar[int] = 2

    def fit(self, X: Any, y: Any = None, *, persons: Any = None) -> Self:
        """Release principal components of a table.

        Parameters
        ----------
        X : table of shape (n, d), str or path
            numpy, pandas, polars or pyarrow, or a file; one row per person, at least two rows,
            four for `NSGGD`.
        y : None
            Ignored.
        persons : sequence of ids, str or None, default None
            Whose each row is, where a person may have several; or the column that says so. One
            random row of each person is used, and the promise is about persons.

        Returns
        -------
        PrivatePCA
            Itself.
        """
        return self._fit(X, whole=True, persons=kept(persons))

    def _design(self, table: Table, shares: Shares | None) -> Design:
        """Check the shape and the parameters that every method has, then its own."""
        n, d = table.n_samples, table.n_features
        check_rows(n, self._least_rows)
        check_components(self.n_components, d)
        check_ledger(self.ledger, seeded=noise_for(self.random_state).seeded)
        _validate.budget(epsilon=self.epsilon)
        warn_of_large_delta(_validate.fraction(delta=self.delta), n, stacklevel=4)
        design = self._steps_for(Public.about(table))
        for doubt in design.doubts:
            warnings.warn(doubt, PrivacyWarning, stacklevel=4)
        return design

    @abstractmethod
    def _steps_for(self, public: Public) -> Design:
        """The method's own steps: everything is known then, and nothing spent."""

    def _list(self, *steps: Step, **more: Any) -> Design:
        """A design that draws these steps, and what they say that they draw."""
        more = {"noiseless": math.isinf(self.epsilon), "delta": self.delta} | more
        events = tuple(event for step in steps for event in step.events)
        return Design.of(*steps, epsilon=epsilon_at(events, self.delta), **more)
