r"""Lower bounds on μ and ε from how well a guess tells two tables apart.

Distribution-free: error rates are bounded by Clopper and Pearson, exactly, whatever the law of the
scores. A μ-GDP mechanism lets nobody guess a fair coin wrong less often than
:math:`\Phi(-\mu/2)` (Dong, Roth, Su 2022), and an (ε, δ) mechanism has
:math:`P(A) \le e^\varepsilon Q(A) + \delta` for every event A, so nobody's guesses are wrong
much less often than once in :math:`1 + e^\varepsilon`, even if made only where all seems clear.

Gaussian: the distance of two normal laws in units of their standard deviation. Tighter, and only
as good as the assumption.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import beta, norm

from gdppca.privacy.accounting import gaussian_epsilon

CURVE_POINTS = 201
_LEAST_MU = 1e-3  # below, ε is zero at any δ that means something


def rate_at_most(hits: int, runs: int, alarm: float) -> float:
    """Upper bound on a probability (Clopper and Pearson); too low with probability `alarm`."""
    return 1.0 if hits >= runs else float(beta.ppf(1 - alarm, hits + 1, runs - hits))


def mu_from_guesses(wrong: int, runs: int, alarm: float) -> float:
    """Smallest μ-GDP that allows so few wrong guesses of a fair coin; zero where any does.

    False positives and false negatives add up to at least 2 Φ(-μ/2): the trade-off curve of the
    Gaussian is convex and symmetric, so its sum is least in the middle.
    """
    return max(0.0, float(2 * norm.isf(rate_at_most(wrong, runs, alarm))))


def epsilon_from_guesses(wrong: int, guesses: int, runs: int, delta: float, alarm: float) -> float:
    """Smallest ε at δ that allows so few wrong ones among the guesses of a fair coin; zero or more.

    Who may hold back guesses only where much speaks for one table. Still, at most e^ε times as
    many runs are guessed right as wrong, and δ of all runs more: of the guesses, a share of at
    least (1 - δ/G)/(1 + e^ε) is wrong, where G is the share of runs in which one is made.
    """
    most_wrong = rate_at_most(wrong, guesses, alarm / 2) if guesses else 1.0
    least_guesses = 1 - rate_at_most(runs - guesses, runs, alarm / 2)
    if least_guesses <= delta:
        return 0.0
    return math.log(max(1.0, (1 - delta / least_guesses) / most_wrong - 1))


def mu_if_normal(first: np.ndarray, second: np.ndarray, alarm: float) -> float:
    """Lower bound on the distance of two normal laws of one spread, in units of that spread.

    The estimate (x̄ - ȳ)/s is itself normal when there are hundreds of scores, with variance
    1/n + 1/m + d²/(2(n + m - 2)) (Hedges and Olkin 1985).
    """
    n, m = len(first), len(second)
    if min(n, m) < 2:
        return 0.0
    pooled = ((n - 1) * first.var(ddof=1) + (m - 1) * second.var(ddof=1)) / (n + m - 2)
    if pooled == 0:
        return 0.0
    distance = float(first.mean() - second.mean()) / math.sqrt(pooled)
    sd = math.sqrt(1 / n + 1 / m + distance**2 / (2 * (n + m - 2)))
    return max(0.0, distance - float(norm.isf(alarm)) * sd)


def epsilon_of_mu(mu: float, delta: float) -> float:
    """ε at δ of a Gaussian mechanism of that μ."""
    return gaussian_epsilon(1 / mu, delta) if mu > _LEAST_MU else 0.0


def claimed_curve(rates: np.ndarray, mu: float, epsilon: float, delta: float) -> np.ndarray:
    """Least false negatives that a claim allows at false-positive rates.

    Both promises hold, so the greater of the two curves does; an infinite μ promises nothing.
    """
    return np.maximum(epsilon_curve(rates, epsilon, delta), gaussian_curve(rates, mu))


def gaussian_curve(rates: np.ndarray, mu: float) -> np.ndarray:
    """Least false negatives of μ-GDP at false-positive rates; an infinite μ promises nothing."""
    return norm.cdf(norm.isf(rates) - mu) if math.isfinite(mu) else np.zeros_like(rates)


def epsilon_curve(rates: np.ndarray, epsilon: float, delta: float) -> np.ndarray:
    """Least false negatives of (ε, δ) at false-positive rates."""
    direct = np.maximum(1 - delta - math.exp(epsilon) * rates, 0.0)
    mirrored = np.maximum(math.exp(-epsilon) * (1 - delta - rates), 0.0)
    return np.maximum(direct, mirrored)
