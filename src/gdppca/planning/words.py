"""What a plan says: what stands above the noise, and which step takes how much."""

from __future__ import annotations

import math

from gdppca._words import counted, listed
from gdppca.planning.case import Case

OF_FAR_ROWS = (
    "Whether a private centre is found depends on how far the rows are from the origin: the error "
    "may be half or twice of this. Subtract public values, or compare pairs."
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
    scales = case.scale_share
    centre = (1 - scales) * case.centre_share
    taken = {
        "the scales take": scales,
        "the search for a centre takes about": centre,
        "the matrix gets": 1 - scales - centre,
    }
    return {what: share for what, share in taken.items() if share}


def _told(parts: dict[str, float]) -> str:
    return listed([f"{what} {100 * share:.3g} %" for what, share in parts.items()])
