"""How methods and settings look and are called in the figures.

Colours are safe for the colour-blind, and no two methods of a figure share both mark and line, so
that they can be told apart in grey. What the paper does not have is black; no privacy is grey.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gdppca.plots import style
from gdppca.studies.methods import (
    CENTRED,
    DEFAULT,
    DEFAULT_ZCDP,
    NO_PRIVACY,
    TIGHT,
    TIGHT_ZCDP,
)

_COLOURS = (style.BLUE, style.SKY, style.YELLOW, style.ORANGE, style.GREEN, style.PINK)
_MARKERS = "os^Dv<>PX"
_LINES = ("-", "--")
_EXACT = ", exact"
_NAMES = {
    "sph": "sph (paper's noise)",
    "wins": "wins (paper's noise)",
    "AG": "AG (not private as printed)",
    "SGPCA": "SGPCA (knows eigenvalues)",
    "NSGGD": "NSGGD (printed noise)",
    DEFAULT: "default of DPPCA",
    DEFAULT_ZCDP: "default of DPPCA",
    TIGHT: "pairs, tight noise",
    TIGHT_ZCDP: "pairs, tight noise",
    CENTRED: "public centre, tight noise",
    NO_PRIVACY: "no privacy (covariance)",
    "blocks of 64": "sph without noise, blocks of 64",
    "sph, blocks of 64": "sph, blocks (paper's noise)",
    "wins, blocks of 64": "wins, blocks (paper's noise)",
}
_KINDS = {
    "gaussian": "Gaussian", "t1": "t₁", "contaminated": "5 % contaminated",
    "laplace": "Laplace", "gamma scale": "Gamma (√2 a scale)", "gamma rate": "Gamma (√2 a rate)",
}  # fmt: skip
LABELS = {
    "n": "rows n", "d": "columns d", "epsilon": "ε", "shift": "c⊥", "fraction": "share of bad rows",
}  # fmt: skip


class Look(NamedTuple):
    """Colour, mark, inside of the mark, line, and name in the legend; None for no entry there."""

    colour: str
    marker: str
    filled: str
    line: Any
    label: str | None


def look_of(name: str, methods: tuple[str, ...]) -> Look:
    """How a method looks among those of its study."""
    if name in (DEFAULT, DEFAULT_ZCDP):
        return Look(style.BLACK, "*", style.BLACK, "-", shown_name(name))
    if name in (TIGHT, TIGHT_ZCDP, CENTRED):
        line = (0, (1, 1)) if name == CENTRED else "--"
        return Look(style.BLACK, "", style.BLACK, line, shown_name(name))
    if name == NO_PRIVACY:
        return Look(style.GREY, "", style.GREY, "-.", shown_name(name))
    if name.endswith(_EXACT):
        base = look_of(name.removesuffix(_EXACT), methods)
        return Look(base.colour, "", base.colour, ":", None)
    plain = [other for other in methods if other not in _BEYOND and not other.endswith(_EXACT)]
    k = plain.index(name)
    colour, turn = _COLOURS[k % len(_COLOURS)], k // len(_COLOURS)
    filled = "white" if turn else colour
    return Look(colour, _MARKERS[k % len(_MARKERS)], filled, _LINES[turn], shown_name(name))


_BEYOND = (DEFAULT, DEFAULT_ZCDP, TIGHT, TIGHT_ZCDP, CENTRED, NO_PRIVACY)


def shown_name(method: str) -> str:
    """A method as the legend calls it."""
    return _NAMES.get(method, method)


def shown_value(name: str, value: Any) -> str:
    """A value of a setting as a panel's title."""
    if name == "kind":
        return _KINDS.get(value, str(value))
    if name == "case":
        kind, _, rest = str(value).partition(", ")
        return f"{_KINDS.get(kind, kind)}, {rest}"
    return f"{LABELS[name].split()[-1]} = {value:g}"
