"""Files larger than memory, by DuckDB: counted, put in a secret random order, read in batches.

DuckDB sorts by a secret key on disk where memory does not suffice, so a file that is sorted by a
column costs neither privacy nor accuracy. What it writes on the way are raw rows: they go to a
private folder that is gone on every exit. Its messages quote cells, so they are replaced.
"""

from __future__ import annotations

import itertools
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self, TypeVar

import numpy as np

from gdppca._errors import (
    ColumnTypeError,
    DataError,
    GdppcaError,
    MissingExtraError,
    ParameterError,
)
from gdppca.kernels import Progress
from gdppca.kernels.parallel import usable_cores
from gdppca.noise import OrderKeys
from gdppca.tables.base import InParts, Recipe, Sums, key_threshold
from gdppca.tables.cells import number, quick_number
from gdppca.tables.frames import as_matrix, listed
from gdppca.tables.scratch import private_folder
from gdppca.tables.sources import Source, quoted

MEMORY_VARIABLE = "GDPPCA_MEMORY"
_MEMORY = "512MB"  # for DuckDB; beyond it goes to disk
_BATCH_ROWS = 2**17
_BATCH_ENTRIES = 2**22  # 32 MB
_SORTING = 0.5  # share of the time that the sort takes
_TELL_EVERY = 0.5  # seconds
# Ctrl-C, in DuckDB's words.
_INTERRUPTED = "Query interrupted|INTERRUPT Error|UDF: KeyboardInterrupt"
_TERMS = 100  # of a sum inside a query, which must not be nested too deep
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_LONG = ("DECIMAL", "HUGEINT", "UHUGEINT")
_NUMBERS = {*_WHOLE, *(f"U{kind}" for kind in _WHOLE), "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN"}

Result = TypeVar("Result")


class _NotForTheQuickWay(Exception):
    """Text that is no plain number: a flag, or no number at all."""


