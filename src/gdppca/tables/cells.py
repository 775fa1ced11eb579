"""What one cell of text means, whatever stands in the others.

A type that is guessed from a column lets one person's cell decide how others are read. So nothing
is guessed: a column of the analysis holds numbers, every other column holds text.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from gdppca._errors import DataError

# Arrow's own list: a file means the same through every reader.
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"),
)

# What true and false, yes and no are, each with the words for 0 first.
TRUE_FALSE = (("false", "False", "FALSE"), ("true", "True", "TRUE"))
NO = ("no", "n", "false", "f", "0")  # in any case of letters
YES = ("yes", "y", "true", "t", "1")


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


def label_cell(cell: str, kind: str) -> str:
    """A label in DuckDB's words: a fraction or bytes as they are, all else as text."""
    as_it_is = kind.split("(")[0] in ("FLOAT", "DOUBLE", "DECIMAL", "BLOB")
    return cell if as_it_is else f"CAST({cell} AS VARCHAR)"


def require_labels(column: str, kind: str) -> None:
    """Refuse a column of DuckDB's type whose cells hold several things each."""
    nested = "list" if kind.endswith("]") else kind.split("(")[0].lower()
    if nested in ("list", "struct", "map", "union"):
        raise DataError(
            f"The column '{column}' holds {nested}, which are no labels. Use one that holds words, "
            "numbers or dates."
        )


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
