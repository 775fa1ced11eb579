"""Whether a plan was made for the fit that it is given to: compared before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gdppca._errors import ParameterError
from gdppca._words import listed
from gdppca.design.design import Design
from gdppca.steps.centre import Centre
from gdppca.steps.refine import Refinement

_CALLED = {"scales": "scale"}  # what a fit calls otherwise
_SAME = 1e-9  # relative, of numbers that went through a file


def require_planned(plan: Mapping[str, Any], design: Design, n_components: Any) -> None:
    """Refuse a plan of another fit, and say what differs.

    Parameters
    ----------
    plan : mapping
        As `Plan.to_dict` gives it; what an earlier version did not write is not compared.
    design : Design
        The fit.
    n_components : int or str
        How many directions are asked for.
    """
    differing = list(_differing(plan, design, n_components))
    if differing:
        raise ParameterError(
            f"`plan` was made for another fit: {listed(differing)}. Plan this fit, or leave it "
            "out. Nothing was spent."
        )


def _differing(plan: Mapping[str, Any], design: Design, n_components: Any) -> Iterator[str]:
    public = design.public
    here: dict[str, Any] = {
        "n_features": public.n_features,
        "n_components": n_components,
        "epsilon": "infinity" if math.isinf(design.epsilon) else design.epsilon,
        "delta": design.delta,
        "unit": str(public.unit),
        "neighbors": str(public.moves.neighbors),
        "sign": str(design.start.sign.name),
        "scales": _scales(design),
    }
    if public.moves.replaces:  # a secret number is not compared with a guess
        here = {"n_samples": public.n_samples} | here
    for name, own in here.items():
        if name in plan and not _alike(plan[name], own):
            yield f"`{_CALLED.get(name, name)}` is {plan[name]} there and {own} here"
    if plan.get("missing", 0) and not public.gaps:
        yield "cells may be missing there and not here"
    if (way := plan.get("statistic")) in _NEEDS and not _NEEDS[way](design):
        yield f"rows are compared by {way} there and otherwise here"


def _alike(planned: Any, own: Any) -> bool:
    if isinstance(planned, str) or isinstance(own, str):
        return bool(planned == own)
    return math.isclose(planned, own, rel_tol=_SAME)


def _scales(design: Design) -> str:
    """What columns are divided by, as a plan calls it."""
    if design.step(Refinement) is not None:
        return "private"
    return "none" if design.start.scale is None else "public"


# What a way to compare rows takes; whether a private centre is found is not known beforehand.
_NEEDS = {
    "public centre": lambda design: design.start.location is not None,
    "private centre": lambda design: design.step(Centre) is not None,
    "pairs of rows": lambda design: design.start.location is None and not design.public.centred,
}
