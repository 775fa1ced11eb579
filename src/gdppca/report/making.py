"""How a release was made and how it is used: plan, budget, method, code."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from typing import Any

from gdppca._words import capital, percent, rounded_up, with_minus
from gdppca.privacy.accounting import gdp_mu
from gdppca.privacy.events import Event, GaussianEvent, NonPrivateEvent
from gdppca.privacy.spending import epsilon_at
from gdppca.privacy.words import noise_in_words, purpose_in_words
from gdppca.releases import Release, marked_names
from gdppca.releases.words import origin_in_words, pairs_in_words, sign_in_words
from gdppca.report.words import flattened, plain_name, rest, table

_SHOWN_COLUMNS = 30
_LARGEST_ATTACHMENT = 2_000_000  # characters; a larger release travels beside its report

Facts = dict[str, Any]


def plan(release: Release) -> Facts | None:
    """What was expected before any budget was spent."""
    if not release.plan:
        return None
    rows = [(plain_name(key), text) for key, text in flattened(release.plan)]
    return table("What was expected", ["What", "Expected"], rows, named_above=True)


def budget(release: Release) -> Facts:
    """What each purpose spent, and its share of the whole."""
    guarantee = release.guarantee
    groups: dict[str, list[Event]] = {}
    for event in guarantee.events:
        groups.setdefault(event.purpose, []).append(event)
    shares, of = _shares(groups.values(), guarantee.delta)
    rows = [
        (
            capital(purpose_in_words(purpose)),
            noise_in_words(events),
            _epsilon_alone(events, guarantee.delta),
            share,
        )
        for (purpose, events), share in zip(groups.items(), shares, strict=True)
    ]
    head = ["What for", "Noise", "ε by itself", "Share"]
    return {
        "table": table("Everything that was drawn from the table", head, rows, note=of),
        "several": len(guarantee.events) > 1,
        "mu": _finite(guarantee.gdp_mu),
        "rho": _finite(guarantee.zcdp_rho),
        "seeded": guarantee.seeded,
    }


def _finite(number: float) -> str:
    return f"{number:.4g}" if math.isfinite(number) else ""


def _epsilon_alone(events: Sequence[Event], delta: float) -> str:
    alone = epsilon_at(tuple(events), delta)
    return rounded_up(alone, 3) if math.isfinite(alone) else "∞"


def _shares(groups: Collection[list[Event]], delta: float) -> tuple[list[str], str]:
    """Shares of the budget by purpose, and of what they are."""
    events = [event for group in groups for event in group]
    if any(isinstance(event, NonPrivateEvent) for event in events):
        return ["–"] * len(groups), ""
    if all(isinstance(event, GaussianEvent) for event in events):
        losses = [gdp_mu(group) ** 2 for group in groups]  # adds up exactly
        of = "Shares are of μ², which adds up over Gaussian draws."
    else:
        losses = [epsilon_at(tuple(group), delta) for group in groups]
        of = "Shares are of the sum of ε by itself."
    return [percent(loss / sum(losses)) for loss in losses], of if len(groups) > 1 else ""


def method(release: Release) -> Facts:
    """What was computed, with which noise and by which software."""
    rows = [("Method", release.method)]
    if release.sign is not None and release.scheme is not None:
        rows += [
            ("Compared", pairs_in_words(release)),
            ("Kept of each difference", sign_in_words(release)),
        ]
    size = f"standard deviation {release.noise_sd:.4g}, calibration “{release.calibration}”"
    rows += [
        ("Noise", size),
        ("Centre", origin_in_words(release.centre_origin, without="none needed")),
        ("Column scales", origin_in_words(release.scale_origin, without="columns as they were")),
        ("Software", f"gdppca {release.library_version}"),
        ("Checksum", release.checksum),
    ]
    return table("How it was made", ["What", "How"], rows, named_above=True)


def columns(release: Release) -> Facts | None:
    """Centre and scales by column, where there are any."""
    known = (("Centre", release.location), ("Scale", release.scale))
    given = [(name, values) for name, values in known if values is not None]
    if not given:
        return None
    rows = [
        (name, *(with_minus(f"{values[j]:.4g}") for _, values in given))
        for j, name in enumerate(marked_names(release)[:_SHOWN_COLUMNS])
    ]
    note = rest(release.n_features, _SHOWN_COLUMNS, "first columns")
    head = ["Column", *(name for name, _ in given)]
    return table("Centre and scales that were used", head, rows, note=note)


def attachment(release: Release) -> str:
    """The release file itself, where it is small enough to travel inside the report."""
    text = json.dumps(release.to_dict(), indent=1, allow_nan=False) + "\n"
    return text if len(text) <= _LARGEST_ATTACHMENT else ""
