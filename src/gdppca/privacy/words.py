"""A guarantee in plain words, for people who decide about data and not about formulas."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING

from gdppca import _html

if TYPE_CHECKING:
    from gdppca.privacy.guarantee import Guarantee

WEAKLY = "Every person is protected, but only weakly"
_STRONG, _WEAK = 1.0, 10.0  # what ε is commonly called up to, and from
_SPEAKABLE = math.log(1e6)  # beyond, a factor is only "more than a million"


class Level(StrEnum):
    """How loudly to speak."""

    PROTECTED = "protected"
    DOUBTFUL = "doubtful"
    UNPROTECTED = "unprotected"


def level(guarantee: Guarantee) -> Level:
    """Whether anybody is protected, and whether that needs a warning."""
    if not guarantee.protects:
        return Level.UNPROTECTED
    doubtful = guarantee.status != "proven" or guarantee.epsilon > _WEAK
    return Level.DOUBTFUL if doubtful else Level.PROTECTED


def headline(guarantee: Guarantee) -> str:
    """The promise in one short sentence."""
    if not guarantee.protects:
        return "Nobody is protected"
    if guarantee.status != "proven":
        return "Every person is protected with high probability only"
    if guarantee.epsilon > _WEAK:
        return WEAKLY
    return "Every person in the table is protected"


def meaning(guarantee: Guarantee) -> str:
    """What the promise means for one person, or why there is none."""
    if guarantee.protects:
        return (
            "Whatever somebody knew before, even every other row of the table: seeing this "
            f"release changes the odds of any guess about one person {factor(guarantee.epsilon)}, "
            f"except with a probability of at most {chance(guarantee.delta)}."
        )
    if guarantee.seeded and guarantee.status != "none":
        return (
            "This is a simulation. Its noise came from a known seed, and whoever knows the seed "
            "can take the noise away again. Do not publish it if the table holds real people."
        )
    reason = guarantee.reason or "nothing was noised"
    return (
        f"The release promises nothing: {reason}. It may give away any person's row. Do not "
        "publish it if the table holds real people."
    )


def factor(epsilon: float) -> str:
    """How much odds may change, e^ε, rounded up."""
    if epsilon > _SPEAKABLE:
        return "by a factor that may exceed a million"
    return f"by a factor of at most {rounded_up(math.exp(epsilon), 3)}"


def chance(delta: float) -> str:
    """A probability as one in so many, never understated."""
    if delta > 0.1:
        return rounded_up(delta, 2)
    many = 1 / delta * (1 + 1e-9)
    step = 10.0 ** max(math.floor(math.log10(many)) - 2, 0)
    return f"1 in {math.floor(many / step) * step:,.0f}".replace(" ", "\N{NO-BREAK SPACE}")


def strength(epsilon: float) -> str:
    """What people who work with ε commonly call it."""
    if epsilon <= _STRONG:
        return "An epsilon of 1 or less is commonly called strong protection."
    if epsilon <= _WEAK:
        return (
            "An epsilon of 1 or less is commonly called strong protection, above 10 weak; this "
            "one lies between."
        )
    return "An epsilon above 10 is commonly called weak protection: the odds may change by a lot."


def belief_after(before: float, epsilon: float) -> tuple[float, float]:
    """Lowest and highest belief after seeing the release, of somebody who knows all other rows."""
    against = (1 - before) / before
    if epsilon > 700:
        return 0.0, 1.0
    return 1 / (1 + against * math.exp(epsilon)), 1 / (1 + against * math.exp(-epsilon))


def rounded_up(number: float, digits: int) -> str:
    """So many significant digits, never less than the number (up to its own rounding)."""
    if number == 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(number)) - digits + 1)
    up = math.ceil(number / step - 1e-6) * step
    return f"{up:,.0f}" if up >= 10 ** (digits - 1) else f"{up:.{digits}g}"


_COLOURS = {
    Level.PROTECTED: "#2e7d5b",
    Level.DOUBTFUL: "#b26a00",
    Level.UNPROTECTED: "#c62828",
}


def as_card(guarantee: Guarantee, *more: str) -> str:
    """The promise as a small box for a notebook."""
    loud = level(guarantee)
    first = headline(guarantee).upper() if loud is Level.UNPROTECTED else headline(guarantee)
    assumed = [_html.element("li", assumption) for assumption in guarantee.assumptions]
    rests = _html.element(
        "details",
        _html.element("summary", "What this rests on"),
        _html.element("ul", *assumed, style="margin:0.3em 0"),
    )
    return _html.card(
        _COLOURS[loud],
        _html.element("strong", first),
        _html.element("div", str(guarantee)),
        _html.element("p", meaning(guarantee), style="margin:0.5em 0"),
        *([rests] if assumed and guarantee.protects else []),
        *more,
    )
