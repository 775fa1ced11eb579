"""How the ledger's register is shown: as tables, as plain data, as lines of a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from typing import Any

from rich.markup import escape
from rich.table import Column, Table

from gdppca._words import counted, listed
from gdppca.cli.show import RIGHT
from gdppca.ledgers import Account, Head, Ledger, Line
from gdppca.ledgers.register import MEANINGS, NUMBERS, RESERVED, WAITING, in_cells

_SHORT = 8  # of a checksum


def tables(ledger: Ledger, accounts: list[Account], dataset: str | None) -> list[Table]:
    """Where the data sets stand, and of one of them every entry and the rules."""
    found = [_standing(accounts)]
    if dataset is None:
        return found
    found.append(_entries(ledger.register(dataset)))
    rules = ledger.policy(dataset).in_words
    if rules:
        table = Table("rules beside the cap", title_justify="left")
        for rule in rules:
            table.add_row(escape(rule))
        found.append(table)
    return found


def _standing(accounts: list[Account]) -> Table:
    table = Table(
        "data set",
        "for",
        *map(RIGHT, ("cap", "spent", "bound", "remaining", "delta", "spends")),
        title="Budgets",
        title_justify="left",
        caption=f"Bound: {NUMBERS['spent_bound']} Spent: {NUMBERS['spent']} Remaining: "
        f"{NUMBERS['remaining']}",
    )
    for account in accounts:
        numbers = (account.cap, account.spent, account.bound, account.remaining)
        epsilons = [f"{number.epsilon:.4g}" for number in numbers]
        own = (f"{account.cap.delta:g}", str(account.spends))
        whom = "{unit}s, {neighbors}".format(**_about(account))
        table.add_row(escape(account.dataset), whom, *epsilons, *own)
    return table


def _entries(lines: list[Line]) -> Table:
    seen = dict.fromkeys(line.status for line in lines if line.status)
    table = Table(
        *(Column("no.", no_wrap=True), Column("at", min_width=10), Column("what", min_width=9)),
        *("who", "for"),
        *map(RIGHT, ("epsilon", "bound")),
        Column("release", no_wrap=True),
        title="Entries",
        title_justify="left",
        caption=" ".join(f"{status.capitalize()}: {MEANINGS[status]}." for status in seen) or None,
    )
    for line in lines:
        numbers = (line.epsilon, line.bound)
        table.add_row(
            str(line.number),
            line.entry.at[:19].replace("T", " "),
            " ".join(filter(None, (line.entry.kind, line.status))),
            *map(escape, (line.who or "", _what_for(line))),
            *("" if number is None else f"{number:.4g}" for number in numbers),
            " ".join(release.removeprefix("sha256:")[:_SHORT] for release in line.releases),
        )
    return table


def _what_for(line: Line) -> str:
    """What somebody said it is for; else what was drawn, or which entry it is about."""
    drawn = ", ".join(dict.fromkeys(event.purpose for event in line.entry.events))
    about = f"entry {line.about}" if line.about is not None and not drawn else ""
    named = line.to_dict()["request_id"]
    return (about or line.purpose or drawn) + (f" ({named})" if named else "")


def one(line: Line) -> Table:
    """Everything that an entry says."""
    table = Table("what", "is", title=f"Entry {line.number}", title_justify="left")
    for name, value in line.to_dict().items():
        if value not in (None, [], ""):
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            table.add_row(name.replace("_", " "), escape(shown))
    if line.status:
        table.caption = f"{line.status.capitalize()}: {MEANINGS[line.status]}."
    return table


def plain(accounts: list[Account], lines: list[Line]) -> dict[str, Any]:
    """As JSON holds it."""
    return {
        "datasets": [_plain(account) for account in accounts],
        "entries": [line.to_dict() for line in lines],
        "meaning": NUMBERS | {line.status: MEANINGS[line.status] for line in lines if line.status},
    }


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


def _about(counted: Account) -> dict[str, str]:
    return {name: str(getattr(counted.protected, name)) for name in ("unit", "neighbors")}


def as_csv(lines: list[Line]) -> str:
    """Every entry in a row, with a header."""
    text = io.StringIO()
    if lines:
        writer = csv.DictWriter(text, list(lines[0].to_dict()), lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(in_cells, lines))
    return text.getvalue()


def what_was_checked(lines: list[Line], noted: Head | None, given: str | None) -> list[str]:
    """What `verify` looked at and found in order, and what it found to be open."""
    kinds = Counter(line.entry.kind for line in lines)
    said = [
        f"Checked: the hashes of all {len(lines)} entries, and that each follows the one before.",
        f"Checked: all totals anew from the events of {counted(kinds['spend'], 'spend')}; every "
        f"cap and rule of {counted(kinds['create'], 'data set')} at each of them.",
        f"Checked: that {counted(kinds['complete'], 'completion')} and "
        f"{counted(kinds['approve'], 'approval')} name entries before them, and that nobody "
        "approved what they had asked for.",
        *_about_roll_backs(noted, given),
    ]
    for status in (RESERVED, WAITING):
        numbers = [str(line.number) for line in lines if line.status == status]
        if numbers:
            said.append(f"{status.capitalize()}, that is {MEANINGS[status]}: {listed(numbers)}.")
    return said


def _about_roll_backs(noted: Head | None, given: str | None) -> list[str]:
    said = []
    if noted is not None:
        said.append(f"Checked: that entry {noted.number}, noted beside the ledger, stands here.")
    if given is not None:
        said.append("Checked: that the entry with the hash that you gave stands here.")
    return said or [
        "Not checked: whether entries at the end were removed. Nothing was noted beside the "
        "ledger; give a hash that you noted down as --head."
    ]
