"""The ledger as a register: entries as lines that tell what became of each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gdppca.ledgers.chain import Entry
from gdppca.ledgers.entries import stated_by
from gdppca.ledgers.policy import Policy
from gdppca.ledgers.protected import to_plain
from gdppca.privacy.spending import epsilon_at

RESERVED, COMPLETED, EARLIER = "reserved", "completed", "not tracked"
WAITING, APPROVED, USED = "waiting", "approved", "used"
# What the words of a line mean, for whoever sees them.
MEANINGS = {
    RESERVED: "debited, and no release is known to have come of it: its fit is under way, was "
    "killed or failed, or was entered by hand",
    COMPLETED: "its release was made, and has the checksum that is given",
    EARLIER: "made by a version that did not note releases",
    WAITING: "nobody has approved it yet",
    APPROVED: "somebody else approved it, and nothing was spent on it yet",
    USED: "the spend that it asked for was made",
}

_FORMULA = ("=", "+", "-", "@")
# And what its numbers mean.
NUMBERS = {
    "spent": "Everything together at the cap's delta, exactly, if no spend was chosen by looking "
    "at the result of an earlier one.",
    "spent_bound": "Everything together at the cap's delta, whatever chose the spends: this is "
    "held against the cap.",
    "remaining": "The epsilon of one more Gaussian release that fits. Spent and remaining do not "
    "add up to the cap: noise composes better than that.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An entry and what became of it.

    Parameters
    ----------
    entry : Entry
        As it stands in the ledger.
    status : str
        Of a spend "reserved", "completed" or "not tracked"; of a request "waiting", "approved" or
        "used"; empty for others.
    releases : tuple of str
        Checksums of what came of a spend.
    completed_by : tuple of int
        Entries that named them; of a request, those that approved and used it.
    """

    entry: Entry
    status: str = ""
    releases: tuple[str, ...] = ()
    completed_by: tuple[int, ...] = ()

    @property
    def number(self) -> int:
        """Of the entry."""
        return self.entry.number

    @property
    def who(self) -> str | None:
        """Who made it; None in entries of earlier versions."""
        return _text(self._said("who"))

    @property
    def purpose(self) -> str | None:
        """What for."""
        return _text(self._said("purpose"))

    @property
    def epsilon(self) -> float | None:
        """Of a spend by itself, at the cap's δ; of a request, what is asked for."""
        asked: float | None = self._said("asks")
        if asked is None and self.entry.kind == "spend":
            return epsilon_at(self.entry.events, stated_by(self.entry).cap.delta)
        return asked

    @property
    def spent(self) -> float | None:
        """Everything together after a spend, exactly if all was fixed beforehand."""
        if self.entry.kind != "spend":
            return None
        cap, spent, _ = stated_by(self.entry)
        return spent.epsilon(cap.delta)

    @property
    def bound(self) -> float | None:
        """Everything together after a spend, as it is held against the cap."""
        if self.entry.kind != "spend":
            return None
        cap, spent, _ = stated_by(self.entry)
        return spent.held(cap.delta)

    @property
    def delta(self) -> float | None:
        """The δ of these numbers."""
        cap = self._said("cap")
        return None if cap is None else cap["delta"]

    @property
    def policy(self) -> Policy | None:
        """The rules that it made."""
        said = self._said("policy")
        return None if said is None else Policy.from_plain(said)

    @property
    def about(self) -> int | None:
        """The entry that it completes, approves or was approved by."""
        named = (self._said(name) for name in ("completes", "approves", "request"))
        return next((number for number in named if number is not None), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain form, one value for every column of the register."""
        entry, detail = self.entry, self.entry.detail
        whom = {} if entry.kind == "open" else to_plain(entry.protected)
        return {
            **{name: getattr(entry, name) for name in ("number", "at", "dataset", "kind")},
            "status": self.status or None,
            "who": self.who,
            "purpose": self.purpose,
            **{name: whom.get(name) for name in ("unit", "neighbors")},
            "delta": self.delta,
            "epsilon": self.epsilon,
            "spent_after": self.spent,
            "spent_bound_after": self.bound,
            "method": detail.get("method"),
            "parameters": detail.get("parameters"),
            "releases": list(self.releases),
            "description": detail.get("description"),
            "fingerprint": entry.fingerprint,
            "about": self.about,
            "request_id": _own(entry.request_id),
            "cap": detail.get("cap"),
            "events": detail.get("events", []),
            "policy": detail.get("policy"),
            "hash": entry.hash,
        }

    def _said(self, name: str) -> Any:
        return self.entry.detail.get(name)


def _text(said: Any) -> str | None:
    return None if said is None else str(said)


def _own(request_id: str | None) -> str | None:
    """A request's name where a user gave it."""
    return None if request_id is None or request_id.startswith("#") else request_id


def lines_of(entries: Iterable[Entry]) -> list[Line]:
    """Every entry with what became of it."""
    listed = list(entries)
    completed: dict[int, list[tuple[int, str]]] = {}
    approved: dict[int, list[int]] = {}
    used: dict[int, list[int]] = {}
    for entry in listed:
        detail = entry.detail
        if entry.kind == "complete":
            completed.setdefault(detail["completes"], []).append((entry.number, detail["release"]))
        elif entry.kind == "approve":
            approved.setdefault(detail["approves"], []).append(entry.number)
        elif entry.kind == "spend" and "request" in detail:
            used.setdefault(detail["request"], []).append(entry.number)
    return [_line(entry, completed, approved, used) for entry in listed]


def _line(
    entry: Entry,
    completed: dict[int, list[tuple[int, str]]],
    approved: dict[int, list[int]],
    used: dict[int, list[int]],
) -> Line:
    if entry.kind == "request":
        by = (*approved.get(entry.number, ()), *used.get(entry.number, ()))
        status = USED if entry.number in used else APPROVED if by else WAITING
        return Line(entry=entry, status=status, completed_by=by)
    if entry.kind != "spend":
        return Line(entry=entry)
    found = completed.get(entry.number, [])
    open_ = RESERVED if "who" in entry.detail else EARLIER
    return Line(
        entry=entry,
        status=COMPLETED if found else open_,
        releases=tuple(release for _, release in found),
        completed_by=tuple(number for number, _ in found),
    )


def in_cells(line: Line) -> dict[str, str]:
    """A line as text, for a table of a spreadsheet: what looks like a formula is not one."""
    plain = line.to_dict()
    return {name: _cell(value) for name, value in plain.items()}


def _cell(value: Any) -> str:
    if value is None or value == []:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return json.dumps(value, sort_keys=True)
