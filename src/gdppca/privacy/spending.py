r"""The one accountant: events become totals, and totals every number that is shown.

Guarantee, design, ledger and report all count with `Spending`. Gaussian steps merge into one, by
:math:`\sum 1/m^2`; equal pure steps are counted; approximate ones add up. So totals are small
however many events there were, and their privacy curve is exact (`gdppca.privacy.accounting`).

That number is true of steps that were fixed beforehand. Spends are not: each may be chosen by what
the ones before it showed. So a cap is held against a bound that is true in any case; see
docs/proofs/filter.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from scipy.optimize import brentq

from gdppca.privacy.accounting import (
    added_epsilon,
    as_one,
    delta_beside,
    epsilon_beside,
    gaussian_epsilon,
    gaussian_multiplier,
    log_factor,
    multiplier_of,
    squared_mu,
)
from gdppca.privacy.events import ApproximateEvent, Event, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.privacy.ledger import Budget
from gdppca.privacy.loss import Steps

Count = Callable[[float, Steps, float], float]  # μ² of Gaussian steps, pure ones and δ to ε

SLACK = 1e-9  # relative; calibrated noise meets its ε within this
_SMALLEST = 1e-5  # an ε below is nothing
_ROUNDING = 1e-12  # relative; a chance that is used up to this is used up


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
    >>> from gdppca.privacy.spending import Spending
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
                    gaussian += squared_mu(multiplier)
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
        return self._at(delta, epsilon_beside, self.gaussian, self.pure)

    def added(self, delta: float) -> float:
        """ε at δ by plain addition."""
        return self._at(delta, added_epsilon, self.gaussian, self.pure)

    def bound(self, delta: float) -> float:
        """Upper bound on ε by one Gaussian; approximate steps are added."""
        return self._at(delta, epsilon_beside, as_one(self.gaussian, self.pure), ())

    def _at(self, delta: float, count: Count, gaussian: float, pure: Steps) -> float:
        """ε at δ of approximate steps, which add up, and of others counted in a way."""
        left = delta - self.approximate[1]
        if self.unprotected or left < 0:
            return math.inf
        return self.approximate[0] + count(gaussian, pure, left)

    def odds_factor(self, chance: float) -> float:
        """Largest factor by which the odds of a guess about one row rise, but for a chance."""
        added, delta = self.approximate
        left = chance - delta
        if self.unprotected or (delta and left <= chance * _ROUNDING):
            return math.inf
        found = log_factor(self.gaussian, self.pure, left)
        if delta:  # their curve is known at one point only: ε adds to ε, and δ to δ
            found += added + math.log(chance / left)
        return math.exp(found) if found < 709 else math.inf

    def held(self, delta: float) -> float:
        """ε at δ that is held against a cap: true whatever chose the spends after the first."""
        return min(self._added_up(delta), self._filtered(delta))

    def fits(self, cap: Budget) -> bool:
        """Whether what is held against a cap stays under it; what is cheap is asked first."""
        most = cap.epsilon * (1 + SLACK)
        if self._added_up(cap.delta) <= most:
            return True
        left = cap.delta - self.approximate[1]
        if not self._is_filtered or left <= 0:
            return self._filtered(cap.delta) <= most
        rest = most - self.approximate[0]
        if rest >= 0 and delta_beside(as_one(self.gaussian, self.pure), (), rest) <= left:
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
        room = _room(as_one(self.gaussian, self._later), self._fixed.pure, epsilon, delta)
        fitting = gaussian_epsilon(multiplier_of(room), cap.delta)
        return Budget(min(fitting, cap.epsilon), cap.delta)

    @property
    def adds_up(self) -> bool:
        """Whether the first spend makes this a ledger of (ε, δ) steps without Gaussian ones."""
        return self._fixed.approximate[1] > 0 and not self._fixed.gaussian

    @property
    def _fixed(self) -> Spending:
        return self.first or Spending()

    def _added_up(self, delta: float) -> float:
        """ε by plain addition: of pure steps alone, or where the first spend asked for it."""
        alone = self.approximate == (0.0, 0.0) or self.adds_up
        return self.added(delta) if alone and not self.gaussian else math.inf

    @property
    def _is_filtered(self) -> bool:
        """Whether all that came after the first spend has a Gaussian to count as."""
        if self.unprotected or self.approximate != self._fixed.approximate:
            return False
        return not self.adds_up or self == self.first

    def _filtered(self, delta: float) -> float:
        """ε of the first spend, exactly, beside one Gaussian for all later ones."""
        if not self._is_filtered:
            return math.inf
        later = as_one(self.gaussian, self._later)
        return self._at(delta, epsilon_beside, later, self._fixed.pure)

    @property
    def _later(self) -> Steps:
        """Pure steps after the first spend."""
        later = Counter(dict(self.pure)) - Counter(dict(self._fixed.pure))
        return tuple(sorted(later.items()))

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


def _room(gaussian: float, pure: Steps, epsilon: float, delta: float) -> float:
    """Σ 1/m² that more Gaussian steps may add before (ε, δ) is reached."""
    most = gaussian_multiplier(epsilon, delta) ** -2 - gaussian

    def excess(room: float) -> float:
        return delta_beside(gaussian + room, pure, epsilon) / delta - 1

    if most <= 0 or excess(0.0) >= 0:
        return 0.0
    if not pure or excess(most) <= 0:
        return most
    return float(brentq(excess, 0.0, most)) * (1 - SLACK)


@lru_cache(maxsize=256)
def epsilon_at(events: tuple[Event, ...], delta: float) -> float:
    """ε at δ of all events together; zero where nothing was drawn."""
    return Spending().plus(events).epsilon(delta)


def odds_factor(events: tuple[Event, ...], chance: float) -> float:
    """Largest factor by which the odds of a guess about one row rise, but for a chance."""
    return Spending().plus(events).odds_factor(chance)
