"""How a release was made and how it is used: plan, budget, the file itself."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from gdppca._words import capital, percent, power, rounded_up, with_minus
from gdppca.privacy.accounting import gdp_mu
from gdppca.privacy.events import Event, GaussianEvent, NonPrivateEvent
from gdppca.privacy.spending import epsilon_at
from gdppca.privacy.words import noise_in_words, purpose_in_words
from gdppca.releases import Release

_LARGEST_ATTACHMENT = 2_000_000  # characters; a larger release travels beside its report


def plan(release: Release) -> list[tuple[str, str]]:
    """What was expected before any budget was spent, line by line."""
    return list(_flattened(release.plan or {}))


def _flattened(plain: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested plain data as lines of name and text."""
    for key, value in plain.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{name}: ")
        else:
            yield name, _text(value)


def _text(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return power(value) if value > 0 else with_minus(f"{value:.4g}")
        case int():
            return with_minus(f"{value:,}")
        case list() | tuple():
            return ", ".join(_text(entry) for entry in value)
    return "—" if value is None else str(value)


def budget(release: Release) -> dict[str, Any]:
    """What each purpose spent, and its share of the whole."""
    guarantee = release.guarantee
    groups: dict[str, list[Event]] = {}
    for event in guarantee.events:
        groups.setdefault(event.purpose, []).append(event)
    alone = [epsilon_at(tuple(events), guarantee.delta) for events in groups.values()]
    shares, of = _shares(groups.values(), alone)
    return {
        "rows": [
            (
                capital(purpose_in_words(purpose)),
                noise_in_words(events),
                rounded_up(epsilon, 3) if math.isfinite(epsilon) else "∞",
                share,
            )
            for (purpose, events), epsilon, share in zip(groups.items(), alone, shares, strict=True)
        ],
        "shares": of,
        "mu": _finite(guarantee.gdp_mu),
        "rho": _finite(guarantee.zcdp_rho),
    }


def _finite(number: float) -> str:
    return f"{number:.4g}" if math.isfinite(number) else ""


def _shares(groups: Collection[list[Event]], alone: list[float]) -> tuple[list[str], str]:
    """Shares of the budget by purpose, and of what they are."""
    events = [event for group in groups for event in group]
    if any(isinstance(event, NonPrivateEvent) for event in events):
        return ["–"] * len(groups), ""
    if all(isinstance(event, GaussianEvent) for event in events):
        losses = [gdp_mu(group) ** 2 for group in groups]  # adds up exactly
        of = "Shares are of μ², which adds up over Gaussian draws."
    else:
        losses, of = alone, "Shares are of the sum of ε by itself."
    return [percent(loss / sum(losses)) for loss in losses], of if len(groups) > 1 else ""


def attachment(release: Release) -> str:
    """The release file itself, where it is small enough to travel inside the report."""
    text = json.dumps(release.to_dict(), indent=1, allow_nan=False) + "\n"
    return text if len(text) <= _LARGEST_ATTACHMENT else ""
