"""What one cell of text means, whatever stands in the others.

A type that is guessed from a column lets one person's cell decide how others are read. So nothing
is guessed: a column of the analysis holds numbers, every other column holds text.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np

from gdppca._errors import DataError, MissingExtraError

# Arrow's own list: a file means the same through every reader.
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"),
)


def quick_number(cell: str) -> str:
    """DuckDB's number of a cell, which its readers make on the way; it knows no flags."""
    return f"CAST({cell} AS DOUBLE)"


def number(cell: str, cast: str = "CAST") -> str:
    """The number that a cell of text spells, in DuckDB's words: the rule for every reader.

    A decimal number, or 1 and 0 for true and false. The quick ways of arrow and of DuckDB give the
    same bits for whatever they take; what they do not take comes here. Few words only: DuckDB makes
    a join of a long list, which loses the order of the rows.
    """
    return (
        f"CASE WHEN trim({cell}) IN ('true', 'True', 'TRUE') THEN 1e0 "
        f"WHEN trim({cell}) IN ('false', 'False', 'FALSE') THEN 0e0 "
        f"ELSE {cast}({cell} AS DOUBLE) END"
    )


def spells_no_number(cell: str) -> str:
    """Whether a cell of text holds something else, in DuckDB's words."""
    return f"{cell} IS NOT NULL AND ({number(cell, 'TRY_CAST')}) IS NULL"


def numbers_spelt(cells: Any) -> Any:
    """A column of bytes as one of floats; as it came where a cell spells no number."""
    import pyarrow as pa
    from pyarrow import compute

    try:
        text = cells.cast(pa.string())
    except pa.ArrowInvalid:  # not UTF-8
        return cells
    there = compute.invert(compute.is_in(text, value_set=pa.array(MISSING)))
    text = compute.if_else(there, text, None)
    try:
        return compute.utf8_trim(text, " \t").cast(pa.float64())  # what its own reader takes
    except pa.ArrowInvalid:
        pass  # out of here, since its message quotes a cell
    found = _by_the_rule(text)
    return cells if found is None else found


def _by_the_rule(text: Any) -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError(
            "Reading flags from files needs DuckDB: pip install duckdb."
        ) from None
    import pyarrow as pa

    rule, misspelt = number("cell", "TRY_CAST"), spells_no_number("cell")
    # Nothing is fetched from anywhere, and no row is written anywhere.
    quiet = {"autoinstall_known_extensions": False, "temp_directory": ""}
    with duckdb.connect(config=quiet) as connection:
        given = connection.from_arrow(pa.table({"cell": text}))
        if given.query("given", f"SELECT 1 FROM given WHERE {misspelt} LIMIT 1").fetchall():
            return None
        found = given.query("given", f"SELECT {rule} AS number FROM given").to_arrow_reader()
        return found.read_all().column("number")


def label_texts(cells: Any, column: str) -> list[str | None]:
    """Labels as text, each by its own cell; None where there is none.

    Text stays as it stands. Numbers that are whole are written so, whatever the column's type.
    """
    import pyarrow as pa

    kind = cells.type
    if pa.types.is_dictionary(kind):
        cells, kind = cells.cast(kind.value_type), kind.value_type
    spoken = f"The column '{column}' holds {re.split('[<(]', str(kind))[0]}, which are no labels."
    if pa.types.is_nested(kind):
        raise DataError(f"{spoken} Use one that holds words, numbers or dates.")
    if not (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        # As bytes: a single cell that is not UTF-8 would stop the others.
        cells = _as_bytes(cells)
    return [label_text(cell) for cell in cells.to_pylist()]


def _as_bytes(cells: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_binary(cells.type) or pa.types.is_large_binary(cells.type):
        return cells
    if pa.types.is_large_string(cells.type):
        return cells.cast(pa.large_binary())
    if pa.types.is_string(cells.type) or pa.types.is_fixed_size_binary(cells.type):
        return cells.cast(pa.binary())
    return cells.cast(pa.string()).cast(pa.binary())


def label_text(label: Any) -> str | None:
    """One label as text, by its own value."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bytes):
        return label.decode("utf-8", "replace")
    if _is_whole(label):
        return str(int(label))
    return None if label is None else str(label)


def _is_whole(label: Any) -> bool:
    """Whether it is a whole number of a type that also holds others."""
    if isinstance(label, Decimal):
        return label.is_finite() and label == label.to_integral_value()
    return isinstance(label, float) and label.is_integer()
