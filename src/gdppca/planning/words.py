"""What a plan says: what stands above the noise, and which step takes how much."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gdppca._words import counted, listed, percent
from gdppca.planning.case import Case
from gdppca.planning.promise import Promise
from gdppca.privacy import Unit

WAYS: dict[str | None, str] = {  # to compare rows, by the centre that they need
    None: "pairs of rows",
    "private": "private centre",
    "public": "public centre",
}
OF_FAR_ROWS = (
    "Whether a private centre is found depends on how far the rows are from the origin, or from "
    "what is called typical: the error may be half or twice of this. Subtract public values, or "
    "compare pairs."
)


def told_count(detectable: int, wanted: int) -> str:
    """How many components will stand above the noise."""
    if detectable == 0:
        return "No component will stand above the noise."
    if detectable < wanted:
        return f"Only {detectable} of the {wanted} components will stand above the noise."
    return f"{counted(detectable, 'component')} will stand above the noise."


def told_angle(case: Case, sin_theta: float) -> str:
    """How far the released directions will be off."""
    if not case.separated:
        return (
            f"Component {case.asked.n_components} has no more variance than the next one: there is "
            "no direction to find."
        )
    return (
        f"The released directions will be about {math.degrees(math.asin(sin_theta)):.0f}° off the "
        f"true ones (sin Θ = {sin_theta:.2g}; 90° is worthless)."
    )


OF_PERSONS = "Each person counts as one row; persons with several rows do a little better."
OF_SECRET_SIZE = (
    "The number of {who} is secret and the one given here a guess. Adding or removing one of the "
    "{who} is protected, which is less than replacing one at the same epsilon."
)
OF_GUESSES = (
    "What the description calls typical is taken to be right within about one spread, and a spread "
    "within a factor of two."
)
OF_WEIGHTS = (
    "Weights are taken to be all the largest one: noise over signal grows by the largest weight "
    "over the mean one."
)
OF_GAPS = (
    "{share} of the cells are expected to be missing, completely at random: where they are missing "
    "because of what they hold, the directions are wrong at any budget."
)


def told_promise(promise: Promise) -> Iterator[str]:
    """Who is protected against what, and what is taken for granted of missing cells."""
    if promise.protected.unit is Unit.PERSON:
        yield OF_PERSONS
    if promise.secret_size:
        yield OF_SECRET_SIZE.format(who=promise.who)
    if promise.guessed:
        yield OF_GUESSES
    if promise.weighted:
        yield OF_WEIGHTS
    if promise.rates is not None:
        yield OF_GAPS.format(share=percent(promise.missing))


def told_sparsity(sparsity: int | None) -> str:
    """What is taken for granted of the loadings, after the spectrum."""
    if sparsity is None:
        return ""
    return f", and about {counted(sparsity, 'column')} with a part in each component"


def shares_in_words(case: Case) -> str:
    """Which step takes how much: parts of ε first, then of the noise budget μ² that is left."""
    if math.isinf(case.asked.epsilon):
        return "No budget is shared out: there is no noise."
    first, rest = _parts_of_epsilon(case), _parts_of_the_rest(case)
    told = [f"Of epsilon, {_told(first)}."] if first else []
    if len(rest) > 1:
        told.append(f"Of {'what is left' if first else 'the budget'} (μ²), {_told(rest)}.")
    else:
        told.append(f"The matrix takes {'what is left' if first else 'all of the budget'}.")
    return " ".join(told)


def _parts_of_epsilon(case: Case) -> dict[str, float]:
    taken = {
        "the variances take": case.variances,
        "the score map takes": case.score_map,
        "the radius takes": case.radius_share,
    }
    return {what: share for what, share in taken.items() if share}


def _parts_of_the_rest(case: Case) -> dict[str, float]:
    before = case.first_shares
    left = 1 - sum(before.values())
    scales = left * case.scale_share
    centre = (left - scales) * case.centre_share
    taken = {
        "the count takes": before.get("count", 0.0),
        "the observed rates take": before.get("rates", 0.0),
        "the scales take": scales,
        "the search for a centre takes about": centre,
    }
    left, stage = 1 - sum(taken.values()), case.second_stage
    if stage is None:
        taken["the matrix gets"] = left
    else:
        taken["the matrix gets about"] = left * stage.share
        taken["a second stage about"] = left * (1 - stage.share)
    return {what: share for what, share in taken.items() if share}


def _told(parts: dict[str, float]) -> str:
    return listed([f"{what} {100 * share:.3g} %" for what, share in parts.items()])


def rounded_up(number: float) -> float:
    """An answer with three digits that is enough."""
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    return float(f"{math.ceil(number / step - 1e-9) * step:.3g}")
