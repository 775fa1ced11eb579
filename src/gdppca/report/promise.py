"""What is promised to whom, and what is not, for people who decide about data."""

from __future__ import annotations

import math
from typing import Any

from gdppca.privacy import words as plain
from gdppca.releases import Release
from gdppca.report.words import percent, power

_BELIEFS = (0.01, 0.1, 0.5)


def verdict(release: Release) -> dict[str, Any]:
    """What the report opens with."""
    guarantee = release.guarantee
    level, headline = plain.level(guarantee), plain.headline(guarantee)
    large_delta = guarantee.protects and guarantee.delta >= 1 / release.n_samples
    if large_delta and level is plain.Level.PROTECTED:
        level, headline = plain.Level.DOUBTFUL, plain.WEAKLY
    return {
        "level": str(level),
        "headline": headline,
        "meaning": plain.meaning(guarantee),
        "formal": str(guarantee),
        "reason": guarantee.reason if guarantee.status == "high-probability" else "",
        "large_delta": large_delta,
    }


def tiles(release: Release) -> list[dict[str, str]]:
    """Four numbers to remember."""
    guarantee = release.guarantee
    loss, odds, failure = "∞", "no limit to what it may give away", "certain"
    if guarantee.protects:
        loss = plain.rounded_up(guarantee.epsilon, 4)
        odds = f"odds change {plain.factor(guarantee.epsilon)}"
        failure = plain.chance(guarantee.delta)
    columns = f"of {release.n_features:,} column{'s' * (release.n_features != 1)}"
    return [
        {"label": "Privacy loss ε", "value": loss, "note": odds},
        {"label": "Chance of failure δ", "value": failure, "note": f"δ = {power(guarantee.delta)}"},
        {"label": "People", "value": f"{release.n_samples:,}", "note": "one row each"},
        {"label": "Components", "value": f"{len(release.components)}", "note": columns},
    ]


def promised(release: Release) -> list[tuple[str, str]]:
    """Who is protected, from whom, from what and how strongly."""
    guarantee = release.guarantee
    if not guarantee.protects:
        return _nothing(release)
    return [
        ("Who", f"Every person who is one row of the table, {release.n_samples:,} in all."),
        (
            "From whom",
            "Everybody who reads the release or this report, today or in the future, whatever "
            "else they know and however much they compute.",
        ),
        ("From what", _what(release)),
        (
            "How strongly",
            f"Epsilon is {plain.rounded_up(guarantee.epsilon, 4)}: the odds of any guess about "
            f"one person change {plain.factor(guarantee.epsilon)}, which is e to the power "
            f"epsilon. {plain.strength(guarantee.epsilon)}",
        ),
        (
            "How surely",
            f"Delta is {power(guarantee.delta)}: the promise may fail with a probability of at "
            f"most {plain.chance(guarantee.delta)}.",
        ),
        (
            "By what means",
            "Random noise of a known size was added before anything left the table. The noise "
            "was not kept, so nobody can take it away again.",
        ),
    ]


def _what(release: Release) -> str:
    change = (
        "replaced by any other"
        if release.guarantee.neighbors == "replace-one"
        else "added or left out"
    )
    return (
        "Conclusions about what stands in their row. What the release suggests about one person, "
        f"it could suggest just as well with that person’s row {change}; epsilon says how nearly."
    )


def _nothing(release: Release) -> list[tuple[str, str]]:
    guarantee = release.guarantee
    rows = [("Who", "Nobody."), ("Why", plain.meaning(guarantee))]
    if guarantee.seeded and math.isfinite(guarantee.nominal_epsilon):
        rows.append(
            (
                "With secret noise",
                f"The same noise, drawn in secret, would give epsilon "
                f"{plain.rounded_up(guarantee.nominal_epsilon, 4)} at delta "
                f"{power(guarantee.delta)}. That says nothing about this release.",
            )
        )
    return rows


def beliefs(release: Release) -> list[dict[str, Any]]:
    """What somebody who knows all other rows may believe before and after."""
    if not release.guarantee.protects:
        return []
    return [_belief(before, release.guarantee.epsilon) for before in _BELIEFS]


def _belief(before: float, epsilon: float) -> dict[str, Any]:
    low, high = plain.belief_after(before, epsilon)
    return {
        "before": percent(before),
        "low": percent(low, math.floor),
        "high": percent(high, math.ceil),
        "left": round(100 * low, 2),
        "right": round(100 * (1 - high), 2),
        "at": round(100 * before, 2),
    }


def not_promised(release: Release) -> list[tuple[str, str]]:
    """What a reader might think is covered, and is not."""
    return [
        (
            "What is true of groups.",
            "If two measurements rise together in the table, the release says so, and anybody may "
            "apply that to any person, in the table or not. That is its purpose.",
        ),
        (
            "The number of rows and the names of the columns.",
            "They count as public and stand here as they are.",
        ),
        (
            "Scores of single people.",
            "A score that the components give to one person’s row is that person’s data. Keep it "
            "where the rows are.",
        ),
        (
            "Other releases.",
            "Every further release about the same people adds to what can be learned. This report "
            "is about one.",
        ),
        ("The table itself.", "Who may open it and how it is stored is not covered here."),
    ]
