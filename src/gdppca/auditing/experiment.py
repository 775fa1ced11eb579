"""What an audit needs to know."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gdppca.privacy import ApproximateEvent, Event, GaussianEvent, Guarantee, PureEvent, Status
from gdppca.privacy.accounting import delta_beside, gaussian_multiplier, gdp_mu
from gdppca.privacy.spending import Spending, epsilon_at


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The promise that is put to the test."""

    events: tuple[Event, ...]
    delta: float
    status: Status = Status.PROVEN

    @property
    def mu(self) -> float:
        """μ of Gaussian differential privacy; infinite where no such promise is made."""
        return gdp_mu(self.events)

    @property
    def epsilon(self) -> float:
        """ε at δ."""
        return epsilon_at(self.events, self.delta)

    def least_wrong(self, factor: float = 1.0) -> float:
        """Least rate of wrong guesses of a fair coin; of the same with noise over `factor`.

        Half of what the two tables' laws have in common, exactly.
        """
        return 0.5 * (1 - self.delta_at(0.0, factor))

    def delta_at(self, epsilon: float, factor: float = 1.0) -> float:
        """δ at ε of everything that is drawn; of the same with noise over `factor`."""
        spent = Spending().plus(self.events)
        added, delta = spent.approximate
        steps = Counter(dict(spent.pure)) + Counter({added: 1} if added else {})
        pure = tuple(sorted((factor * step, count) for step, count in steps.items()))
        return min(1.0, delta + delta_beside(factor**2 * spent.gaussian, pure, epsilon))

    def epsilon_with(self, factor: float) -> float:
        """ε at δ of the same with noise over `factor`."""
        events = tuple(_with_noise_over(event, factor) for event in self.events)
        return epsilon_at(events, self.delta)

    @property
    def is_gaussian(self) -> bool:
        """Whether everything drawn is Gaussian, so that μ says all of it."""
        return all(isinstance(event, GaussianEvent) for event in self.events)

    @property
    def is_mixed(self) -> bool:
        """Whether other noise stands beside Gaussian, so that μ and ε both say something."""
        some = any(isinstance(event, GaussianEvent) for event in self.events)
        return some and not self.is_gaussian and math.isfinite(self.mu)


def _with_noise_over(event: Event, factor: float) -> Event:
    match event:
        case GaussianEvent(noise_multiplier=multiplier):
            return replace(event, noise_multiplier=multiplier / factor)
        case PureEvent(epsilon=epsilon) | ApproximateEvent(epsilon=epsilon):
            return replace(event, epsilon=epsilon * factor)
    return event


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Two neighbouring tables, what runs on them, and what an attacker makes of the result.

    Parameters
    ----------
    name : str
        What is audited.
    tables : pair of tables
        They differ in one row.
    run : callable
        Takes a table and returns what is published; draws secure noise each time.
    score : callable
        Takes what was published and returns a number: above zero speaks for the first table,
        below zero for the second. Zero holds back, which makes sense where noise is not Gaussian:
        then rare events tell most.
    claim : Claim
        What is promised.
    runs : int, default 30000
        How many runs an audit makes unless it is told otherwise.

    Examples
    --------
    >>> from gdppca import auditing
    >>> from gdppca.auditing.experiment import Claim
    >>> import numpy as np
    >>> from gdppca.privacy import PureEvent
    >>> from gdppca.noise import secure_noise
    >>> count = auditing.Experiment(
    ...     name="a count",
    ...     tables=(4, 5),
    ...     run=lambda rows: secure_noise().laplace(np.array([rows]), 1.0)[0],
    ...     score=lambda published: 4.5 - published,
    ...     claim=Claim(events=(PureEvent(purpose="count", epsilon=1.0),), delta=1e-6),
    ... )
    >>> auditing.audit(count, runs=2000, confidence=0.999999).refuted
    False
    """

    name: str
    tables: tuple[Any, Any]
    run: Callable[[Any], Any]
    score: Callable[[Any], float]
    claim: Claim
    runs: int = 30_000


def gaussian_claim(epsilon: float, delta: float, purpose: str = "asked for") -> Claim:
    """What one Gaussian step that gets the whole budget claims."""
    multiplier = gaussian_multiplier(epsilon, delta)
    event = GaussianEvent(purpose=purpose, noise_multiplier=multiplier)
    return Claim(events=(event,), delta=delta)


def claim_of(guarantee: Guarantee, epsilon: float) -> Claim:
    """What a guarantee claims; where it promises nothing, the ε that was asked for."""
    claim = Claim(events=guarantee.events, delta=guarantee.delta)
    if math.isinf(guarantee.nominal_epsilon):
        claim = gaussian_claim(epsilon, guarantee.delta)
    return replace(claim, status=guarantee.status)
