"""What releases to come take of the budget that they share with a fit."""

from __future__ import annotations

import math
from typing import Any

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.design.parameters import Parameters
from gdppca.privacy import Event
from gdppca.releases.mapping import score_map_events
from gdppca.releases.spectrum import variance_events


def shared_out(
    asked: Parameters, *, variances: float, score_map: float
) -> dict[str, tuple[float, float]]:
    """Budgets (ε, δ) of the later releases; an infinite ε has no parts to share out."""
    shares = {"variances": variances, "map": score_map}
    for name, share in shares.items():
        if share != 0:
            _validate.fraction(**{f"share of the {name}": share})
    if sum(shares.values()) >= 1:
        raise ParameterError(
            f"The shares of variances and score map must add up to less than 1, got "
            f"{sum(shares.values()):g}: the directions need the rest."
        )
    epsilon = _validate.budget(epsilon=asked.epsilon)
    delta = _validate.fraction(delta=asked.delta)
    return {
        name: (epsilon if math.isinf(epsilon) else share * epsilon, share * delta)
        for name, share in shares.items()
        if share
    }


def reserved_events(
    asked: Parameters, n: int, parts: dict[str, tuple[float, float]], **map_wish: Any
) -> tuple[Event, ...]:
    """What the later releases will draw; wishes that cannot be met are refused here."""
    events: tuple[Event, ...] = ()
    if "variances" in parts:
        _check_known_components(asked, 1, "Variances")
        events += variance_events(*parts["variances"])
    if "map" in parts:
        _check_known_components(asked, 2, "A score map")
        # What the map draws must not depend on the fit.
        known = asked.has_public_center
        events += score_map_events(n, *parts["map"], known_center=known, **map_wish)
    elif any(map_wish.get(name) is not None for name in ("groups", "categories")):
        raise ParameterError(
            "`groups` are for a score map: give `score_map` a share of the budget."
        )
    return () if math.isinf(asked.epsilon) else events


def _check_known_components(asked: Parameters, least: int, what: str) -> None:
    """How many components there will be must be known before anything is spent."""
    m = asked.n_components
    if isinstance(m, str) or _validate.count(n_components=m) < least:
        raise ParameterError(
            f"{what} under the same budget: `n_components` must be a number of at least {least}, "
            f"got {m!r}."
        )
