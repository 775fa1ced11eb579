r"""Totals of everything that was spent, small however many events there were.

Gaussian steps merge into one, by :math:`\sum 1/m^2`; equal pure steps are counted; approximate
ones add up. The privacy loss of :math:`c` steps that are ε₀-private is dominated by that of
randomised response, :math:`(2J - c)\,\varepsilon_0` with J binomial (Kairouz, Oh, Viswanath 2015),
so the totals have an exact δ for every ε, computed from a few numbers. Only where too many
different ε₀ meet is the loss rounded, upwards, to a grid.

That number is true of steps that were fixed beforehand. Spends are not: each may be chosen by what
the ones before it showed. So a cap is held against a bound that is true in any case; see
docs/proofs/filter.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import binom

from gdppca.privacy.accounting import (
    gaussian_deltas,
    gaussian_epsilon,
    gaussian_multiplier,
    gdp_mu,
)
from gdppca.privacy.events import ApproximateEvent, Event, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.privacy.ledger import Budget

Steps = tuple[tuple[float, int], ...]  # ε of pure steps and how many there are of each

SLACK = 1e-9  # relative; calibrated noise meets its ε within this
_PATTERNS = 16_384  # atoms of a privacy loss that are kept apart
_KINDS = 64  # different ε₀ that are kept apart
_MANY = 64  # equal steps from which tails are cut
_TAIL = 1e-20  # probability of a loss that is called infinite instead
_SMALLEST = 1e-5  # an ε below is nothing


@dataclass(frozen=True, slots=True)
class Spending:
    """What was drawn from a data set, as totals.

    Parameters
    ----------
    gaussian : float
        Sum of 1/multiplier² over Gaussian steps.
    pure : tuple of (float, int)
        ε of pure steps and how many there were of each.
    approximate : tuple of (float, float)
        Sums of ε and δ of approximate steps.
    unprotected : int
        Number of steps without any noise.
    first : Spending or None
        The first spend, which was fixed before anything was seen; None where it is not known.

    Examples
    --------
    >>> from gdppca.ledgers.spending import Spending
    >>> from gdppca.privacy import GaussianEvent
    >>> once = GaussianEvent(purpose="scatter", noise_multiplier=4.2247)
    >>> spent = Spending().plus([once] * 4)
    >>> round(spent.epsilon(1e-6), 3)
    2.123
    """

    gaussian: float = 0.0
    pure: Steps = ()
    approximate: tuple[float, float] = (0.0, 0.0)
    unprotected: int = 0
    first: Spending | None = field(default=None, compare=False, repr=False)

    def plus(self, events: Iterable[Event]) -> Spending:
        """Totals after one more spend."""
        after = self._total(events)
        if self == Spending() != after:
            return replace(after, first=after)
        return after

    def _total(self, events: Iterable[Event]) -> Spending:
        gaussian, pure, unprotected = self.gaussian, Counter(dict(self.pure)), self.unprotected
        epsilon, delta = self.approximate
        for event in events:
            match event:
                case GaussianEvent(noise_multiplier=multiplier):
                    gaussian += multiplier**-2
                case PureEvent(epsilon=step):
                    pure[step] += 1
                case ApproximateEvent():
                    epsilon, delta = epsilon + event.epsilon, delta + event.delta
                case NonPrivateEvent():
                    unprotected += 1
        steps = tuple(sorted(pure.items()))
        return Spending(gaussian, steps, (epsilon, delta), unprotected, self.first)

    def epsilon(self, delta: float) -> float:
        """ε at δ of everything together, exactly, had all steps been fixed beforehand."""
        added, left = self.approximate[0], delta - self.approximate[1]
        if self.unprotected or left < 0:
            return math.inf
        return added + _epsilon(self.gaussian, self.pure, left)

    def bound(self, delta: float) -> float:
        """Upper bound on ε by one Gaussian; approximate steps are added."""
        added, left = self.approximate[0], delta - self.approximate[1]
        if self.unprotected or left <= 0:
            return math.inf
        return added + _gaussian(self._squared(self.pure), left)

    def held(self, delta: float) -> float:
        """ε at δ that is held against a cap: true whatever chose the spends after the first."""
        return min(self._added(delta), self._filtered(delta))

    def fits(self, cap: Budget) -> bool:
        """Whether what is held against a cap stays under it; what is cheap is asked first."""
        most = cap.epsilon * (1 + SLACK)
        if self._added(cap.delta) <= most:
            return True
        left = cap.delta - self.approximate[1]
        if not self._is_filtered or left <= 0:
            return self._filtered(cap.delta) <= most
        rest = most - self.approximate[0]
        if rest >= 0 and _delta(self._squared(self.pure), (), rest) <= left:
            return True
        return bool(self.pure) and self._filtered(cap.delta) <= most

    def fitted(self, cap: Budget) -> bool:
        """Whether the exact number stays under a cap: the rule of earlier versions."""
        return self.epsilon(cap.delta) <= cap.epsilon * (1 + SLACK)

    def left(self, cap: Budget) -> Budget:
        """Largest ε of one more Gaussian release that fits, quoted at the cap's δ."""
        if self == Spending():
            return cap
        epsilon, delta = cap.epsilon - self.approximate[0], cap.delta - self.approximate[1]
        if self.adds_up or not self._is_filtered or epsilon < _SMALLEST or delta <= 0:
            return Budget(0.0, cap.delta)
        room = _room(self._squared(self._later), self._fixed.pure, epsilon, delta)
        return Budget(min(_gaussian(room, cap.delta), cap.epsilon), cap.delta)

    @property
    def adds_up(self) -> bool:
        """Whether the first spend makes this a ledger of (ε, δ) steps without Gaussian ones."""
        return self._fixed.approximate[1] > 0 and not self._fixed.gaussian

    @property
    def _fixed(self) -> Spending:
        return self.first or Spending()

    def _added(self, delta: float) -> float:
        """ε by plain addition: of pure steps alone, or where the first spend asked for it."""
        alone = self.approximate == (0.0, 0.0) or self.adds_up
        if self.unprotected or self.gaussian or not alone or self.approximate[1] > delta:
            return math.inf
        return self.approximate[0] + sum(step * count for step, count in self.pure)

    @property
    def _is_filtered(self) -> bool:
        """Whether all that came after the first spend has a Gaussian to count as."""
        if self.unprotected or self.approximate != self._fixed.approximate:
            return False
        return not self.adds_up or self == self.first

    def _filtered(self, delta: float) -> float:
        """ε of the first spend, exactly, beside one Gaussian for all later ones."""
        left = delta - self.approximate[1]
        if not self._is_filtered or left < 0:
            return math.inf
        exact = _epsilon(self._squared(self._later), self._fixed.pure, left)
        return min(self.approximate[0] + exact, self.bound(delta))  # losses may have been rounded

    @property
    def _later(self) -> Steps:
        """Pure steps after the first spend."""
        later = Counter(dict(self.pure)) - Counter(dict(self._fixed.pure))
        return tuple(sorted(later.items()))

    def _squared(self, pure: Steps) -> float:
        """1/m² of one Gaussian that is no more private than all Gaussian and these pure steps."""
        return self.gaussian + sum(count * _mu(step) ** 2 for step, count in pure)

    def to_dict(self) -> dict[str, Any]:
        """Plain form, as it stands in an entry."""
        return {
            "gaussian": self.gaussian,
            "pure": [list(steps) for steps in self.pure],
            "approximate": list(self.approximate),
            "unprotected": self.unprotected,
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Spending:
        """Read what `to_dict` wrote."""
        epsilon, delta = plain["approximate"]
        pure = tuple((step, count) for step, count in plain["pure"])
        return cls(plain["gaussian"], pure, (epsilon, delta), plain["unprotected"])


@lru_cache(maxsize=256)
def _mu(step: float) -> float:
    return gdp_mu([PureEvent(purpose="step", epsilon=step)])


def _gaussian(squared: float, delta: float) -> float:
    """ε at δ of a Gaussian with multiplier² = 1/squared."""
    if squared <= 0:
        return 0.0
    with np.errstate(divide="ignore"):  # the solver tries log(0) where hardly anything is left
        return max(gaussian_epsilon(squared**-0.5, delta), 0.0)


def _epsilon(gaussian: float, pure: Steps, delta: float) -> float:
    added = sum(step * count for step, count in pure)
    if delta <= 0:
        return added if not gaussian else math.inf
    if not pure or (not gaussian and sum(count for _, count in pure) == 1):
        return added or _gaussian(gaussian, delta)
    most = added + _gaussian(gaussian, delta)  # simple composition can only be worse

    def excess(epsilon: float) -> float:
        return _delta(gaussian, pure, epsilon) / delta - 1

    if excess(0.0) <= 0:
        return 0.0
    if excess(most) >= 0:  # rounded losses
        return most
    return float(brentq(excess, 0.0, most, xtol=1e-13, rtol=1e-13)) * (1 + 1e-11)


def _room(gaussian: float, pure: Steps, epsilon: float, delta: float) -> float:
    """Σ 1/m² that more Gaussian steps may add before (ε, δ) is reached."""
    most = gaussian_multiplier(epsilon, delta) ** -2 - gaussian
    if most <= 0 or _delta(gaussian, pure, epsilon) >= delta:
        return 0.0
    if not pure or _delta(gaussian + most, pure, epsilon) <= delta:
        return most
    solved = brentq(lambda x: _delta(gaussian + x, pure, epsilon) / delta - 1, 0.0, most)
    return float(solved) * (1 - SLACK)


def _delta(gaussian: float, pure: Steps, epsilon: float) -> float:
    """δ at ε of Gaussian and pure steps together."""
    losses, odds, infinite = _pure_loss(pure)
    if gaussian:
        return infinite + float(odds @ gaussian_deltas(gaussian**-0.5, epsilon - losses))
    return infinite + float(odds @ -np.expm1(np.minimum(epsilon - losses, 0.0)))


@lru_cache(maxsize=16)
def _pure_loss(pure: Steps) -> tuple[np.ndarray, np.ndarray, float]:
    """Privacy loss of pure steps: values, their probabilities, and that of an infinite one."""
    losses, odds, infinite = np.zeros(1), np.ones(1), 0.0
    for step, count in _few_kinds(pure):
        wins = np.arange(count + 1)
        chances = binom.pmf(wins, count, expit(step))
        kept = (chances > _TAIL) | (count <= _MANY)
        infinite += float(chances[~kept].sum())
        losses = np.add.outer(losses, (2 * wins - count)[kept] * step).ravel()
        odds = np.multiply.outer(odds, chances[kept]).ravel()
        if len(losses) > _PATTERNS:
            losses, odds = _on_grid(losses, odds)
    return losses, odds, infinite


def _few_kinds(pure: Steps) -> Steps:
    """Steps with ε₀ rounded up by at most a hundredth where too many differ."""
    if len(pure) <= _KINDS:
        return pure
    kinds: Counter[float] = Counter()
    for step, count in pure:
        rounded = 1.01 ** math.ceil(math.log(step) / math.log(1.01))
        kinds[max(rounded, step)] += count
    return tuple(sorted(kinds.items()))


def _on_grid(losses: np.ndarray, odds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Losses rounded up to a grid; what is too unlikely to matter joins the largest one."""
    likely = odds > 0
    low, high = losses[likely].min(), losses[likely].max()
    grid = (high - low) / (_PATTERNS // 2)
    place = np.ceil((losses[likely] - low) / grid).astype(int)
    return low + grid * np.arange(place.max() + 1), np.bincount(place, weights=odds[likely])
