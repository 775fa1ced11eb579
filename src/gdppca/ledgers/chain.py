"""Entries chained by hashes: an edited, removed or inserted one breaks the chain."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from gdppca.ledgers.protected import from_plain
from gdppca.privacy import Protected
from gdppca.privacy.events import Event, event_from_dict

FORMAT = "2"  # of a ledger that is made now
READABLE = ("1", "2")  # an entry says by itself what it holds: old ledgers go on as they are
START = "0" * 64  # what stands before the first entry


class Head(NamedTuple):
    """The last entry: its number and its hash, which vouches for all before it."""

    number: int
    hash: str


class Reference(NamedTuple):
    """An entry as a release names it: by the ledger's name, never by its address."""

    ledger: str
    number: int
    hash: str

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Reference:
        """Read what stands in a file, where 3.0 may be written too."""
        return cls(plain["ledger"], int(plain["number"]), plain["hash"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the ledger, never changed once written."""

    number: int
    at: str  # UTC, fixed width: sorts as it reads
    dataset: str
    kind: str  # open, create, grant, spend, complete, policy, request, approve
    content: str  # canonical JSON
    request_id: str | None
    fingerprint: str | None
    previous: str
    hash: str

    @property
    def head(self) -> Head:
        """What vouches for it and for all before it."""
        return Head(self.number, self.hash)

    @property
    def detail(self) -> dict[str, Any]:
        """What was entered, and the totals after it."""
        return dict(json.loads(self.content))

    @property
    def events(self) -> tuple[Event, ...]:
        """What was spent; empty for an entry that spends nothing."""
        return tuple(event_from_dict(event) for event in self.detail.get("events", ()))

    @property
    def protected(self) -> Protected:
        """Whom it is about."""
        return from_plain(self.detail)


def canonical(plain: Any) -> str:
    """One spelling per content."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sealed(**parts: Any) -> Entry:
    """Entry with its hash, over every other field."""
    return Entry(**parts, hash=_digest(parts))


def is_sealed(entry: Entry) -> bool:
    """Whether an entry's hash is that of its content."""
    parts = asdict(entry)
    stated = parts.pop("hash")
    return bool(_digest(parts) == stated)


def _digest(parts: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def broken_links(entries: Iterable[Entry]) -> Iterator[str]:
    """What is wrong with a chain, one sentence per finding, in order."""
    before = Head(0, START)
    earlier = ""
    for entry in entries:
        if entry.number != before.number + 1:
            yield f"Entry {before.number + 1} is missing or numbered {entry.number}."
        if not is_sealed(entry):
            yield f"Entry {entry.number} was edited: its hash is not that of its content."
        if entry.previous != before.hash:
            yield (
                f"Entry {entry.number} does not follow the one before it: "
                "an entry was edited, removed or inserted."
            )
        if entry.at < earlier:
            yield f"Entry {entry.number} is dated before the one before it."
        before, earlier = entry.head, entry.at
