"""Sentences about parameters and options, in the words of the pages."""

from __future__ import annotations

import math
import re

LABELS = {
    "delimiter": "Sign between cells",
    "decimal": "Decimal sign",
    "thousands": "Sign between thousands",
    "encoding": "Letters",
    "skip": "Lines before the header",
    "sheet": "Sheet",
    "person": "Column that says who",
    "persons": "Column that says who",
    "weight": "Column of design weights",
    "weights": "Column of design weights",
    "largest_weight": "Largest weight",
    "largest-weight": "Largest weight",
    "epsilon": "Privacy loss ε",
    "delta": "Privacy δ",
    "n_components": "Number of components",
    "components": "Number of components",
    "variances": "Share for variances",
    "score_map": "Share for a map",
    "score-map": "Share for a map",
    "share of the variances": "Share for variances",
    "share of the map": "Share for a map",
    "scale": "Column scales",
    "scale_share": "Share for scales",
    "scale-share": "Share for scales",
    "axes": "Components of the map",
    "groups": "Groups on the map",
    "missing": "Missing cells",
    "neighbors": "What may differ",
    "levels": "Levels",
    "origin": "Counted from",
    "format": "How a date is written",
    "typical": "Typical value",
    "spread": "Usual spread",
    "dataset": "Name in the register",
    "columns": "Columns",
    "description": "Description",
    "table": "Description",
}
_IN_DESCRIPTION = re.compile(r",? or [a-z_]+(?: = (?:\"[^\"]*\"|'[^']*'))? in the description")
_NAMED = re.compile(r"`(?:--)?([\w -]+)(?:=[^`]*)?`|(?<![\w-])--([a-z-]+)")


def in_fields(sentence: str) -> str:
    """A message with the labels of fields where it names parameters of Python or options."""
    return _NAMED.sub(_labelled, _IN_DESCRIPTION.sub("", sentence))


def _labelled(found: re.Match[str]) -> str:
    label = LABELS.get(found[1] or found[2])
    return f"“{label}”" if label else found[0]


def degrees(sine: float) -> str:
    """An expected angle as people read it."""
    angle = math.degrees(math.asin(min(max(sine, 0.0), 1.0)))
    return "less than 1°" if angle < 1 else f"about {angle:.0f}°"


def quality(sine: float) -> str:
    """What an expected error comes to, in a word."""
    if sine < 0.15:
        return "good"
    return "usable" if sine < 0.4 else "rough" if sine < 0.7 else "hardly better than chance"


def lasting(seconds: float) -> str:
    """A span of time in a few words."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {10 * round(seconds / 10):.0f} seconds"
    return f"about {round(seconds / 60):.0f} minutes"


def size(number: float) -> str:
    """The size of a file."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
