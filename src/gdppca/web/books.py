"""The ledger as the workbench shows it: the one place that knows how a ledger is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gdppca._errors import GdppcaError, ParameterError
from gdppca.ledgers import Account, Ledger, Note, split_address
from gdppca.ledgers import Line as Registered
from gdppca.ledgers.address import without_password
from gdppca.ledgers.policy import NeedsApproval
from gdppca.privacy import Protected
from gdppca.privacy.events import Event
from gdppca.privacy.words import purpose_in_words
from gdppca.web.drafts import Budget


@dataclass(frozen=True)
class Line:
    """An entry of the register."""

    number: int
    at: str
    dataset: str
    what: str
    told: str
    who: str


_WHAT = {
    "open": "register opened",
    "create": "cap set",
    "grant": "new cap",
    "spend": "spent",
    "complete": "release saved",
    "policy": "rules set",
    "request": "approval asked for",
    "approve": "approved",
}


class Books:
    """A ledger at an address; it need not be there yet."""

    def __init__(self, address: str) -> None:
        self.address, self.only = split_address(address)

    @property
    def shown(self) -> str:
        """The address without a password."""
        return without_password(self.address)

    def at(self, dataset: str) -> str:
        """The address of a data set."""
        return f"{self.address}#{dataset}"

    def accounts(self, protected: Protected | None = None) -> list[Account]:
        """Data sets and where they stand; those about such a promise, where one is named."""
        if not self.exists:
            return []
        ledger = Ledger(self.address)
        every = [ledger.account(name) for name in ledger.datasets() if self.only in (None, name)]
        return [each for each in every if protected in (None, each.protected)]

    @property
    def exists(self) -> bool:
        """Whether there is a ledger at all; asking one that is not there is an error."""
        path = self.address.removeprefix("sqlite:///")
        if path == self.address:
            return True
        return Path(path).exists()

    def account(self, dataset: str) -> Account:
        """Where a data set stands."""
        return Ledger(self.address).account(dataset)

    def create(self, dataset: str, epsilon: float, delta: float, protected: Protected) -> None:
        """Name a data set and set its cap."""
        if self.only not in (None, dataset):
            raise ParameterError(f"This workbench is for '{self.only}' of the register alone.")
        Ledger(self.address).create(dataset, epsilon, delta, protected=protected)

    def refusal(self, asked: Budget, events: Iterable[Event], protected: Protected) -> str:
        """Why a debit would be refused now; nothing where it fits, or may be approved."""
        assert asked.dataset is not None
        try:
            note = Note(who=asked.who, purpose=asked.purpose).settled()
            Ledger(self.address).require(asked.dataset, events, protected=protected, note=note)
        except NeedsApproval:
            return ""  # the fit asks for it, unspent
        except GdppcaError as error:
            return str(error)
        return ""

    def register(self) -> list[Line]:
        """All entries, the latest first."""
        if not self.exists:
            return []
        return [_line(each) for each in reversed(Ledger(self.address).register(self.only))]

    def verified(self) -> str:
        """What a check of the whole chain says."""
        head = Ledger(self.address).verify()
        return f"{head.number} entries; none was edited, removed, inserted or rolled back."


def _line(line: Registered) -> Line:
    entry = line.entry
    purposes = dict.fromkeys(purpose_in_words(event.purpose) for event in entry.events)
    cap = entry.detail.get("cap") if entry.kind in ("create", "grant") else None
    told = [
        f"cap ε {cap['epsilon']:g}, δ {cap['delta']:g}" if cap else "",
        f"ε {line.epsilon:.4g}" if line.epsilon is not None else "",
        line.purpose or "",
        "; ".join(purposes),
        f"({line.status})" if line.status else "",
        f"of entry {line.about}" if line.about is not None else "",
    ]
    return Line(
        number=entry.number,
        at=entry.at[:16].replace("T", " "),
        dataset=entry.dataset,
        what=_WHAT.get(entry.kind, entry.kind),
        told=", ".join(filter(None, told)),
        who=line.who or "",
    )
