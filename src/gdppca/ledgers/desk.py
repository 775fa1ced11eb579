"""Where entries are made: a database, and beside it the file that keeps the last hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gdppca._errors import LedgerError, MissingExtraError
from gdppca.ledgers import address as addresses
from gdppca.ledgers import entries
from gdppca.ledgers.chain import FORMAT, START, Entry, Head, canonical, sealed
from gdppca.ledgers.entries import Standing
from gdppca.ledgers.head import HeadFile
from gdppca.noise.bits import secret_bytes
from gdppca.privacy.ledger import Receipt

if TYPE_CHECKING:
    from gdppca.ledgers.sql import Book, Store


class Desk:
    """A ledger's database and head: reads, and appends what somebody has allowed."""

    def __init__(self, address: str, head: str | Path | None, timeout: float) -> None:
        self.store = _store(address, timeout)
        beside = self.store.path and Path(f"{self.store.path}.head")
        self.head = HeadFile(Path(head)) if head else HeadFile(beside) if beside else None

    @contextmanager
    def making(self, dataset: str) -> Iterator[Book]:
        """The only writer, for a data set that is new; the ledger is made where there is none."""
        with self.store.writing(create=True) as book:
            if not book.about:
                self._open(book)
            self._require_head(book)
            if self._checked_last(book, dataset, self.noted()) is not None:
                raise LedgerError(
                    f"The data set '{dataset}' exists already. Raise its cap with grant."
                )
            yield book

    @contextmanager
    def changing(self, dataset: str) -> Iterator[tuple[Book, Standing]]:
        """The only writer, with where a data set stands."""
        with self.store.writing() as book:
            self._require_head(book)
            yield book, self.standing(book, dataset, self.noted())

    @contextmanager
    def looking(self, dataset: str, *, to_spend: bool = False) -> Iterator[tuple[Book, Standing]]:
        """One view of the ledger, with where a data set stands."""
        noted = self.noted()
        with self.store.reading() as book:
            if to_spend:
                self._require_head(book)
            yield book, self.standing(book, dataset, noted)

    def noted(self) -> Head | None:
        """The last entry that was seen; to be read before a view of the ledger, or as its writer.

        Whoever commits notes after: what is read later than the view may be ahead of it.
        """
        return self.head.read() if self.head else None

    def standing(self, book: Book, dataset: str, noted: Head | None) -> Standing:
        """Cap and totals of a data set, and whom they are about."""
        addresses.name(dataset=dataset)
        last = self._checked_last(book, dataset, noted)
        if last is None:
            raise LedgerError(
                f"The ledger at {self.store.shown} has no data set '{dataset}'. "
                "Its owner makes it with `gdppca ledger init`."
            )
        return entries.standing_of(last, book.first(dataset=dataset, kind="spend"))

    def append(
        self,
        book: Book,
        dataset: str,
        kind: str,
        content: dict[str, Any],
        request_id: str | None = None,
        fingerprint: str | None = None,
    ) -> Entry:
        """Write one more entry; it stands once the writer's context has ended."""
        tail = book.last()
        entry = sealed(
            number=tail.number + 1 if tail else 1,
            at=entries.not_before(tail.at, book.now()) if tail else book.now(),
            dataset=dataset,
            kind=kind,
            content=canonical(content),
            request_id=request_id,
            fingerprint=fingerprint,
            previous=tail.hash if tail else START,
        )
        book.append(entry)
        return entry

    def receipt(self, entry: Entry) -> Receipt:
        """Proof of an entry that stands, which is noted beside the ledger."""
        if self.head is not None:
            self.head.note(entry.head)
        return entries.receipt(entry)

    def _open(self, book: Book) -> None:
        """Say what the ledger is, in its own words and in the first entry."""
        if self.head is not None and self.head.read() is not None:
            raise LedgerError(
                f"'{self.head.path}' tells of a ledger that is gone. Bring it back; or, if it was "
                "given up on purpose, remove that file too."
            )
        secret = secret_bytes(32)
        name = hashlib.sha256(b"name" + secret).hexdigest()[:32]
        about = {"program": "gdppca", "format": FORMAT, "ledger": name}
        book.describe(about | {"key": secret.hex()})
        if self.head is not None:
            self.head.make()  # before the first entry stands: later, a missing file was removed
        self.append(book, "", "open", about)

    def _require_head(self, book: Book) -> None:
        """Refuse to spend without the file: whoever takes entries away would take it too."""
        if self.head is not None:
            entries.require_head(self.head.path, book.last())

    def _checked_last(self, book: Book, dataset: str, noted: Head | None) -> Entry | None:
        """Last entry of a data set, in a ledger that still holds the entry that was noted."""
        last = book.last(dataset=dataset)
        for entry in filter(None, (last, book.last())):
            entries.require_sealed(entry)
        if noted is not None:
            entries.require_same(noted, book.first(number=noted.number))
        return last


def _store(address: str, timeout: float) -> Store:
    try:
        from gdppca.ledgers.sql import Store
    except ModuleNotFoundError:
        raise MissingExtraError("Ledgers need SQLAlchemy: pip install sqlalchemy.") from None
    return Store(address, timeout)
