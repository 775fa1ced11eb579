"""What DuckDB reads: files by name, folder or pattern, arrow data, relations."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gdppca._errors import DataError
from gdppca.tables import statfiles, workbooks
from gdppca.tables.base import changed, require_package
from gdppca.tables.cells import MISSING, spells_no_number
from gdppca.tables.described import literal
from gdppca.tables.description import Description
from gdppca.tables.dialects import LONGEST_LINE, Dialect, dialect_of, plain_copy, require_letters
from gdppca.tables.headers import csv_header, parquet_names, require_columns, require_header
from gdppca.tables.pieces import pieces_of_files

_ENDINGS = {
    "csv": (".csv", ".tsv", ".txt"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather"),
    "json": (".json", ".jsonl", ".ndjson"),
}
_KINDS = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings}
_NOTES = (".txt",)  # what lies in folders beside tables
_DATABASES = (".db", ".sqlite", ".sqlite3")
_PACKED = (".gz", ".zst")
# Nothing of this is guessed: the first rows must not decide how others are read, or whether.
_DIALECT = (
    "quote = '\"', escape = '\"', comment = '', all_varchar = true, "
    f"max_line_size = {LONGEST_LINE}, buffer_size = {2 * LONGEST_LINE}"
)
_NOTHING = ("\0 no cell \0",)  # what stands for a missing label
_SPELT = ("csv", "json")  # kinds whose cells are text


class Source:
    """Something that DuckDB can look at as a table called `rows`, with columns c0, c1, …"""

    name = "The table"  # for messages
    spelt = False  # whether cells are text that spells numbers
    types: dict[str, str]  # DuckDB's type of every column, by its own name

    def open(self, connection: Any, folder: Path | None) -> None:
        """Make the view `rows`; what must be written on the way goes to the folder.

        Where cells are text, the view `spelt` shows them as they stand.
        """
        raise NotImplementedError

    def _view(
        self, connection: Any, relation: Any, view: str = "rows", names: list[str] | None = None
    ) -> None:
        """Look at something as a table whose columns are called by their places.

        A column of the table may be called anything, and DuckDB renames some.
        """
        if view == "rows":
            kinds = map(str, relation.types)
            self.types = dict(zip(names or relation.columns, kinds, strict=True))
        places = ", ".join(f"c{k}" for k in range(len(relation.columns)))
        relation.create_view(f"{view}_as_named")
        connection.execute(
            f"CREATE OR REPLACE VIEW {view} AS FROM {view}_as_named AS given({places})"
        )

    def label_view(self) -> str:
        """The view that shows labels, each as its cell stands."""
        return "spelt" if self.spelt else "rows"

    def require_unchanged(self) -> None:
        """Refuse what was changed since it was opened; data in memory stays as it is."""

    def pieces(self) -> Iterator[bytes] | None:
        """Some of its bytes, by which it is known again; None where it is no file."""
        return None

    def explained(self, places: Sequence[int]) -> DataError:
        """What to say when these columns cannot be read; never what the reader said."""
        return DataError(f"{self.name} cannot be read. Nothing was released.")


class ArrowData(Source):
    """An arrow table or data set, which can be read again and again."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def open(self, connection: Any, folder: Path | None) -> None:
        """Look at the data where it is."""
        self._view(connection, connection.from_arrow(self._data))


class Spooled(ArrowData):
    """A stream of arrow batches that can be read once, or a question to a DuckDB elsewhere.

    Kept in the private folder.
    """

    def open(self, connection: Any, folder: Path | None) -> None:
        """Read it to its end; the first look at a question, whose answer may quote a cell."""
        assert folder is not None
        _require_arrow("Reading a relation of DuckDB")
        ask = getattr(self._data, "to_arrow_reader", lambda: self._data)
        connection.execute(f"ATTACH {literal(folder / 'spooled.duckdb')} AS spooled")
        connection.from_arrow(ask()).create("spooled.batches")
        self._view(connection, connection.sql("FROM spooled.batches"))


def _listed(paths: list[Path]) -> str:
    """Files inside a statement; DuckDB would take some names as patterns."""
    return f"[{', '.join(literal(glob.escape(str(path))) for path in paths)}]"


