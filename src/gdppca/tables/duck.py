"""Files of any size, by DuckDB: counted, read in batches, put in a secret random order.

DuckDB only reads. Its messages quote cells, so they are replaced. Rows that must be put in order
and do not fit into memory are sorted by their secret keys on disk, in a private folder that is gone
on every exit: a file that is sorted by a column costs neither privacy nor accuracy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from gdppca._errors import DataError, GdppcaError, ParameterError
from gdppca.kernels import Progress, silent
from gdppca.kernels.parallel import usable_cores
from gdppca.kernels.sums import all_finite
from gdppca.kernels.weights import whole_parts
from gdppca.noise import OrderKeys
from gdppca.tables import base
from gdppca.tables.base import Keys, Recipe, Result, Sample, Total
from gdppca.tables.batches import columns_of_floats
from gdppca.tables.cells import number, quick_number, require_labels
from gdppca.tables.described import (
    LONG,
    NUMBERS,
    DescribedRows,
    chosen_columns,
    described_rows,
    id_cell,
    number_cell,
    refused_cells,
    trimmed,
    typed_label,
)
from gdppca.tables.description import Description
from gdppca.tables.frames import matrix_of, refuse_text
from gdppca.tables.headers import require_columns
from gdppca.tables.people import People, rows_each
from gdppca.tables.runs import Keyed, below, full_disk, keyed_in_order, regular, sorted_rows
from gdppca.tables.scratch import private_folder
from gdppca.tables.sources import Source
from gdppca.tables.visits import Chosen, Visits, found_visits
from gdppca.tables.wishes import Wishes

MEMORY_VARIABLE = "GDPPCA_MEMORY"
_MEMORY = "512MB"  # for DuckDB; beyond it goes to disk
_RUN = 8  # part of it that rows which are put in order take at once
_BATCH_ROWS = 2**17
_BATCH_ENTRIES = 2**22  # 32 MB
_SORTING = 0.5  # share of the time that the sort takes
_INTERRUPTED = "Query interrupted|INTERRUPT Error"  # Ctrl-C, in DuckDB's words
_NO_ROOM = "No space left|max_temp_directory_size"
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class _NotForTheQuickWay(Exception):
    """Text that is no plain number: a flag, or no number at all."""


class Reader:
    """Numbers in the order in which a source has them."""

    names: tuple[str, ...] | None
    n_features: int

    def __init__(
        self,
        source: Source,
        columns: list[str] | None = None,
        description: Description | None = None,
        gaps: bool = False,
    ) -> None:
        self._source = source
        self._columns = columns
        self._description = description
        self._gaps = gaps  # whether a missing cell is NaN, or refused
        self._described: DescribedRows | None = None
        self._cell_by_cell = not source.spelt or description is not None
        self._places: list[int] = []
        self._folder: Path | None = None

    @contextmanager
    def connected(self, folder: Path | None = None) -> Iterator[Any]:
        """Look at the source; what it must write goes to the folder."""
        self._folder = folder
        with _connected(folder) as self._connection:
            self.plainly(lambda: self._source.open(self._connection, folder))
            yield self._connection

    @contextmanager
    def opened(self, folder: Path | None = None) -> Iterator[Self]:
        """Look at the source and its columns, which must hold numbers or be described."""
        with self.connected(folder):
            if self._description is None:
                self._find_columns()
            else:
                self._find_described(self._description)
            self.n_features = len(self._names)
            yield self

    def _find_columns(self) -> None:
        types = self._source.types
        names = require_columns(list(types), self._columns, self._source.name)
        self.names = self._names = names
        if not self._source.spelt:
            refuse_text([name for name in names if not re.fullmatch(NUMBERS, types[name])])
        self._places = [list(types).index(name) for name in names]

    def _find_described(self, description: Description) -> None:
        types = dict.fromkeys(self._source.types, "VARCHAR") if self._source.spelt else None
        known = types or self._source.types
        chosen = chosen_columns(description, list(known), self._columns, self._source.name)
        self._described = described_rows(chosen, known, self._source.name)
        self._features = chosen.features
        self.names = self._names = tuple(feature.name for feature in chosen.features)

    def everything(self) -> np.ndarray:
        """All rows."""
        return self.read(lambda: np.concatenate([np.empty((0, self.n_features)), *self._batches()]))

    def read(self, action: Callable[[], Result]) -> Result:
        """Read again where a cell is not for the quick way; both ways give the same bits."""
        try:
            return action()
        except _NotForTheQuickWay:
            pass
        self._cell_by_cell = True
        return action()

    def rows_at_once(self) -> int:
        """How many rows a batch has."""
        return min(_BATCH_ROWS, max(1024, _BATCH_ENTRIES // self.n_features))

    def _batches(self) -> Iterator[np.ndarray]:
        """All rows as matrices of numbers, which are finite or, where gaps may be, NaN."""
        return (self._laid_out(columns) for columns in self._columns_read())

    def _columns_read(self, *beside: str) -> Iterator[list[Any]]:
        """Columns of all rows, batch by batch; those beside the features in DuckDB's words."""
        question = self._question(beside)
        relation = self.plainly(lambda: self._connection.sql(question))
        stream = columns_of_floats(relation, self.rows_at_once(), self._gaps)
        try:
            while (columns := self.plainly(lambda: next(stream, None))) is not None:
                self._require_described(columns[: self.n_features])
                yield columns
        finally:
            stream.close()
        self._source.require_unchanged()

    def _laid_out(self, columns: Sequence[Any]) -> np.ndarray:
        """Features row by row; refused where one is missing and none may be."""
        features = columns[: self.n_features]
        return matrix_of(features, self._names, self._gaps, self._source.name).values

    def _question(self, beside: Sequence[str] = ()) -> str:
        """Features, and columns beside them, such as `label` gives, of the same rows."""
        as_text = self._source.spelt and bool(self._cell_by_cell or beside)
        view = "spelt" if as_text else "rows"
        if self._described is not None:
            return self._described.select(view, beside)
        numbers = map(self._number, self._places, self._names)
        return f"SELECT {', '.join([*numbers, *beside])} FROM {view}"

    def label(self, column: str) -> str:
        """A column beside the features as trimmed text, such as whose row it is."""
        place, kind = self._beside(column)
        require_labels(column, kind)
        text = f"c{place}" if kind == "VARCHAR" else typed_label(f"c{place}", kind)
        return trimmed(text)

    def weight(self, column: str) -> str:
        """A column beside the features as numbers, null where a cell is none."""
        place, kind = self._beside(column)
        known = self._description or Description(columns=())
        return number_cell(f"c{place}", kind, known)

    def _beside(self, column: str) -> tuple[int, str]:
        types = self._source.types
        require_columns(list(types), [column], self._source.name)
        return list(types).index(column), "VARCHAR" if self._source.spelt else types[column]

    def _require_described(self, columns: Sequence[np.ndarray | None]) -> None:
        """Refuse the first column where a cell is missing or not as described."""
        if self._described is not None:
            for feature, column in zip(self._features, columns, strict=True):
                if column is None:
                    raise refused_cells(
                        feature.column, self._described.description, self._source.name
                    )

    def _number(self, place: int, name: str) -> str:
        cell = f"c{place}"
        if self._source.spelt:
            if not self._cell_by_cell:
                return quick_number(cell)
            return number(cell, "TRY_CAST" if self._gaps else "CAST")
        # A long one by its digits, rounded once; DuckDB's own way rounds twice.
        long = re.fullmatch(LONG, self._source.types[name])
        return quick_number(f"CAST({cell} AS VARCHAR)" if long else cell)

    def plainly(self, action: Callable[[], Result]) -> Result:
        """Do something with DuckDB; its messages quote cells and are replaced."""
        return base.without_its_words(action, self._explained, (GdppcaError, MemoryError))

    def _explained(self, error: Exception) -> BaseException:
        failure = str(error)
        if re.search(_INTERRUPTED, failure):
            return KeyboardInterrupt()
        self._source.require_unchanged()
        if self._folder and (str(self._folder) in failure or re.search(_NO_ROOM, failure)):
            return full_disk(self._folder)
        if failure.startswith("Out of Memory"):
            return self._too_little_memory()
        if not self._cell_by_cell and self._places:
            return _NotForTheQuickWay()
        return self._source.explained(self._places)

    def _too_little_memory(self) -> DataError:
        return DataError(
            f"{self._source.name} needs more memory than DuckDB was given, {_memory()}. Set "
            f"{MEMORY_VARIABLE} to more, such as 2GB."
        )


