"""Numbers and lists as people write them; what they are about is said elsewhere.

>>> from gdppca._words import counted, listed
>>> listed(["one", "two", "three"]), counted(1, "row"), counted(2, "row")
('one, two and three', '1 row', '2 rows')
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def listed(things: Sequence[str], last: str = "and") -> str:
    """One, two and three."""
    return f" {last} ".join(filter(None, (", ".join(things[:-1]), things[-1])))


def plural(number: int, what: str) -> str:
    """The word for one of them, or for so many."""
    return what if number == 1 else f"{what}s"


def counted(number: int, what: str) -> str:
    """1 row, 2 rows."""
    return f"{number} {plural(number, what)}"


def spelled(number: int, what: str) -> str:
    """One row, two rows, 11 rows."""
    many = _SMALL[number] if number < len(_SMALL) else f"{number:,}"
    return f"{many} {plural(number, what)}"


def capital(text: str) -> str:
    """The first letter large."""
    return text[:1].upper() + text[1:]


def percent(share: float, rounding: Callable[[float], float] = round) -> str:
    """Per cent: whole ones in the middle, tenths towards the ends."""
    fine = 10 if share < 0.1 or share > 0.9 else 1
    return f"{rounding(100 * share * fine) / fine:g}\N{NO-BREAK SPACE}%"


def rounded_up(number: float, digits: int) -> str:
    """So many significant digits, never less than the number (up to the solver's tolerance)."""
    if number == 0 or math.isinf(number):
        return f"{number:g}"
    step = 10.0 ** (math.floor(math.log10(number)) - digits + 1)
    up = math.ceil(number / step - 1e-5) * step
    return f"{up:,.0f}" if up >= 10 ** (digits - 1) else f"{up:.{digits}g}"


def signed(number: float) -> str:
    """Two decimals with a sign, unless they are zero."""
    text = f"{number:+.2f}"
    return text[1:] if float(text) == 0 else with_minus(text)


def decimal(number: float, digits: int = 4) -> str:
    """So many decimals."""
    return with_minus(f"{number:.{digits}f}")


def with_minus(number: str) -> str:
    """The same with a true minus, as wide as a plus."""
    return number.replace("-", "−")


def power(number: float) -> str:
    """A small number as people write it: 0.000001 or 10⁻⁹, and not 1e-06."""
    if number >= 1e-3:
        return f"{number:.4g}"
    if number >= 1e-7:
        return f"{float(f'{number:.4g}'):.12f}".rstrip("0")
    exponent = math.floor(math.log10(number) + 1e-12)
    lead = f"{number / 10.0**exponent:.3g}"
    ten = "10" + str(exponent).translate(_RAISED)
    return ten if lead == "1" else f"{lead} × {ten}"
