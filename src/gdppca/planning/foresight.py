"""What a fit would say of public numbers before it draws: where noise would win, or may."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gdppca._errors import ParameterError
from gdppca.design import Design, Parameters, design_of
from gdppca.privacy import Event
from gdppca.steps.base import Public


@dataclass(frozen=True)
class Foresight:
    """Whether private scales can be had, why a fit would be refused, and what it would warn of."""

    scaled: bool
    refusals: tuple[str, ...]
    doubts: tuple[str, ...]
    debit: tuple[Event, ...] = ()  # what a ledger would be debited by; nothing of a refused fit


def foreseen(public: Public, *, wants_scales: bool, **parameters: Any) -> Foresight:
    """Ask the design of a fit, with private scales where they are wanted and can be had."""
    if not wants_scales:
        return _said(public, **parameters)
    scaled = _said(public, scale="private", **parameters)
    lost = scaled.refusals or _lost_in_secret(public, scale="private", **parameters)
    if not lost:
        return replace(scaled, scaled=True)
    without = _said(public, **parameters)
    return replace(without, refusals=lost + without.refusals)


def _said(public: Public, **parameters: Any) -> Foresight:
    try:
        design = _designed(public, **parameters)
    except ParameterError as error:
        return Foresight(False, (str(error),), ())
    lost, doubts = tuple(design.lost), tuple(design.doubts)
    if not public.moves.replaces:  # nothing may be refused because of a secret number
        return Foresight(False, (), lost + doubts, design.debit)
    return Foresight(False, lost, doubts, () if lost else design.debit)


def _lost_in_secret(public: Public, **parameters: Any) -> tuple[str, ...]:
    """What the owner is told would be lost though no fit may refuse it."""
    return () if public.moves.replaces else tuple(_designed(public, **parameters).lost)


def _designed(public: Public, **parameters: Any) -> Design:
    missing = "rates" if public.gaps else "refuse"
    neighbors = str(public.moves.neighbors)
    return design_of(Parameters(missing=missing, neighbors=neighbors, **parameters), public)
