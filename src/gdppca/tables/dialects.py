"""How a text file is written: its separators, its letters, the lines before its header.

DuckDB reads UTF-8 with a header in the first line. What is written in another way is written anew
into the private folder first, so that all checks and all readers see one and the same file.
"""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gdppca._errors import DataError, ParameterError
from gdppca.tables.base import without_its_words
from gdppca.tables.description import Description

LONGEST_LINE = 2**24  # bytes
_BLOCK = 2**22
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_LETTERS = ("utf-8", "utf-8-sig", "ascii")  # what DuckDB takes as it is


@dataclass(frozen=True)
class Dialect:
    """What is declared of text files."""

    delimiter: str = ","
    encoding: str = "utf-8"
    skip: int = 0

    @property
    def plain(self) -> bool:
        """Whether DuckDB can take the file as it is."""
        return self.encoding in _LETTERS and not self.skip

    @property
    def marks(self) -> bytes:
        """What ends a cell, or a row."""
        return self.delimiter.encode() + b"\r\n"


def dialect_of(description: Description | None, paths: Sequence[Path]) -> Dialect:
    """The dialect that is declared, or the usual one by the files' names."""
    usual = "\t" if any(".tsv" in _endings(path) for path in paths) else ","
    if description is None:
        return Dialect(usual)
    delimiter = description.delimiter or usual
    if len(delimiter.encode()) != 1 or delimiter in '"\r\n\0':
        raise ParameterError("`delimiter` must be one sign, such as ';' or a tab.")
    return Dialect(delimiter, known_encoding(description.encoding), description.skip)


def _endings(path: Path) -> list[str]:
    return [ending.lower() for ending in path.suffixes]


def known_encoding(name: str | None) -> str:
    """Python's name of an encoding of text."""
    try:
        found = codecs.lookup(name or "utf-8")
        "".encode(found.name)  # some are none of text
        return found.name
    except (LookupError, TypeError, ValueError):
        pass
    raise ParameterError(
        "`encoding` is not known. Give one such as utf-8, utf-16, latin-1 or cp1252 (--encoding, "
        "or encoding in the description)."
    )


def plain_copy(path: Path, dialect: Dialect, folder: Path) -> Path:
    """The same table in UTF-8, without a mark, title lines or packing, in a private folder.

    Letters that are none become the sign for that: one cell stops no other.
    """
    copy = folder / f"plain-{len(list(folder.glob('plain-*')))}.csv"
    require_letters(path, dialect)

    def written() -> None:
        with opened(path) as file, copy.open("w", encoding="utf-8", newline="") as out:
            text = io.TextIOWrapper(
                file, encoding=_with_mark(dialect.encoding), errors="replace", newline=""
            )
            for _ in range(dialect.skip):
                text.readline(LONGEST_LINE)
            while block := text.read(_BLOCK):
                out.write(block)

    without_its_words(written, lambda error: _not_copied(path, error))
    if not copy.stat().st_size:
        raise DataError(
            f"'{path}' has nothing after {dialect.skip} lines. Give fewer (--skip, or skip in "
            "the description)."
        )
    return copy


def _not_copied(path: Path, error: Exception) -> DataError:
    if isinstance(error, OSError) and error.errno == 28:
        return DataError(
            f"No room to write '{path}' anew in UTF-8. Set TMPDIR to a folder with room."
        )
    return DataError(f"'{path}' cannot be read: it is damaged.")


def opened(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _with_mark(encoding: str) -> str:
    """The encoding that takes a mark at the start for what it is."""
    return "utf-8-sig" if encoding == "utf-8" else encoding


def require_letters(path: Path, dialect: Dialect) -> None:
    """Refuse a file whose first bytes say that it is something else than declared."""
    start = without_its_words(lambda: _start(path), lambda error: _not_copied(path, error))
    _require_text(path, start)
    marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    wide = dialect.encoding.startswith(("utf-16", "utf-32"))
    if marked and not wide:
        raise DataError(
            f"'{path}' is written in UTF-16, as its first bytes say: give --encoding utf-16, or "
            'encoding = "utf-16" in the description.'
        )
    if wide and b"\0" not in start.partition(b"\n")[0] + b"\n":
        raise DataError(
            f"'{path}' is not written in {dialect.encoding}. Give another encoding (--encoding, or "
            "encoding in the description), such as utf-8 or latin-1."
        )


def _start(path: Path) -> bytes:
    with opened(path) as file:
        return file.read(4096)


def _require_text(path: Path, start: bytes) -> None:
    """Refuse what is called a text file and is none, by how its format begins."""
    kinds = {
        b"PK\x03\x04": "a zip archive or a workbook: unpack it, or give it the ending .xlsx",
        b"\x1f\x8b": "packed by gzip: give it the ending .csv.gz",
        b"\xd0\xcf\x11\xe0": "a workbook of Excel: give it the ending .xls",
        b"PAR1": "a Parquet file: give it the ending .parquet",
        b"%PDF": "a PDF: save the table itself as CSV",
        b"$FL2": "a file of SPSS: give it the ending .sav",
        b"<stata_dta>": "a file of Stata: give it the ending .dta",
    }
    for mark, what in kinds.items():
        if start.startswith(mark):
            raise DataError(f"'{path}' is {what}.")
    if (
        start.lstrip(b"\xef\xbb\xbf \t\r\n")[:9]
        .lower()
        .startswith((b"<!doctype", b"<html", b"<?xml"))
    ):
        raise DataError(f"'{path}' is a web page or XML, not a table as CSV. Save it as CSV.")
