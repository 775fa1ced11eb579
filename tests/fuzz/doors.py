"""Every door that hostile input can knock at, as functions of bytes or words.

A door either lets its input in or refuses it with a `GdppcaError` that says something and holds
no cell. Anything else is a finding and leaves here as another exception. The property tests and
the fuzzer share these functions.
"""

from __future__ import annotations

import atexit
import copy
import io
import json
import os
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
from python_calamine import CalamineWorkbook
from table_files import write_xlsx
from typer.testing import CliRunner

from gdppca import DPPCA, Description, GdppcaError, Release
from gdppca.cli.main import app
from gdppca.releases.files import checksum
from gdppca.tables.description import Column
from gdppca.tables.files import read_table
from gdppca.tables.formats import declared_columns
from gdppca.tables.frames import as_matrix

SECRET = "HIV+7F3A"  # in cells only, so a message that holds it quotes a cell
NUMBER = "31337.40625"  # likewise, a number

_MEMORY = Path("/dev/shm")
FOLDER = Path(tempfile.mkdtemp(prefix="gdppca-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


class Finding(AssertionError):
    """A door misbehaved."""


def said(error: BaseException) -> str:
    """All that an error can print: itself, its notes, its causes and what it hides."""
    parts = []
    seen: BaseException | None = error
    while seen is not None:
        parts += [*traceback.format_exception_only(seen), repr(seen.args)]
        seen = seen.__cause__ or seen.__context__
    return "\n".join(parts)


def _knock(door: Callable[[], Any], public: Callable[[], str]) -> bool:
    """Whether the door let the input in; `public` is what a message may quote."""
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            door()
    except GdppcaError as error:
        if not str(error).strip():
            raise Finding("a refusal without a message") from error
        _require_silence(said(error), public)
        return False
    finally:
        _require_silence(" ".join(str(each.message) for each in warned), public)
    return True


def _require_silence(text: str, public: Callable[[], str]) -> None:
    for secret in (SECRET, NUMBER):
        if secret in text and secret not in public():
            raise Finding("a cell is in a message")


def _file(name: str, content: bytes) -> Path:
    path = FOLDER / f"{os.getpid()}-{name}"
    path.write_bytes(content)
    return path


def _at_once(path: Path) -> None:
    as_matrix(read_table(path))


def in_parts(path: Path) -> None:
    """A fit that reads its rows in parts."""
    DPPCA(1, location=None).fit_stream(path)


def csv_door(content: bytes, read: Callable[[Path], None] = _at_once) -> bool:
    """A CSV file, up to the matrix of numbers that an estimator takes."""
    path = _file("table.csv", content)
    first_line = content.lstrip(b"\xef\xbb\xbf\r\n").splitlines()[:1]
    header = (first_line or [b""])[0].decode("utf-8", "replace")
    # A quoted name may go on over lines; then all of it is the header.
    names = content.decode("utf-8", "replace") if '"' in header else header
    return _knock(lambda: read(path), lambda: names)


def parquet_door(content: bytes, read: Callable[[Path], None] = _at_once) -> bool:
    """A Parquet file, up to the matrix."""
    path = _file("table.parquet", content)
    return _knock(lambda: read(path), lambda: _parquet_names(path))


def _parquet_names(path: Path) -> str:
    try:
        return " ".join(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError):
        return ""


AGE_AND_NOTE = Description(
    columns=(
        Column(name="age", missing=("-99",)),
        Column(name="note", type="category", levels=("a", "b")),
    )
)
_DIALECTS = [
    {},
    {"delimiter": ";", "decimal": ",", "thousands": "."},
    {"delimiter": "\t", "encoding": "utf-16"},
    {"delimiter": "|", "encoding": "latin-1", "skip": 1},
    {"encoding": "cp1252", "skip": 2},
    {"encoding": "utf-16-be"},
]


def dialect_door(content: bytes, read: Callable[..., Any] = read_table) -> bool:
    """A CSV file in a dialect that its first byte chooses, by a description."""
    dialect = _DIALECTS[content[0] % len(_DIALECTS)] if content else {}
    known = replace(AGE_AND_NOTE, **dialect)
    path = _file("dialect.csv", content[1:])
    text = content[1:].decode(known.encoding or "utf-8", "replace")
    lines = [line for line in text.lstrip("\ufeff").splitlines()[known.skip :] if line.strip()]
    header = (lines or [""])[0]
    names = text if '"' in header else header
    return _knock(lambda: read(path, None, known, gaps=True), lambda: names)


def workbook_door(content: bytes) -> bool:
    """A workbook, by a description."""
    path = _file("table.xlsx", content)
    return _knock(lambda: read_table(path, None, AGE_AND_NOTE, gaps=True), lambda: _top(path))


def _top(path: Path) -> str:
    """Names of sheets, and the first row of each that holds something."""
    found = []
    try:
        with CalamineWorkbook.from_path(str(path)) as book:
            for name in book.sheet_names:
                rows = book.get_sheet_by_name(name).to_python()
                found += [name, *map(str, rows[:1])]
    except Exception:  # damaged, so that nothing of it can be quoted
        pass
    return " ".join(found)


def statfile_door(content: bytes, ending: str = ".sav") -> bool:
    """A file of SPSS or Stata, by a description."""
    path = _file(f"table{ending}", content)
    return _knock(
        lambda: read_table(path, None, AGE_AND_NOTE, gaps=True), lambda: _declared_names(path)
    )


def _declared_names(path: Path) -> str:
    try:
        return " ".join(declared_columns(path))
    except GdppcaError:
        return ""


def release_door(content: bytes) -> bool:
    """A release file, up to everything that is done with a release that was let in."""
    path = _file("release.json", content)
    return _knock(lambda: _use(Release.load(path)), lambda: content.decode("utf-8", "replace"))


def description_door(content: bytes) -> bool:
    """A description, up to a copy of it and the names of its features."""
    path = _file("table.toml", content)

    def use() -> None:
        description = Description.load(path)
        description.save(path)
        again = Description.from_dict(json.loads(json.dumps(description.to_dict())))
        if not Description.load(path) == again == description or not again.features:
            raise Finding("a description changed its meaning")

    return _knock(use, lambda: content.decode("utf-8", "replace"))


def sealed_release_door(content: bytes) -> bool:
    """The same with the right checksum put in: a forger can compute it too."""
    try:
        plain = json.loads(content)
        if isinstance(plain, dict):
            plain["checksum"] = checksum(plain)
            content = json.dumps(plain).encode()
    except (ValueError, TypeError, RecursionError):
        pass
    return release_door(content)


HOSTILE_JSON: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 10**17, -(10**17), 0.0, -0.0, 0.5, 1e308, -1e308, 5e-324, 1e-9,
    "", "inf", "nan", "spherical", "\ud800", "<script>", "x" * 300, [], {}, [[]], [0], {"a": 1},
)  # fmt: skip


def mutated_json(plain: Any, choose: Callable[[int], int]) -> Any:
    """Change one place of a plain tree; `choose(k)` picks a number below k.

    Goes down at random; where it stops, a hostile value, a missing, a doubled or a swapped member.
    """
    members = list(
        plain if isinstance(plain, dict) else range(len(plain)) if _is_list(plain) else ()
    )
    if not members or choose(8) == 0:
        return copy.deepcopy(HOSTILE_JSON[choose(len(HOSTILE_JSON))])
    place = members[choose(len(members))]
    changed = copy.copy(plain)
    match choose(12):
        case 0:
            del changed[place]
        case 1 if _is_list(plain):
            changed.insert(place, plain[place])
        case 2:
            changed[place] = plain[members[choose(len(members))]]
        case 3 if isinstance(plain, dict):
            changed["extra"] = plain[place]
        case _:
            changed[place] = mutated_json(plain[place], choose)
    return changed


def _is_list(plain: Any) -> bool:
    return isinstance(plain, list)


def _use(release: Release) -> None:
    again = Release.from_dict(json.loads(json.dumps(release.to_dict())))
    repr(again), again._repr_html_()
    if release.method == "DPPCA":
        DPPCA.from_release(release).transform(np.zeros((1, release.n_features)))


def command_door(words: Sequence[str]) -> int:
    """A command line; exit codes as they are documented, no traceback, no cell."""
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise Finding("a traceback on the command line") from result.exception
    if result.exit_code not in (0, 1, 2, 3, 4, 5):
        raise Finding(f"exit code {result.exit_code}")
    _require_silence(result.output, lambda: " ".join(words))
    return result.exit_code


def example_csv() -> bytes:
    """A good CSV file with a secret cell in a column of text."""
    rows = [f"{k % 7}.5,{NUMBER},{SECRET}" for k in range(6)]
    return ("age,pulse,note\n" + "\n".join(rows) + "\n").encode()


def example_parquet(compression: str = "none") -> bytes:
    """A good Parquet file with a secret cell in a column of text."""
    table = pa.table(
        {"age": [1.5, 2.5, None], "pulse": [float(NUMBER)] * 3, "note": [SECRET, "b", None]}
    )
    stream = io.BytesIO()
    pq.write_table(table, stream, compression=compression)
    return stream.getvalue()


def example_dialects() -> list[bytes]:
    """Good files in every dialect, each after the byte that chooses it."""
    found = []
    for k, dialect in enumerate(_DIALECTS):
        known = replace(AGE_AND_NOTE, **dialect)
        rows = [["age", "note"], ["1", "a"], [NUMBER, SECRET]]
        sign = known.delimiter or ","
        text = "title\n" * known.skip + "".join(f"{sign.join(row)}\n" for row in rows)
        found.append(bytes([k]) + text.encode(known.encoding or "utf-8"))
    return found


def example_workbook() -> bytes:
    """A good workbook with a secret cell."""
    rows = [["age", "note"], [1.5, "a"], [float(NUMBER), SECRET]]
    return write_xlsx(FOLDER / "example.xlsx", {"Visits": rows}).read_bytes()


def example_statfile(ending: str = ".sav") -> bytes:
    """A good file of SPSS or Stata with a secret cell."""
    write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}[ending]
    frame = pd.DataFrame({"age": [1.5, float(NUMBER)], "note": ["a", SECRET]})
    write(frame, FOLDER / f"example{ending}")
    return (FOLDER / f"example{ending}").read_bytes()


def example_description() -> bytes:
    """A good description with a column of every type."""
    return b"""[table]
person = "p"
weight = "w"
largest_weight = 4.0
missing = ["", -99]
delimiter = ";"
decimal = ","
encoding = "latin-1"
skip = 1
[columns.age]
typical = 50
spread = 20.5
unit = "years"
[columns."the ward"]
type = "category"
levels = ["a", 'b', 3]
[columns.ill]
type = "yes-no"
levels = ["nein", "ja"]
[columns.day]
type = "date"
origin = 2020-01-01
format = "%d.%m.%Y"
missing = ["never"]
"""


def example_numbers() -> bytes:
    """A good Parquet file of numbers alone."""
    stream = io.BytesIO()
    pq.write_table(pa.table({"age": [1.5, 2.5], "k": [1, 2], "b": [True, False]}), stream)
    return stream.getvalue()


def example_release(**more: float) -> bytes:
    """A good release, by default without variances and map."""
    X = np.random.default_rng(0).normal(size=(60, 3)) * [9, 3, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = DPPCA(2, epsilon=1.0, delta=1e-4).fit_release(X, **more)
    return json.dumps(release.to_dict()).encode()
