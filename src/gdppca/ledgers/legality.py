"""Whether every entry was allowed when it was made: by the owner's rules, and by its own words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gdppca._errors import GdppcaError, LedgerError
from gdppca.ledgers.chain import Entry
from gdppca.ledgers.entries import stated_by
from gdppca.ledgers.notes import Note, same_person
from gdppca.ledgers.policy import (
    ANYTHING,
    Policy,
    fits_request,
    require_allowed,
    require_year,
    year_before,
)
from gdppca.privacy.spending import epsilon_at


@dataclass
class _Seen:
    """What was there before an entry, of one data set."""

    policy: Policy = ANYTHING
    spends: dict[int, Entry] = field(default_factory=dict)
    requests: dict[int, Entry] = field(default_factory=dict)
    approved: set[int] = field(default_factory=set)
    used: set[int] = field(default_factory=set)


def wrong_lines(entries: list[Entry]) -> Iterator[str]:
    """Completions, requests, approvals and spends that could not have been entered."""
    seen: dict[str, _Seen] = {}
    for entry in entries[1:]:
        try:
            yield from _wrong(entry, seen.setdefault(entry.dataset, _Seen()))
        except (GdppcaError, AttributeError, KeyError, TypeError, ValueError):
            yield f"Entry {entry.number} cannot be read."


def _wrong(entry: Entry, seen: _Seen) -> Iterator[str]:
    detail = entry.detail
    match entry.kind:
        case "policy":
            seen.policy = Policy.from_plain(detail["policy"])
        case "request":
            seen.requests[entry.number] = entry
        case "complete":
            if detail["completes"] not in seen.spends:
                yield f"Entry {entry.number} completes what is no spend before it."
        case "approve":
            yield from _wrong_approval(entry, seen)
            seen.approved.add(detail["approves"])
        case "spend":
            yield from _wrong_spend(entry, seen)
            seen.spends[entry.number] = entry
            if "request" in detail:
                seen.used.add(detail["request"])


def _wrong_approval(entry: Entry, seen: _Seen) -> Iterator[str]:
    request = seen.requests.get(entry.detail["approves"])
    if request is None:
        yield f"Entry {entry.number} approves what is no request before it."
    elif same_person(request.detail["who"], entry.detail["who"]):
        yield f"Entry {entry.number} approves a request of the same person."


def _wrong_spend(entry: Entry, seen: _Seen) -> Iterator[str]:
    """A spend against the rules that its data set had then."""
    if seen.policy == ANYTHING:
        return
    detail, cap = entry.detail, stated_by(entry).cap
    named = ("who", "purpose", "method", "parameters")
    note = Note(**{name: detail.get(name) for name in named})
    try:
        require_allowed(seen.policy, entry.dataset, cap, entry.events, detail["who"])
        if seen.policy.yearly_epsilon is not None:
            start = year_before(entry.at)
            year = [spend for spend in seen.spends.values() if spend.at >= start]
            require_year(seen.policy, entry.dataset, cap, year, entry.events)
    except LedgerError:
        yield f"Entry {entry.number} broke a rule of '{entry.dataset}'."
    if not seen.policy.approval:
        return
    number = detail.get("request", 0)
    request = seen.requests.get(number)
    fits = request is not None and fits_request(request, note, epsilon_at(entry.events, cap.delta))
    if not fits or number not in seen.approved - seen.used:
        yield f"Entry {entry.number} was made without the approval that '{entry.dataset}' asks for."
