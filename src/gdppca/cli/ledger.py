"""`gdppca ledger`: make a budget, look at it, set its rules, check it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from gdppca._errors import LedgerError, ParameterError
from gdppca.cli.show import command, console, print_json, tell_files

if TYPE_CHECKING:  # --help needs no ledger
    from gdppca.ledgers import Head, Ledger, Line
    from gdppca.privacy.ledger import Receipt

app = typer.Typer(
    name="ledger",
    help="Keep count of what is drawn from a data set, under a cap that cannot be overspent.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@command(app)
def init(
    address: str,
    epsilon: float,
    delta: float,
    unit: str,
    neighbors: str,
    who: str | None,
    as_json: bool,
) -> None:
    """Name a data set and set its cap; the ledger is made where there is none."""
    from gdppca.ledgers import as_protected, entered_as

    ledger, dataset = _named(address)
    protected = as_protected(unit, neighbors)
    with entered_as(who):
        receipt = ledger.create(dataset, epsilon, delta, protected=protected)
    account = ledger.account(dataset)
    _say(f"Data set '{dataset}' has a cap of {account.cap} for {account.whom}.", receipt, as_json)


@command(app)
def grant(
    address: str, epsilon: float, delta: float | None, who: str | None, as_json: bool
) -> None:
    """Set a new cap, at or above what was spent."""
    from gdppca.ledgers import entered_as

    ledger, dataset = _named(address)
    with entered_as(who):
        receipt = ledger.grant(dataset, epsilon, delta)
    account = ledger.account(dataset)
    _say(
        f"Data set '{dataset}' has a cap of {account.cap} for {account.whom}, "
        f"{account.remaining} remaining.",
        receipt,
        as_json,
    )


@command(app)
def show(address: str, as_json: bool, as_csv: bool, html: Path | None, force: bool) -> None:
    """Tell what was spent and what remains, of one data set (after '#') or of all."""
    from gdppca.cli import register

    if as_json and as_csv:
        raise ParameterError("`as_json` and `as_csv` are two ways to print. Choose one.")
    ledger, dataset = _opened(address)
    names = ledger.datasets() if dataset is None else [dataset]
    accounts = [ledger.account(name) for name in names]
    if html is not None:
        _write_page(ledger, accounts, dataset, html, force)
    if as_csv:
        typer.echo(register.as_csv(ledger.register(dataset)), nl=False)
    elif as_json:
        lines = [] if dataset is None else ledger.register(dataset)
        typer.echo(json.dumps(register.plain(accounts, lines)))
    elif html is None:
        for table in register.tables(ledger, accounts, dataset):
            console.print(table)


def _write_page(
    ledger: Ledger, accounts: list[Any], dataset: str | None, path: Path, force: bool
) -> None:
    from gdppca.jobs.files import PAGES, require_writable
    from gdppca.report import write_register

    require_writable(path, force=force, never=[], endings=PAGES)
    policies = {account.dataset: ledger.policy(account.dataset) for account in accounts}
    write_register(ledger.name, accounts, policies, ledger.register(dataset), path)
    tell_files(Register=path)


@command(app)
def entry(address: str, number: int, as_json: bool) -> None:
    """Tell everything about one entry, and what became of it."""
    from gdppca.cli import register

    ledger, _ = _opened(address)
    line = ledger.entry(number)
    if as_json:
        typer.echo(json.dumps(line.to_dict()))
    else:
        console.print(register.one(line))


@command(app)
def verify(address: str, head: str | None, release: Path | None, as_json: bool) -> None:
    """Find entries that were edited, removed, inserted or rolled back, and say what was checked."""
    from gdppca.cli.register import what_was_checked

    ledger, _ = _opened(address)
    noted = ledger.noted_head()
    try:
        last = ledger.verify(head)
    except LedgerError as error:
        for finding in error.findings[1:]:  # the first is in the message
            error.add_note(finding)
        raise
    told = [] if release is None else [_standing_of(ledger, release)]
    whole = f"{last.number} entries, nothing edited, removed, inserted or rolled back."
    _say([*what_was_checked(ledger.register(), noted, head), *told, whole], last, as_json)


def _standing_of(ledger: Ledger, path: Path) -> str:
    """What the ledger knows of a release file; an error if it does not stand in it."""
    from gdppca.releases import Release

    release, name = Release.load(path), ledger.name
    own = [each for each in release.entries if each.ledger == name]
    if not own:
        raise LedgerError(f"'{path}' names no entry of this ledger.")
    for each in own:
        line = ledger.entry(each.number)
        if line.entry.hash != each.hash:
            raise LedgerError(f"'{path}' names entry {each.number}, and here is another one.")
        if release.checksum not in line.releases:
            raise LedgerError(_not_completed(path, line))
    numbers = ", ".join(str(each.number) for each in own)
    return f"'{path}' has its completed entry: {numbers}."


def _not_completed(path: Path, line: Line) -> str:
    if not line.releases:
        return f"'{path}' was paid for by entry {line.number}, which is not completed."
    return (
        f"'{path}' was paid for by entry {line.number}, which was completed with another checksum: "
        "the release was changed since, or is another form of it."
    )


@command(app)
def complete(address: str, release: Path, who: str | None, as_json: bool) -> None:
    """Note a release in the entry that paid for it, where a fit could not do it itself."""
    from gdppca.ledgers import entered_as
    from gdppca.releases import Release

    ledger, _ = _opened(address)
    made, name = Release.load(release), ledger.name
    own = [each for each in made.entries if each.ledger == name]
    if not own:
        raise LedgerError(f"'{release}' names no entry of this ledger. Nothing was entered.")
    with entered_as(who):
        for each in own:
            if ledger.entry(each.number).entry.hash != each.hash:
                raise LedgerError(f"'{release}' names entry {each.number}, and here is another.")
            receipt = ledger.complete(each.number, made.checksum)
    _say([f"Entry {each.number} is completed." for each in own], receipt, as_json)


@command(app)
def policy(
    address: str,
    largest_epsilon: float | None,
    yearly_epsilon: float | None,
    spender: list[str] | None,
    approval: bool | None,
    none: bool,
    who: str | None,
    as_json: bool,
) -> None:
    """Set rules for spends to come, beside the cap; without an option, tell them."""
    from gdppca.ledgers import Policy, entered_as

    ledger, dataset = _named(address)
    said = {
        "largest_epsilon": largest_epsilon,
        "yearly_epsilon": yearly_epsilon,
        "spenders": tuple(spender) if spender else None,
        "approval": approval,
    }
    given: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    rules = ledger.policy(dataset)
    if given or none:
        rules = replace(Policy() if none else rules, **given)
        with entered_as(who):
            receipt = ledger.set_policy(dataset, rules)
    words = [*rules.in_words] or ["There is no rule beside the cap."]
    if given or none:
        _say([*words, f"These are the rules of '{dataset}' from now on."], receipt, as_json)
    elif as_json:
        print_json(said=words)
    else:
        for sentence in words:
            console.print(escape(sentence), soft_wrap=True, highlight=False)


@command(app)
def request(
    address: str, epsilon: float, purpose: str | None, who: str | None, as_json: bool
) -> None:
    """Ask somebody else to approve one spend of at most so much."""
    from gdppca.ledgers import Note

    ledger, dataset = _named(address)
    receipt = ledger.request(dataset, epsilon, Note(who=who, purpose=purpose))
    _say(
        f"Entry {receipt.number} asks for epsilon = {epsilon:g} from '{dataset}'. Somebody else "
        "approves it with gdppca ledger approve.",
        receipt,
        as_json,
    )


@command(app)
def approve(address: str, number: int, who: str | None, as_json: bool) -> None:
    """Approve a request of somebody else: one spend may then be made."""
    from gdppca.ledgers import entered_as

    ledger, _ = _opened(address)
    with entered_as(who):
        receipt = ledger.approve(number)
    line = ledger.entry(number)
    purpose = f" for '{line.purpose}'" if line.purpose else ""
    _say(f"'{line.who}' may spend epsilon = {line.epsilon:g}{purpose}, once.", receipt, as_json)


@command(app)
def accept_head(address: str, head: str | None, as_json: bool) -> None:
    """Take the ledger as it is for the true one, where the file with its last hash is lost."""
    ledger, _ = _opened(address)
    last = ledger.accept_head(head)
    said = "The last entry is noted anew. Entries that were lost before cannot be noticed now."
    _say(said, last, as_json)


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


def _say(sentences: str | Sequence[str], last: Head | Receipt, as_json: bool) -> None:
    """What was done, and the entry that stands for it."""
    said = [sentences] if isinstance(sentences, str) else [*sentences]
    if as_json:
        print_json(said=said, number=last.number, hash=last.hash)
        return
    for line in (*said, f"Last entry {last.number}: {last.hash}"):
        console.print(escape(line), soft_wrap=True, highlight=False)
