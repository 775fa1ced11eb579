"""What is wrong with a ledger, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from gdppca._errors import GdppcaError, LedgerError
from gdppca.ledgers.chain import Entry, Head, broken_links
from gdppca.ledgers.entries import RULE, Standing, stated_by
from gdppca.ledgers.legality import wrong_lines
from gdppca.ledgers.protected import in_words
from gdppca.privacy.ledger import Budget
from gdppca.privacy.spending import Spending

KINDS = ("create", "grant", "spend", "complete", "policy", "request", "approve")
_ABOUT = ("program", "format", "ledger")


def verified(
    entries: list[Entry], about: dict[str, str], noted: Head | None, expected: str | None
) -> Head:
    """The last entry of a ledger in which nothing is wrong, or what is."""
    found = (
        *broken_links(entries),
        *_opening(entries, about),
        *_lost(entries, noted, expected),
        *_wrong_totals(entries),
        *wrong_lines(entries),
    )
    if found:
        raise LedgerError(f"The ledger was tampered with. {found[0]}", findings=found)
    return entries[-1].head


def _opening(entries: list[Entry], about: dict[str, str]) -> Iterator[str]:
    if not entries:
        yield "Every entry is gone."
    elif _detail(entries[0]) != {name: about.get(name) for name in _ABOUT}:
        yield "The first entry is not that of this ledger."


def _lost(entries: list[Entry], noted: Head | None, expected: str | None) -> Iterator[str]:
    """Entries that were seen before and are gone."""
    hashes = {entry.hash: entry.number for entry in entries}
    if noted is not None and hashes.get(noted.hash) != noted.number:
        yield f"The ledger was rolled back or rewritten: entry {noted.number} was seen and is gone."
    if expected is not None and expected not in hashes:
        yield "The ledger was rolled back or rewritten: the expected entry is gone."


def _wrong_totals(entries: list[Entry]) -> Iterator[str]:
    """Totals that do not follow from the events, and caps that were broken.

    Every entry is held to what was enforced when it was made. Spends of today must fit one by one.
    Those of earlier versions had to stay under the cap by the exact number, which only grows and
    is the smaller one: it is checked for all where a cap changes and at the end.
    """
    standing: dict[str, Standing] = {}
    for entry in entries[1:]:
        try:
            stated = stated_by(entry)
            cap, before, about = standing.get(entry.dataset, stated._replace(spent=Spending()))
            after = before.plus(entry.events)
        except (GdppcaError, KeyError, TypeError, ValueError):
            yield f"Entry {entry.number} cannot be read."
            continue
        if entry.kind not in KINDS:
            yield f"Entry {entry.number} is of no known kind."
        if (entry.dataset in standing) == (entry.kind == "create"):
            yield f"Entry {entry.number} is out of place."
        if stated.protected != about:
            yield (
                f"Entry {entry.number} is about {in_words(stated.protected)}, and the cap of "
                f"'{entry.dataset}' about {in_words(about)}."
            )
        if stated.spent != after or (entry.kind == "spend") != bool(entry.events):
            yield f"The totals of entry {entry.number} do not follow from its events."
        if entry.kind == "spend" and entry.detail.get("rule", 1) >= RULE and not after.fits(cap):
            yield f"Entry {entry.number} broke the cap of '{entry.dataset}'."
        if stated.cap != cap or stated.cap.delta != cap.delta:
            if entry.kind != "grant":
                yield f"Entry {entry.number} changed the cap without a grant."
            if not _was_legal(before, cap):
                yield f"The cap of '{entry.dataset}' was broken before entry {entry.number}."
        standing[entry.dataset] = Standing(stated.cap, after, about)
    for dataset, (cap, spent, _) in standing.items():
        if not _was_legal(spent, cap):
            yield f"The cap of '{dataset}' is broken."


def _was_legal(spent: Spending, cap: Budget) -> bool:
    """Whether totals stay under a cap by the rule of today or of earlier versions."""
    return spent.fits(cap) or spent.fitted(cap)


def _detail(entry: Entry) -> object:
    try:
        return entry.detail
    except (TypeError, ValueError):
        return None
