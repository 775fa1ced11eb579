"""What the text of one cell spells, by a description alone: a number, yes or no, a day.

Nothing here looks at a second cell. DuckDB's words for the same rules are elsewhere; both must
give the same bits.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from numbers import Integral, Real
from typing import Any

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ISO_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([T ].*)?", re.DOTALL)
_FLAGS = dict.fromkeys(("true", "True", "TRUE"), 1.0) | dict.fromkeys(
    ("false", "False", "FALSE"), 0.0
)
_YES_NO = dict.fromkeys(("yes", "y", "true", "t", "1"), 1.0) | dict.fromkeys(
    ("no", "n", "false", "f", "0"), 0.0
)
_LARGEST_WRITTEN_OUT = 1e15


def trimmed(text: Any) -> Any:
    """Text without the spaces and tabs around it; anything else as it is."""
    return text.strip(" \t") if isinstance(text, str) else text


def flag_in(text: str) -> float:
    """1 for true and 0 for false in the words that numbers take for them; NaN for others."""
    return _FLAGS.get(text, math.nan)


def number_in(text: str, decimal: str | None = None, thousands: str | None = None) -> float:
    """The finite number that a trimmed text spells in digits; NaN where it spells none."""
    if thousands:
        text = text.replace(thousands, "")
    if decimal:
        text = text.replace(decimal, ".")
    if not _NUMBER.fullmatch(text):
        return math.nan
    number = float(text)
    return number if math.isfinite(number) else math.nan


def yes_no_in(text: str) -> float:
    """1 for yes and 0 for no, in the words that need no declaration; NaN for others."""
    return _YES_NO.get(text.lower(), math.nan)


def day_in(text: str, written_as: str = "") -> date | None:
    """The day that a trimmed text spells, by a format or as year-month-day."""
    try:
        if written_as:
            return _day_by(text, written_as)
        found = _ISO_DAY.fullmatch(text)
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def _day_by(text: str, written_as: str) -> date | None:
    # Python alone would also read digits of other scripts.
    foreign = any(letter.isdigit() and not letter.isascii() for letter in text)
    return None if foreign else datetime.strptime(text, written_as).date()


def code_text(value: Any, decimal: str = ".") -> Any:
    """A code or level that was given as a number, as a file writes it; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return str(int(value))
    number = float(value)
    if number.is_integer() and abs(number) <= _LARGEST_WRITTEN_OUT:
        return str(int(number))
    return repr(number).replace(".", decimal)
