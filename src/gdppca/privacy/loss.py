r"""The privacy loss of pure steps, once for everybody who counts.

A step that is ε₀-private is dominated by randomised response, whose loss is ±ε₀ with odds
:math:`e^{\varepsilon_0}` (Kairouz, Oh, Viswanath 2015); that of :math:`c` equal ones is
:math:`(2J - c)\,\varepsilon_0` with J binomial. Only where too many patterns or too many different
ε₀ meet is the loss rounded, to what is no more private (docs/proofs/noise.md).
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

Steps = tuple[tuple[float, int], ...]  # ε of pure steps and how many there are of each

_PATTERNS = 16_384  # atoms of a privacy loss that are kept apart
_KINDS = 256  # different ε₀ that are kept apart
_FEW = 12  # steps whose patterns of signs are all told apart
_MANY = 64  # equal steps from which tails are cut
_TAIL = math.log(1e-20)  # of the probability of a loss that is called infinite instead
_LEAST = -700.0  # logarithm of a probability that floats can still hold
_ULP = 2.0**-52
_HUNDREDTH = math.log(1.01)


def counted(steps: tuple[float, ...]) -> Steps:
    """Pure steps with their numbers; a few are kept apart, in their order."""
    if len(steps) <= _FEW:
        return tuple((step, 1) for step in steps)
    return tuple(sorted(Counter(steps).items()))


@lru_cache(maxsize=16)
def pure_loss(pure: Steps) -> tuple[np.ndarray, np.ndarray]:
    """Privacy loss of pure steps: values, the last of which may be infinite, and log-odds."""
    losses, log_odds, infinite = np.zeros(1), np.zeros(1), 0.0
    for step, count in _few_kinds(pure):
        values, chances = _repeated(step, count)
        kept = (chances > _TAIL) | (count <= _MANY)
        infinite += float(np.exp(chances[~kept]).sum())
        losses = np.add.outer(losses, values[kept]).ravel()
        log_odds = np.add.outer(log_odds, chances[kept]).ravel()
        if len(losses) > _PATTERNS:
            losses, log_odds, cut = _on_grid(losses, log_odds)
            infinite += cut
    if infinite:
        return np.append(losses, math.inf), np.append(log_odds, math.log(infinite))
    return losses, log_odds


def _repeated(step: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Loss of equal steps, largest first, and log-odds, which are rounded up."""
    wins = np.arange(count, -1.0, -1.0)
    right, wrong = -np.logaddexp(0.0, [-step, step])
    ways = gammaln(count + 1) - gammaln(wins + 1) - gammaln(count - wins + 1)
    rounding = 4 * _ULP * (gammaln(count + 1) + (count - 1) * (1 + step))
    return (2 * wins - count) * step, ways + wins * right + (count - wins) * wrong + rounding


def _few_kinds(pure: Steps) -> Steps:
    """Steps with ε₀ rounded up by at most a hundredth where too many differ."""
    if len(pure) <= _KINDS:
        return pure
    kinds: Counter[float] = Counter()
    for step, count in pure:
        rounded = math.exp(math.ceil(math.log(step) / _HUNDREDTH) * _HUNDREDTH)
        kinds[max(rounded, step)] += count
    return tuple(sorted(kinds.items()))


def _on_grid(losses: np.ndarray, log_odds: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Losses split between their neighbours on a grid; what floats cannot hold is infinite.

    Both shares have the mean odds of the loss, with the row and without, so that putting them
    together again gives it back: the split loss is no more private (docs/proofs/noise.md).
    """
    likely = log_odds > _LEAST
    low, high = losses[likely].min(), losses[likely].max()
    grid = max((high - low) / (_PATTERNS // 2), _ULP)
    place = np.floor((losses[likely] - low) / grid)
    odds, way = np.exp(log_odds[likely]), losses[likely] - (low + grid * place)
    above = odds * np.clip(np.expm1(-way) / np.expm1(-grid), 0.0, 1.0)
    below = place.astype(int)
    shares = np.bincount(np.append(below, below + 1), np.append(odds - above, above))
    [found] = np.nonzero(shares)
    return low + grid * found, np.log(shares[found]), math.exp(_LEAST) * int((~likely).sum())
