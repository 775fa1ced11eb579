"""The ledger: events against a cap, entered before noise is drawn."""

from __future__ import annotations

import hashlib
import hmac
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca import _validate
from gdppca._errors import (
    BudgetExceeded,
    DataError,
    LedgerError,
    MissingExtraError,
    ParameterError,
    PrivacyWarning,
)
from gdppca.ledgers import address as addresses
from gdppca.ledgers.chain import START, Entry, Head, canonical, is_sealed, sealed
from gdppca.ledgers.head import HeadFile
from gdppca.ledgers.spending import Spending
from gdppca.ledgers.verification import findings
from gdppca.privacy import Guarantee, Neighbors
from gdppca.privacy.events import Event, event_to_dict
from gdppca.privacy.ledger import Budget, Receipt
from gdppca.randomness import secure_rng

if TYPE_CHECKING:
    from gdppca.ledgers.sql import Book, Store

_JITTER = timedelta(seconds=2)  # clocks are set back this much every day; more is refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Where a data set stands."""

    dataset: str
    cap: Budget
    spent: Budget  # everything together, exactly, at the cap's δ
    bound: Budget  # the same by one Gaussian: holds even if steps were chosen by earlier results
    remaining: Budget
    spends: int


class Ledger:
    """Persistent record of everything that was drawn from data sets, each under its cap.

    Parameters
    ----------
    address : str
        ``sqlite:///budget.db`` (a relative path; four slashes for an absolute one) or
        ``postgresql://user@host/database``.
    head : path, optional
        File that keeps the last entry's hash, so that a roll-back is noticed. Beside an SQLite
        file this is ``budget.db.head`` unless another is named; PostgreSQL has none by default.
    timeout : float
        Seconds to wait for other writers.

    Notes
    -----
    **Privacy.** An entry is durable before `spend` returns; draw noise after. A crash in between
    loses budget, never privacy. What is entered are events, not ε: what remains is computed anew
    from all of them.

    Examples
    --------
    >>> import tempfile
    >>> from gdppca.ledgers import Ledger
    >>> from gdppca.privacy import GaussianEvent
    >>> ledger = Ledger(f"sqlite:///{tempfile.mkdtemp()}/budget.db")
    >>> _ = ledger.create("patients", epsilon=2.0, delta=1e-6)
    >>> _ = ledger.spend("patients", [GaussianEvent(purpose="scatter", noise_multiplier=4.2247)])
    >>> round(ledger.remaining("patients"), 2)
    1.67
    >>> ledger.verify().number
    3
    """

    def __init__(
        self, address: str, *, head: str | Path | None = None, timeout: float = 30.0
    ) -> None:
        self.address, dataset = addresses.split_address(address)
        if dataset is not None:
            raise ParameterError("`address` must be that of the ledger, without '#' and a name.")
        self._store = _store(self.address, _validate.finite_positive(timeout=timeout))
        beside = self._store.path and Path(f"{self._store.path}.head")
        self._head = HeadFile(Path(head)) if head else HeadFile(beside) if beside else None

    def __repr__(self) -> str:
        return f"Ledger({self._store.shown!r})"

    def create(self, dataset: str, epsilon: float, delta: float) -> Receipt:
        """Name a data set and set its cap; the ledger itself is made where there is none.

        Parameters
        ----------
        dataset : str
            Its name, given by the owner.
        epsilon, delta : float
            The cap for everything that will ever be drawn from it.

        Returns
        -------
        Receipt
            The entry that was made.
        """
        addresses.name(dataset=dataset)
        cap = Budget(*addresses.cap(epsilon, delta))
        with self._store.writing(create=True) as book:
            if not book.about:
                self._open(book)
            if self._checked_last(book, dataset) is not None:
                raise LedgerError(
                    f"The data set '{dataset}' exists already. Raise its cap with grant."
                )
            entry = self._append(book, dataset, "create", _state(cap, Spending()))
        return self._receipt(entry)

    def grant(self, dataset: str, epsilon: float, delta: float | None = None) -> Receipt:
        """Set a new cap, at or above what was spent already.

        Parameters
        ----------
        dataset : str
            Its name.
        epsilon : float
            The new cap, not an addition to the old one.
        delta : float, optional
            Its δ; as before if left out.

        Returns
        -------
        Receipt
            The entry that was made.
        """
        with self._store.writing() as book:
            old, spent = self._standing(book, dataset)
            cap = Budget(*addresses.cap(epsilon, old.delta if delta is None else delta))
            if not spent.fits(cap):
                gone = Budget(spent.epsilon(cap.delta), cap.delta)
                raise LedgerError(
                    f"A cap of {cap} is lower than what was spent from '{dataset}': {gone}."
                )
            entry = self._append(book, dataset, "grant", _state(cap, spent))
        return self._receipt(entry)

    def spend(
        self,
        dataset: str,
        events: Iterable[Event] | Guarantee | Event,
        request_id: str | None = None,
        fingerprint: str | None = None,
    ) -> Receipt:
        """Enter events if they fit under the cap. Draw the noise after, never before.

        Parameters
        ----------
        dataset : str
            Its name.
        events : events or Guarantee
            What is about to be drawn.
        request_id : str, optional
            Name of this request. A retry with the same name and events spends nothing: use it
            only where nothing of the first attempt was seen by anybody.
        fingerprint : str, optional
            From `fingerprint`; warns where the same data was seen under another name.

        Returns
        -------
        Receipt
            The entry that stands for the spend; `repeated` where it stood before.

        Raises
        ------
        BudgetExceeded
            If the events do not fit. Nothing is entered.
        """
        drawn = _listed(events)
        if request_id is not None:
            addresses.name(request_id=request_id)
        if fingerprint is not None:
            _require_digest(fingerprint)
        with self._store.writing() as book:
            cap, spent = self._standing(book, dataset)
            earlier = None if request_id is None else book.request(dataset, request_id)
            if earlier is not None:
                return _repeated(earlier, drawn)
            after = spent.plus(drawn)
            if not after.fits(cap):
                raise _exceeded(dataset, cap, spent, drawn)
            if fingerprint is not None:
                _warn_of_other_name(book, fingerprint, dataset)
            content = _state(cap, after) | {"events": [event_to_dict(event) for event in drawn]}
            entry = self._append(book, dataset, "spend", content, request_id, fingerprint)
        return self._receipt(entry)

    def require(self, dataset: str, events: Iterable[Event] | Guarantee | Event) -> None:
        """Raise what `spend` would raise now; nothing is entered and nothing reserved.

        Parameters
        ----------
        dataset : str
            Its name.
        events : events or Guarantee
            What is to be drawn later.
        """
        drawn = _listed(events)
        with self._store.reading() as book:
            cap, spent = self._standing(book, dataset)
        if not spent.plus(drawn).fits(cap):
            raise _exceeded(dataset, cap, spent, drawn)

    def remaining(self, dataset: str) -> Budget:
        """Largest ε of one more Gaussian release that fits, at the cap's δ.

        Parameters
        ----------
        dataset : str
            Its name.

        Returns
        -------
        Budget
            A number that knows its δ. It is not the cap minus what was spent: noise composes
            better than by adding.
        """
        with self._store.reading() as book:
            cap, spent = self._standing(book, dataset)
        return spent.left(cap)

    def account(self, dataset: str) -> Account:
        """Where a data set stands.

        Parameters
        ----------
        dataset : str
            Its name.

        Returns
        -------
        Account
            Cap, spent and remaining budget, and the number of spends.
        """
        with self._store.reading() as book:
            cap, spent = self._standing(book, dataset)
            spends = sum(entry.kind == "spend" for entry in book.entries(dataset))
        return Account(
            dataset=dataset,
            cap=cap,
            spent=Budget(spent.epsilon(cap.delta), cap.delta),
            bound=Budget(spent.bound(cap.delta), cap.delta),
            remaining=spent.left(cap),
            spends=spends,
        )

    def datasets(self) -> list[str]:
        """Names of the data sets, in the order of creation.

        Returns
        -------
        list of str
            Their names.
        """
        with self._store.reading() as book:
            return book.datasets()

    def history(self, dataset: str | None = None) -> list[Entry]:
        """All entries in order.

        Parameters
        ----------
        dataset : str, optional
            Only those of one data set.

        Returns
        -------
        list of Entry
            With `number`, `at`, `dataset`, `kind`, `events`, `hash`.
        """
        with self._store.reading() as book:
            return list(book.entries(dataset))

    def verify(self, expected_head: str | None = None) -> Head:
        """Check every entry, every total and every cap, and that nothing was rolled back.

        Parameters
        ----------
        expected_head : str, optional
            Hash of an entry that the owner noted down: it must still be there.

        Returns
        -------
        Head
            Number and hash of the last entry. Note the hash where nobody can edit it.

        Raises
        ------
        LedgerError
            If an entry was edited, removed, inserted or rolled back; `findings` lists all.
        """
        with self._store.reading() as book:
            noted = self._head.read() if self._head else None  # before the entries: never ahead
            entries = list(book.entries())
            found = findings(entries, book.about, noted, expected_head)
        if found:
            raise LedgerError(f"The ledger was tampered with. {found[0]}", findings=tuple(found))
        if self._head and noted is None:
            warnings.warn(
                f"'{self._head.path}' is missing: whether entries were rolled back cannot be told "
                "without a hash that was noted down.",
                PrivacyWarning,
                stacklevel=2,
            )
        return Head(entries[-1].number, entries[-1].hash)

    def fingerprint(self, data: Any, key: bytes | None = None) -> str:
        """Keyed hash of a table, to notice when it comes back under another name.

        Parameters
        ----------
        data : array-like
            Numbers; the same rows in the same order give the same fingerprint.
        key : bytes, optional
            Secret of the owner; one that is kept in the ledger if left out.

        Returns
        -------
        str
            For `spend`. Not private: who knows the key can test guesses of the whole table.
        """
        if key is None:
            with self._store.reading() as book:
                key = bytes.fromhex(book.about["key"])
        numbers = _validate.floats(data)
        if numbers is None:
            raise DataError("`data` must be numbers: a table's matrix, or an array.")
        table = np.ascontiguousarray(numbers, dtype="<f8")
        return hmac.new(key, repr(table.shape).encode() + table.tobytes(), "sha256").hexdigest()

    def _open(self, book: Book) -> None:
        """Say what the ledger is, in its own words and in the first entry."""
        from gdppca.ledgers.sql import FORMAT

        if self._head is not None and self._head.read() is not None:
            raise LedgerError(
                f"'{self._head.path}' tells of a ledger that is gone. Bring it back; or, if it was "
                "given up on purpose, remove that file too."
            )
        secret = secure_rng().generator().bytes(32)
        name = hashlib.sha256(b"name" + secret).hexdigest()[:32]
        about = {"program": "gdppca", "format": FORMAT, "ledger": name}
        book.describe(about | {"key": secret.hex()})
        self._append(book, "", "open", about)

    def _standing(self, book: Book, dataset: str) -> tuple[Budget, Spending]:
        """Cap and totals of a data set."""
        addresses.name(dataset=dataset)
        last = self._checked_last(book, dataset)
        if last is None:
            raise LedgerError(
                f"The ledger at {self._store.shown} has no data set '{dataset}'. "
                "Its owner makes it with `gdppca ledger init`."
            )
        return _standing_of(last)

    def _checked_last(self, book: Book, dataset: str) -> Entry | None:
        """Last entry of a data set, in a ledger that did not lose its own last entry."""
        last, tail = book.last(dataset), book.tail()
        for entry in (last, tail):
            if entry is not None and not is_sealed(entry):
                raise LedgerError(f"Entry {entry.number} of the ledger was edited. Run verify.")
        noted = self._head.read() if self._head else None
        if noted is not None and (tail is None or tail.number < noted.number):
            raise LedgerError(
                f"The ledger was rolled back: entry {noted.number} is gone. Run verify."
            )
        return last

    def _append(
        self,
        book: Book,
        dataset: str,
        kind: str,
        content: dict[str, Any],
        request_id: str | None = None,
        fingerprint: str | None = None,
    ) -> Entry:
        tail = book.tail()
        entry = sealed(
            number=tail.number + 1 if tail else 1,
            at=_not_before(tail.at, book.now()) if tail else book.now(),
            dataset=dataset,
            kind=kind,
            content=canonical(content),
            request_id=request_id,
            fingerprint=fingerprint,
            previous=tail.hash if tail else START,
        )
        book.append(entry)
        return entry

    def _receipt(self, entry: Entry) -> Receipt:
        if self._head is not None:
            self._head.note(Head(entry.number, entry.hash))
        return _receipt(entry)


