"""A guarantee in plain words, for people who decide about data and not about formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from markupsafe import Markup

from gdppca._words import listed, percent, rounded_up, spelled
from gdppca.privacy.events import ApproximateEvent, Event, GaussianEvent, PureEvent, twice

if TYPE_CHECKING:
    from gdppca.privacy.guarantee import Guarantee

GUESSES = (0.01, 0.1, 0.5)  # how likely a guess is before, in examples
SELDOM = 0.05  # chance of a factor above what is usual
MILLION = 1e6  # beyond, a factor is not told
_STRONG, _WEAK = 1.0, 10.0  # what ε is commonly called up to, and from
_PURPOSES = {
    "fit": "the components, with all that finding them takes",
    "scatter": "the matrix that the components come from",
    "cross": "how the rows lie across those components",
    "projection": "the matrix that the components come from",
    "radius": "the length beyond which differences are cut",
    "centre": "the centre of the table",
    "location": "the centre of the table",
    "bounds of the location": "rough bounds of the centre",
    "scale": "the scale of each column",
    "rates": "the share of cells that are there, by column",
    "count": "how many there are in the table",
    "variances": "the variance of the scores",
    "variances, winsorized": "the variance of the scores",
    "variances, clipped": "the variance of the scores",
    "bounds of the variances": "rough bounds of those variances",
    "score map": "the counts of the map",
    "score map frame": "the frame of the map",
    "score map threshold": "the threshold of the map",
    "start": "a first guess of the components",
    "descent": "the steps that improve the components",
}


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
        return f"{_everybody(guarantee)}, with high probability only"
    if guarantee.epsilon > _WEAK:
        return weakly(guarantee)
    if guarantee.unit == "person":
        return "Every person in this table is protected, with all of their rows"
    return "Every person with one row in this table is protected"


def weakly(guarantee: Guarantee) -> str:
    """The promise in one short sentence, where it does not go far."""
    return f"{_everybody(guarantee)}, but only weakly"


def _everybody(guarantee: Guarantee) -> str:
    if guarantee.unit == "person":
        return "Every person in this table is protected with all of their rows"
    return "Every person with one row is protected"


def meaning(guarantee: Guarantee) -> str:
    """What the promise means for one person, or why there is none."""
    if guarantee.protects:
        hedge = "" if guarantee.status == "proven" else " This holds with high probability only."
        return (
            f"Take somebody who {_guess(guarantee)}. "
            f"Seeing this release raises the odds of that guess {rise(guarantee)}.{hedge}"
        )
    if guarantee.seeded and guarantee.status != "none":
        return (
            "This is a simulation. Its noise came from a known seed, and whoever knows the seed "
            "can take the noise away again. Do not publish it if the table holds real people."
        )
    reason = guarantee.reason or "nothing was noised"
    return (
        f"The release promises nothing: {reason}. It may give away {_owned(guarantee, 'any')}. Do "
        "not publish it if the table holds real people."
    )


def _owned(guarantee: Guarantee, whose: str) -> str:
    """What the promise is about: one person's row, or all rows of one person."""
    return f"all rows of {whose} person" if guarantee.unit == "person" else f"{whose} person's row"


_GUESSES = {  # by unit and neighbours
    ("row", "replace-one"): "knows everything but one person's row, and makes a guess about it",
    ("row", "add-remove"): (
        "knows every other row of the table, and guesses whether one person's row is in it"
    ),
    ("person", "replace-one"): (
        "knows everything but all rows of one person, and makes a guess about them"
    ),
    ("person", "add-remove"): (
        "knows all rows of everybody else, and guesses whether one person is in the table"
    ),
}


def _guess(guarantee: Guarantee) -> str:
    return _GUESSES[guarantee.unit, guarantee.neighbors]


def contents(guarantee: Guarantee) -> str:
    """What a promise about presence means for what stands in a row; nothing where that is it."""
    if guarantee.neighbors != "add-remove" or not guarantee.protects:
        return ""
    other = replace(guarantee, events=tuple(map(twice, guarantee.events)))
    whose, what = "one person's row", "it says"
    if guarantee.unit == "person":
        whose, what = "one person", "the rows of that person say"
    return (
        f"The promise is about whether {whose} is in the table. Where that is known already, a "
        f"guess about what {what} may gain more: its odds rise {rise(other)}."
    )


def rise(guarantee: Guarantee) -> str:
    """How far the odds of a guess may rise, and how surely no further."""
    exceeded = chance_of_more(guarantee)
    times = guarantee.odds_factor(exceeded)
    if times > MILLION:
        return factor(times)
    return f"{factor(times)}, {surely(exceeded)}"


def surely(exceeded: float) -> str:
    """With what chance a limit is passed."""
    return f"but for a chance of {chance(exceeded)}" if exceeded else "without exception"


