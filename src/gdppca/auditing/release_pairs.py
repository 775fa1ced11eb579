"""Neighbouring tables that the steps of a design tell apart best, as wide and long as its own.

Somebody's row, or all of a person's rows, lies far out in this direction or in a perpendicular one,
or is there or not. Where scales or missing cells are private, every column tells the tables apart:
the row lies far out in one half of them, or in the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gdppca import linalg
from gdppca.auditing.real_tables import Given, Tables
from gdppca.auditing.worst_pairs import reach_of
from gdppca.design import Design
from gdppca.kernels import OneSample
from gdppca.privacy import Unit
from gdppca.steps.centre import Centre
from gdppca.steps.rates import Rates
from gdppca.steps.refine import Refinement
from gdppca.steps.score_map import MapCounts

_FAR, _LESS_FAR = 1e100, 1e30  # beyond every centre that noise could bring
_SHORTER = 1e-10
_INSIDE = 0.999  # of a cut-off: the centre is noisy
_KEPT = 0.99  # of the longest, at any distance
_ROWS = (3, 40)  # of the one person, before and after
_WEIGHTS = (7.0, 0.5)  # of the one row, and of all others; 1 is the largest that counts


def worst_pair(design: Design) -> Tables:
    """Two neighbouring tables for a design, and what is said of their rows."""
    public = design.public
    first, second = _directions(design)
    others = _others(design)
    if public.unit is Unit.PERSON:
        return _of_persons(design, others, first, second)
    tables = [np.concatenate([others, row[None]]) for row in (first, second)]
    if not public.moves.replaces:  # there, or not
        tables[1] = others
    one, other = (Given(table, _said(design, table)) for table in tables)
    return one, other


def _others(design: Design) -> np.ndarray:
    """Everybody else: one unit away on all sides of a centre that is looked for, else at it.

    Of a secret number as many as make whole pairs: one more changes one of them.
    """
    public, (base, unit) = design.public, _frame(design)
    n, d = public.n_samples - 1, public.n_features
    if not public.moves.replaces:
        n += n % 2
    rows = np.tile(base, (n, 1))
    if design.step(Centre) is not None:
        column, side = np.divmod(np.arange(n) % (2 * d), 2)
        rows[np.arange(n), column] += np.where(side, -1.0, 1.0) * unit[column]
    return rows


def _frame(design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Where the rows lie, and the units of their columns, as far as they are public."""
    start, d = design.start, design.public.n_features
    places = (start.location, start.typical, np.zeros(d))
    base = next(place for place in places if place is not None)
    return base, np.ones(d) if start.scale is None else np.asarray(start.scale)


def _directions(design: Design) -> tuple[np.ndarray, np.ndarray]:
    """The one row on the first table and on the second: along the first column, or the second.

    Where every column tells, the row lies far out in half of them; one of these is so much longer
    that the direction is its own, and few entries of the matrix tell all.
    """
    public, (base, unit) = design.public, _frame(design)
    column = np.arange(public.n_features)
    everywhere = design.step(Refinement) is not None or design.step(Rates) is not None
    rows = []
    for first, far in zip((0, 1), _lengths(design), strict=True):
        along = np.where(column == first, far, 0.0)
        if everywhere:
            told = (column % 2 == first) | np.array(not public.moves.replaces)
            along = np.where(told & (column != first), far * _SHORTER, along)
        row = base + along * unit
        missing = public.gaps and public.moves.replaces
        rows.append(np.where((along > 0) | ~np.array(missing), row, np.nan))
    return rows[0], rows[1]


def _lengths(design: Design) -> tuple[float, float]:
    """How far out: beyond everything, or where a sign that falls off again keeps most."""
    sign = design.start.sign
    longest = reach_of(sign)
    if sign.radial(np.array([_LESS_FAR]))[0] >= _KEPT * sign.radial(np.array([longest]))[0]:
        return _FAR, _LESS_FAR
    paired = design.step(Centre) is None and not isinstance(design.start.scheme, OneSample)
    length = longest * _INSIDE * (linalg.SQRT2 if paired else 1.0)
    return length, length


def _said(design: Design, rows: np.ndarray) -> dict[str, Any]:
    """What the owner of such a table says of it."""
    said: dict[str, Any] = {"gaps": design.public.gaps}
    if design.public.weighted:
        one, other = _WEIGHTS
        weights = np.full(len(rows), other)
        weights[-1] = one
        said |= {"weights": weights, "largest_weight": 1.0}
    shown = design.step(MapCounts)
    if shown is not None and shown.names is not None:
        said |= {"groups": [shown.names[0]] * len(rows), "categories": list(shown.names)}
    return said


def _of_persons(
    design: Design, others: np.ndarray, first: np.ndarray, second: np.ndarray
) -> Tables:
    """One person of few rows here or of many there, or there or not; others have one or two."""
    twice = np.arange(len(others)) % 4 < 2
    ids = np.concatenate([np.arange(len(others)), np.flatnonzero(twice)])
    known = Given(np.concatenate([others, others[twice]]), {"persons": ids})
    few, many = _ROWS
    tables = [
        known.with_person(np.tile(first, (few, 1))),
        known.with_person(np.tile(second, (many, 1))),
    ]
    if not design.public.moves.replaces:
        tables[1] = known
    one, other = (
        replace(table, said={**_said(design, table.rows), **table.said}) for table in tables
    )
    return one, other
