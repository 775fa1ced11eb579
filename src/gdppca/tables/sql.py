"""What a question to a database answers, by SQLAlchemy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gdppca._errors import DataError, GdppcaError, MissingExtraError, ParameterError
from gdppca.tables.base import without_its_words

_AT_ONCE = 2**14  # rows that come at once


@dataclass(frozen=True, repr=False)
class Query:
    """A table that is the answer to a question.

    Parameters
    ----------
    address : str
        Where the database is, as SQLAlchemy writes it: ``sqlite:///visits.db`` or
        ``postgresql+psycopg://host/database``.
    statement : str
        The question: ``SELECT age, ward FROM visits``.

    Notes
    -----
    **Privacy.** The question is public. Choose it without looking at the data: one that drops or
    joins rows by other people's values is a step outside of the guarantee.

    Examples
    --------
    >>> from gdppca import Query
    >>> Query("postgresql+psycopg://me:secret@host/visits", "SELECT age FROM visits")
    Query('postgresql+psycopg://me:***@host/visits', 'SELECT age FROM visits')
    """

    address: str
    statement: str

    def __post_init__(self) -> None:
        """Refuse what is no address and no question."""
        if not isinstance(self.address, str) or "://" not in self.address:
            raise ParameterError("`address` must look like sqlite:///visits.db.")
        if not isinstance(self.statement, str) or not self.statement.strip():
            raise ParameterError("`statement` must be a question: SELECT … FROM …")

    def __repr__(self) -> str:
        return f"Query({self.shown!r}, {self.statement!r})"

    @property
    def shown(self) -> str:
        """The address without its password."""
        from gdppca.ledgers.address import without_password

        return without_password(self.address)

    def columns(self, wanted: Callable[[list[str]], list[str]]) -> dict[str, list[Any]]:
        """Columns of the answer, cell by cell; `wanted` chooses among their names."""
        self._require_file()
        return without_its_words(lambda: self._ask(wanted), self._failed)

    def names(self) -> list[str]:
        """Names of the answer's columns; no row is taken."""
        self._require_file()

        def ask() -> list[str]:
            with self._asked() as answer:
                return [str(name) for name in answer.keys()]  # noqa: SIM118

        return without_its_words(ask, self._failed)

    def _require_file(self) -> None:
        """Refuse an SQLite file that is not there; SQLite would make an empty one."""
        file = self.address.partition("?")[0].removeprefix("sqlite:///")
        if self.address.startswith("sqlite:") and not Path(file).is_file():
            raise DataError(f"There is no file '{file}'.")

    @contextmanager
    def _asked(self) -> Iterator[Any]:
        from sqlalchemy import create_engine

        engine = create_engine(self.address, hide_parameters=True)
        try:
            with engine.connect() as connection:
                calm = connection.execution_options(stream_results=True)
                yield calm.exec_driver_sql(self.statement)
        finally:
            engine.dispose()

    def _ask(self, wanted: Callable[[list[str]], list[str]]) -> dict[str, list[Any]]:
        with self._asked() as answer:
            every = [str(name) for name in answer.keys()]  # noqa: SIM118
            names = wanted(every)
            places = [every.index(name) for name in names]
            found: list[list[Any]] = [[] for _ in names]
            for rows in answer.partitions(_AT_ONCE):
                for cells, place in zip(found, places, strict=True):
                    cells += [row[place] for row in rows]
        return dict(zip(names, found, strict=True))

    def _failed(self, error: Exception) -> GdppcaError:
        """What to say; never what the database said, which may quote cells or the password."""
        if isinstance(error, ImportError):
            return MissingExtraError(
                f"Asking '{self.shown}' needs the driver of its database; for PostgreSQL: pip "
                "install 'gdppca[postgres]', with an address postgresql+psycopg://…"
            )
        return DataError(
            f"The question to '{self.shown}' failed ({type(error).__name__}): check the address, "
            "your rights there, and the statement, which must answer with rows."
        )
