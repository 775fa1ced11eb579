"""The ledger: events against a cap, entered before noise is drawn."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gdppca import _validate
from gdppca._errors import LedgerError, ParameterError, PrivacyWarning
from gdppca.ledgers import address as addresses
from gdppca.ledgers import entries
from gdppca.ledgers import fingerprint as fingerprints
from gdppca.ledgers import protected as whom
from gdppca.ledgers.chain import Entry, Head
from gdppca.ledgers.desk import Desk
from gdppca.ledgers.entries import Standing
from gdppca.ledgers.notes import Note, salt, signed
from gdppca.ledgers.policy import require_policy
from gdppca.ledgers.registered import Registered
from gdppca.ledgers.verification import verified
from gdppca.privacy import Guarantee, Protected
from gdppca.privacy.events import Event, event_to_dict
from gdppca.privacy.ledger import Budget, Receipt
from gdppca.privacy.spending import Spending


class Ledger(Registered):
    """Persistent record of everything that was drawn from data sets, each under its cap.

    Parameters
    ----------
    address : str
        ``sqlite:///budget.db`` (a relative path; four slashes for an absolute one) or
        ``postgresql://user@host/database``.
    head : path, optional
        File that keeps the last entry's hash, so that a roll-back is noticed; without it nothing
        is spent. Beside an SQLite file this is ``budget.db.head`` unless another is named;
        PostgreSQL has none by default.
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
        self._desk = Desk(self.address, head, _validate.finite_positive(timeout=timeout))

    def __repr__(self) -> str:
        return f"Ledger({self._desk.store.shown!r})"

    def create(
        self, dataset: str, epsilon: float, delta: float, *, protected: Protected = whom.ROWS
    ) -> Receipt:
        """Name a data set and set its cap; the ledger itself is made where there is none.

        Parameters
        ----------
        dataset : str
            Its name, given by the owner.
        epsilon, delta : float
            The cap for everything that will ever be drawn from it.
        protected : Protected
            Whom the cap is about, for ever: rows or persons, replaced or added and removed.

        Returns
        -------
        Receipt
            The entry that was made.
        """
        addresses.name(dataset=dataset)
        cap = Budget(*addresses.cap(epsilon, delta))
        new = Standing(cap, Spending(), whom.checked(protected))
        by = signed()
        with self._desk.making(dataset) as book:
            entry = self._desk.append(book, dataset, "create", entries.state(new) | by)
        return self._desk.receipt(entry)

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
        by = signed()
        with self._desk.changing(dataset) as (book, old):
            cap = Budget(*addresses.cap(epsilon, old.cap.delta if delta is None else delta))
            if not old.spent.fits(cap):
                gone = Budget(old.spent.held(cap.delta), cap.delta)
                raise LedgerError(
                    f"A cap of {cap} is lower than what was spent from '{dataset}': {gone}."
                )
            content = entries.state(old._replace(cap=cap)) | by
            entry = self._desk.append(book, dataset, "grant", content)
        return self._desk.receipt(entry)

    def spend(
        self,
        dataset: str,
        events: Iterable[Event] | Guarantee | Event,
        request_id: str | None = None,
        fingerprint: str | None = None,
        *,
        protected: Protected | None = None,
        note: Note | None = None,
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
        protected : Protected, optional
            Whom the events are about: rows and replace-one if left out. A guarantee knows it.
        note : Note, optional
            Who spends, what for, and by which method; see `entered_as`.

        Returns
        -------
        Receipt
            The entry that stands for the spend; `repeated` where it stood before. It is reserved
            until `complete` names what came of it.

        Raises
        ------
        BudgetExceeded
            If the events do not fit. Nothing is entered.
        LedgerError
            If they are about others than the cap is, a rule of the owner forbids them, or the
            ledger cannot be used.
        """
        said = (note or Note()).settled()
        drawn, about = entries.listed(events), whom.protected_by(events, protected)
        if request_id is not None:
            addresses.name(request_id=request_id)
        fingerprints.require_digest(fingerprint)
        with self._desk.changing(dataset) as (book, before):
            whom.require_alike(dataset, before.protected, about)
            earlier = request_id and book.first(dataset=dataset, request_id=request_id)
            if earlier:
                return entries.repeated(earlier, drawn, said)
            after = entries.after(dataset, before, drawn)
            request = require_policy(book, dataset, before.cap, drawn, said)
            if fingerprint is not None:
                entries.warn_of_other_name(dataset, book.other_name(fingerprint, dataset))
            content = entries.state(after) | {"events": [*map(event_to_dict, drawn)]}
            content |= said.to_plain() | {"salt": salt()}
            content |= {} if request is None else {"request": request}
            entry = self._desk.append(book, dataset, "spend", content, request_id, fingerprint)
        return self._desk.receipt(entry)

    def require(
        self,
        dataset: str,
        events: Iterable[Event] | Guarantee | Event,
        *,
        protected: Protected | None = None,
        note: Note | None = None,
    ) -> None:
        """Raise what `spend` would raise now; nothing is entered and nothing reserved.

        Parameters
        ----------
        dataset : str
            Its name.
        events : events or Guarantee
            What is to be drawn later.
        protected : Protected, optional
            As for `spend`.
        note : Note, optional
            As for `spend`.
        """
        said = (note or Note()).settled()
        drawn, about = entries.listed(events), whom.protected_by(events, protected)
        with self._desk.looking(dataset, to_spend=True) as (book, now):
            whom.require_alike(dataset, now.protected, about)
            entries.after(dataset, now, drawn)
            require_policy(book, dataset, now.cap, drawn, said)

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
        with self._desk.looking(dataset) as (_, now):
            return now.spent.left(now.cap)

    def account(self, dataset: str) -> entries.Account:
        """Where a data set stands.

        Parameters
        ----------
        dataset : str
            As it was created.

        Returns
        -------
        Account
            Whom the cap is about; cap, spent and remaining budget, and the number of spends.
        """
        with self._desk.looking(dataset) as (book, (cap, spent, protected)):
            spends = book.spends(dataset)
        return entries.Account(
            dataset=dataset,
            protected=protected,
            cap=cap,
            spent=Budget(spent.epsilon(cap.delta), cap.delta),
            bound=Budget(spent.held(cap.delta), cap.delta),
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
        with self._desk.store.reading() as book:
            return [entry.dataset for entry in book.entries(kind="create")]

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
        with self._desk.store.reading() as book:
            wanted = {} if dataset is None else {"dataset": dataset}
            return list(book.entries(**wanted))

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
        noted = self._desk.noted()
        with self._desk.store.reading() as book:
            last = verified(list(book.entries()), book.about, noted, expected_head)
        if self._desk.head and noted is None:
            warnings.warn(
                f"'{self._desk.head.path}' is missing: whether entries were rolled back cannot be "
                "told without a hash that was noted down.",
                PrivacyWarning,
                stacklevel=2,
            )
        return last

    def accept_head(self, expected_head: str | None = None) -> Head:
        """Take the ledger as it is for the true one, and note its last entry anew.

        For an owner who knows why the file with the last hash is gone or tells of another ledger,
        and has checked that no entry is missing: from here on none of that can be seen any more.

        Parameters
        ----------
        expected_head : str, optional
            Hash of an entry that the owner noted down: it must be there.

        Returns
        -------
        Head
            Number and hash of the last entry, after the checks of `verify`.
        """
        if self._desk.head is None:
            raise LedgerError("This ledger keeps no file with its last hash: name one as `head`.")
        with self._desk.store.writing() as book:  # nobody adds an entry meanwhile
            last = verified(list(book.entries()), book.about, None, expected_head)
            self._desk.head.accept(last)
        return last

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
        return fingerprints.keyed_hash(data, self._key() if key is None else key)

    def fingerprint_of(self, pieces: Iterable[bytes]) -> str:
        """Keyed hash of pieces of a table, by the key that is kept in the ledger.

        Parameters
        ----------
        pieces : iterable of bytes
            What the table is known by.

        Returns
        -------
        str
            For `spend`.
        """
        return fingerprints.keyed_hash_of(pieces, self._key())

    def _key(self) -> bytes:
        with self._desk.store.reading() as book:
            return bytes.fromhex(book.about["key"])