class Files(Source):
    """CSV, Parquet, arrow or JSON files with the same columns."""

    def __init__(
        self, paths: list[Path], name: str, description: Description | None = None
    ) -> None:
        self._paths = paths
        self._stamps = {path: _stamp(path) for path in paths}
        self._copies: dict[Path, Path] = {}  # of files that are written in another way
        self._reading: Path | None = None
        self._every: list[str] | None = None  # columns as DuckDB calls them
        self._lines = 0  # before the first row, where that is known
        # A description has its own codes of missing cells, and a level may be called NA.
        self._missing = MISSING if description is None else _NOTHING
        self.strict = True
        self.dialect = dialect_of(description, paths)
        self.name = name
        for path in paths:
            if _ending(path) not in _KINDS:
                raise DataError(_unknown(path))
        kinds = {_KINDS[ending] for ending in map(_ending, paths)}
        if len(kinds) > 1:
            raise DataError(f"{name} holds files of several kinds: {', '.join(sorted(kinds))}.")
        [self.kind] = kinds
        self.spelt = self.kind in _SPELT

    def open(self, connection: Any, folder: Path | None) -> None:
        """Compare the columns of the files, and look at them as one table."""
        self._connection = connection
        if self.kind == "csv" and not self.dialect.plain and not self._copies:
            assert folder is not None
            self.copy_plainly(folder)
        columns = {path: self._columns_of(path) for path in self._paths}
        _require_alike(columns)
        self._reading = None
        self._every = list(columns[self._paths[0]])
        names = self._names if len(self._paths) == 1 else None
        self._view(connection, self._relation(self._paths, "DOUBLE"), names=names)
        if self.spelt:
            self._view(connection, self._relation(self._paths), "spelt")

    def copy_plainly(self, folder: Path) -> None:
        """Read plain copies from now on, which the folder holds."""
        self._copies = {path: plain_copy(path, self.dialect, folder) for path in self._paths}

    def read_from(self, path: Path) -> Path:
        """The file itself, or its plain copy."""
        return self._copies.get(path, path)

    def label_view(self) -> str:
        """A view of its own where a reader would change or refuse some labels."""
        if self.kind not in ("csv", "parquet"):
            return super().label_view()
        self.open_labels()
        return "labels"

    def open_labels(self) -> None:
        """Make the view `labels`: cells as they stand, where one that is no text stops no other."""
        if self.kind == "parquet":
            wish = f"utf8_validation = 'replace', union_by_name = {len(self._paths) > 1}"
            labels = self._connection.sql(f"FROM read_parquet({_listed(self._paths)}, {wish})")
        else:
            labels = self._csv(self._paths, _NOTHING)
        self._view(self._connection, labels, "labels")

    def _columns_of(self, path: Path) -> dict[str, str]:
        """Columns as DuckDB calls them; it gives every one a name of its own."""
        self._reading, self._every = path, None
        if path.stat().st_size == 0:
            raise self.explained(())
        self._names = self._own_names(path)
        relation = self._relation([path])
        self._names = self._names or list(relation.columns)
        if self.kind == "csv":
            require_header(path, self._names, self.dialect.delimiter)
        if len(self._names) != len(relation.columns):
            raise self.explained(())
        require_columns(self._names, None, f"'{path}'")
        types = ["text"] * len(self._names) if self.spelt else map(str, relation.types)
        return dict(zip(relation.columns, types, strict=True))

    def _own_names(self, path: Path) -> list[str]:
        """Names as they stand in the file, where they can be looked up."""
        file = self.read_from(path)
        if self.kind == "csv" and file.suffix.lower() not in _PACKED:
            require_letters(file, self.dialect if file is path else Dialect())
            self._lines, names = csv_header(file, self.dialect.delimiter, path)
            if not names:
                raise self.explained(())
            return names
        if self.kind == "parquet":
            nodes = f"SELECT name, num_children FROM parquet_schema({_listed([path])})"
            return parquet_names(self._connection.sql(nodes).fetchall())
        return []

    def _relation(self, paths: list[Path], json_type: str = "VARCHAR") -> Any:
        if self.kind == "arrow":
            return self._connection.from_arrow(_arrow_data_set(paths))
        if self.kind == "csv":
            return self._csv(paths)
        names = [glob.escape(str(path)) for path in paths]
        if self.kind == "parquet":
            return self._connection.read_parquet(names, union_by_name=len(names) > 1)
        types = None if self._every is None else dict.fromkeys(self._every, json_type)
        # Many columns of one type would be one map, until a cell is of another type.
        return self._connection.read_json(names, columns=types, map_inference_threshold=-1)

    def _csv(self, paths: list[Path], missing: tuple[str, ...] = ()) -> Any:
        if not self._lines or len(self._paths) > 1:
            columns = f"header = true, skip = 0, union_by_name = {len(paths) > 1}"
        else:
            types = ", ".join(f"c{k}: 'VARCHAR'" for k in range(len(self._names)))
            columns = f"header = false, skip = {self._lines}, columns = {{{types}}}"
            columns += ", auto_detect = false"
        return self._connection.sql(
            f"FROM read_csv({_listed(list(map(self.read_from, paths)))}, {_DIALECT}, {columns}, "
            f"sep = {literal(self.dialect.delimiter)}, strict_mode = {self.strict}, "
            f"nullstr = [{', '.join(map(literal, missing or self._missing))}])"
        )

    def require_unchanged(self) -> None:
        """Refuse files that were written to, replaced or removed meanwhile."""
        for path, stamp in self._stamps.items():
            if _stamp(path) != stamp:
                raise changed(f"'{path}'")

    def pieces(self) -> Iterator[bytes] | None:
        """Some bytes of the files."""
        return pieces_of_files(self._paths)

    def explained(self, places: Sequence[int]) -> DataError:
        """Which column of which file holds something else than numbers, where that is it."""
        found = self._not_numbers(places) if self.spelt and self._reading is None else None
        if found is not None:
            path, name = found
            return DataError(
                f"Column '{name}' of '{path}': not numbers in every row. Use other columns, "
                "say in a description what its cells mean (`gdppca describe`), or take what is no "
                "number as missing: missing='rates' (--missing rates)."
            )
        alone = self.kind == "csv" and len(getattr(self, "_names", ())) == 1
        return unreadable(f"'{self._reading}'" if self._reading else self.name, self.kind, alone)

    def _not_numbers(self, places: Sequence[int]) -> tuple[Path, str] | None:
        names = list(self.types)
        for path in self._paths:
            for place in places:
                try:
                    rows = self._relation([path])
                    cell = quoted((self._every or [])[place])
                    if rows.filter(spells_no_number(cell)).limit(1).fetchall():
                        return path, names[place]
                except Exception:  # whatever it is, it may quote a cell
                    return None
        return None


