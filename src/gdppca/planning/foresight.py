"""What a fit would say of public numbers before it draws: where noise would win, or may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gdppca._errors import ParameterError
from gdppca.design import Parameters, design_of
from gdppca.steps.base import Public


@dataclass(frozen=True)
class Foresight:
    """Whether private scales can be had, why a fit would be refused, and what it would warn of."""

    scaled: bool
    refusals: tuple[str, ...]
    doubts: tuple[str, ...]


def foreseen(public: Public, *, wants_scales: bool, **parameters: Any) -> Foresight:
    """Ask the design of a fit, with private scales where they are wanted and can be had."""
    if not wants_scales:
        return Foresight(False, *_said(public, **parameters))
    lost, doubts = _said(public, scale="private", **parameters)
    if not lost:
        return Foresight(True, (), doubts)
    without = _said(public, **parameters)
    return Foresight(False, lost + without[0], without[1])


def _said(public: Public, **parameters: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    missing = "rates" if public.gaps else "refuse"
    try:
        design = design_of(Parameters(missing=missing, **parameters), public)
    except ParameterError as error:
        return (str(error),), ()
    return tuple(design.lost), tuple(design.doubts)
