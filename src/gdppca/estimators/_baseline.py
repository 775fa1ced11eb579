"""How the methods that ours is compared with are fitted: one way for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from gdppca import _validate
from gdppca.estimators._base import (
    Found,
    PrivatePCA,
    check_components,
    check_rows,
    checked_matrix,
    note_spend_on_error,
    promise,
    warn_of_large_delta,
)
from gdppca.kernels import OneSample
from gdppca.ledgers import check_ledger, enter
from gdppca.noise.bits import Rng, rng_for
from gdppca.privacy import Assumption, Event, Guarantee, Status
from gdppca.signs import Sign


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A fit from public numbers alone: what it draws, how, and what that is worth."""

    events: tuple[Event, ...]
    draw: Callable[[np.ndarray, Rng], Found]
    calibration: str
    noiseless: bool
    sign: Sign | None = None
    assumed: tuple[Assumption, ...] = ()
    status: Status = Status.PROVEN
    reason: str = ""


@dataclass(eq=False, repr=False)
class Baseline(PrivatePCA, ABC):
    """A method with one table, one debit and one draw; a subclass has a docstring and `_setup`."""

    _least_rows: ClassVar[int] = 2

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release principal components of a table.

        Parameters
        ----------
        X : table of shape (n, d)
            numpy, pandas, polars or pyarrow; one row per person, at least two rows, four for
            `NSGGD`.
        y : None
            Ignored.

        Returns
        -------
        PrivatePCA
            Itself.
        """
        self._forget()
        X = checked_matrix(self, X, reset=True).values
        self._check_parameters(*X.shape)
        setup = self._setup(*X.shape)
        guarantee = self._promise(setup)
        rng = rng_for(self.random_state)
        count_as_spent = note_spend_on_error(guarantee.nominal_epsilon, self.delta)
        enter(self.ledger, setup.events, seeded=rng.seeded)
        with count_as_spent, np.errstate(all="ignore"):  # no warning may depend on a cell
            return self._publish(
                setup.draw(X, rng),
                guarantee,
                len(X),
                calibration=setup.calibration,
                sign=setup.sign,
                scheme=None if setup.sign is None else OneSample().describe(),
            )

    def _check_parameters(self, n: int, d: int) -> None:
        """Check the shape and the parameters that every method has."""
        check_rows(n, self._least_rows)
        check_components(self.n_components, d)
        check_ledger(self.ledger, seeded=self.random_state is not None)
        _validate.budget(epsilon=self.epsilon)
        warn_of_large_delta(_validate.fraction(delta=self.delta), n, stacklevel=3)

    @abstractmethod
    def _setup(self, n: int, d: int) -> Setup:
        """Check the method's own parameters, too: everything is known then, and nothing spent."""

    def _promise(self, setup: Setup) -> Guarantee:
        return promise(
            setup.events,
            self.delta,
            entered=self.ledger is not None,
            seeded=self.random_state is not None,
            noiseless=setup.noiseless,
            assumed=setup.assumed,
            status=setup.status,
            reason=setup.reason,
        )
