"""What the text of one cell spells, by a description alone: a number, yes or no, a day.

Nothing here looks at a second cell. DuckDB's words for the same rules are elsewhere; both must
give the same bits.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from functools import cache
from numbers import Integral, Real
from typing import Any

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ISO_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([T ].*)?", re.DOTALL)
_FLAGS = dict.fromkeys(("true", "True", "TRUE"), 1.0) | dict.fromkeys(
    ("false", "False", "FALSE"), 0.0
)
WHOLE_FLAG = re.compile(r"([01])[.,]0+")
_YES_NO = dict.fromkeys(("yes", "y", "true", "t", "1"), 1.0) | dict.fromkeys(
    ("no", "n", "false", "f", "0"), 0.0
)
_LARGEST_WRITTEN_OUT = 1e15
# What directives of dates write: digits, at least and at most, or words.
_DIGITS = dict.fromkeys("dmHIMS", (1, 2)) | {"Y": (4, 4), "y": (2, 2), "j": (1, 3), "f": (1, 6)}
_WORDS = {"b": "[A-Za-z]{3}", "B": "[A-Za-z]{3,9}", "p": "[AaPp][Mm]"}
DIRECTIVES = frozenset(_DIGITS) | frozenset(_WORDS) | {"%"}


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
    """1 for yes and 0 for no, in the words that need no declaration; NaN for others.

    Programs write 0 and 1 as 0.0 and 1.0 where a column has gaps.
    """
    whole = WHOLE_FLAG.fullmatch(text)
    return _YES_NO.get(whole[1] if whole else text.lower(), math.nan)


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
    spelt = re.fullmatch(day_pattern(written_as), text)
    return datetime.strptime(text, written_as).date() if spelt else None


@cache
def day_pattern(written_as: str) -> str:
    """The regular expression of what a format writes, for Python and for DuckDB.

    Their own readers take more, and not the same: "79" for a year of four digits, or digits of
    other scripts. Days and months may be written with one digit, unless digits stand beside them.
    """
    parts = re.findall("%.|.", written_as, re.DOTALL)
    beside = [None, *parts, None]
    return "".join(
        _part_pattern(part, dense=any(_is_directive(each) for each in (before, after)))
        for before, part, after in zip(beside, parts, beside[2:], strict=False)
    )


def _part_pattern(part: str, dense: bool) -> str:
    if _is_directive(part):
        fewest, most = _DIGITS.get(part[1], (0, 0))
        return f"[0-9]{{{most if dense else fewest},{most}}}" if most else _WORDS[part[1]]
    letter = part[-1]  # of %% as well
    return letter if letter.isalnum() or not letter.isascii() or letter == " " else f"\\{letter}"


def _is_directive(part: str | None) -> bool:
    return part is not None and len(part) == 2 and part != "%%"


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
