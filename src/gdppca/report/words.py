"""Words and numbers as a report writes them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gdppca.privacy import ApproximateEvent, Event, GaussianEvent, PureEvent
from gdppca.releases import Release

TO_FILL_IN = "To be filled in by the data owner."

_PURPOSES = {
    "scatter": "the matrix that the components come from",
    "projection": "the matrix that the components come from",
    "radius": "the length beyond which differences are cut",
    "centre": "the centre of the table",
    "location": "the centre of the table",
    "bounds of the location": "rough bounds of the centre",
    "scale": "the scale of each column",
    "variances": "the variance of the scores",
    "bounds of the variances": "rough bounds of those variances",
    "score map": "the counts of the map",
    "score map frame": "the frame of the map",
    "score map threshold": "the threshold of the map",
    "start": "a first guess of the components",
    "descent": "the steps that improve the components",
}
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
_SIGNS = {
    "spherical": "only its direction was kept, whatever its length",
    "winsor": "it was shortened to a given length if longer",
    "trimmed": "its direction was kept, or nothing if it was too long",
    "ball": "it was kept, or nothing if it was too long",
}
_PAIRS = {
    "all": "every pair of rows",
    "halves": "pairs of rows, each row in one pair",
    "one-sample": "every row and one centre",
    "merged": "as in the releases of the groups that were merged",
}


def purpose_in_words(purpose: str) -> str:
    """What a draw was for; a purpose that is not known speaks for itself."""
    return _PURPOSES.get(purpose, purpose)


def event_in_words(event: Event) -> str:
    """One draw and its strength."""
    what = purpose_in_words(event.purpose)
    match event:
        case GaussianEvent(noise_multiplier=multiplier):
            return f"{what}: Gaussian noise, {multiplier:.4g} times the sensitivity"
        case PureEvent(epsilon=epsilon):
            return f"{what}: a pure step of epsilon {epsilon:.4g}"
        case ApproximateEvent(epsilon=epsilon, delta=delta):
            return f"{what}: noisy steps, epsilon {epsilon:.4g} and delta {delta:.4g}"
        case _:
            return f"{what}: no noise at all"


def spends(purposes: Collection[str], what: str) -> bool:
    """Whether some draw was for the centre or for the scale."""
    words = ("centre", "location") if what == "centre" else (what,)
    return any(word in purpose for purpose in purposes for word in words)


def pairs_in_words(release: Release) -> str:
    """What was compared with what."""
    if release.scheme is None:
        return "see the method's own description"
    if release.scheme["name"] == "blocks":
        return f"rows inside random blocks of {release.scheme['size']}"
    return _PAIRS[release.scheme["name"]]


def sign_in_words(release: Release) -> str:
    """What was kept of a difference."""
    if release.sign is None:
        return "see the method's own description"
    name = release.sign["name"]
    cut_offs = ", ".join(f"{key} {value:.4g}" for key, value in release.sign["parameters"].items())
    called = f"{name} sign" + (f" ({cut_offs})" if cut_offs else "")
    return f"{called}: {_SIGNS[name]}" if name in _SIGNS else called


def method_in_words(release: Release) -> str:
    """One sentence about the method."""
    if release.sign is None or release.scheme is None:
        return f"Method: {release.method}."
    return (
        f"Method: {release.method}, comparing {pairs_in_words(release)}; of each difference, "
        f"{sign_in_words(release)}."
    )


def noise_in_words(events: Sequence[Event]) -> str:
    """The noise of all draws for one purpose."""
    match events:
        case [GaussianEvent(noise_multiplier=multiplier)]:
            return f"Gaussian, {multiplier:.3g} × sensitivity"
        case [PureEvent()]:
            return "pure step"
        case [ApproximateEvent()]:
            return "noisy steps"
    kinds = {GaussianEvent: "Gaussian", PureEvent: "pure", ApproximateEvent: "noisy"}
    drawn = dict.fromkeys(kinds.get(type(event), "NONE") for event in events)
    if "NONE" in drawn:
        return "NONE"
    return f"{' and '.join(drawn)}, {counted(len(events), 'draw')}"


def origin_in_words(release: Release, what: str, value: object) -> str:
    """Where a centre or a scale came from."""
    if value is None:
        return "none needed" if what == "centre" else "columns as they were"
    private = spends({event.purpose for event in release.guarantee.events}, what)
    return "private, paid from the budget" if private else "public, given by the data owner"


def capital(text: str) -> str:
    """The first letter large."""
    return text[:1].upper() + text[1:]


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


def signed(number: float) -> str:
    """Two decimals with a sign, unless they are zero."""
    text = f"{number:+.2f}"
    return text[1:] if float(text) == 0 else with_minus(text)


def decimal(number: float, digits: int = 4) -> str:
    """So many decimals."""
    return with_minus(f"{number:.{digits}f}")


def listed(things: Sequence[str]) -> str:
    """One, two and three."""
    return " and ".join(filter(None, (", ".join(things[:-1]), things[-1])))


def with_minus(number: str) -> str:
    """The same with a true minus, as wide as a plus."""
    return number.replace("-", "−")


def power(number: float) -> str:
    """A small number as people write it: 0.000001 or 10⁻⁹, and not 1e-06."""
    if number >= 1e-3:
        return f"{number:.4g}"
    if number >= 1e-7:
        return f"{float(f'{number:.4g}'):.12f}".rstrip("0")
    exponent = math.floor(math.log10(number) + 1e-12)
    lead = f"{number / 10.0**exponent:.3g}"
    ten = "10" + str(exponent).translate(_RAISED)
    return ten if lead == "1" else f"{lead} × {ten}"


def counted(number: int, what: str) -> str:
    """A number of things, small ones as a word."""
    many = _SMALL[number] if number < len(_SMALL) else f"{number:,}"
    return f"{many} {what}{'' if number == 1 else 's'}"


_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