def chance_of_more(guarantee: Guarantee) -> float:
    """Chance at which the factor is stated: δ, or none where that gains nothing.

    A step that is known only as (ε, δ) has no factor at δ, but one of twice e^ε at twice δ.
    """
    if guarantee.odds_factor(0) <= guarantee.odds_factor() * (1 + 1e-9) < math.inf:
        return 0.0
    if any(isinstance(event, ApproximateEvent) for event in guarantee.events):
        return min(2 * guarantee.delta, (1 + guarantee.delta) / 2)
    return guarantee.delta


def factor(times: float) -> str:
    """How much odds may rise, rounded up."""
    if times > MILLION:
        return "by a factor that may exceed a million"
    return f"by a factor of at most {rounded_up(times, 3)}"


def examples(guarantee: Guarantee) -> str:
    """What some guesses may become; nothing where that may be anything."""
    exceeded = chance_of_more(guarantee)
    if guarantee.odds_factor(exceeded) > MILLION:
        return ""
    before = listed([*map(percent, GUESSES)], "or")
    most, times = _become(guarantee.odds_factor(exceeded)), usual_factor(guarantee)
    mostly = most if times is None else _become(times)
    usual = f"; in 95 of 100 such releases at most {mostly}" if mostly != most else ""
    return (
        f"{'But for that chance' if exceeded else 'So'}, a guess that was "
        f"{before} likely before is at most {most} likely after{usual}."
    )


def usual_factor(guarantee: Guarantee) -> float | None:
    """By how much odds rise in 95 of 100 releases; None where more is promised anyway."""
    exceeded = chance_of_more(guarantee)
    times = guarantee.odds_factor(SELDOM)
    return times if exceeded < SELDOM and times <= guarantee.odds_factor(exceeded) else None


def _become(times: float) -> str:
    after = [percent(belief_after(before, times)[1], math.ceil) for before in GUESSES]
    return listed(after, "or")


def told(guarantee: Guarantee) -> str:
    """What the promise means, with examples."""
    said = (meaning(guarantee), examples(guarantee), contents(guarantee))
    return " ".join(filter(None, said))


def chance(delta: float) -> str:
    """A probability as one in so many, never understated; a large one in per cent."""
    if delta > 0.1:
        return percent(delta, math.ceil)
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


def belief_after(before: float, times: float) -> tuple[float, float]:
    """Belief in a guess after its odds fell, and after they rose, by a factor."""
    against = (1 - before) / before
    return 1 / (1 + against * times), 1 / (1 + against / times)


def purpose_in_words(purpose: str) -> str:
    """What a draw was for; a purpose that is not known speaks for itself."""
    return _PURPOSES.get(purpose, purpose)


def event_in_words(event: Event) -> str:
    """One draw and its strength."""
    what = purpose_in_words(event.purpose)
    match event:
        case GaussianEvent(noise_multiplier=multiplier):
            return f"{what}: Gaussian noise, {multiplier:.4g} times the sensitivity"
        case PureEvent(epsilon=epsilon):
            return f"{what}: a pure step of epsilon {epsilon:.4g}"
        case ApproximateEvent(epsilon=epsilon, delta=delta):
            return f"{what}: noisy steps, epsilon {epsilon:.4g} and delta {delta:.4g}"
        case _:
            return f"{what}: no noise at all"


def noise_in_words(events: Sequence[Event]) -> str:
    """The noise of all draws for one purpose."""
    match events:
        case [GaussianEvent(noise_multiplier=multiplier)]:
            return f"Gaussian, {multiplier:.3g} × sensitivity"
        case [PureEvent()]:
            return "pure step"
        case [ApproximateEvent()]:
            return "noisy steps"
    kinds = {GaussianEvent: "Gaussian", PureEvent: "pure", ApproximateEvent: "noisy"}
    drawn = dict.fromkeys(kinds.get(type(event), "NONE") for event in events)
    if "NONE" in drawn:
        return "NONE"
    return f"{' and '.join(drawn)}, {spelled(len(events), 'draw')}"


_COLOURS = {
    Level.PROTECTED: "#2e7d5b",
    Level.DOUBTFUL: "#b26a00",
    Level.UNPROTECTED: "#c62828",
}
# A box with a coloured edge, in the notebook's own text colour, light or dark.
_CARD = Markup(
    '<div style="border-left:4px solid {};padding:0.25em 0 0.25em 1em;max-width:44em">'
    '<strong>{}</strong><div>{}</div><p style="margin:0.5em 0">{}</p>{}{}</div>'
)
_RESTS = Markup(
    '<details><summary>What this rests on</summary><ul style="margin:0.3em 0">{}</ul></details>'
)


def as_card(guarantee: Guarantee, more: str = "") -> str:
    """The promise as a small box for a notebook; whatever is no markup is escaped."""
    loud = level(guarantee)
    first = headline(guarantee).upper() if loud is Level.UNPROTECTED else headline(guarantee)
    assumed = Markup().join(Markup("<li>{}</li>").format(each) for each in guarantee.assumptions)
    rests = _RESTS.format(assumed) if assumed and guarantee.protects else ""
    return _CARD.format(_COLOURS[loud], first, guarantee, told(guarantee), rests, more)
