"""What is written into an entry, and what is read from it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from gdppca._errors import BudgetExceeded, LedgerError, ParameterError, PrivacyWarning
from gdppca.ledgers import protected as whom
from gdppca.ledgers.chain import Entry, Head, is_sealed
from gdppca.ledgers.notes import Note
from gdppca.privacy import Guarantee, Protected
from gdppca.privacy.events import Event, PureEvent
from gdppca.privacy.ledger import Budget, Receipt
from gdppca.privacy.spending import Spending

# How a cap was enforced when an entry was made: 1, or not said, by the exact number for steps fixed
# beforehand; 2 by the bound that holds for steps chosen by earlier results.
RULE = 2
# An earlier version may have been killed before it noted these: the ledger's own and the first
# data set's.
_FIRST_ENTRIES = 2
Events = tuple[Event, ...]
_JITTER = timedelta(seconds=2)  # clocks are set back this much every day; more is refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Where a data set stands."""

    dataset: str
    protected: Protected  # whom the cap is about; it never changes
    cap: Budget
    spent: Budget  # everything together at the cap's δ, exactly if all was fixed beforehand
    bound: Budget  # held against the cap: true even if spends were chosen by earlier results
    remaining: Budget  # one more Gaussian release of this ε fits
    spends: int

    @property
    def whom(self) -> str:
        """Whom the cap is about, in words."""
        return whom.in_words(self.protected)


class Standing(NamedTuple):
    """What the last entry of a data set states."""

    cap: Budget
    spent: Spending
    protected: Protected = whom.ROWS


def listed(events: Iterable[Event] | Guarantee | Event) -> Events:
    """What is to be spent, as events."""
    if isinstance(events, Guarantee):
        events = events.events
    elif isinstance(events, Event):
        events = (events,)
    listed = tuple(events)
    if not listed or not all(isinstance(event, Event) for event in listed):
        raise ParameterError("`events` must be one or more events from gdppca.privacy.")
    return listed


def state(standing: Standing) -> dict[str, Any]:
    """Cap, totals and whom they are about, as they stand in an entry.

    A cap that is not about rows says so itself as well: versions before there were others cannot
    read it then, and stop, where they would count rows under it. Likewise the totals are called
    otherwise than they were when there were no policies, which earlier versions would not keep.
    """
    cap, spent, protected = standing
    about = whom.to_plain(protected)
    return {
        "cap": {"epsilon": cap.epsilon, "delta": cap.delta}
        | (about if protected != whom.ROWS else {}),
        "spent": spent.to_dict(),
        "rule": RULE,
        **about,
    }


def standing_of(last: Entry, first: Entry | None) -> Standing:
    """Where a data set stands after its last entry; `first` is its first spend."""
    standing = stated_by(last)
    if first is None:
        return standing
    require_sealed(first)
    spent = replace(standing.spent, first=Spending().plus(first.events))
    return standing._replace(spent=spent)


def stated_by(entry: Entry) -> Standing:
    """Cap, totals and whom they are about, as an entry states them."""
    detail = entry.detail
    cap = detail["cap"]
    return Standing(
        Budget(cap["epsilon"], cap["delta"]),
        Spending.from_dict(detail["spent"] if "spent" in detail else detail["totals"]),
        entry.protected,
    )


def require_sealed(entry: Entry) -> None:
    """Refuse to go on from an entry that was edited."""
    if not is_sealed(entry):
        raise LedgerError(f"Entry {entry.number} of the ledger was edited. Run verify.")


def require_same(noted: Head, found: Entry | None) -> None:
    """Refuse a ledger without the entry that was noted, or with another in its place."""
    if found is None or found.hash != noted.hash:
        now = "gone" if found is None else "another one now"
        raise LedgerError(
            f"The ledger was rolled back or replaced: entry {noted.number} was seen and is {now}. "
            "Bring the true ledger back. If it is lost, enter by hand what this one misses, then "
            "`gdppca ledger accept-head`."
        )


def require_head(path: Path, tail: Entry | None) -> None:
    """Refuse a ledger in use whose file with the last hash is gone."""
    if not path.exists() and tail is not None and tail.number > _FIRST_ENTRIES:
        raise LedgerError(
            f"'{path}' is gone, and with it what shows that no entry was rolled back. Bring it "
            "back. If it is lost, run verify with a hash that was noted down, then "
            "`gdppca ledger accept-head`."
        )


def not_before(earlier: str, now: str) -> str:
    """Time of a new entry; a clock that runs backwards is refused, but for jitter."""
    if now >= earlier:
        return now
    if datetime.fromisoformat(earlier) - datetime.fromisoformat(now) > _JITTER:
        raise LedgerError(
            f"The clock runs backwards: it is {now}, and the last entry was made at {earlier}. "
            "Set the clock."
        )
    return earlier


def repeated(earlier: Entry, events: Events, note: Note) -> Receipt:
    """Receipt of a request that was entered before, for the very same."""
    said, told = note.to_plain(), earlier.detail
    asked = ("method", "parameters", "description")
    others = [name for name in asked if name in said and said[name] != told.get(name, said[name])]
    if earlier.events != events or others:
        raise LedgerError(
            f"The request '{earlier.request_id}' was entered before with other "
            f"{others[0] if earlier.events == events else 'events'}. Nothing was spent. Give every "
            "request its own `request_id`."
        )
    return receipt(earlier, repeated=True)


def receipt(entry: Entry, *, repeated: bool = False) -> Receipt:
    """Proof that an entry stands."""
    stated = {name: getattr(entry, name) for name in ("dataset", "number", "hash", "at")}
    return Receipt(**stated, repeated=repeated)


def warn_of_other_name(dataset: str, other: str | None) -> None:
    """Warn where the same data was seen under another name."""
    if other is not None:
        warnings.warn(
            f"The data of '{dataset}' was seen before as '{other}': what is drawn from both "
            "adds up, and no cap counts it together.",
            PrivacyWarning,
            stacklevel=3,
        )


def after(dataset: str, before: Standing, events: Events) -> Standing:
    """Where a data set stands when events are entered; an error if they do not fit."""
    spent = before.spent.plus(events)
    if not spent.fits(before.cap):
        raise exceeded(dataset, before, events)
    return before._replace(spent=spent)


def exceeded(dataset: str, standing: Standing, events: Events) -> BudgetExceeded:
    """The refusal, with what was asked for, what remains and why the two may not say it all."""
    cap, spent, _ = standing
    requested = Budget(Spending().plus(events).epsilon(cap.delta), cap.delta)
    remaining = spent.left(cap)
    return BudgetExceeded(
        f"The budget of '{dataset}' does not allow it: requested {requested}, remaining "
        f"{remaining} of a cap of {cap}. Nothing was spent and nothing drawn."
        f"{_why(spent, spent.plus(events), events)}",
        requested,
        remaining,
    )


def _why(spent: Spending, after: Spending, events: Events) -> str:
    """What remains is about Gaussian releases; why another kind may not fit."""
    if spent == Spending() or after.unprotected:
        return ""
    apart = after.gaussian > 0 if after.adds_up else after.approximate != spent.approximate
    if apart:
        return (
            " Steps known only as (epsilon, delta) and Gaussian ones share a cap in its first "
            "spend only: give one of them a data set of its own."
        )
    if spent.gaussian and any(isinstance(event, PureEvent) for event in events):
        return (
            " Beside Gaussian spends a pure step counts like Gaussian noise that is no more "
            "private: draw it together with a fit, in one spend, or with Gaussian noise."
        )
    return ""
