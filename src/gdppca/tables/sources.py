"""What DuckDB reads: files by name, folder or pattern, arrow data, relations."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from gdppca._errors import DataError
from gdppca.tables.cells import MISSING, spells_no_number
from gdppca.tables.files import require_columns, require_header

_KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
_PACKED = (".gz", ".zst")
# Nothing of this is guessed: the first rows must not decide how others are read, or whether.
_DIALECT = {"quotechar": '"', "escapechar": '"', "comment": "", "skiprows": 0}
_SPELT = ("csv", "json")  # kinds whose cells are text


class Source(Protocol):
    """Something that DuckDB can look at as a table called `rows`."""

    name: str  # for messages
    spelt: bool  # whether cells are text that spells numbers

    def open(self, connection: Any, folder: Path) -> None:
        """Make the view `rows`; what must be written on the way goes to the folder.

        Where cells are text, the view `spelt` shows them as they stand.
        """

    def types(self) -> dict[str, str]:
        """DuckDB's type of every column."""

    def selected(self, columns: list[str] | None) -> tuple[str, ...]:
        """The columns that are asked for, or all."""

    def require_unchanged(self) -> None:
        """Refuse what was changed since it was opened."""

    def explained(self, columns: tuple[str, ...]) -> DataError:
        """What to say when these cannot be read; never what the reader said."""


class _Viewed:
    """What all sources share: a view, its columns."""

    name = "The table"
    spelt = False

    def _view(self, relation: Any) -> None:
        self._types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        relation.create_view("rows")

    def types(self) -> dict[str, str]:
        return self._types

    def selected(self, columns: list[str] | None) -> tuple[str, ...]:
        return require_columns(list(self._types), columns, self.name)

    def require_unchanged(self) -> None:
        """Data in memory stays as it is."""

    def explained(self, columns: tuple[str, ...]) -> DataError:
        return DataError(f"{self.name} cannot be read. Nothing was released.")


class ArrowData(_Viewed):
    """An arrow table or data set, which can be read again and again."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def open(self, connection: Any, folder: Path) -> None:
        """Look at the data where it is."""
        self._view(connection.from_arrow(self._data))


class Spooled(_Viewed):
    """A stream of arrow batches that can be read once, or a question to a DuckDB elsewhere.

    Kept in the private folder.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def open(self, connection: Any, folder: Path) -> None:
        """Read it to its end; the first look at a question, whose answer may quote a cell."""
        stream = self._stream
        reader = stream.to_arrow_reader() if hasattr(stream, "to_arrow_reader") else stream
        connection.execute(f"ATTACH {_text(folder / 'spooled.duckdb')} AS spooled")
        connection.from_arrow(reader).create("spooled.batches")
        self._view(connection.sql("FROM spooled.batches"))


def _text(path: Path) -> str:
    """A path as text inside a statement."""
    return "'" + str(path).replace("'", "''") + "'"


