"""`gdppca ledger`: make a budget, look at it, raise it, check it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape
from rich.table import Table

from gdppca._errors import LedgerError, ParameterError
from gdppca.cli.show import RIGHT, command, console

if TYPE_CHECKING:  # --help needs no ledger
    from gdppca.ledgers import Account, Entry, Head, Ledger
    from gdppca.privacy.ledger import Receipt

app = typer.Typer(
    help="Keep count of what is drawn from a data set, under a cap that cannot be overspent.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@command(app)
def init(address: str, epsilon: float, delta: float, unit: str, neighbors: str) -> None:
    """Name a data set and set its cap; the ledger is made where there is none."""
    from gdppca.ledgers import as_protected

    ledger, dataset = _named(address)
    protected = as_protected(unit, neighbors)
    receipt = ledger.create(dataset, epsilon, delta, protected=protected)
    account = ledger.account(dataset)
    _say(f"Data set '{dataset}' has a cap of {account.cap} for {account.whom}.", receipt)


@command(app)
def grant(address: str, epsilon: float, delta: float | None) -> None:
    """Set a new cap, at or above what was spent."""
    ledger, dataset = _named(address)
    receipt = ledger.grant(dataset, epsilon, delta)
    account = ledger.account(dataset)
    _say(
        f"Data set '{dataset}' has a cap of {account.cap} for {account.whom}, "
        f"{account.remaining} remaining.",
        receipt,
    )


@command(app)
def show(address: str, as_json: bool) -> None:
    """Tell what was spent and what remains, of one data set (after '#') or of all."""
    ledger, dataset = _opened(address)
    names = ledger.datasets() if dataset is None else [dataset]
    accounts = [ledger.account(name) for name in names]
    entries = [] if dataset is None else ledger.history(dataset)
    if as_json:
        plain = {"datasets": [_plain(account) for account in accounts]}
        typer.echo(json.dumps(plain | {"entries": [_plain_entry(entry) for entry in entries]}))
        return
    console.print(_standing(accounts))
    if entries:
        console.print(_entries(entries))


@command(app)
def verify(address: str, head: str | None) -> None:
    """Find entries that were edited, removed, inserted or rolled back."""
    ledger, _ = _opened(address)
    try:
        last = ledger.verify(head)
    except LedgerError as error:
        for finding in error.findings[1:]:  # the first is in the message
            error.add_note(finding)
        raise
    _say(f"{last.number} entries, nothing edited, removed, inserted or rolled back.", last)


@command(app)
def accept_head(address: str, head: str | None) -> None:
    """Take the ledger as it is for the true one, where the file with its last hash is lost."""
    ledger, _ = _opened(address)
    last = ledger.accept_head(head)
    _say("The last entry is noted anew. Entries that were lost before cannot be noticed now.", last)


def _opened(address: str) -> tuple[Ledger, str | None]:
    """The ledger, and the data set where one is named."""
    from gdppca.ledgers import Ledger, split_address

    where, dataset = split_address(address)
    return Ledger(where), dataset


def _named(address: str) -> tuple[Ledger, str]:
    ledger, dataset = _opened(address)
    if dataset is None:
        raise ParameterError(
            "Name the data set at the end of the address, as in sqlite:///budget.db#patients."
        )
    return ledger, dataset


def _say(sentence: str, last: Head | Receipt) -> None:
    for line in (sentence, f"Last entry {last.number}: {last.hash}"):
        console.print(escape(line), soft_wrap=True, highlight=False)


def _standing(accounts: list[Account]) -> Table:
    table = Table(
        "data set",
        "for",
        *map(RIGHT, ("cap", "spent", "bound", "remaining", "delta", "spends")),
        title="Budgets",
        title_justify="left",
        caption="The bound is held against the cap: it is true even if later spends were chosen by "
        "earlier results, and spent is the exact number if none was. Remaining is for one more "
        "Gaussian release. They do not add up to the cap: noise composes better than that.",
    )
    for account in accounts:
        numbers = (account.cap, account.spent, account.bound, account.remaining)
        epsilons = [f"{number.epsilon:.4g}" for number in numbers]
        own = (f"{account.cap.delta:g}", str(account.spends))
        whom = "{unit}s, {neighbors}".format(**_about(account))
        table.add_row(escape(account.dataset), whom, *epsilons, *own)
    return table


def _entries(entries: list[Entry]) -> Table:
    table = Table(
        *("number", "at", "what", "for", "request"), title="Entries", title_justify="left"
    )
    for entry in entries:
        purposes = ", ".join(dict.fromkeys(event.purpose for event in entry.events))
        told = (escape(purposes), escape(entry.request_id or ""))
        table.add_row(str(entry.number), entry.at[:19], entry.kind, *told)
    return table


def _plain(account: Account) -> dict[str, Any]:
    return {
        "dataset": account.dataset,
        **_about(account),
        "delta": account.cap.delta,
        "cap": account.cap.epsilon,
        "spent": account.spent.epsilon,
        "spent_bound": account.bound.epsilon,
        "remaining": account.remaining.epsilon,
        "spends": account.spends,
    }


def _plain_entry(entry: Entry) -> dict[str, Any]:
    told = {name: getattr(entry, name) for name in ("number", "at", "kind", "request_id")}
    spent = {key: entry.detail[key] for key in ("cap", "events") if key in entry.detail}
    return told | _about(entry) | spent | {"hash": entry.hash}


def _about(counted: Account | Entry) -> dict[str, str]:
    return {name: str(getattr(counted.protected, name)) for name in ("unit", "neighbors")}
