"""What a ledger leaves for a fit that is proposed: looked up, never spent."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gdppca._errors import BudgetExceeded, LedgerError, ParameterError
from gdppca.ledgers import Ledger, open_account, split_address
from gdppca.privacy import Budget, Event, Protected

_SQLITE = "sqlite:///"
_LEAST = 0.01  # ε that is worth proposing

Debit = Callable[[Budget], tuple[Event, ...]]  # of the fit, for a budget


@dataclass(frozen=True, kw_only=True)
class Room:
    """Where a fit can be counted, with which budget, and what the owner must know of it."""

    said: tuple[str, ...]
    address: str
    budget: Budget | None  # None: nothing worth having is left
    to_make: bool = False  # whether the data set must be made first


def room_for(address: str, asked: Budget, debit: Debit, protected: Protected) -> Room:
    """Look up whether a ledger would take this fit, and what it would take instead."""
    where, named = split_address(address)
    if not _is_there(where):
        said = f"There is no ledger at {where} yet."
        return _new(address if named else f"{where}#data", asked, said)
    ledger, dataset = (Ledger(where), named) if named else open_account(address)
    assert dataset is not None
    if dataset not in ledger.datasets():
        return _new(address, asked, f"The ledger at {where} has no data set '{dataset}' yet.")
    account = ledger.account(dataset)
    stands = (
        f"Of the cap of '{dataset}', {account.cap} for {account.whom}, {account.remaining} is left."
    )
    if account.protected != protected:
        return _another(ledger, where, dataset, asked, debit, protected, stands)
    for budget in (asked, _left(account.remaining)):
        if budget is not None and _fits(ledger, dataset, debit(budget), protected):
            less = "" if budget is asked else (
                f"A fit with epsilon = {asked.epsilon:g} and delta = {asked.delta:g} is more than "
                "that: the one below takes what is left."
            )  # fmt: skip
            return Room(said=(stands, *filter(None, [less])), address=address, budget=budget)
    grant = f"gdppca ledger grant '{address}' --epsilon …"
    more = f"No fit is left under it. Its owner may set a higher cap: {grant}"
    return Room(said=(stands, more), address=address, budget=None)


def _is_there(where: str) -> bool:
    """Whether there is a ledger, as far as a file tells."""
    return not where.startswith(_SQLITE) or Path(where.removeprefix(_SQLITE)).exists()


def _new(address: str, asked: Budget, *said: str) -> Room:
    return Room(said=said, address=address, budget=asked, to_make=True)


def _another(
    ledger: Ledger,
    where: str,
    dataset: str,
    asked: Budget,
    debit: Debit,
    protected: Protected,
    stands: str,
) -> Room:
    """A data set of its own, where the cap is about another promise."""
    try:
        ledger.require(dataset, debit(asked), protected=protected)
    except LedgerError as error:
        why = str(error)
    else:  # pragma: no cover - a ledger refuses what its cap is not about
        why = ""
    own = f"{dataset}-{protected.unit}s-{protected.neighbors}"
    if own in ledger.datasets():
        there = room_for(f"{where}#{own}", asked, debit, protected)
        return Room(said=(why, *there.said), address=there.address, budget=there.budget)
    return _new(f"{where}#{own}", asked, stands, why)


def _left(remaining: Budget) -> Budget | None:
    """What is left, rounded down to three digits."""
    if not _LEAST <= remaining.epsilon < math.inf:
        return None
    step = 10.0 ** (math.floor(math.log10(remaining.epsilon)) - 2)
    epsilon = float(f"{math.floor(remaining.epsilon / step + 1e-9) * step:.3g}")
    return Budget(epsilon, remaining.delta)


def _fits(ledger: Ledger, dataset: str, events: tuple[Event, ...], protected: Protected) -> bool:
    try:
        ledger.require(dataset, events, protected=protected)
    except (BudgetExceeded, ParameterError):
        return False
    return True
