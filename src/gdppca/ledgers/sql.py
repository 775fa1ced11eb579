"""Tables and transactions: SQLite for one, PostgreSQL for a team.

A writer holds the only write lock from before it reads the totals until its entry is durable:
``BEGIN IMMEDIATE`` on SQLite, an advisory lock on PostgreSQL. No connection outlives a call, so
that forked processes share none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError, ProgrammingError, SQLAlchemyError

from gdppca._errors import LedgerError, LedgerUnavailable, MissingExtraError
from gdppca.ledgers.address import without_password
from gdppca.ledgers.chain import READABLE, Entry

_LOCK = 0x67647070  # "gdpp": the advisory lock of this program

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_tables = sa.MetaData()
_about = sa.Table(
    "gdppca_ledger",
    _tables,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("value", sa.Text),
)
_entries = sa.Table(
    "gdppca_entries",
    _tables,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
    sa.Column("at", sa.String(40), nullable=False),
    sa.Column("dataset", sa.String(200), nullable=False),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("request_id", sa.String(200)),
    sa.Column("fingerprint", sa.String(64)),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
sa.Index("gdppca_by_dataset", _entries.c.dataset, _entries.c.number)
sa.Index("gdppca_by_request", _entries.c.dataset, _entries.c.request_id, unique=True)
sa.Index("gdppca_by_fingerprint", _entries.c.fingerprint)

_LOCKING = (
    "SELECT set_config('lock_timeout', :wait, true)",
    "SELECT set_config('synchronous_commit', 'on', true) "
    "WHERE current_setting('synchronous_commit') = 'off'",
    "SELECT pg_advisory_xact_lock(:lock)",
)

# The second line: whoever edits must first take these away, and the hashes still tell.
_APPEND_ONLY = {
    "sqlite": [
        f"CREATE TRIGGER {table}_no_{verb} BEFORE {verb} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END"
        for table in ("gdppca_ledger", "gdppca_entries")
        for verb in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        "CREATE FUNCTION gdppca_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'a gdppca ledger is append-only'; END $$",
        *(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION gdppca_append_only()"
            for table in ("gdppca_ledger", "gdppca_entries")
        ),
    ],
}


class Store:
    """A database that holds a ledger, or may."""

    def __init__(self, address: str, timeout: float) -> None:
        url = _read(address)
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        self.shown = without_password(address)
        self.path = Path(url.database or "") if url.drivername == "sqlite" else None
        self._timeout = timeout
        waiting = {"timeout": timeout} if self.path else {"connect_timeout": max(int(timeout), 1)}
        try:
            self._engine = sa.create_engine(url, poolclass=sa.NullPool, connect_args=waiting)
        except ModuleNotFoundError:
            raise MissingExtraError(
                "A ledger on PostgreSQL needs psycopg: pip install 'gdppca[postgres]'."
            ) from None
        if self.path:
            sa.event.listen(self._engine, "connect", _set_up_sqlite)
            sa.event.listen(self._engine, "begin", _begin_sqlite)

    @contextmanager
    def reading(self) -> Iterator[Book]:
        """One consistent view; nobody is kept from writing."""
        self._require_file()
        level = {} if self.path else {"isolation_level": "REPEATABLE READ"}
        with self._told(), self._engine.connect() as connection:
            connection = connection.execution_options(gdppca_reading=True, **level)
            yield self._opened(connection)

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[Book]:
        """The only writer, from the first look to the commit."""
        if not create:
            self._require_file()
        with self._told(), self._engine.connect() as connection:
            self._lock(connection)
            yield self._laid(connection) if create else self._opened(connection)
            self._commit(connection)

    def _require_file(self) -> None:
        if self.path and not self.path.is_file():
            raise LedgerError(
                f"There is no ledger at {self.shown}. Make one with `gdppca ledger init`."
            )

    def _lock(self, connection: sa.Connection) -> None:
        if self.path:
            connection.begin()
            return
        connection.execution_options(isolation_level="READ COMMITTED")  # a fresh look per statement
        values = {"wait": f"{int(self._timeout * 1000)}ms", "lock": _LOCK}
        for statement in _LOCKING:
            connection.execute(sa.text(statement), values)

    def _commit(self, connection: sa.Connection) -> None:
        try:
            connection.commit()
        except SQLAlchemyError as error:
            raise LedgerUnavailable(
                f"The ledger at {self.shown} did not confirm the entry: {_said(error)}. It may or "
                "may not stand; ask again with the same `request_id`. Draw no noise."
            ) from None

    def _opened(self, connection: sa.Connection) -> Book:
        try:
            rows = connection.execute(sa.select(_about)).all()
        except (OperationalError, ProgrammingError):  # no such table, most likely
            connection.rollback()
            if sa.inspect(connection).has_table(_about.name):
                raise
            raise LedgerError(
                f"The database at {self.shown} holds no gdppca ledger. "
                "Make one with `gdppca ledger init`, or correct the address."
            ) from None
        return Book(connection, self._known({row.name: row.value for row in rows}))

    def _known(self, about: dict[str, str]) -> dict[str, str]:
        """What the ledger says of itself, if this program can work with it."""
        if about.get("program") != "gdppca":
            raise LedgerError(f"The ledger at {self.shown} belongs to another program.")
        if about.get("format") not in READABLE:
            raise LedgerError(
                f"The ledger at {self.shown} has format {about.get('format')!r}; this version of "
                f"gdppca knows up to {READABLE[-1]!r}. Install a newer gdppca. Nothing was spent."
            )
        return about

    def _laid(self, connection: sa.Connection) -> Book:
        """Open the ledger, or lay it out in an empty database."""
        existing = sa.inspect(connection).get_table_names()
        if _about.name in existing:
            return self._opened(connection)
        if self.path and existing:
            raise LedgerError(f"The database at {self.shown} belongs to another program.")
        _tables.create_all(connection)
        for statement in _APPEND_ONLY[connection.dialect.name]:
            connection.execute(sa.text(statement))
        return Book(connection, {})

    @contextmanager
    def _told(self) -> Iterator[None]:
        """The database's own errors as one sentence."""
        try:
            yield
        except DBAPIError as error:
            raise LedgerUnavailable(
                f"The ledger at {self.shown} cannot be used: {_said(error)}. Nothing was spent."
            ) from None


