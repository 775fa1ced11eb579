"""The register of a ledger as a page, for whoever answers for a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gdppca._files import write_whole
from gdppca._version import __version__
from gdppca._words import power
from gdppca.ledgers import Account, Line, Policy
from gdppca.ledgers.register import MEANINGS, NUMBERS, RESERVED, WAITING
from gdppca.report.render import page_of

_PAGE = "register.html.j2"
_SHORT = 19  # of a checksum, with what kind it is


def render_register(
    name: str, accounts: Sequence[Account], policies: Mapping[str, Policy], lines: Sequence[Line]
) -> str:
    """Write the register of a ledger as one HTML page.

    Parameters
    ----------
    name : str
        The ledger's own name.
    accounts : sequence of Account
        Where its data sets stand.
    policies : mapping
        Their rules, by their names.
    lines : sequence of Line
        Every entry with what became of it, from ``Ledger.register``.

    Returns
    -------
    str
        A page without scripts that asks for nothing from outside.

    Notes
    -----
    **Privacy.** It is the owner's: it tells who worked on what, and when. No row is in it.
    """
    facts = {
        "name": name,
        "version": __version__,
        "accounts": [_account(account) for account in accounts],
        "rules": [(each, rule) for each, policy in policies.items() for rule in policy.in_words],
        "lines": [_line(line) for line in lines],
        "spends": sum(line.entry.kind == "spend" for line in lines),
        "open": {
            status: [line.number for line in lines if line.status == status]
            for status in (RESERVED, WAITING)
        },
        "meanings": {each: MEANINGS[each] for each in MEANINGS if _has(lines, each)},
        "numbers": NUMBERS,
    }
    return page_of(_PAGE, facts)


def write_register(
    name: str,
    accounts: Sequence[Account],
    policies: Mapping[str, Policy],
    lines: Sequence[Line],
    path: str | Path,
) -> None:
    """Write the register of a ledger into a file, whole or not at all.

    Parameters
    ----------
    name, accounts, policies, lines
        As for `render_register`.
    path : str or Path
        Where to.
    """
    page = render_register(name, accounts, policies, lines)
    write_whole(Path(path), page.encode("utf-8"))


def _has(lines: Sequence[Line], status: str) -> bool:
    return any(line.status == status for line in lines)


def _account(account: Account) -> list[str]:
    numbers = (account.cap, account.spent, account.bound, account.remaining)
    shown = [f"{number.epsilon:.4g}" for number in numbers]
    return [account.dataset, account.whom, *shown, power(account.cap.delta), str(account.spends)]


def _line(line: Line) -> list[Any]:
    """One row: small print stands after a line break."""
    entry, plain = line.entry, line.to_dict()
    about = f"about entry {line.about}" if line.about is not None else ""
    what = f"{entry.kind}\n{line.status or about}"
    drawn = ", ".join(dict.fromkeys(event.purpose for event in entry.events))
    method = plain["method"] or ""
    return [
        str(entry.number),
        f"{entry.at[:10]}\n{entry.at[11:19]} UTC",
        entry.dataset,
        what,
        line.who or "",
        f"{line.purpose or ''}\n{' · '.join(filter(None, (method, drawn)))}",
        "" if line.epsilon is None else f"{line.epsilon:.4g}",
        "" if line.bound is None else f"{line.bound:.4g}",
        "\n".join(release[:_SHORT] for release in line.releases[:1]),
    ]
