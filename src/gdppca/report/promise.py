"""What is promised to whom, as facts for the page; its sentences stand in the template."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from gdppca._words import percent, power, rounded_up
from gdppca.privacy import words as plain
from gdppca.privacy.guarantee import Guarantee
from gdppca.releases import Release


def verdict(release: Release) -> dict[str, Any]:
    """What the report opens with."""
    guarantee = release.guarantee
    level, headline = plain.level(guarantee), plain.headline(guarantee)
    large_delta = guarantee.protects and guarantee.delta >= 1 / release.n_samples
    if large_delta and level is plain.Level.PROTECTED:
        level, headline = plain.Level.DOUBTFUL, plain.weakly(guarantee)
    return {
        "level": str(level),
        "headline": headline,
        "large_delta": large_delta,
    }


def promised(release: Release) -> dict[str, Any]:
    """Numbers and words that the sentences about the promise need."""
    guarantee = release.guarantee
    nominal = guarantee.nominal_epsilon if guarantee.seeded else math.inf
    return {
        "epsilon": rounded_up(guarantee.epsilon, 4) if guarantee.protects else "∞",
        "delta": power(guarantee.delta),
        "odds": _odds(guarantee),
        "mostly": "" if (usual := plain.usual_factor(guarantee)) is None else plain.factor(usual),
        "with_secret_noise": rounded_up(nominal, 4) if math.isfinite(nominal) else "",
    }


def _odds(guarantee: Guarantee) -> tuple[str, str]:
    """How far the odds of a guess may rise, and how surely no further."""
    exceeded = plain.chance_of_more(guarantee)
    times = guarantee.odds_factor(exceeded)
    if not guarantee.protects:
        return "× ∞", "no limit to what it may give away"
    if times > plain.MILLION:
        return "× 1,000,000", "or more: a guess may become certain"
    return f"× {rounded_up(times, 3)}", f"at most, {plain.surely(exceeded)}"


def beliefs(release: Release) -> dict[str, Any] | None:
    """What somebody who knows all other rows may believe before and after."""
    guarantee = release.guarantee
    if not guarantee.protects:
        return None
    exceeded = plain.chance_of_more(guarantee)
    times, mostly = guarantee.odds_factor(exceeded), plain.usual_factor(guarantee)
    return {
        "chance": plain.chance(exceeded) if exceeded else "",
        "mostly": mostly is not None,
        "rows": [_belief(before, times, mostly) for before in plain.GUESSES],
    }


def _belief(before: float, times: float, mostly: float | None) -> dict[str, Any]:
    low, high = plain.belief_after(before, times)
    up = partial(percent, rounding=math.ceil)
    usual = [] if mostly is None else [up(plain.belief_after(before, mostly)[1])]
    return {
        "said": (percent(before), percent(low, math.floor), up(high), *usual),
        "drawn": [round(100 * share, 2) for share in (low, 1 - high, before)],
    }
