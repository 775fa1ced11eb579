"""Attacks on fits of tables as people have them: several rows of a person, gaps, secret sizes.

Somebody has few huge rows in this direction, or many less huge ones in a perpendicular one; or is
there or not; or lacks this cell or that one. As elsewhere the attacker knows all other rows and is
given everything that is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gdppca.auditing.draws import RUNS_OF_DEAR, overheard_experiment
from gdppca.auditing.experiment import Experiment, claim_of
from gdppca.estimators import DPPCA
from gdppca.noise import Noise

_FAR, _LESS_FAR = 1e100, 1e30  # beyond every centre that noise could bring
_OTHERS = 400  # persons or rows: a centre takes little of the budget then
_FEW = 8  # where the centre is public
_ROWS = (3, 40)  # of the one person, before and after


@dataclass(frozen=True, eq=False)
class Given:
    """A table, and what its owner says of it to `fit`."""

    rows: np.ndarray
    said: dict[str, Any] = field(default_factory=dict)

    def with_person(self, rows: np.ndarray) -> Given:
        """The same with one more person, whose rows come last."""
        ids = self.said["persons"]
        own = np.full(len(rows), int(ids.max()) + 1)
        said = {**self.said, "persons": np.concatenate([ids, own])}
        return Given(np.concatenate([self.rows, rows]), said)


Tables = tuple[Given, Given]


def experiment_of(
    tables: Callable[[], Tables], **parameters: Any
) -> Callable[[float, float], Experiment]:
    """How a fit with these parameters is attacked, at any budget."""

    def made(epsilon: float, delta: float) -> Experiment:
        def mechanism(table: Given, noise: Noise | None) -> DPPCA:
            pca = DPPCA(1, epsilon=epsilon, delta=delta, random_state=noise, **parameters)
            return pca.fit(table.rows, **table.said)

        both = tables()
        guarantee = mechanism(both[0], None).guarantee_
        dear = "location" not in parameters
        return overheard_experiment(
            f"DPPCA, {guarantee.unit}, {guarantee.neighbors}",
            both,
            mechanism,
            claim_of(guarantee, epsilon),
            runs=RUNS_OF_DEAR if dear else Experiment.runs,
        )

    return made


def persons(others: int = _OTHERS) -> Tables:
    """Few huge rows of one person, or many less huge ones in a perpendicular direction.

    The others have one row or two each, on all sides; or at the centre, where that is public.
    """
    around = np.tile([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], (others // 4, 1))
    if others == _FEW:
        around = np.zeros_like(around)
    twice = np.arange(others) % 8 < 4  # as many on every side
    ids = np.concatenate([np.arange(others), np.flatnonzero(twice)])
    known = Given(np.concatenate([around, around[twice]]), {"persons": ids})
    few, many = _ROWS
    first = np.tile([_FAR, 0.0], (few, 1))
    second = np.tile([0.0, _LESS_FAR], (many, 1))
    return known.with_person(first), known.with_person(second)


def few_persons() -> Tables:
    """The same of few persons, all others at the origin."""
    return persons(_FEW)


def present_or_not() -> Tables:
    """A huge row, or none; as many others as make the walk to their centre short."""
    known, _ = _around()
    there = np.concatenate([known, [[_FAR, 0.0]]])
    return Given(there), Given(known)


def person_present_or_not() -> Tables:
    """A person of many huge rows, or none."""
    known = Given(_around()[0], {"persons": np.arange(_OTHERS)})
    return known.with_person(np.tile([_FAR, 0.0], (_ROWS[1], 1))), known


def this_cell_or_that() -> Tables:
    """A row that lacks its second cell, or its first; the other one is huge."""
    first, second = _around()
    first[0], second[0] = [_FAR, np.nan], [np.nan, _LESS_FAR]
    return Given(first), Given(second)


def heavy_row() -> Tables:
    """A row of the largest weight along this column or along that; all others weigh half of it."""
    first, second = np.zeros((2, _FEW, 2))
    first[0, 0] = second[0, 1] = _FAR
    weights = np.full(_FEW, 0.5)
    weights[0] = 7.0
    known = Given(first, {"weights": weights, "largest_weight": 1.0})
    return known, replace(known, rows=second)


def _around() -> tuple[np.ndarray, np.ndarray]:
    sides = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    rows = np.tile(sides, (_OTHERS // 4, 1))
    return rows, rows.copy()
