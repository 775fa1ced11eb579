"""A budget that cannot be overspent: SQLite for one, PostgreSQL for a team."""

from gdppca.ledgers.address import HiddenPassword, split_address
from gdppca.ledgers.chain import Entry, Head, Reference
from gdppca.ledgers.debit import (
    Booking,
    check_ledger,
    complete_entries,
    enter,
    open_account,
    require_room,
)
from gdppca.ledgers.entries import Account
from gdppca.ledgers.ledger import Ledger
from gdppca.ledgers.notes import Note, entered_as
from gdppca.ledgers.policy import Policy
from gdppca.ledgers.protected import as_protected
from gdppca.ledgers.register import Line

__all__ = [
    "Account",
    "Booking",
    "Entry",
    "Head",
    "HiddenPassword",
    "Ledger",
    "Line",
    "Note",
    "Policy",
    "Reference",
    "as_protected",
    "check_ledger",
    "complete_entries",
    "enter",
    "entered_as",
    "open_account",
    "require_room",
    "split_address",
]
