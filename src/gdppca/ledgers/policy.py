"""What the owner of a data set asks of every spend, beside the cap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from gdppca import _validate
from gdppca._errors import LedgerError
from gdppca._words import listed
from gdppca.ledgers import address as addresses
from gdppca.ledgers.chain import Entry, canonical
from gdppca.ledgers.notes import Note, same_person
from gdppca.privacy.events import Event
from gdppca.privacy.ledger import Budget
from gdppca.privacy.spending import SLACK, Spending, epsilon_at

if TYPE_CHECKING:
    from gdppca.ledgers.sql import Book

YEAR = timedelta(days=365)
_NOTHING = "Nothing was spent and nothing drawn."


class NeedsApproval(LedgerError):
    """A spend that waits for a second pair of eyes; `epsilon` is what it costs."""

    def __init__(self, message: str, epsilon: float) -> None:
        super().__init__(message)
        self.epsilon = epsilon


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Rules of a data set. All of them are about spends to come.

    Parameters
    ----------
    largest_epsilon : float, optional
        The most that one spend may cost, at the cap's δ.
    yearly_epsilon : float, optional
        The most that the spends of any 365 days may cost together.
    spenders : tuple of str
        Who may spend; anybody if there is none.
    approval : bool
        Whether somebody else must approve every spend first.
    """

    largest_epsilon: float | None = None
    yearly_epsilon: float | None = None
    spenders: tuple[str, ...] = ()
    approval: bool = False

    def checked(self) -> Policy:
        """The same, where every rule can be one."""
        for name in ("largest_epsilon", "yearly_epsilon"):
            if getattr(self, name) is not None:
                _validate.finite_positive(**{name: getattr(self, name)})
        for spender in self.spenders:
            addresses.name(spenders=spender)
        return self

    def to_plain(self) -> dict[str, Any]:
        """As it stands in an entry."""
        return {
            "largest_epsilon": self.largest_epsilon,
            "yearly_epsilon": self.yearly_epsilon,
            "spenders": list(self.spenders),
            "approval": self.approval,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Policy:
        """Read what `to_plain` wrote."""
        return cls(**{**plain, "spenders": tuple(plain["spenders"])})

    @property
    def in_words(self) -> list[str]:
        """One sentence for each rule."""
        said = []
        if self.largest_epsilon is not None:
            said.append(f"One spend may cost epsilon = {self.largest_epsilon:g} at most.")
        if self.yearly_epsilon is not None:
            said.append(f"The spends of any 365 days: {self.yearly_epsilon:g} at most.")
        if self.spenders:
            said.append(f"Who may spend: {listed(self.spenders)}.")
        if self.approval:
            said.append("Somebody else must approve every spend first.")
        return said


ANYTHING = Policy()


def policy_of(book: Book, dataset: str) -> Policy:
    """The rules of a data set as they are now."""
    last = book.last(dataset=dataset, kind="policy")
    return ANYTHING if last is None else Policy.from_plain(last.detail["policy"])


def require_allowed(
    policy: Policy, dataset: str, cap: Budget, events: tuple[Event, ...], who: str
) -> None:
    """Refuse a spend that is too dear, or by somebody who may not spend."""
    if policy.spenders and not any(same_person(who, name) for name in policy.spenders):
        raise LedgerError(
            f"'{who}' may not spend from '{dataset}': its owner named "
            f"{listed(policy.spenders)}. {_NOTHING}"
        )
    most = policy.largest_epsilon
    if most is not None and (asked := epsilon_at(events, cap.delta)) > most * (1 + SLACK):
        raise LedgerError(
            f"One spend from '{dataset}' may cost epsilon = {most:g} at most, and this one costs "
            f"{asked:.6g} at delta = {cap.delta:g}. {_NOTHING}"
        )


def require_year(
    policy: Policy, dataset: str, cap: Budget, earlier: Iterable[Entry], events: tuple[Event, ...]
) -> None:
    """Refuse what is too dear together with the spends of the 365 days before it."""
    most = policy.yearly_epsilon
    if most is None:
        return
    together = Spending()
    for entry in earlier:
        together = together.plus(entry.events)
    if not together.plus(events).fits(Budget(most, cap.delta)):
        raise LedgerError(
            f"The spends of any 365 days from '{dataset}' may cost epsilon = {most:g} together, "
            f"and this one would make them {together.plus(events).held(cap.delta):.6g} at delta = "
            f"{cap.delta:g}. {_NOTHING}"
        )


def year_before(moment: str) -> str:
    """The moment 365 days earlier, written as an entry's time is."""
    return (datetime.fromisoformat(moment) - YEAR).isoformat(timespec="microseconds")


def fits_request(request: Entry, note: Note, epsilon: float) -> bool:
    """Whether a request was made by the same person, for the same, and for as much or more.

    One that names a method with its parameters, as a fit's does, covers these alone.
    """
    asked = request.detail
    return bool(
        same_person(asked["who"], note.who or "")
        and asked.get("purpose") == note.purpose
        and epsilon <= asked["asks"] * (1 + SLACK)
        and ("method" not in asked or work_of(asked) == work_of(note.to_plain()))
    )


def work_of(said: dict[str, Any]) -> str:
    """What draws, and how, in one spelling."""
    return canonical([said.get("method"), said.get("parameters")])


def approval_id(number: int) -> str:
    """By what an approval is found; no request of a user may hold the sign."""
    return f"#approve {number}"


def approved_request(book: Book, dataset: str, note: Note, epsilon: float) -> int | None:
    """An approved request that covers a spend and was not used yet; None where there is none."""
    used = {entry.detail.get("request") for entry in book.entries(dataset=dataset, kind="spend")}
    for request in [*book.entries(dataset=dataset, kind="request")]:
        fits = request.number not in used and fits_request(request, note, epsilon)
        if fits and book.first(dataset=dataset, request_id=approval_id(request.number)):
            return request.number
    return None


def require_policy(
    book: Book, dataset: str, cap: Budget, events: tuple[Event, ...], note: Note
) -> int | None:
    """Refuse what the rules of a data set forbid; the number of the approved request it uses."""
    policy = policy_of(book, dataset)
    if policy == ANYTHING:
        return None
    assert note.who is not None
    require_allowed(policy, dataset, cap, events, note.who)
    if policy.yearly_epsilon is not None:
        since = book.spent_since(dataset, year_before(book.now()))
        require_year(policy, dataset, cap, since, events)
    if not policy.approval:
        return None
    asked = epsilon_at(events, cap.delta)
    number = approved_request(book, dataset, note, asked)
    if number is None:
        raise NeedsApproval(
            f"Every spend from '{dataset}' needs a second pair of eyes, and no approved request of "
            f"'{note.who}' covers this one. Ask with `gdppca ledger request`; somebody else then "
            f"approves it. {_NOTHING}",
            asked,
        )
    return number