class Files(_Viewed):
    """CSV, Parquet, arrow or JSON files with the same columns."""

    def __init__(self, paths: list[Path], name: str) -> None:
        self._paths = paths
        self._stamps = {path: _stamp(path) for path in paths}
        self._reading: Path | None = None
        self.name = name
        kinds = {kind_of(path) for path in paths}
        if len(kinds) > 1:
            raise DataError(f"{name} holds files of several kinds: {', '.join(sorted(kinds))}.")
        [self._kind] = kinds
        self.spelt = self._kind in _SPELT

    def open(self, connection: Any, folder: Path) -> None:
        """Compare the columns of the files, and look at them as one table."""
        self._connection = connection
        columns = {path: self._columns_of(path) for path in self._paths}
        if self._kind == "csv":
            for path, names in columns.items():
                require_header(path, list(names))
        for path, names in columns.items():
            self._require_same_names(columns[self._paths[0]], path, names)
        _require_common_types(columns)
        self._reading = None
        every = list(columns[self._paths[0]])
        self._view(self._relation(self._paths, every, "DOUBLE"))
        if self.spelt:
            self._relation(self._paths, every).create_view("spelt")

    def _columns_of(self, path: Path) -> dict[str, str]:
        self._reading = path
        if path.stat().st_size == 0:
            raise self.explained(())
        relation = self._relation([path])
        types = ["text"] * len(relation.columns) if self.spelt else map(str, relation.types)
        return dict(zip(relation.columns, types, strict=True))

    def _require_same_names(
        self, first: dict[str, str], path: Path, others: dict[str, str]
    ) -> None:
        lacking = [name for name in first if name not in others]
        added = [name for name in others if name not in first]
        if lacking or added:
            [name, *_] = lacking or added
            with_it, without = (self._paths[0], path) if lacking else (path, self._paths[0])
            raise DataError(f"'{with_it}' has a column '{name}' that '{without}' has not.")

    def _relation(
        self, paths: list[Path], columns: list[str] | None = None, json_type: str = "VARCHAR"
    ) -> Any:
        if self._kind == "arrow":
            from pyarrow import dataset

            every = [str(path) for path in paths]
            return self._connection.from_arrow(dataset.dataset(every, format="arrow"))
        names = [glob.escape(str(path)) for path in paths]  # DuckDB would take them as patterns
        if self._kind == "parquet":
            return self._connection.read_parquet(names, union_by_name=len(names) > 1)
        if self._kind == "json":
            types = None if columns is None else dict.fromkeys(columns, json_type)
            # Many columns of one type would be one map, until a cell is of another type.
            return self._connection.read_json(names, columns=types, map_inference_threshold=-1)
        tabbed = any(".tsv" in path.suffixes for path in paths)
        return self._connection.read_csv(
            names,
            header=True,
            sep="\t" if tabbed else ",",
            **_DIALECT,
            all_varchar=True,
            na_values=list(MISSING),
            union_by_name=len(names) > 1,
        )

    def require_unchanged(self) -> None:
        """Refuse files that were written to, replaced or removed meanwhile."""
        for path, stamp in self._stamps.items():
            if _stamp(path) != stamp:
                raise DataError(f"'{path}' changed while it was read. Nothing was released.")

    def explained(self, columns: tuple[str, ...]) -> DataError:
        """Which column of which file holds something else than numbers, where that is it."""
        found = self._not_numbers(columns) if self.spelt and self._reading is None else None
        if found is not None:
            path, name = found
            return DataError(
                f"Column '{name}' of '{path}': not numbers in every row. Use other columns, or "
                "code this one as numbers yourself."
            )
        where = f"'{self._reading}'" if self._reading else self.name
        return DataError(
            f"{where} cannot be read as {self._kind}: it is damaged, empty or has rows of "
            "different lengths."
        )

    def _not_numbers(self, columns: tuple[str, ...]) -> tuple[Path, str] | None:
        for path in self._paths:
            for name in columns:
                try:
                    rows = self._relation([path], list(self._types))
                    if rows.filter(spells_no_number(quoted(name))).limit(1).fetchall():
                        return path, name
                except Exception:  # whatever it is, it may quote a cell
                    return None
        return None


def _require_common_types(columns: dict[Path, dict[str, str]]) -> None:
    """A column has one type in every file."""
    known: dict[str, tuple[str, Path]] = {}
    for path, types in columns.items():
        for name, kind in types.items():
            before, where = known.setdefault(name, (kind, path))
            if kind != before:
                raise DataError(
                    f"Column '{name}' is {before} in '{where}' and {kind} in '{path}'. Save the "
                    "files with the same types."
                )


def kind_of(path: Path) -> str:
    """What a file's name says of its format."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    kind = _KINDS.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise DataError(f"'{path}' must end in {', '.join(_KINDS)}.")
    return kind


def found_files(source: str | os.PathLike[str] | Sequence[Any]) -> Files:
    """The files behind a name, a folder, a pattern or a list of them."""
    if not isinstance(source, str | os.PathLike):
        paths = [path for each in source for path in files_behind(Path(each)) or [Path(each)]]
        name = "The list of files"
    else:
        paths, name = files_behind(Path(source)), f"'{source}'"
    if not paths and isinstance(source, str | os.PathLike) and not Path(source).is_dir():
        raise DataError(f"There is no file {name}.")
    if not paths:
        raise DataError(f"There is no file in {name} that ends in {', '.join(_KINDS)}.")
    for path in paths:
        if not path.is_file():
            raise DataError(f"There is no file '{path}'.")
    _refuse_twice(paths)
    return Files(paths, name)


def _refuse_twice(paths: list[Path]) -> None:
    """Rows that are read twice weigh twice, and noise for one row would not hide them."""
    seen: dict[tuple[int, int], Path] = {}
    for path in paths:
        found = path.stat()
        before = seen.setdefault((found.st_dev, found.st_ino), path)
        if before is not path:
            which = f"'{path}'" if str(before) == str(path) else f"'{before}' and '{path}'"
            raise DataError(f"{which}: the same file twice. Give it once.")


def files_behind(path: Path) -> list[Path]:
    """The files that a name, a folder or a pattern stands for; maybe none."""
    if path.is_dir():
        return sorted(each for each in path.rglob("*") if each.is_file() and _is_data(each))
    if path.exists():
        return [path]
    return sorted(Path(each) for each in glob.glob(str(path), recursive=True))


def _is_data(path: Path) -> bool:
    """Whether a folder means this file; names with a dot or underscore are notes of programs."""
    try:
        return path.name[0] not in "._" and bool(kind_of(path))
    except DataError:
        return False


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written to or replaced; None where it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def quoted(name: str) -> str:
    """A column's name inside a query."""
    return '"' + name.replace('"', '""') + '"'
