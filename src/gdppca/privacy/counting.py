"""What a guarantee may say of counting: entered in a ledger, or counted by nothing.

No release knows what else is drawn from its table. It knows whether its own draws were entered
before they were made, and says no more than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

ENTERED = (
    "What was drawn for this was entered in a ledger before; what else is drawn from the table is "
    "counted only if it is entered too."
)
UNCOUNTED = "Nothing counts repeated fits: each one spends its own budget."

_UNCOUNTED = "Nothing counts repeated "  # fits, maps
_EARLIER = "Every release from this table is counted in its ledger, under this data set's name."
_FIT_ENTERED = (  # what is true where an earlier version said the above
    "The fit was entered in a ledger before it was drawn; what else is drawn from the table is "
    "counted only if it is entered too."
)
_CLAIMS = (ENTERED, _FIT_ENTERED, _EARLIER)


def counted(lines: Sequence[str], *, entered: bool) -> tuple[str, ...]:
    """The same assumptions, with what is true of one draw in place of any word on counting."""
    true = ENTERED if entered else UNCOUNTED
    mine = (true if _is_about_counting(line) else line for line in (*lines, true))
    return tuple(dict.fromkeys(mine))


def together(*parts: Sequence[str]) -> tuple[str, ...]:
    """Assumptions of several parts: entered in a ledger only where every one of them was."""
    lines = tuple(dict.fromkeys(chain(*parts)))
    if all(ENTERED in part for part in parts) and not any(map(_is_uncounted, lines)):
        return lines
    rest = tuple(line for line in lines if line not in _CLAIMS)
    if len(rest) == len(lines) or any(map(_is_uncounted, rest)):
        return rest
    return (*rest, UNCOUNTED)


def restated(lines: Sequence[str]) -> tuple[str, ...]:
    """Assumptions of a file, without what an earlier version could not know."""
    if any(map(_is_uncounted, lines)):
        return tuple(line for line in lines if line != _EARLIER)
    return tuple(_FIT_ENTERED if line == _EARLIER else line for line in lines)


def _is_uncounted(line: str) -> bool:
    return line.startswith(_UNCOUNTED)


def _is_about_counting(line: str) -> bool:
    return line in _CLAIMS or _is_uncounted(line)
