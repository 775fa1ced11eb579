r"""Everything that is drawn on the way to a release, overheard.

A promise covers every noisy number, also those that are used and thrown away: the looks behind a
private centre, the counts behind a scale. So the attacker is given all of them. A run on one of the
tables is overheard; then it is repeated on both, with what was drawn in place of new noise, and
shows what either table would have added the noise to. Given what was drawn before, each draw is
Gaussian around one of two known vectors :math:`v_1, v_2`, so the best score is the sum of
:math:`\langle y - (v_1 + v_2)/2,\ v_1 - v_2\rangle/\sigma^2`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca.estimators import analyze_gauss, sgpca
from gdppca.noise.bits import SecureRng
from gdppca.releases import spectrum
from gdppca.steps import centre, histogram, quantile, scale, scatter, winsorized_mean

_DRAWING = (
    analyze_gauss,
    histogram,
    winsorized_mean,
    quantile,
    scale,
    scatter,
    sgpca,
    centre,
    spectrum,
)
_MECHANISMS = ("add_gaussian", "integer_laplace", "noisy_argmax")
_one_at_a_time = threading.RLock()

Mechanism = Callable[[Any], Any]
Ear = Callable[[str, Callable[..., Any], tuple[Any, ...]], Any]


class _AllDrawn(BaseException):
    """Ends a repeated run after its last draw: what follows is post-processing."""


@dataclass(frozen=True)
class Draw:
    """One call of a mechanism: what it was given, and what it gave."""

    name: str
    given: tuple[Any, ...]
    drawn: Any


@dataclass(frozen=True)
class Overheard:
    """What a run published, and everything that it drew, in order."""

    published: Any
    draws: tuple[Draw, ...]


def overheard(mechanism: Mechanism, table: Any) -> Overheard:
    """Run a mechanism with its real noise and listen."""
    draws = []

    def hear(name: str, draw: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        drawn = draw(*given)
        draws.append(Draw(name, given, drawn))
        return drawn

    with _listening(hear):
        published = mechanism(table)
    return Overheard(published, tuple(draws))


def log_ratio(mechanism: Mechanism, tables: tuple[Any, Any], draws: tuple[Draw, ...]) -> float:
    """Log-likelihood ratio of all Gaussian draws, first table over second."""
    first, second = (_given_on(mechanism, table, draws) for table in tables)
    return sum(
        gaussian_log_ratio(draw.drawn, one[0], other[0], one[1])
        for draw, one, other in zip(draws, first, second, strict=True)
        if draw.name == "add_gaussian"
    )


def gaussian_log_ratio(
    drawn: np.ndarray, first: np.ndarray, second: np.ndarray, sigma: float
) -> float:
    """Log-likelihood ratio of one Gaussian vector around either of two known ones."""
    step = (first - second) / sigma
    return float(np.vdot(step, (drawn - 0.5 * (first + second)) / sigma))


def _given_on(mechanism: Mechanism, table: Any, draws: tuple[Draw, ...]) -> list[tuple[Any, ...]]:
    """What the mechanism would have been about to add noise to, had it drawn the same."""
    given_here: list[tuple[Any, ...]] = []

    def repeat(name: str, draw: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        given_here.append(given)
        if len(given_here) == len(draws):
            raise _AllDrawn
        return draws[len(given_here) - 1].drawn

    with _listening(repeat), suppress(_AllDrawn):
        mechanism(table)
    return given_here


@contextmanager
def _listening(ear: Ear) -> Iterator[None]:
    """Put an ear between this thread and every mechanism; other threads notice nothing."""
    thread = threading.get_ident()

    def heard(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            return ear(name, draw, given) if threading.get_ident() == thread else draw(*given)

        return call

    places: list[tuple[Any, str]] = [(SecureRng, "permutation")]
    places += [(room, name) for room in _DRAWING for name in _MECHANISMS if hasattr(room, name)]
    with _one_at_a_time:
        exact = [getattr(place, name) for place, name in places]
        try:
            for (place, name), draw in zip(places, exact, strict=True):
                setattr(place, name, heard(name, draw))
            yield
        finally:
            for (place, name), draw in zip(places, exact, strict=True):
                setattr(place, name, draw)
