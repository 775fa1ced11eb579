r"""The draws of a run, made again many times on either table.

A run of the whole pipeline is overheard, and repeated on both tables with what was drawn. So for
each draw, given all that came before it, it is known what either table adds noise to. The noise of
that draw is then drawn again, by the same source, for a vector of the same length, as often as is
wanted; the statistics need not be computed again. A vector holds as many repetitions as it has room
for: numbers that are the same on both tables tell nothing and give way.

The promise covers every path that a run may take, step by step (docs/proofs/filter.md), so draws
that follow one real run are as private as it says, and so is any number of runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gdppca.auditing.draws import Mechanism, overheard, repeated
from gdppca.noise import Draw, Noise

_TELLING = 1e-9  # of the squared distance; numbers that move less tell nothing
_LITTLE = 0.01  # of all that the draws of a run tell
_CERTAIN = 100.0  # log-likelihood ratio of what only one of the tables asks for
_SCORED = ("gaussian", "laplace")
_EXACT = (*_SCORED, "argmax")


@dataclass(frozen=True, eq=False, repr=False)  # holds exact numbers of made-up rows
class Path:
    """What a run was about to add noise to, draw by draw, on the first table and on the second."""

    pairs: tuple[tuple[Draw, Draw], ...]
    alike: bool  # whether both tables ask for the same draws

    @classmethod
    def of(cls, mechanism: Mechanism, tables: Sequence[object], coin: int) -> Path:
        """Of a fresh run on one of the tables."""
        heard = overheard(mechanism, tables[coin]).draws
        again = repeated(mechanism, tables[1 - coin], heard)
        ordered = (heard, again) if coin == 0 else (again, heard)
        first, second = ([draw for draw in draws if draw.kind in _EXACT] for draws in ordered)
        alike = len(first) == len(second) and all(map(_same_request, first, second))
        return cls(tuple(zip(first, second, strict=False)), alike)

    @cached_property
    def scored(self) -> list[tuple[Draw, Draw]]:
        """Draws that are attacked: noise on numbers, not choices; those that tell most first.

        Small ones that together tell next to nothing are left out: they would take most of the
        time. How much a draw tells is known by the size that its noise is asked to have.
        """
        drawn = [pair for pair in self.pairs if pair[0].kind in _SCORED]
        told = np.array([float(np.sum(_squared_steps(*pair))) for pair in drawn])
        order = np.argsort(-told, kind="stable")
        left = np.cumsum(told[order][::-1])[::-1]  # by this one and all smaller ones
        return [drawn[k] for k in order[left > _LITTLE * told.sum()]]

    @property
    def mu(self) -> float:
        """μ of all Gaussian draws by how far the tables are apart, had the noise its size."""
        return math.hypot(
            *(
                one.moved_by(other.exact) * one.sensitivity / one.scale
                for one, other in self.pairs
                if one.kind == "gaussian"
            )
        )

    @property
    def largest_move(self) -> float:
        """How far a number or a vector moved at most, in shares of what its noise is made for."""
        return max((one.moved_by(other.exact) for one, other in self.pairs), default=0.0)

    def scores(self, coins: np.ndarray, noise: Noise) -> np.ndarray:
        """Log-likelihood ratios, first table over second, of all draws made again for each coin."""
        if not self.alike:
            return np.where(coins == 0, _CERTAIN, -_CERTAIN)
        total = np.zeros(len(coins))
        for one, other in self.scored:
            total += _drawn_again(one, other, coins, noise)
        return total


def _same_request(one: Draw, other: Draw) -> bool:
    shapes = np.shape(one.exact) == np.shape(other.exact)
    return shapes and (one.kind, one.scale) == (other.kind, other.scale)


def _drawn_again(one: Draw, other: Draw, coins: np.ndarray, noise: Noise) -> np.ndarray:
    """Log-likelihood ratios of one draw, made again on the table of each coin."""
    first, second = np.ravel(one.exact), np.ravel(other.exact)
    apart = _squared_steps(one, other)
    telling = np.flatnonzero(apart > _TELLING * apart.sum())
    if not len(telling):
        return np.zeros(len(coins))
    asked = np.where(coins[:, None] == 0, first[telling], second[telling])
    noisy = np.empty(asked.shape)
    each = first.size // len(telling)  # repetitions that a vector has room for
    for start in range(0, len(coins), each):
        part = asked[start : start + each]
        whole = first.copy()
        whole[: part.size] = part.ravel()
        drawn = np.ravel(_asked_of(noise, one, whole.reshape(np.shape(one.exact))))
        noisy[start : start + each] = drawn[: part.size].reshape(part.shape)
    return _log_ratio(one, noisy, first[telling], second[telling])


def _squared_steps(one: Draw, other: Draw) -> np.ndarray:
    """How far the tables are apart in every number, in units of its noise, squared."""
    return np.square((np.ravel(one.exact) - np.ravel(other.exact)) / one.scale)


def _asked_of(noise: Noise, draw: Draw, exact: np.ndarray) -> np.ndarray:
    if draw.kind == "laplace":
        return noise.laplace(exact, draw.scale)
    return noise.gaussian(exact, draw.scale, sensitivity=draw.sensitivity)


def _log_ratio(draw: Draw, noisy: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    if draw.kind == "laplace":
        nearer = np.abs(noisy - second) - np.abs(noisy - first)
        return np.asarray(nearer.sum(axis=1) / draw.scale)
    step = (first - second) / draw.scale
    return np.asarray((noisy - 0.5 * (first + second)) / draw.scale @ step)
