"""The one way in which a draw pays: entered at an address, durably, before any noise."""

from __future__ import annotations

from collections.abc import Iterable

from gdppca._errors import LedgerError, ParameterError
from gdppca.ledgers.address import split_address
from gdppca.ledgers.ledger import Ledger
from gdppca.ledgers.protected import ROWS
from gdppca.privacy import Protected
from gdppca.privacy.events import Event


def open_account(address: str) -> tuple[Ledger, str]:
    """Ledger and data set of an address; without a name, the ledger's only data set.

    Parameters
    ----------
    address : str
        As for `split_address`.

    Returns
    -------
    tuple of Ledger and str
        The ledger, and the name of the data set.
    """
    where, dataset = split_address(address)
    ledger = Ledger(where)
    if dataset is None:
        names = ledger.datasets()
        if len(names) != 1:
            raise LedgerError(
                f"The ledger holds {len(names)} data sets: name one at the end of its address, "
                "as in sqlite:///budget.db#patients."
            )
        [dataset] = names
    return ledger, dataset


def check_ledger(address: str | None, *, seeded: bool) -> None:
    """Refuse what is no address, and a ledger for a simulation."""
    if address is None:
        return
    split_address(address)
    if seeded:
        raise ParameterError(
            "`random_state` makes a simulation, which no ledger counts: leave one of them out."
        )


def require_room(
    address: str | None,
    events: Iterable[Event],
    *,
    protected: Protected = ROWS,
    seeded: bool = False,
) -> None:
    """Refuse what `enter` would refuse now, before hours of reading; nothing is entered."""
    check_ledger(address, seeded=seeded)
    if address is not None:
        ledger, dataset = open_account(address)
        ledger.require(dataset, events, protected=protected)


def enter(
    address: str | None,
    events: Iterable[Event],
    *,
    protected: Protected = ROWS,
    seeded: bool = False,
) -> bool:
    """Enter what is about to be drawn; False where there is no ledger.

    Call it after the last check and before the first draw: what is refused here was not drawn, and
    what is drawn after a crash was paid for. `protected` says whom the draws are about: a cap is
    about one kind of promise and refuses every other.
    """
    check_ledger(address, seeded=seeded)
    if address is None:
        return False
    ledger, dataset = open_account(address)
    ledger.spend(dataset, events, protected=protected)
    return True
