"""What an audit found of the release that is reported about."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from gdppca._errors import ParameterError
from gdppca._words import percent
from gdppca.plots.audit import bound_and_claim
from gdppca.releases import Release
from gdppca.report.findings import with_picture

_CURVES = ("rates", "claimed", "bound", "band")
_NUMBERS = ("epsilon_lower", "epsilon_reachable", "confidence", "runs", "paths", "largest_move")
_WORDS = ("made_by", "attacked_version")
_MOST_POINTS = 2000
_TITLE, _HEIGHT = "Trade-off of the two errors", 6.5


def audited(release: Release, plain: Any) -> dict[str, Any]:
    """Numbers, words and a picture of an audit in its plain form, which must be of this release."""
    _require_audit(plain)
    if plain["checksum"] != release.checksum:
        raise ParameterError("`audit` is of another release: audit this one.")
    curves = [np.array(plain["curves"][name], dtype=float) for name in _CURVES]
    facts = {name: plain[name] for name in (*_NUMBERS, *_WORDS, "refuted", "table")}
    facts["right"] = percent(1 - plain["wrong_guesses"] / plain["runs"])
    facts["epsilon"] = release.guarantee.nominal_epsilon
    picture = with_picture("audit", _TITLE, partial(_drawn, curves), _HEIGHT, facts)
    return {**facts, "figure": picture}


def _drawn(curves: list[np.ndarray], figure: Any) -> None:
    rates, claimed, bound, band = curves
    bound_and_claim((rates, claimed, bound), figure.subplots(), band, legend="below")


def _require_audit(plain: Any) -> None:
    """Refuse what an audit of a release does not look like; no more of it is believed than this."""
    problem = ParameterError(
        "`audit` must be what an audit of a release gave: audit(release).to_dict(), or what "
        "gdppca audit --release ... --json printed."
    )
    if not isinstance(plain, dict):
        raise problem
    numbers = [plain.get(name) for name in (*_NUMBERS, "wrong_guesses")]
    words = [plain.get(name) for name in (*_WORDS, "checksum")]
    table, curves = plain.get("table"), plain.get("curves")
    shaped = isinstance(table, list) and len(table) == 2 and _are_numbers(table)
    fits = isinstance(plain.get("refuted"), bool) and shaped and _are_curves(curves)
    if not fits or not _are_numbers(numbers) or not all(isinstance(word, str) for word in words):
        raise problem
    if not plain["runs"] >= 1 or not 0 <= plain["wrong_guesses"] <= plain["runs"]:
        raise problem


def _are_numbers(values: list[Any]) -> bool:
    return all(
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        for value in values
    )


def _are_curves(curves: Any) -> bool:
    if not isinstance(curves, dict) or not all(
        isinstance(curves.get(name), list) for name in _CURVES
    ):
        return False
    lengths = {len(curves[name]) for name in _CURVES}
    few = len(lengths) == 1 and max(lengths) <= _MOST_POINTS
    return few and all(_are_numbers(curves[name]) for name in _CURVES)
