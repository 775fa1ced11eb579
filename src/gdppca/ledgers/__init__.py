"""A budget that cannot be overspent: SQLite for one, PostgreSQL for a team."""

from gdppca.ledgers.address import HiddenPassword, split_address
from gdppca.ledgers.chain import Entry, Head
from gdppca.ledgers.debit import check_ledger, enter, open_account, require_room
from gdppca.ledgers.entries import Account
from gdppca.ledgers.ledger import Ledger
from gdppca.ledgers.protected import as_protected

__all__ = [
    "Account",
    "Entry",
    "Head",
    "HiddenPassword",
    "Ledger",
    "as_protected",
    "check_ledger",
    "enter",
    "open_account",
    "require_room",
    "split_address",
]