class DuckEngine(InParts):
    """Rows of files, of arrow data or of anything else that DuckDB reads."""

    names: tuple[str, ...] | None
    n_features: int
    n_samples: int

    def __init__(
        self, source: Source, keys: OrderKeys | None, columns: list[str] | None = None
    ) -> None:
        self._source = source
        self._keys = keys
        self._columns = columns
        self._cell_by_cell = not source.spelt
        self._names: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._folder = stack.enter_context(private_folder())
            self._connection = stack.enter_context(_connected(str(self._folder)))
            self._plainly(lambda: self._source.open(self._connection, self._folder))
            self._names = self.names = self._source.selected(self._columns)
            if not self._source.spelt:
                _refuse_text(self._source.types(), self._names)
            self.n_samples = self._quickly_or_by_cell(lambda: self._plainly(self._count))
            self.n_features = len(self._names)
            if self._keys is not None:
                _add_key_function(self._connection, self._keys)
            self._cleanup = stack.pop_all()
        return self

    def __exit__(self, *ended: object) -> None:
        self._cleanup.close()

    def sample(self, size: int) -> np.ndarray:
        """About so many random rows, in random order; all where there are no more."""
        return self._quickly_or_by_cell(lambda: self._sampled(size))

    def _sampled(self, size: int) -> np.ndarray:
        bad = self._unfit()  # come along, to be refused before anything is spent
        if self._keys is None:
            for _ in self._batches(f"SELECT * FROM ({self._cells()}) WHERE {bad} LIMIT 1"):
                pass
            query = f"{self._cells()} LIMIT {size}"
        else:
            bound = key_threshold(size, self.n_samples)
            query = f"{self._keyed()} WHERE secret <= {bound} OR {bad} ORDER BY secret"
        return np.concatenate([np.empty((0, self.n_features)), *self._batches(query)])

    def total(self, recipe: Recipe, progress: Progress) -> Sums:
        """The sum over all rows; sorted by their keys first where their order matters."""
        return self._quickly_or_by_cell(lambda: self._summed(recipe, progress))

    def _quickly_or_by_cell(self, action: Callable[[], Result]) -> Result:
        """Read again where a cell is not for the quick way; both ways give the same bits."""
        try:
            return action()
        except _NotForTheQuickWay:
            pass
        self._cell_by_cell = True
        return action()

    def _summed(self, recipe: Recipe, progress: Progress) -> Sums:
        n, total, done = self.n_samples, recipe.empty(), 0
        if recipe.ordered and self._keys is not None:
            query, sorting = f"{self._keyed()} ORDER BY secret", _SORTING
        else:
            query, sorting = self._cells(), 0.0
        with self._telling(progress, sorting):
            batches = _begun(self._batches(query))
        for batch in batches:
            total = recipe.add(total, batch)
            done += len(batch)
            progress(int(sorting * n + (1 - sorting) * done), n)
        if done != self.n_samples:
            raise DataError(f"{self._source.name} changed while it was read. Nothing was released.")
        return total

    def _columns_here(self) -> list[str]:
        """Names of our own inside queries: a column of the table may be called anything."""
        return [f"c{k}" for k in range(self.n_features)]

    def _unfit(self) -> str:
        """Rows that no sum can take: 0 · x is NaN for NaN and inf, and NULL for NULL."""
        columns = self._columns_here()
        few = [columns[start : start + _TERMS] for start in range(0, len(columns), _TERMS)]
        sums = (" + ".join(f"0 * {column}" for column in part) for part in few)
        return " OR ".join(f"NOT coalesce(isfinite({each}), false)" for each in sums)

    def _cells(self, more: str = "") -> str:
        names = zip(self._names, self._columns_here(), strict=True)
        cells = ", ".join(f"{self._number(name)} AS {here}" for name, here in names)
        view = "spelt" if self._source.spelt and self._cell_by_cell else "rows"
        return f"SELECT {cells}{more} FROM {view}"

    def _number(self, name: str) -> str:
        if self._source.spelt:
            return (number if self._cell_by_cell else quick_number)(quoted(name))
        if self._source.types()[name].split("(")[0].upper() in _LONG:
            # By its digits, rounded once; DuckDB's own way rounds twice.
            return quick_number(f"CAST({quoted(name)} AS VARCHAR)")
        return quick_number(quoted(name))

    def _keyed(self) -> str:
        """Cells, and beside them the key of each row; nothing else that could bear its name."""
        keyed = self._cells(", secret_key(row_number() OVER () - 1) AS secret")
        return f"SELECT {', '.join(self._columns_here())} FROM ({keyed})"

    def _batches(self, query: str) -> Iterator[np.ndarray]:
        """Results of a query as matrices of finite numbers."""
        import pyarrow as pa

        rows = min(_BATCH_ROWS, max(1024, _BATCH_ENTRIES // self.n_features))
        reader = self._plainly(lambda: self._connection.sql(query).to_arrow_reader(rows))
        while (batch := self._plainly(lambda: next(reader, None))) is not None:
            table = pa.Table.from_batches([batch]).rename_columns(list(self._names))
            yield as_matrix(table).values
        self._source.require_unchanged()

    @contextmanager
    def _telling(self, progress: Progress, share: float) -> Iterator[None]:
        """Tell how far DuckDB is with the sort, which takes that share of the time."""
        over = threading.Event()

        def tell() -> None:
            while not over.wait(_TELL_EVERY):
                done = max(0.0, self._connection.query_progress()) / 100
                progress(int(min(done, share) * self.n_samples), self.n_samples)

        teller = threading.Thread(target=tell, daemon=True)
        if share:
            teller.start()
        try:
            yield
        finally:
            over.set()
            if share:
                teller.join()

    def _count(self) -> int:
        [[n]] = self._connection.sql("SELECT count(*) FROM rows").fetchall()
        return int(n)

    def _plainly(self, action: Callable[[], Result]) -> Result:
        """Do something with DuckDB; its messages and arrow's quote cells and are replaced."""
        import duckdb
        import pyarrow as pa

        try:
            return action()
        except GdppcaError:
            raise
        except (duckdb.Error, pa.ArrowException, OSError, RuntimeError, UnicodeError) as error:
            failure = str(error)
        # Raised out here, so that the message is not even in __context__.
        if re.search(_INTERRUPTED, failure):
            raise KeyboardInterrupt
        self._source.require_unchanged()
        raise self._explained(failure)

    def _explained(self, failure: str) -> Exception:
        in_our_folder = str(self._folder) in failure or "max_temp_directory_size" in failure
        if in_our_folder or "No space left" in failure:
            return DataError(
                f"The disk of the temporary folder '{self._folder.parent}' is full: a secret "
                "random order of all rows needs about as much room as the table itself. Set TMPDIR "
                "to a folder with more."
            )
        if failure.startswith("Out of Memory"):
            return DataError(
                f"{self._source.name} needs more memory than DuckDB was given, {_memory()}. Set "
                f"{MEMORY_VARIABLE} to more, such as 2GB."
            )
        if not self._cell_by_cell and self._names:
            return _NotForTheQuickWay()
        return self._source.explained(self._names)


def _memory() -> str:
    """Memory that DuckDB may use; the variable GDPPCA_MEMORY sets another size."""
    wish = os.environ.get(MEMORY_VARIABLE, "") or _MEMORY
    if not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", wish):
        raise ParameterError(f"{MEMORY_VARIABLE} must be a size such as 512MB or 2GB.")
    return wish


@contextmanager
def _connected(folder: str) -> Iterator[Any]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError(
            "Reading files larger than memory needs DuckDB: pip install duckdb."
        ) from None
    connection = duckdb.connect(
        config={
            "temp_directory": folder,
            "memory_limit": _memory(),
            "threads": usable_cores(),
            "enable_external_file_cache": False,
            "autoinstall_known_extensions": False,  # nothing is fetched from anywhere
        }
    )
    try:
        # Progress is counted, not printed.
        connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        yield connection
    finally:
        connection.close()


def _add_key_function(connection: Any, keys: OrderKeys) -> None:
    import pyarrow as pa

    def secret_key(places: Any) -> Any:
        return pa.array(keys.of(places.to_numpy()))

    connection.create_function(
        "secret_key", secret_key, ["BIGINT"], "UBIGINT", type="arrow", side_effects=True
    )


def _begun(batches: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """The same batches, once the first one is there."""
    first = list(itertools.islice(batches, 1))
    return itertools.chain(first, batches)


def _refuse_text(types: dict[str, str], names: tuple[str, ...]) -> None:
    text = [name for name in names if types[name].split("(")[0].upper() not in _NUMBERS]
    if text:
        raise ColumnTypeError(
            f"{listed(text)}: not numbers. Use other columns, or code these as numbers yourself."
        )
