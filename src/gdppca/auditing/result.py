"""What an audit found, in numbers, words and a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca.auditing import bounds
from gdppca.auditing.experiment import Claim
from gdppca.privacy import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SOLVER_SLACK = 1e-6  # relative; two ways to compute one ε agree better than that


def _claimed(name: str, words: str) -> Any:
    """A number of the claim under a name of the result."""
    return property(attrgetter(f"claim.{name}"), doc=words)


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """What an audit found: lower bounds that hold with the stated confidence.

    Parameters
    ----------
    method : str
        What was audited.
    claim : Claim
        What it promises; ``claimed_epsilon``, ``claimed_mu`` and ``delta`` are its numbers.
    confidence : float
        Probability that each bound holds.
    scores : pair of arrays
        The attacker's score of every run, on the first table and on the second; above zero it
        guesses the first, below zero the second, and at zero it holds back.

    Examples
    --------
    >>> import gdppca
    >>> from gdppca import DPPCA
    >>> from gdppca.auditing import audit
    >>> found = audit(DPPCA(n_components=1, epsilon=4.0), runs=500, confidence=0.999999)
    >>> found.refuted, found.epsilon_lower < found.claimed_epsilon
    (False, True)
    """

    method: str
    claim: Claim
    confidence: float
    scores: tuple[np.ndarray, np.ndarray] = field(repr=False)

    @property
    def runs(self) -> int:
        """Number of runs, on both tables together."""
        return sum(map(len, self.scores))

    claimed_epsilon = _claimed("epsilon", "ε put to the test, or asked for if none is promised.")
    claimed_mu = _claimed(
        "mu", "μ of Gaussian differential privacy put to the test; maybe infinite."
    )
    delta = _claimed("delta", "δ at which ε is quoted.")
    status = _claimed("status", "How firmly the promise stands: proven, high-probability or none.")

    @property
    def guesses(self) -> int:
        """Number of runs in which the attacker ventured a guess."""
        return sum(int(np.count_nonzero(scores)) for scores in self.scores)

    @property
    def wrong(self) -> int:
        """Number of wrong guesses."""
        first, second = self.scores
        return int(np.sum(first < 0) + np.sum(second > 0))

    @property
    def mu_lower(self) -> float:
        """Lower bound on μ, whatever the law of the scores."""
        first, _ = self.scores
        held_back = int(np.sum(first == 0))  # taken for the second table: μ wants all runs guessed
        return bounds.mu_from_guesses(self.wrong + held_back, self.runs, self._alarm)

    @property
    def epsilon_lower(self) -> float:
        """Lower bound on ε at δ, whatever the law of the scores.

        Where all noise is Gaussian, the ε that goes with `mu_lower`. Else straight from the
        definition of (ε, δ).
        """
        if self.claim.is_gaussian:
            return bounds.epsilon_of_mu(self.mu_lower, self.delta)
        return bounds.epsilon_from_guesses(
            self.wrong, self.guesses, self.runs, self.delta, self._alarm
        )

    @property
    def mu_lower_if_normal(self) -> float:
        """Lower bound on μ that takes the scores for normal; tighter, for Gaussian noise only.

        Zero where other noise was drawn too, since the scores are not normal then.
        """
        if not self.claim.is_gaussian:
            return 0.0
        return bounds.mu_if_normal(*self.scores, 1 - self.confidence)

    @property
    def epsilon_lower_if_normal(self) -> float:
        """Lower bound on ε at δ that takes the scores for normal; see `mu_lower_if_normal`."""
        return bounds.epsilon_of_mu(self.mu_lower_if_normal, self.delta)

    @property
    def refuted(self) -> bool:
        """Whether the claim is wrong, with the stated confidence and no other assumption."""
        beyond = 1 + _SOLVER_SLACK
        if self.claim.is_gaussian:
            return self.mu_lower > beyond * self.claimed_mu
        if self.claim.is_mixed and self.mu_lower > beyond * self.claimed_mu:
            return True
        return self.epsilon_lower > beyond * self.claimed_epsilon

    @property
    def _alarm(self) -> float:
        """False-alarm rate of one bound; a mixed claim is tried in two ways."""
        alarm = 1 - self.confidence
        return alarm / 2 if self.claim.is_mixed else alarm

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result in plain words."""
        claimed = f"epsilon = {self.claimed_epsilon:.4g} at delta = {self.delta:.4g}"
        promise = {
            Status.PROVEN: f"{self.method} promises {claimed}.",
            Status.HIGH_PROBABILITY: f"{self.method} promises {claimed}, "
            "with high probability only.",
            Status.NONE: f"{self.method} promises nothing; it was asked for {claimed}.",
        }[self.status]
        right = 1 - self.wrong / max(self.guesses, 1)
        ventured = "" if self.guesses == self.runs else f" ventured {self.guesses} guesses and"
        found = (
            f"In {self.runs} runs an attacker{ventured} guessed the table in {right:.1%}: epsilon "
            f"is at least {self.epsilon_lower:.3g} with confidence {self.confidence:g}"
        )
        if self.claim.is_gaussian:
            found += f", and {self.epsilon_lower_if_normal:.3g} if the scores are normal"
        verdict = "refuted" if self.refuted else "not refuted"
        return promise, found + ".", f"The claim is {verdict}."

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def __repr__(self) -> str:
        return f"<AuditResult: {self}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, without the scores; an infinite μ is None."""
        return {
            "method": self.method,
            "status": str(self.status),
            "claimed_epsilon": self.claimed_epsilon,
            "claimed_mu": self.claimed_mu if math.isfinite(self.claimed_mu) else None,
            "delta": self.delta,
            "runs": self.runs,
            "confidence": self.confidence,
            "guesses": self.guesses,
            "wrong_guesses": self.wrong,
            "epsilon_lower": self.epsilon_lower,
            "mu_lower": self.mu_lower,
            "epsilon_lower_if_normal": self.epsilon_lower_if_normal,
            "mu_lower_if_normal": self.mu_lower_if_normal,
            "refuted": self.refuted,
        }

    def figure(self) -> Figure:
        """Both score distributions, and the claimed trade-off curve against what was found.

        Returns
        -------
        Figure
            A matplotlib figure; the bound lies below the claimed curve where, and only where, the
            claim is refuted.
        """
        from gdppca.plots.audit import audit_figure

        caption = f"{self.method}: {' '.join(self.sentences[1:])}"
        return audit_figure(*self.scores, self.curves, caption)

    @property
    def curves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """False-positive rates, the least false negatives that the claim allows, and the bound.

        A claim whose curve lies above the bound is refuted, with the stated confidence.
        """
        rates = np.linspace(0.0, 1.0, bounds.CURVE_POINTS)
        claimed = bounds.claimed_curve(rates, self.claimed_mu, self.claimed_epsilon, self.delta)
        by_mu = bounds.gaussian_curve(rates, self.mu_lower)
        if self.claim.is_gaussian:
            return rates, claimed, by_mu
        by_epsilon = bounds.epsilon_curve(rates, self.epsilon_lower, self.delta)
        if not self.claim.is_mixed:
            return rates, claimed, by_epsilon
        # Either way refutes; while neither does, what one of them allows stands.
        bound = np.minimum if self.refuted else np.maximum
        return rates, claimed, bound(by_mu, by_epsilon)
