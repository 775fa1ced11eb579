"""The one way in which a draw pays: entered at an address, durably, before any noise."""

from __future__ import annotations

from collections.abc import Iterable

from gdppca._errors import ParameterError
from gdppca.ledgers.address import split_address
from gdppca.ledgers.ledger import open_account
from gdppca.privacy.events import Event


def check_ledger(address: str | None, *, seeded: bool) -> None:
    """Refuse what is no address, and a ledger for a simulation."""
    if address is None:
        return
    split_address(address)
    if seeded:
        raise ParameterError(
            "`random_state` makes a simulation, which no ledger counts: leave one of them out."
        )


def require_room(address: str | None, events: Iterable[Event]) -> None:
    """Refuse what `enter` would refuse now, before hours of reading; nothing is entered."""
    if address is not None:
        ledger, dataset = open_account(address)
        ledger.require(dataset, events)


def enter(address: str | None, events: Iterable[Event], *, seeded: bool = False) -> bool:
    """Enter what is about to be drawn; False where there is no ledger.

    Call it after the last check and before the first draw: what is refused here was not drawn, and
    what is drawn after a crash was paid for.
    """
    check_ledger(address, seeded=seeded)
    if address is None:
        return False
    ledger, dataset = open_account(address)
    ledger.spend(dataset, events)
    return True
