"""Quantiles by noisy bisection: counts of what lies at or below a point, halving after halving."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gdppca.noise import Noise, noised
from gdppca.privacy import Event
from gdppca.sensitivity import REPLACING, Moves
from gdppca.steps.base import gaussian_event


def bisection_events(
    levels: int, halving: tuple[str, float], last: tuple[str, float]
) -> tuple[Event, ...]:
    """What so many halvings and a last draw spend, by purpose and multiplier; one where exact."""
    rest = gaussian_event(*last)
    return (rest,) if last[1] == 0 else (gaussian_event(*halving),) * levels + (rest,)


def bisected(
    values: np.ndarray,
    wanted: np.ndarray | float,
    point: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    levels: int,
    multiplier: float,
    noise: Noise,
    moves: Moves = REPLACING,
    less: float = 0.0,
) -> np.ndarray:
    """Index k per point such that about the wanted count lies at or below ``point(k + 1)``.

    `values` has one column for each column of `start`; brackets are 2**levels wide at first. Each
    halving is one draw, whose counts move by at most one each. Where the number of values is secret
    a count is less by a share of that number, so that none is wanted: one value more adds 1 - share
    or -share, and still moves it by at most one.
    """
    index = start
    for level in reversed(range(levels)):
        middle = index + 2**level
        points = np.atleast_2d(point(middle))
        counts = np.stack([np.count_nonzero(values <= each, axis=0) for each in points])
        exact = counts.reshape(index.shape) - less * len(values)
        bound = moves.counts_below(exact.size)
        reached = noised(exact, multiplier, bound, noise).values >= wanted
        index = np.where(reached, index, middle)
    return index
