"""What a ledger must do: keep count of what was drawn from a data set, under a cap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gdppca.privacy.events import Event

if TYPE_CHECKING:  # a guarantee counts with budgets
    from gdppca.privacy.guarantee import Protected


class Budget(float):
    """An ε that knows its δ.

    Parameters
    ----------
    epsilon : float
        The number itself.
    delta : float
        The δ at which it is quoted.

    Examples
    --------
    >>> from gdppca.privacy.ledger import Budget
    >>> left = Budget(0.5, 1e-6)
    >>> left < 1, left.delta
    (True, 1e-06)
    >>> print(left)
    (epsilon = 0.5, delta = 1e-06)
    """

    delta: float

    def __new__(cls, epsilon: float, delta: float) -> Budget:
        """Make the number and hang δ on it."""
        budget = super().__new__(cls, epsilon)
        budget.delta = delta
        return budget

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        return (float(self), self.delta)

    @property
    def epsilon(self) -> float:
        """The number without its δ."""
        return float(self)

    def __repr__(self) -> str:
        return f"Budget({float(self)!r}, {self.delta!r})"

    def __str__(self) -> str:
        return f"(epsilon = {float(self):.6g}, delta = {self.delta:.6g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that a spend stands in the ledger; only with it in hand may noise be drawn."""

    dataset: str
    number: int  # of the entry
    hash: str  # of the entry; worth noting down, see docs/guide/ledger.md
    at: str
    repeated: bool  # the same request was entered before; nothing was spent this time


class BudgetLedger(Protocol):
    """A persistent count of everything drawn from a data set; never above its cap."""

    def create(
        self, dataset: str, epsilon: float, delta: float, *, protected: Protected = ...
    ) -> Receipt:
        """Name a data set, and set its cap and whom it is about."""

    def spend(
        self,
        dataset: str,
        events: Iterable[Event],
        request_id: str | None = None,
        fingerprint: str | None = None,
        *,
        protected: Protected | None = None,
    ) -> Receipt:
        """Enter events if the cap is about the same and has room, durably, or raise."""

    def remaining(self, dataset: str) -> Budget:
        """Largest ε of one more Gaussian release that fits."""