def _unknown(path: Path) -> str:
    """What to do with a file whose ending says nothing, or something else."""
    if _ending(path) in _DATABASES:
        return (
            f"'{path}' must be asked as a database: give sqlite:///{path} in place of the file, "
            "with --query 'SELECT … FROM …'."
        )
    if _ending(path) in (*workbooks.ENDINGS, *statfiles.ENDINGS):
        return f"'{path}' must be read alone: workbooks and files of statistics go one by one."
    every = (*_KINDS, *workbooks.ENDINGS, *statfiles.ENDINGS)
    return f"'{path}' must end in {', '.join(every)}."


def unreadable(where: str, kind: str, alone: bool = False) -> DataError:
    """What to say of a file that is not what its name says; `alone` is a header of one name."""
    titles = (
        f"{'Its header has one name: if' if alone else 'If'} lines of titles stand before the "
        "header, give --skip, or skip in the description, with how many."
    )
    letters = (
        "If its letters are not UTF-8, give --encoding, or encoding in the description, such as "
        "latin-1."
    )
    return DataError(
        f"{where} cannot be read as {kind}: it is damaged, empty or has rows of different lengths."
        f"{f' {titles} {letters}' if kind == 'csv' else ''}"
    )


def _require_arrow(what: str) -> None:
    require_package("pyarrow", f"{what} needs pyarrow: pip install 'gdppca[arrow]'.")


def _arrow_data_set(paths: list[Path]) -> Any:
    _require_arrow("Reading arrow files")
    from pyarrow import dataset

    return dataset.dataset([str(path) for path in paths], format="arrow")


def _require_alike(columns: dict[Path, dict[str, str]]) -> None:
    """All files have the same columns, of the same types."""
    (first, known), *others = columns.items()
    for path, types in others:
        for name in [*known, *types]:
            if name not in known or name not in types:
                with_it, without = (first, path) if name in known else (path, first)
                raise DataError(f"'{with_it}' has a column '{name}' that '{without}' has not.")
    for path, types in others:
        for name, kind in types.items():
            if kind != known[name]:
                raise DataError(
                    f"Column '{name}' is {known[name]} in '{first}' and {kind} in '{path}'. Save "
                    "the files with the same types."
                )


def _ending(path: Path) -> str:
    """What a file's name says of its format."""
    packed = path.suffix.lower() in _PACKED
    return (Path(path.stem) if packed else path).suffix.lower()


def found_files(
    source: str | os.PathLike[str] | Sequence[Any], description: Description | None = None
) -> Files:
    """The files behind a name, a folder, a pattern or a list of them."""
    if isinstance(source, str | os.PathLike):
        paths, name = files_behind(Path(source)), f"'{source}'"
        if not paths and not Path(source).is_dir():
            raise DataError(f"There is no file {name}.")
    else:
        paths = [path for each in source for path in files_behind(Path(each)) or [Path(each)]]
        name = "The list of files"
    if not paths:
        raise DataError(f"There is no file in {name} that ends in {', '.join(_KINDS)}.")
    for path in paths:
        if not path.is_file():
            raise DataError(f"There is no file '{path}'.")
    _refuse_twice(paths)
    return Files(paths, name, description)


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
        return sorted(filter(_is_data, path.rglob("*")))
    if path.exists():
        return [path]
    return sorted(Path(each) for each in glob.glob(str(path), recursive=True))


def _is_data(path: Path) -> bool:
    """Whether a folder means this file; names with a dot or underscore are notes of programs."""
    ending = _ending(path)
    table = ending in _KINDS and ending not in _NOTES
    return path.is_file() and path.name[0] not in "._" and table


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