class DuckEngine(base.InParts, Reader):
    """Rows of files, of arrow data or of anything else that DuckDB reads."""

    def __init__(self, source: Source, keys: OrderKeys | None, asked: Wishes | None = None) -> None:
        base.InParts.__init__(self, source, keys, asked)
        Reader.__init__(self, source, None, self._asked.description, self._asked.gaps)
        self._visits: Visits | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self.opened(stack.enter_context(private_folder())))
            if self._asked.persons is None:
                self.n_samples = self._n_rows = self.read(lambda: self.plainly(self._count))
            else:
                self._visits = self.read(lambda: self.plainly(self._found_visits))
                self.n_samples, self._n_rows = self._visits.number, self._visits.n_rows
            self._cleanup = stack.pop_all()
        return self

    def __exit__(self, *ended: object) -> None:
        self._cleanup.close()

    @property
    def unused(self) -> tuple[str, ...]:
        """Columns that are neither analysed nor asked for otherwise."""
        return self._asked.unused(list(self._source.types))

    def _find_columns(self) -> None:
        self._columns = self._asked.features(list(self._source.types), self._source.name)
        super()._find_columns()

    def _find_described(self, description: Description) -> None:
        self._columns = self._asked.features(list(self._source.types), self._source.name)
        super()._find_described(description)

    def pieces(self) -> Iterator[bytes] | None:
        """Some bytes of the files behind it, by which they are known again; not private."""
        return self._source.pieces()

    def sample(self, size: int) -> Sample:
        """About so many random rows or persons, in random order; all where there are no more."""
        keys, bound = self._sampling(size)
        if self._visits is not None:
            chosen = self._visits.chosen(bound, rows_each(size, self.n_features))
            return self.read(lambda: self._sampled_persons(chosen))
        rows, found = self.read(lambda: keyed_in_order(below(self._keyed(keys), bound)))
        parts = self._parts(rows, 0)
        return Sample(self._cells(rows), len(rows), parts, None, found if self._keys else None)

    def _sampled_persons(self, chosen: Chosen) -> Sample:
        """Some rows of each person, each at its place; all others are looked at too."""
        rows, start = np.empty((len(chosen.keys), self._width)), 0
        for columns in self._columns_read(*self._weight_cells()):
            stop = start + len(next(column for column in columns if column is not None))
            places, positions = chosen.among(start, stop)
            shares = self._shares_of(columns)
            if not self._gaps and not all(c is not None and all_finite(c) for c in columns):
                self._laid_out(columns)  # refuses
            few = self._laid_out([column[places] for column in columns])
            rows[positions] = few if shares is None else np.column_stack([few, shares[places]])
            start = stop
        self._require_rows(start)
        people = People(rows, chosen.keys, chosen.starts)
        return people.sample(self._shares(rows), self.n_features)

    def total(self, recipe: Recipe, progress: Progress) -> Total:
        """The sum over all rows; sorted by their keys first where their order matters."""
        return self.read(lambda: self._summed(recipe, progress))

    def _summed(self, recipe: Recipe, progress: Progress) -> Total:
        total, done, n = recipe.empty(), 0, self.n_samples
        sorted_ = self._keys is not None and recipe.ordered
        batches = self._in_secret_order(progress) if sorted_ else self._rows()
        before, count = (_SORTING, n) if sorted_ else (0.0, self._n_rows)
        for batch in regular(batches, self.rows_at_once()):
            parts = None if sorted_ else self._parts(batch, done)
            total = recipe.add(total, self._cells(batch), parts)
            done += len(batch)
            progress(int((before + (1 - before) * done / count) * n), n)
        return self._checked(total, self._n_rows, self._source.name)

    def _rows(self) -> Iterator[np.ndarray]:
        """All rows, each with its share of a weight where there is one."""
        for columns in self._columns_read(*self._weight_cells()):
            rows, shares = self._laid_out(columns), self._shares_of(columns)
            yield rows if shares is None else np.column_stack([rows, shares])

    def _weight_cells(self) -> list[str]:
        return [] if self._asked.weights is None else [self.weight(self._asked.weights)]

    def _shares_of(self, columns: Sequence[Any]) -> np.ndarray | None:
        """What rows count by their weights, which come after the features."""
        if not self.weighted:
            return None
        weights = [np.nan] if columns[-1] is None else columns[-1]  # refused where one is missing
        return self._asked.shares_of(weights, len(weights), self._source.name)

    @property
    def _width(self) -> int:
        return self.n_features + self.weighted

    def _cells(self, rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(rows[:, : self.n_features])

    def _shares(self, rows: np.ndarray) -> np.ndarray | None:
        return rows[:, self.n_features] if self.weighted else None

    def _parts(self, rows: np.ndarray, start: int) -> np.ndarray | None:
        """How much rows count that follow each other from a place on; None where each is whole."""
        shares = self._shares(rows)
        if self._visits is not None:
            if start + len(rows) > self._n_rows:
                raise base.changed(self._source.name)
            return self._visits.parts(start, start + len(rows), shares)
        return None if shares is None else whole_parts(1, shares)

    def _keyed(self, keys: Keys, progress: Progress = silent) -> Iterator[Keyed]:
        """All rows with their keys, which follow from their places."""
        yield np.empty((0, self._width)), np.empty(0, np.uint64)
        done = 0
        for rows in self._rows():
            yield rows, keys.of(np.arange(done, done + len(rows)))
            done += len(rows)
            progress(int(_SORTING * done), self.n_samples)

    def _one_each(self, visits: Visits, progress: Progress) -> Iterator[Keyed]:
        """One random row of every person, with the person's key."""
        chosen, done = visits.chosen(2**64 - 1, 1), 0
        yield np.empty((0, self._width)), np.empty(0, np.uint64)
        for rows in self._rows():
            places, positions = chosen.among(done, done + len(rows))
            yield rows[places], chosen.keys[positions]
            done += len(rows)
            progress(int(_SORTING * done / self._n_rows * self.n_samples), self.n_samples)
        self._require_rows(done)

    def _in_secret_order(self, progress: Progress) -> Iterator[np.ndarray]:
        """All rows, or one of each person, in the order of their keys."""
        assert self._folder is not None
        assert self._keys is not None
        rows, width = self.rows_at_once(), 8 * (self._width + 1)
        if 2 * width * min(rows, self.n_samples) > _memory_bytes():
            raise self._too_little_memory()
        at_once = max(rows, _memory_bytes() // _RUN // width)
        pieces = self._keyed(self._keys, progress)
        if self._visits is not None:
            pieces = self._one_each(self._visits, progress)
        return sorted_rows(pieces, self.n_samples, at_once, self._folder)

    def _require_rows(self, count: int) -> None:
        if count != self._n_rows:
            raise base.changed(self._source.name)

    def _count(self) -> int:
        [[n]] = self._connection.sql("SELECT count(*) FROM rows").fetchall()
        return int(n)

    def _found_visits(self) -> Visits:
        assert self._folder is not None
        assert self._keys is not None
        name, told = self._asked.persons, self._asked.description
        place, kind = self._beside(name)
        require_labels(name, kind)
        view = self._source.label_view()
        ids = self._connection.sql(f"SELECT {id_cell(f'c{place}', kind)} FROM {view}")
        missing = () if told is None else told.missing
        return found_visits(ids, self._folder, self._keys, missing)


def _memory() -> str:
    """Memory that DuckDB may use; the variable GDPPCA_MEMORY sets another size."""
    wish = os.environ.get(MEMORY_VARIABLE, "") or _MEMORY
    if not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", wish):
        raise ParameterError(f"{MEMORY_VARIABLE} must be a size such as 512MB or 2GB.")
    return wish


def _memory_bytes() -> int:
    size, unit, *_ = re.split("([KMGT])", _memory())
    return int(float(size) * _UNITS[unit])


@contextmanager
def _connected(folder: Path | None) -> Iterator[Any]:
    base.require_package("duckdb", "Reading files needs DuckDB: pip install duckdb.")
    import duckdb

    config = {
        "temp_directory": str(folder or ""),  # without one, no row is written anywhere
        "memory_limit": _memory(),
        "threads": usable_cores(),
        "enable_external_file_cache": False,
        "autoinstall_known_extensions": False,  # nothing is fetched from anywhere
    }
    with duckdb.connect(config=config) as connection:
        connection.execute("SET enable_progress_bar = false")  # progress is told by us
        yield connection
