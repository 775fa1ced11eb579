"""`gdppca ledger`: make a budget, look at it, raise it, check it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from gdppca._errors import LedgerError, ParameterError
from gdppca.cli.show import Command, console

if TYPE_CHECKING:  # --help needs no ledger
    from gdppca.ledgers import Account, Entry, Ledger

app = typer.Typer(
    help="Keep count of what is drawn from a data set, under a cap that cannot be overspent.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Named = Annotated[
    str, typer.Argument(help="Ledger and data set: sqlite:///budget.db#patients, or postgresql://")
]
Where = Annotated[
    str, typer.Argument(help="Ledger: sqlite:///budget.db or postgresql://user@host/database.")
]
Noted = Annotated[
    str | None, typer.Option(help="Hash that was noted down earlier: it must still be there.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


@app.command(cls=Command)
def init(
    address: Named,
    epsilon: Annotated[float, typer.Option(help="Cap: ε of everything that is ever drawn.")],
    delta: Annotated[float, typer.Option(help="Cap: δ, far below 1 over the rows.")] = 1e-6,
) -> None:
    """Name a data set and set its cap; the ledger is made where there is none."""
    ledger, dataset = _named(address)
    receipt = ledger.create(dataset, epsilon, delta)
    _say(f"Data set '{dataset}' has a cap of {ledger.account(dataset).cap}.")
    _say_head(receipt.number, receipt.hash)


@app.command(cls=Command)
def grant(
    address: Named,
    epsilon: Annotated[float, typer.Option(help="The new cap, not an addition to the old one.")],
    delta: Annotated[float | None, typer.Option(help="Its δ; as before if left out.")] = None,
) -> None:
    """Set a new cap, at or above what was spent."""
    ledger, dataset = _named(address)
    receipt = ledger.grant(dataset, epsilon, delta)
    account = ledger.account(dataset)
    _say(f"Data set '{dataset}' has a cap of {account.cap}, {account.remaining} remaining.")
    _say_head(receipt.number, receipt.hash)


@app.command(cls=Command)
def show(address: Where, as_json: AsJson = False) -> None:
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


@app.command(cls=Command)
def verify(address: Where, head: Noted = None) -> None:
    """Find entries that were edited, removed, inserted or rolled back."""
    ledger, _ = _opened(address)
    try:
        last = ledger.verify(head)
    except LedgerError as error:
        for finding in error.findings[1:]:  # the first is in the message
            error.add_note(finding)
        raise
    _say(f"{last.number} entries, nothing edited, removed, inserted or rolled back.")
    _say_head(last.number, last.hash)


@app.command(cls=Command)
def accept_head(address: Where, head: Noted = None) -> None:
    """Take the ledger as it is for the true one, where the file with its last hash is lost."""
    ledger, _ = _opened(address)
    last = ledger.accept_head(head)
    _say("The last entry is noted anew. Entries that were lost before cannot be noticed now.")
    _say_head(last.number, last.hash)


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


def _say(sentence: str) -> None:
    console.print(escape(sentence), soft_wrap=True, highlight=False)


def _say_head(number: int, digest: str) -> None:
    _say(f"Last entry {number}: {digest}")


def _standing(accounts: list[Account]) -> Table:
    table = Table(title="Budgets", title_justify="left")
    for heading in ("data set", "cap", "spent", "bound", "remaining", "delta", "spends"):
        table.add_column(heading, justify="left" if heading == "data set" else "right")
    for account in accounts:
        numbers = (account.cap, account.spent, account.bound, account.remaining)
        table.add_row(
            escape(account.dataset),
            *(f"{number.epsilon:.4g}" for number in numbers),
            f"{account.cap.delta:g}",
            str(account.spends),
        )
    table.caption = (
        "The bound is held against the cap: it is true even if later spends were chosen by earlier "
        "results, and spent is the exact number if none was. Remaining is for one more Gaussian "
        "release. They do not add up to the cap: noise composes better than that."
    )
    return table


def _entries(entries: list[Entry]) -> Table:
    table = Table(title="Entries", title_justify="left")
    for heading in ("number", "at", "what", "for", "request"):
        table.add_column(heading)
    for entry in entries:
        purposes = ", ".join(dict.fromkeys(event.purpose for event in entry.events))
        table.add_row(
            str(entry.number),
            entry.at[:19],
            entry.kind,
            escape(purposes),
            escape(entry.request_id or ""),
        )
    return table


def _plain(account: Account) -> dict[str, Any]:
    return {
        "dataset": account.dataset,
        "delta": account.cap.delta,
        "cap": account.cap.epsilon,
        "spent": account.spent.epsilon,
        "spent_bound": account.bound.epsilon,
        "remaining": account.remaining.epsilon,
        "spends": account.spends,
    }


def _plain_entry(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "at": entry.at,
        "kind": entry.kind,
        "request_id": entry.request_id,
        **{key: entry.detail[key] for key in ("cap", "events") if key in entry.detail},
        "hash": entry.hash,
    }
