r"""Private quantiles without bounds from the user.

Two ways. The default chooses from a public grid that spans all floats, by noisy scores. The other
is Durfee's unbounded search: it climbs a ladder of thresholds until a noisy count passes a noisy
target. Both see the data through counts :math:`\#\{x_i \le t\}` alone. Replacing one value moves
all counts in one direction by at most one, so scores and counts have sensitivity one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from gdppca.noise import Noise
from gdppca.privacy import Event, PureEvent
from gdppca.steps.base import Public, Rows, State

METHODS = ("grid", "unbounded")

_FINE, _FINE_OCTAVES = 8, 60  # steps per factor of two, up to 2**±60; one step beyond
_LADDER = 2.0 ** (1 / _FINE)  # ratio of Durfee's thresholds
_BATCH = 512


@dataclass(frozen=True, kw_only=True)
class Quantile:
    r"""A quantile of the numbers of a column.

    **Privacy.** One pure event, replace-one, n public; scores and counts move by
    `sensitivity.ONE_RANK`.

    *Grid.* Candidate c has score :math:`-|\#\{x_i \le c\} - qn|` plus
    :math:`\frac2\varepsilon\log p(c)`, with a public prior p that favours moderate exponents and
    vanishes nowhere: a wide grid then costs the logarithm of how unusual the answer is, not of
    the grid's size.

    *Unbounded.* The sparse vector technique over thresholds :math:`\pm(\beta^i - 1)` times a tiny
    unit, :math:`\beta = 2^{1/8}`, with discrete Laplace noise in place of the exponential noise of
    Durfee (2023), on counts that move in one direction.
    """

    public: Public
    q: float
    epsilon: float
    method: str = "grid"
    nonnegative: bool = False
    needs_sample = True

    @property
    def events(self) -> tuple[Event, ...]:
        """One pure step."""
        return (PureEvent(purpose="quantile", epsilon=self.epsilon),)

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """A quantile of the first column."""
        values = table.sample(self.public.n_seen).single[:, 0]
        find = grid_quantile if self.method == "grid" else unbounded_quantile
        found = find(values, self.q, self.epsilon, noise, nonnegative=self.nonnegative)
        return state.with_(quantile=found, events=self.events)


@cache
def _positive_grid() -> tuple[np.ndarray, np.ndarray]:
    """Candidates from the smallest to the largest float, and the logarithm of their prior."""
    fine = np.arange(-_FINE * _FINE_OCTAVES, _FINE * _FINE_OCTAVES) / _FINE
    coarse = np.concatenate(
        [np.arange(-1074.0, -_FINE_OCTAVES), fine, np.arange(_FINE_OCTAVES, 1024.0)]
    )
    width = np.where(np.abs(coarse) < _FINE_OCTAVES, 1 / _FINE, 1.0)
    prior = width / (1 + np.abs(coarse)) ** 1.5
    return np.exp2(coarse), np.log(prior / prior.sum())


@cache
def quantile_grid(nonnegative: bool) -> tuple[np.ndarray, np.ndarray]:
    positive, log_prior = _positive_grid()
    if nonnegative:
        candidates = np.concatenate([[0.0], positive])
        return candidates, np.concatenate([[np.log(0.05)], log_prior + np.log(0.95)])
    candidates = np.concatenate([-positive[::-1], [0.0], positive])
    half = log_prior + np.log(0.475)
    return candidates, np.concatenate([half[::-1], [np.log(0.05)], half])


def grid_quantile(
    values: np.ndarray, q: float, epsilon: float, noise: Noise, *, nonnegative: bool
) -> float:
    """Choose from the grid by noisy scores."""
    candidates, log_prior = quantile_grid(nonnegative)
    below = np.searchsorted(np.sort(values), candidates, side="right")
    scores = -np.abs(below - q * len(values)) + 2 / epsilon * log_prior
    return float(candidates[noise.argmax(scores, epsilon)])


def unbounded_quantile(
    values: np.ndarray, q: float, epsilon: float, noise: Noise, *, nonnegative: bool
) -> float:
    """Climb Durfee's ladder, on the side of zero where the quantile is (a fifth of the budget)."""
    if nonnegative:
        return _climb(values, q, epsilon, noise)
    negative = np.array([np.count_nonzero(values < 0)])
    if noise.laplace(negative, 5 / epsilon)[0] > q * len(values):
        return -_climb(-values, 1 - q, 0.8 * epsilon, noise)
    return _climb(values, q, 0.8 * epsilon, noise)


def _climb(values: np.ndarray, q: float, epsilon: float, noise: Noise) -> float:
    """First threshold whose noisy count passes the noisy target; the last one if none does.

    Half of ε on the target, half on the counts: they move in one direction, so each needs
    Laplace noise of scale 1/(ε/2) only (Lyu, Su, Li 2017, Theorem 5).
    """
    ordered = np.sort(values)
    target = q * len(values) + noise.laplace(np.zeros(1, dtype=np.int64), 2 / epsilon)[0]
    thresholds = ladder()
    for start in range(0, len(thresholds), _BATCH):
        part = thresholds[start : start + _BATCH]
        counts = np.searchsorted(ordered, part, side="right")
        passed = noise.laplace(counts, 2 / epsilon) >= target
        if passed.any():
            return float(part[np.argmax(passed)])
    return float(thresholds[-1])


@cache
def ladder() -> np.ndarray:
    """Durfee's thresholds βⁱ - 1 in units of 2⁻⁶⁰, up to 2⁹⁶⁰."""
    return np.expm1(np.arange(1020 * _FINE) * np.log(_LADDER)) * 2.0**-60
