"""What is promised to whom, and what is not, for people who decide about data."""

from __future__ import annotations

import math
from typing import Any

from gdppca.privacy import words as plain
from gdppca.privacy.guarantee import Guarantee
from gdppca.privacy.words import percent
from gdppca.releases import Release
from gdppca.report.words import power


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
    loss, quoted = "∞", "nothing is promised"
    if guarantee.protects:
        loss, quoted = plain.rounded_up(guarantee.epsilon, 4), f"at δ = {power(guarantee.delta)}"
    columns = f"of {release.n_features:,} column{'s' * (release.n_features != 1)}"
    return [
        {"label": "Privacy loss ε", "value": loss, "note": quoted},
        {"label": "Odds of a guess", **_odds(guarantee)},
        {"label": "Rows", "value": f"{release.n_samples:,}", "note": "one per person is assumed"},
        {"label": "Components", "value": f"{len(release.components)}", "note": columns},
    ]


def _odds(guarantee: Guarantee) -> dict[str, str]:
    exceeded = plain.chance_of_more(guarantee)
    times = guarantee.odds_factor(exceeded)
    if not guarantee.protects:
        return {"value": "× ∞", "note": "no limit to what it may give away"}
    if times > plain.MILLION:
        return {"value": "× 1,000,000", "note": "or more: a guess may become certain"}
    value = f"× {plain.rounded_up(times, 3)}"
    return {"value": value, "note": f"at most, {plain.surely(exceeded)}"}


def promised(release: Release) -> list[tuple[str, str]]:
    """Who is protected, from whom, from what and how strongly."""
    guarantee = release.guarantee
    if not guarantee.protects:
        return _nothing(release)
    return [
        (
            "Who",
            f"Every person who has one row in the table, and no more. It has "
            f"{release.n_samples:,} rows; one per person is assumed.",
        ),
        (
            "From whom",
            "Everybody who reads the release or this report, today or in the future, whatever "
            "else they know and however much they compute.",
        ),
        ("From what", _what(release)),
        (
            "How strongly",
            f"{plain.meaning(guarantee)} In 95 of 100 such releases the odds rise "
            f"{plain.factor(guarantee.odds_factor(plain.SELDOM))}.",
        ),
        (
            "In technical terms",
            f"Epsilon is {plain.rounded_up(guarantee.epsilon, 4)} at a delta of "
            f"{power(guarantee.delta)}. {plain.strength(guarantee.epsilon)} The odds above are "
            "computed from the draws themselves, not from e to the power epsilon.",
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
        f"it could also suggest with that person’s row {change}; epsilon and delta say how nearly "
        "as likely."
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


def beliefs(release: Release) -> dict[str, Any] | None:
    """What somebody who knows all other rows may believe before and after."""
    guarantee = release.guarantee
    if not guarantee.protects:
        return None
    exceeded = plain.chance_of_more(guarantee)
    times, mostly = guarantee.odds_factor(exceeded), guarantee.odds_factor(plain.SELDOM)
    return {
        "guess": _guess(release),
        "chance": plain.chance(exceeded) if exceeded else "",
        "rows": [_belief(before, times, mostly) for before in plain.GUESSES],
    }


def _guess(release: Release) -> str:
    if release.guarantee.neighbors == "replace-one":
        return "makes a guess about the one that is left: is this person ill, or over sixty?"
    return "guesses whether one person’s row is in it."


def _belief(before: float, times: float, mostly: float) -> dict[str, Any]:
    low, high = plain.belief_after(before, times)
    return {
        "before": percent(before),
        "low": percent(low, math.floor),
        "high": percent(high, math.ceil),
        "mostly": percent(plain.belief_after(before, mostly)[1], math.ceil),
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
            "More than one row.",
            "Whoever has several rows in the table, or relatives in it who are much alike, is "
            "protected less: each row is hidden by itself, not all of them together.",
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
