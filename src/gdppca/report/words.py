"""Names, numbers and tables as a report writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gdppca._words import capital, power, with_minus

TO_FILL_IN = "To be filled in by the data owner."

_PLANNED = {
    "n_samples": "Rows",
    "n_features": "Columns",
    "n_components": "Components",
    "epsilon": "Epsilon",
    "delta": "Delta",
    "statistic": "Rows are compared by",
    "spectrum": "Taken for known",
    "sin_theta": "Error of the components together",
    "per_component": "Error of each component",
    "noise_sd": "Noise, standard deviation",
    "detectable": "Components above the noise",
}


def plain_name(key: str) -> str:
    """A key of a plan as a person reads it."""
    return _PLANNED.get(key, capital(key.replace("_", " ").strip()))


def flattened(plain: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested plain data as lines of name and text."""
    for key, value in plain.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flattened(value, f"{name}: ")
        else:
            yield name, _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return power(value) if value > 0 else with_minus(f"{value:.4g}")
    if isinstance(value, int):
        return with_minus(f"{value:,}")
    if isinstance(value, list | tuple):
        return ", ".join(_text(entry) for entry in value)
    return "—" if value is None else str(value)


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    note: str = "",
    named_above: bool = False,
) -> dict[str, Any]:
    """A table whose first column names the rows; a cell may bring small print after a line break.

    The caption may say what the heading above does; then it is for screen readers alone.
    """
    return {
        "caption": caption,
        "named_above": named_above,
        "head": list(head),
        "rows": [{"name": row[0], "cells": [_cell(text) for text in row[1:]]} for row in rows],
        "note": note,
    }


def _cell(text: str) -> dict[str, str]:
    first, _, small = text.partition("\n")
    return {"text": first, "small": small}


def rest(total: int, shown: int, what: str) -> str:
    """What a shortened table leaves out."""
    return f"The {what}, {shown} of {total:,}; the release file has all." if total > shown else ""
