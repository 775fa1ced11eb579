r"""Everything that is drawn on the way to a release, overheard.

A promise covers every noisy number, also those that are used and thrown away: the looks behind a
private centre, the counts behind a scale. So the attacker is given all of them. A run on one of the
tables is overheard; then it is repeated on both, with what was drawn in place of new noise, and
shows what either table would have added the noise to. Given what was drawn before, each draw is
Gaussian around one of two known vectors :math:`v_1, v_2`, so the best score is the sum of
:math:`\langle y - (v_1 + v_2)/2,\ v_1 - v_2\rangle/\sigma^2`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gdppca.auditing.experiment import Claim, Experiment
from gdppca.noise import (
    AllDrawn,
    Draw,
    Noise,
    OrderKeys,
    Overheard,
    Repeated,
    secure_noise,
)

Mechanism = Callable[[Any, Noise], Any]

RUNS_OF_DEAR = 3000  # where a run draws much; noise too small by √2 is still found out


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


@dataclass(eq=False, repr=False)
class _Coupled(Repeated):
    """The same orders, also where the last row or person is there on one of the tables alone.

    Random pairs stay but for one: of an odd number somebody is left out, and the one in question
    takes that one's place, or gives it back (docs/proofs/add-remove.md, theorem 3).
    """

    of_persons: bool = False  # who are numbered, and in the order of their secret keys

    def __post_init__(self) -> None:
        """Nobody is known by a key yet."""
        super().__post_init__()
        self._keys: OrderKeys | None = None

    def keys(self) -> OrderKeys:
        """The keys that were drawn, noted down."""
        self._keys = super().keys()
        return self._keys

    def permutation(self, n: int) -> np.ndarray:
        """The order that was drawn, with the one in question or without."""
        order = super().permutation(n)
        place = self._place(max(n, len(order)))
        match n - len(order):
            case 1:
                others = order + (order >= place)
                return np.concatenate([[place], others[1:], others[:1]])
            case -1:
                others = np.where(order == place, order[-1], order)[:-1]
                return np.asarray(others - (others > place))
        return order

    def _place(self, n: int) -> int:
        """Where the last one of so many is."""
        if not self.of_persons or self._keys is None:
            return n - 1
        *others, own = self._keys.named(np.arange(n))[:, 0]
        return int(np.sum(np.array(others) < own))


def repeated(mechanism: Mechanism, table: Any, draws: Sequence[Draw]) -> list[Draw]:
    """What the mechanism would have been about to add noise to, had it drawn the same."""
    of_persons = getattr(table, "said", {}).get("persons") is not None
    again = _Coupled(draws, stop=True, of_persons=of_persons)
    with suppress(AllDrawn):
        mechanism(table, again)
    return again.draws


def attacker(
    mechanism: Mechanism, tables: tuple[Any, Any], usual: int | None = None
) -> Callable[[Heard], float]:
    """Log-likelihood ratio of all Gaussian draws of a run, first table over second.

    It holds back where there were not as many as usual. Where noise is drawn once, both tables are
    asked once: on tables whose rows are all alike but one, an order of rows changes nothing, nor
    does a choice among rows of a person that are all alike.
    """
    known: list[list[Draw]] = []

    def score(heard: Heard) -> float:
        kinds = Counter(draw.kind for draw in heard.draws)
        if usual is not None and kinds["gaussian"] != usual:
            return 0.0
        if not known or kinds.total() - kinds["permutation"] - kinds["keys"] > 1:
            known[:] = (repeated(mechanism, table, heard.draws) for table in tables)
        return sum(
            gaussian_log_ratio(draw.drawn, one.exact, other.exact, one.scale)
            for draw, one, other in zip(heard.draws, *known, strict=True)
            if draw.kind == "gaussian"
        )

    return score


def overheard_experiment(
    name: str,
    tables: tuple[Any, Any],
    mechanism: Mechanism,
    claim: Claim,
    *,
    draws: int | None = None,
    runs: int = RUNS_OF_DEAR,
) -> Experiment:
    """An attacker who is given everything that is drawn; as for `attacker`."""
    return Experiment(
        name=name,
        tables=tables,
        run=partial(overheard, mechanism),
        score=attacker(mechanism, tables, draws),
        claim=claim,
        runs=runs,
    )


def gaussian_log_ratio(
    drawn: np.ndarray, first: np.ndarray, second: np.ndarray, sigma: float
) -> float:
    """Log-likelihood ratio of one Gaussian vector around either of two known ones."""
    step = (first - second) / sigma
    return float(np.vdot(step, (drawn - 0.5 * (first + second)) / sigma))