def open_account(address: str) -> tuple[Ledger, str]:
    """Ledger and data set of an address; without a name, the ledger's only data set.

    Parameters
    ----------
    address : str
        Such as ``sqlite:///budget.db#patients``.

    Returns
    -------
    ledger : Ledger
        The ledger.
    dataset : str
        Name of the data set.
    """
    where, dataset = addresses.split_address(address)
    ledger = Ledger(where)
    if dataset is None:
        names = ledger.datasets()
        if len(names) != 1:
            raise LedgerError(
                f"The ledger holds {len(names)} data sets: name one at the end of its address, "
                "as in sqlite:///budget.db#patients."
            )
        [dataset] = names
    return ledger, dataset


def _store(address: str, timeout: float) -> Store:
    try:
        from gdppca.ledgers.sql import Store
    except ModuleNotFoundError:
        raise MissingExtraError("Ledgers need SQLAlchemy: pip install 'gdppca[ledger]'.") from None
    return Store(address, timeout)


def _listed(events: Iterable[Event] | Guarantee | Event) -> tuple[Event, ...]:
    if isinstance(events, Guarantee):
        if events.neighbors is not Neighbors.REPLACE_ONE:
            raise ParameterError("A ledger counts replace-one guarantees only.")
        events = events.events
    elif isinstance(events, Event):
        events = (events,)
    listed = tuple(events)
    if not listed or not all(isinstance(event, Event) for event in listed):
        raise ParameterError("`events` must be one or more events from gdppca.privacy.")
    return listed