def _read(address: str) -> sa.URL:
    """The address in parts; an error quotes none of it, since one may be a password."""
    with suppress(SQLAlchemyError, ValueError):  # ValueError: a port that is no number
        return sa.make_url(address)
    raise LedgerError("The ledger's address cannot be read.")


def _said(error: SQLAlchemyError) -> str:
    """First line of what the database said."""
    lines = str(getattr(error, "orig", error)).strip().splitlines() or ["no reason given"]
    return lines[0].rstrip(". ")


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # BEGIN is ours
    # The default rollback journal, not WAL: between calls the file alone is the ledger, so a copy
    # of it is whole. EXTRA, since a power cut after FULL may bring the journal of a committed entry
    # back, and with it undo the entry.
    connection.execute("PRAGMA synchronous = EXTRA")


def _begin_sqlite(connection: sa.Connection) -> None:
    reading = connection.get_execution_options().get("gdppca_reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


class Book:
    """The ledger inside one transaction."""

    def __init__(self, connection: sa.Connection, about: dict[str, str]) -> None:
        self._connection = connection
        self.about = about

    def describe(self, about: dict[str, str]) -> None:
        """Say what this ledger is; once."""
        rows = [{"name": name, "value": value} for name, value in about.items()]
        self._connection.execute(sa.insert(_about), rows)
        self.about = about

    def now(self) -> str:
        """Time in UTC: of the machine on SQLite, of the server on PostgreSQL."""
        if self._connection.dialect.name == "sqlite":
            return _stamp(datetime.now(UTC))
        return _stamp(self._connection.execute(sa.text("SELECT clock_timestamp()")).scalar_one())

    def first(self, **wanted: Any) -> Entry | None:
        """The first entry with these values."""
        return self._one(sa.select(_entries).filter_by(**wanted).order_by(_entries.c.number))

    def last(self, **wanted: Any) -> Entry | None:
        """The last entry with these values."""
        return self._one(sa.select(_entries).filter_by(**wanted).order_by(_entries.c.number.desc()))

    def other_name(self, fingerprint: str, dataset: str) -> str | None:
        """Another data set that was seen with this fingerprint."""
        seen = sa.select(_entries).filter_by(fingerprint=fingerprint).order_by(_entries.c.number)
        found = self._one(seen.where(_entries.c.dataset != dataset))
        return None if found is None else found.dataset

    def spends(self, dataset: str) -> int:
        """How many entries spent from a data set."""
        query = sa.select(sa.func.count()).select_from(_entries)
        own = query.filter_by(dataset=dataset, kind="spend")
        return self._connection.execute(own).scalar_one()

    def spent_since(self, dataset: str, moment: str) -> Iterator[Entry]:
        """Spends from a data set at or after a moment, in order."""
        own = sa.select(_entries).filter_by(dataset=dataset, kind="spend")
        later = own.where(_entries.c.at >= moment).order_by(_entries.c.number)
        for row in self._connection.execute(later):
            yield Entry(**row._asdict())

    def entries(self, **wanted: Any) -> Iterator[Entry]:
        """All entries with these values, in order."""
        query = sa.select(_entries).filter_by(**wanted).order_by(_entries.c.number)
        in_parts = {"yield_per": 1000}  # of this query alone: an insert cannot be read in parts
        for row in self._connection.execute(query, execution_options=in_parts):
            yield Entry(**row._asdict())

    def append(self, entry: Entry) -> None:
        """Write one more entry."""
        self._connection.execute(sa.insert(_entries), asdict(entry))

    def _one(self, query: sa.Select[Any]) -> Entry | None:
        row = self._connection.execute(query.limit(1)).first()
        return None if row is None else Entry(**row._asdict())


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
