"""The one way in which a draw pays: entered at an address, durably, before any noise."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from gdppca._errors import LedgerError, ParameterError, PrivacyWarning
from gdppca.ledgers.address import split_address, without_password
from gdppca.ledgers.chain import Reference
from gdppca.ledgers.ledger import Ledger
from gdppca.ledgers.notes import Note, habit
from gdppca.ledgers.policy import NeedsApproval
from gdppca.ledgers.protected import ROWS
from gdppca.privacy import Protected
from gdppca.privacy.events import Event
from gdppca.privacy.ledger import Receipt


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


class Booking:
    """A draw in a ledger, from the first question to the completed entry; nothing without one.

    Parameters
    ----------
    address : str or None
        As for `split_address`; None where nothing is counted.
    method : str, optional
        What draws.
    parameters : dict, optional
        Its parameters, which are public.
    """

    def __init__(
        self,
        address: str | None,
        method: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        self.address = address
        self._note = Note(method=method, parameters=parameters)
        self._ledger: Ledger | None = None
        self.receipt: Receipt | None = None

    @classmethod
    def of(cls, ledger: str | Booking | None) -> Booking:
        """Itself, or that of an address."""
        return ledger if isinstance(ledger, Booking) else cls(ledger)

    @property
    def entries(self) -> tuple[Reference, ...]:
        """What a release names: the entry that paid for it; empty where there is none."""
        if self.receipt is None or self._ledger is None:
            return ()
        return (Reference(self._ledger.name, self.receipt.number, self.receipt.hash),)

    def require(self, events: Iterable[Event], protected: Protected) -> None:
        """Refuse what cannot be spent now; where somebody must approve it, ask for that."""
        ledger, dataset = self._opened()
        note, drawn = self._note.settled(), tuple(events)
        try:
            ledger.require(dataset, drawn, protected=protected, note=note)
        except NeedsApproval as needed:
            request = ledger.request(dataset, needed.epsilon, note)
            shown = without_password(ledger.address)
            raise LedgerError(
                f"Every spend from '{dataset}' needs a second pair of eyes. Entry {request.number} "
                f"asks for epsilon = {needed.epsilon:.6g} in the name of '{note.who}'. Somebody "
                f"else approves it with `gdppca ledger approve {shown} {request.number}`; then do "
                "the same again. Nothing was spent and nothing drawn."
            ) from None

    def reserve(
        self,
        events: Iterable[Event],
        protected: Protected,
        description: str | None = None,
        pieces: Iterable[bytes] | None = None,
    ) -> None:
        """Enter the spend, durably: from here on it counts, whatever comes of it."""
        ledger, dataset = self._opened()
        marked = pieces is not None and habit().fingerprint
        self.receipt = ledger.spend(
            dataset,
            tuple(events),
            request_id=habit().request_id,
            fingerprint=ledger.fingerprint_of(pieces) if pieces is not None and marked else None,
            protected=protected,
            note=replace(self._note, description=description),
        )
        named = habit().request_id
        if named is not None and self.receipt.repeated:  # what was drawn may have been seen
            raise LedgerError(
                f"The request '{named}' was spent before, by entry {self.receipt.number}. Nothing "
                "was spent and nothing drawn."
            )

    def complete(self, checksum: str) -> None:
        """Name what came of the draw, unless whoever saves it will."""
        if self.receipt is not None and habit().complete:
            assert self._ledger is not None
            _completed(self._ledger, self.receipt.number, checksum)

    def _opened(self) -> tuple[Ledger, str]:
        assert self.address is not None
        ledger, dataset = open_account(self.address)
        self._ledger = ledger
        return ledger, dataset


def complete_entries(address: str, entries: Iterable[Reference], checksum: str) -> None:
    """Complete those of a release's entries that stand in this ledger."""
    try:
        ledger = Ledger(split_address(address)[0])
        own = [each.number for each in entries if each.ledger == ledger.name]
    except LedgerError as error:
        _warn(error)
        return
    for number in own:
        _completed(ledger, number, checksum)


def _completed(ledger: Ledger, number: int, checksum: str) -> None:
    """Complete an entry; a failure is a warning, since what was drawn must not be lost."""
    try:
        ledger.complete(number, checksum)
    except LedgerError as error:
        _warn(error)


def _warn(error: LedgerError) -> None:
    warnings.warn(
        f"The release is made, and its entry in the ledger stays reserved: {error} When the ledger "
        "is back, save the release and run `gdppca ledger complete` with its file.",
        PrivacyWarning,
        stacklevel=4,
    )


def require_room(
    ledger: str | Booking | None,
    events: Iterable[Event],
    *,
    protected: Protected = ROWS,
    seeded: bool = False,
) -> None:
    """Refuse what `enter` would refuse now, before hours of reading; nothing is spent."""
    booking = Booking.of(ledger)
    check_ledger(booking.address, seeded=seeded)
    if booking.address is not None:
        booking.require(events, protected)


def enter(
    ledger: str | Booking | None,
    events: Iterable[Event],
    *,
    protected: Protected = ROWS,
    seeded: bool = False,
    description: str | None = None,
    pieces: Iterable[bytes] | None = None,
) -> bool:
    """Enter what is about to be drawn; False where there is no ledger.

    Call it after the last check and before the first draw: what is refused here was not drawn, and
    what is drawn after a crash was paid for. `protected` says whom the draws are about: a cap is
    about one kind of promise and refuses every other.
    """
    booking = Booking.of(ledger)
    check_ledger(booking.address, seeded=seeded)
    if booking.address is None:
        return False
    booking.reserve(events, protected, description, pieces)
    return True