def _require_digest(fingerprint: object) -> None:
    if not isinstance(fingerprint, str) or len(fingerprint) != 64:
        raise ParameterError("`fingerprint` must come from Ledger.fingerprint.")


def _state(cap: Budget, spent: Spending) -> dict[str, Any]:
    return {
        "cap": {"epsilon": cap.epsilon, "delta": cap.delta},
        "neighbors": str(Neighbors.REPLACE_ONE),
        "totals": spent.to_dict(),
    }


def _standing_of(entry: Entry) -> tuple[Budget, Spending]:
    detail = entry.detail
    return Budget(**detail["cap"]), Spending.from_dict(detail["totals"])


def _not_before(earlier: str, now: str) -> str:
    """Time of a new entry; a clock that runs backwards is refused, but for jitter."""
    if now >= earlier:
        return now
    if datetime.fromisoformat(earlier) - datetime.fromisoformat(now) > _JITTER:
        raise LedgerError(
            f"The clock runs backwards: it is {now}, and the last entry was made at {earlier}. "
            "Set the clock."
        )
    return earlier


def _repeated(earlier: Entry, events: tuple[Event, ...]) -> Receipt:
    if earlier.events != events:
        raise LedgerError(
            f"The request '{earlier.request_id}' was entered before with other events. "
            "Give every request its own `request_id`."
        )
    return _receipt(earlier, repeated=True)


def _receipt(entry: Entry, *, repeated: bool = False) -> Receipt:
    return Receipt(
        dataset=entry.dataset,
        number=entry.number,
        hash=entry.hash,
        at=entry.at,
        repeated=repeated,
    )


def _exceeded(
    dataset: str, cap: Budget, spent: Spending, events: tuple[Event, ...]
) -> BudgetExceeded:
    requested = Budget(Spending().plus(events).epsilon(cap.delta), cap.delta)
    remaining = spent.left(cap)
    return BudgetExceeded(
        f"The budget of '{dataset}' does not allow it: requested {requested}, remaining "
        f"{remaining} of a cap of {cap}. Nothing was spent and nothing drawn.",
        requested,
        remaining,
    )


def _warn_of_other_name(book: Book, fingerprint: str, dataset: str) -> None:
    other = book.other_name(fingerprint, dataset)
    if other is not None:
        warnings.warn(
            f"The data of '{dataset}' was seen before as '{other}': what is drawn from both "
            "adds up, and no cap counts it together.",
            PrivacyWarning,
            stacklevel=3,
        )
