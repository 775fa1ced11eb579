"""Cells as they stand, without noise: for `checking`, and so for the owner's eyes alone.

A table that is large is looked at by a random sample of its rows; who is who is counted in all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gdppca._errors import DataError
from gdppca.tables.cells import label_text
from gdppca.tables.described import NUMBERS
from gdppca.tables.description import Description
from gdppca.tables.duck import Reader
from gdppca.tables.files import can_read_whole, is_raw, strictly
from gdppca.tables.formats import declared_columns, declared_type, raw_columns
from gdppca.tables.headers import require_columns
from gdppca.tables.scratch import private_folder
from gdppca.tables.sources import Files, found_files
from gdppca.tables.sql import Query

_MOST_CELLS = 2**20  # that are looked at one by one
_FEWEST_ROWS = 2_000  # of a sample, however many columns there are
_NOBODY = ("", "nan", "NaT", "<NA>")  # what is no id, as for a fit

Choose = Callable[[list[str]], list[str]]


@dataclass(frozen=True)
class Tally:
    """How often the values of a column stand in it; not which they are."""

    distinct: int
    fewest: int  # rows of one value
    most: int
    without: int  # rows that have none


@dataclass(frozen=True)
class Cells:
    """A table's cells by the names of its columns, of all rows or of a random sample."""

    n_rows: int  # that the table has
    columns: dict[str, list[Any]]
    types: dict[str, str]  # what the file declares: "number", "yes-no", "date", "text" or ""
    tallies: dict[str, Tally]  # of the columns that may be ids, over all rows

    @property
    def n_seen(self) -> int:
        """How many rows were looked at."""
        return len(next(iter(self.columns.values()), ()))


def cells_of(source: Query | list[Path], description: Description | None, ids: Choose) -> Cells:
    """All columns of a source; `ids` chooses the columns whose values are counted."""
    if isinstance(source, Query):
        columns = source.columns(list)
        return _whole(columns, dict.fromkeys(columns, ""), ids, "The answer")
    if len(source) == 1 and is_raw(source[0]):
        [file] = source
        types = declared_columns(file, description)
        return _whole(raw_columns(file, list(types), description), types, ids, f"'{file}'")
    with _files(source, description) as files:
        return _by_duckdb(files, ids)


def _whole(columns: dict[str, list[Any]], types: dict[str, str], ids: Choose, where: str) -> Cells:
    n = len(next(iter(columns.values()), ()))
    if not n:
        raise DataError(f"{where} has no rows.")
    tallies = {name: tally(columns[name]) for name in ids(list(columns))}
    return Cells(n, columns, types, tallies)


def tally(cells: Sequence[Any]) -> Tally:
    """Count the labels of a column, each as a fit would take it for an id."""
    labels = Counter(label_text(cell) for cell in cells)
    without = sum(labels.pop(label, 0) for label in (None, *_NOBODY))
    rows = labels.values() or [0]
    return Tally(len(labels), min(rows), max(rows), without)


# --- What DuckDB reads ----------------------------------------------------------------------------


@contextmanager
def _files(paths: list[Path], description: Description | None) -> Iterator[Files]:
    """The files as a fit opens them."""
    [first, *others] = paths
    if not others and first.is_file() and can_read_whole(first):
        with strictly(first, description) as files:
            yield files
    else:
        yield found_files(paths if others else first, description)


def _by_duckdb(files: Files, ids: Choose) -> Cells:
    reader = Reader(files)
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder())
        connection = stack.enter_context(reader.connected(folder))
        names = list(files.types)
        require_columns(names, None, files.name)
        view = "rows" if files.kind == "arrow" else "spelt" if files.kind == "json" else "labels"
        if view == "labels":
            reader.plainly(files.open_labels)

        def asked(question: str) -> list[tuple[Any, ...]]:
            return reader.plainly(lambda: connection.sql(question).fetchall())

        [[n]] = asked(f"SELECT count(*) FROM {view}")
        if not n:
            raise DataError(f"{files.name} has no rows.")
        kinds = ["VARCHAR" if files.spelt else files.types[name] for name in names]
        shown = ", ".join(_cell(f"c{k}", kind) for k, kind in enumerate(kinds))
        most = max(_FEWEST_ROWS, _MOST_CELLS // len(names))
        sampled = f" USING SAMPLE reservoir({most} ROWS)" if n > most else ""
        rows = asked(f"SELECT {shown} FROM {view}{sampled}")
        columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        tallies = {
            name: _tally(asked, view, names.index(name)) if sampled else tally(columns[name])
            for name in ids(names)
        }
    types = {
        name: "" if files.spelt else declared_type(kind)
        for name, kind in zip(names, kinds, strict=True)
    }
    return Cells(int(n), columns, types, tallies)


def _cell(cell: str, kind: str) -> str:
    """A cell in a type that Python has; an instant by the clocks of UTC, a list as text."""
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"make_timestamp(epoch_us({cell}))"
    plain = re.fullmatch(rf"{NUMBERS}|DATE|TIMESTAMP", kind)
    return cell if plain else f"CAST({cell} AS VARCHAR)"


def _tally(asked: Callable[[str], list[tuple[Any, ...]]], view: str, place: int) -> Tally:
    """The same count over all rows, wherever they are."""
    text = f"CAST(c{place} AS VARCHAR)"
    nobody = f"{text} IS NULL OR {text} IN ({', '.join(repr(word) for word in _NOBODY)})"
    each = f"SELECT count(*) AS rows FROM {view} WHERE NOT ({nobody}) GROUP BY {text}"
    [[distinct, fewest, most]] = asked(f"SELECT count(*), min(rows), max(rows) FROM ({each})")
    [[without]] = asked(f"SELECT count(*) FROM {view} WHERE {nobody}")
    return Tally(distinct, fewest or 0, most or 0, without)
