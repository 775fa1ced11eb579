"""A budget that cannot be overspent: SQLite for one, PostgreSQL for a team."""

from gdppca.ledgers.address import split_address
from gdppca.ledgers.chain import Entry, Head
from gdppca.ledgers.ledger import Account, Ledger, open_account

__all__ = ["Account", "Entry", "Head", "Ledger", "open_account", "split_address"]
