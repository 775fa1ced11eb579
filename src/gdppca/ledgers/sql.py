"""Tables and transactions: SQLite for one, PostgreSQL for a team.

A writer holds the only write lock from before it reads the totals until its entry is durable:
``BEGIN IMMEDIATE`` on SQLite, an advisory lock on PostgreSQL. No connection outlives a call, so
that forked processes share none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError, OperationalError, ProgrammingError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from gdppca._errors import LedgerError, MissingExtraError
from gdppca.ledgers.address import without_password
from gdppca.ledgers.chain import NAMES, Entry

FORMAT = "1"
_LOCK = 0x67647070  # "gdpp": the advisory lock of this program

_tables = MetaData()
_about = Table(
    "gdppca_ledger", _tables, Column("name", String(40), primary_key=True), Column("value", Text)
)
_entries = Table(
    "gdppca_entries",
    _tables,
    Column(
        "number",
        BigInteger().with_variant(Integer, "sqlite"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("at", String(40), nullable=False),
    Column("dataset", String(200), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("content", Text, nullable=False),
    Column("request_id", String(200)),
    Column("fingerprint", String(64)),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)
Index("gdppca_by_dataset", _entries.c.dataset, _entries.c.number)
Index("gdppca_by_request", _entries.c.dataset, _entries.c.request_id, unique=True)
Index("gdppca_by_fingerprint", _entries.c.fingerprint)

_ABOUT = select(_about)
_LAST = select(_entries).order_by(_entries.c.number.desc()).limit(1)

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
            self._engine = create_engine(url, poolclass=NullPool, connect_args=waiting)
        except ModuleNotFoundError:
            raise MissingExtraError(
                "A ledger on PostgreSQL needs psycopg: pip install 'gdppca[postgres]'."
            ) from None
        if self.path:
            event.listen(self._engine, "connect", _set_up_sqlite)
            event.listen(self._engine, "begin", _begin_sqlite)

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

    def _lock(self, connection: Connection) -> None:
        if self.path:
            connection.begin()
            return
        connection.execution_options(isolation_level="READ COMMITTED")  # a fresh look per statement
        wait = f"{int(self._timeout * 1000)}ms"
        connection.execute(text("SELECT set_config('lock_timeout', :wait, true)"), {"wait": wait})
        connection.execute(
            text(
                "SELECT set_config('synchronous_commit', 'on', true) "
                "WHERE current_setting('synchronous_commit') = 'off'"
            )
        )
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})

    def _commit(self, connection: Connection) -> None:
        try:
            connection.commit()
        except SQLAlchemyError as error:
            raise LedgerError(
                f"The ledger at {self.shown} did not confirm the entry: {_said(error)}. It may or "
                "may not stand; ask again with the same `request_id`. Draw no noise."
            ) from None

    def _opened(self, connection: Connection) -> Book:
        try:
            rows = connection.execute(_ABOUT).all()
        except (OperationalError, ProgrammingError):  # no such table, most likely
            connection.rollback()
            if inspect(connection).has_table(_about.name):
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
        if about.get("format") != FORMAT:
            raise LedgerError(
                f"The ledger at {self.shown} has format {about.get('format')!r}; "
                f"this version of gdppca knows {FORMAT!r}. Use the version that made it."
            )
        return about

    def _laid(self, connection: Connection) -> Book:
        """Open the ledger, or lay it out in an empty database."""
        existing = inspect(connection).get_table_names()
        if _about.name in existing:
            return self._opened(connection)
        if self.path and existing:
            raise LedgerError(f"The database at {self.shown} belongs to another program.")
        _tables.create_all(connection)
        for statement in _APPEND_ONLY[connection.dialect.name]:
            connection.execute(text(statement))
        return Book(connection, {})

    @contextmanager
    def _told(self) -> Iterator[None]:
        """The database's own errors as one sentence."""
        try:
            yield
        except DBAPIError as error:
            raise LedgerError(
                f"The ledger at {self.shown} cannot be used: {_said(error)}. Nothing was spent."
            ) from None


def _read(address: str) -> URL:
    """The address in parts; an error quotes none of it, since one may be a password."""
    with suppress(SQLAlchemyError, ValueError):  # ValueError: a port that is no number
        return make_url(address)
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


def _begin_sqlite(connection: Connection) -> None:
    reading = connection.get_execution_options().get("gdppca_reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


class Book:
    """The ledger inside one transaction."""

    def __init__(self, connection: Connection, about: dict[str, str]) -> None:
        self._connection = connection
        self.about = about

    def describe(self, about: dict[str, str]) -> None:
        """Say what this ledger is; once."""
        rows = [{"name": name, "value": value} for name, value in about.items()]
        self._connection.execute(insert(_about), rows)
        self.about = about

    def now(self) -> str:
        """Time in UTC: of the machine on SQLite, of the server on PostgreSQL."""
        if self._connection.dialect.name == "sqlite":
            return _stamp(datetime.now(UTC))
        return _stamp(self._connection.execute(text("SELECT clock_timestamp()")).scalar_one())

    def tail(self) -> Entry | None:
        """Last entry of all."""
        return self._first(_LAST)

    def last(self, dataset: str) -> Entry | None:
        """Last entry of one data set."""
        return self._first(_LAST.where(_entries.c.dataset == dataset))

    def numbered(self, number: int) -> Entry | None:
        """The entry of this number."""
        return self._first(select(_entries).where(_entries.c.number == number))

    def first_spend(self, dataset: str) -> Entry | None:
        """The first entry that spent from a data set."""
        own = (_entries.c.dataset == dataset) & (_entries.c.kind == "spend")
        return self._first(select(_entries).where(own).order_by(_entries.c.number).limit(1))

    def request(self, dataset: str, request_id: str) -> Entry | None:
        """Entry of an earlier request with this id."""
        same = (_entries.c.dataset == dataset) & (_entries.c.request_id == request_id)
        return self._first(select(_entries).where(same))

    def other_name(self, fingerprint: str, dataset: str) -> str | None:
        """Another data set that was seen with this fingerprint."""
        same = (_entries.c.fingerprint == fingerprint) & (_entries.c.dataset != dataset)
        found = self._first(select(_entries).where(same).limit(1))
        return None if found is None else found.dataset

    def entries(self, dataset: str | None = None) -> Iterator[Entry]:
        """All entries in order, of all or of one data set."""
        query = select(_entries).order_by(_entries.c.number)
        if dataset is not None:
            query = query.where(_entries.c.dataset == dataset)
        for row in self._connection.execution_options(yield_per=1000).execute(query):
            yield _entry(row)

    def datasets(self) -> list[str]:
        """Names in the order of creation."""
        query = select(_entries.c.dataset).where(_entries.c.kind == "create")
        return list(self._connection.execute(query.order_by(_entries.c.number)).scalars())

    def append(self, entry: Entry) -> None:
        """Write one more entry."""
        row = {name: getattr(entry, name) for name in NAMES}
        self._connection.execute(insert(_entries), row)

    def _first(self, query: Any) -> Entry | None:
        row = self._connection.execute(query).first()
        return None if row is None else _entry(row)


def _entry(row: Any) -> Entry:
    return Entry(**dict(row._mapping))


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
