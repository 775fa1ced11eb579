r"""Everything that is drawn on the way to a release, overheard.

A promise covers every noisy number, also those that are used and thrown away: the looks behind a
private centre, the counts behind a scale. So the attacker is given all of them. A run on one of the
tables is overheard; then it is repeated on both, with what was drawn in place of new noise, and
shows what either table would have added the noise to. Given what was drawn before, each draw is
Gaussian around one of two known vectors :math:`v_1, v_2`, so the best score is the sum of
:math:`\langle y - (v_1 + v_2)/2,\ v_1 - v_2\rangle/\sigma^2`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca.noise import AllDrawn, Draw, Noise, Overheard, Repeated, secure_noise

Mechanism = Callable[[Any, Noise], Any]


@dataclass(frozen=True)
class Heard:
    """What a run published, and everything that it drew, in order."""

    published: Any
    draws: tuple[Draw, ...]


def overheard(mechanism: Mechanism, table: Any) -> Heard:
    """Run a mechanism with its real noise and listen."""
    ear = Overheard(secure_noise())
    published = mechanism(table, ear)
    return Heard(published, tuple(ear.draws))


def repeated(mechanism: Mechanism, table: Any, draws: Sequence[Draw]) -> list[Draw]:
    """What the mechanism would have been about to add noise to, had it drawn the same."""
    again = Repeated(draws, stop=True)
    with suppress(AllDrawn):
        mechanism(table, again)
    return again.draws


def log_ratio(mechanism: Mechanism, tables: tuple[Any, Any], draws: Sequence[Draw]) -> float:
    """Log-likelihood ratio of all Gaussian draws, first table over second."""
    first, second = (repeated(mechanism, table, draws) for table in tables)
    return sum(
        gaussian_log_ratio(draw.drawn, one.exact, other.exact, one.scale)
        for draw, one, other in zip(draws, first, second, strict=True)
        if draw.kind == "gaussian"
    )


def gaussian_log_ratio(
    drawn: np.ndarray, first: np.ndarray, second: np.ndarray, sigma: float
) -> float:
    """Log-likelihood ratio of one Gaussian vector around either of two known ones."""
    step = (first - second) / sigma
    return float(np.vdot(step, (drawn - 0.5 * (first + second)) / sigma))
