r"""Private quantiles without bounds from the user.

Two ways. The default chooses from a public grid that spans all floats, by noisy scores. The other
is Durfee's unbounded search: it climbs a ladder of thresholds until a noisy count passes a noisy
target. Both see the data through counts :math:`\#\{x_i \le t\}` alone. Replacing one value moves
all counts in one direction by at most one, so scores and counts have sensitivity one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError
from gdppca.ledgers import enter
from gdppca.linalg import LARGEST, SQRT2, directions
from gdppca.noise.bits import Rng, rng_for
from gdppca.noise.selection import integer_laplace, noisy_argmax
from gdppca.privacy import PureEvent
from gdppca.signs.base import legal_radius

METHODS = ("grid", "unbounded")

_FINE, _FINE_OCTAVES = 8, 60  # steps per factor of two, up to 2**±60; one step beyond
_LADDER = 2.0 ** (1 / _FINE)  # ratio of Durfee's thresholds
_BATCH = 512


def private_quantile(
    values: Any,
    q: float,
    epsilon: float,
    *,
    method: str = "grid",
    nonnegative: bool = False,
    ledger: str | None = None,
    random_state: int | None = None,
) -> float:
    r"""Release a quantile of numbers of any scale.

    Parameters
    ----------
    values : array of shape (n,)
        Finite numbers, each of one person, at least two.
    q : float
        Which quantile, strictly between 0 and 1.
    epsilon : float
        Privacy ε; δ is zero.
    method : "grid" or "unbounded", default "grid"
        Noisy choice from a grid, or Durfee's ladder.
    nonnegative : bool, default False
        The numbers cannot be negative, such as lengths. A public fact, not looked up.
    ledger : None or str, default None
        Where the spend is entered before anything is drawn: "sqlite:///budget.db#patients".
    random_state : None or int, default None
        None draws from the secure source; a seed makes a simulation.

    Returns
    -------
    float
        A number from a public grid, within 9 % of the next one.

    Notes
    -----
    **Privacy.** One pure event of ε, replace-one, n public.

    *Grid.* Candidate c has score :math:`-|\#\{x_i \le c\} - qn|` plus
    :math:`\frac2\varepsilon\log p(c)`, with a public prior p that favours moderate exponents and
    vanishes nowhere: a wide grid then costs the logarithm of how unusual the answer is, not of
    the grid's size.

    *Unbounded.* The sparse vector technique over thresholds :math:`\pm(\beta^i - 1)` times a tiny
    unit, :math:`\beta = 2^{1/8}`, with discrete Laplace noise in place of the exponential noise of
    [1]_, on counts that move in one direction.

    **Paper.** App B.2 uses the second way for the winsorisation radius.

    References
    ----------
    .. [1] D. Durfee (2023). Unbounded differentially private quantile and maximum estimation.
       NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.releases import private_quantile
    >>> lengths = np.random.default_rng(0).exponential(1e9, size=5000)
    >>> 2e8 < private_quantile(lengths, 0.25, epsilon=1.0, nonnegative=True) < 4e8
    True
    """
    q = _validate.fraction(q=q)
    epsilon = _validate.finite_positive(epsilon=_validate.budget(epsilon=epsilon))
    values = _finite_vector(values)
    rng = rng_for(random_state)
    _validate.one_of(METHODS, method=method)
    enter(ledger, (PureEvent(purpose="quantile", epsilon=epsilon),), seeded=rng.seeded)
    if method == "grid":
        return grid_quantile(values, q, epsilon, rng, nonnegative=nonnegative)
    return unbounded_quantile(values, q, epsilon, rng, nonnegative=nonnegative)


def _finite_vector(values: Any) -> np.ndarray:
    array = _validate.floats(values)
    if array is None:
        raise DataError("`values` must be numbers.")
    if array.ndim != 1 or len(array) < 2:
        raise DataError(f"`values` must be a vector of at least two numbers, got {array.shape}.")
    if not np.isfinite(array).all():
        raise DataError("`values` holds NaN or inf.")
    return array


def private_radius(
    X: np.ndarray, center: np.ndarray | None, q: float, epsilon: float, rng: Rng
) -> float:
    """Release a quantile of the lengths that a sign will see: of pairs over √2, or from a centre.

    Rows are paired at random, each in one pair, so one row moves one length. The result is kept
    within the range that a cut-off may have.
    """
    # Halves first: the difference of two floats near the largest one is still a float.
    if center is None:
        order, half = rng.permutation(len(X)), len(X) // 2
        differences, factor = 0.5 * X[order[:half]] - 0.5 * X[order[half : 2 * half]], SQRT2
    else:
        differences, factor = 0.5 * X - 0.5 * center, 2.0
    with np.errstate(over="ignore"):
        lengths = np.minimum(directions(differences)[1] * factor, LARGEST)
    radius = grid_quantile(lengths, q, epsilon, rng, nonnegative=True)
    return legal_radius(radius)


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
def _grid(nonnegative: bool) -> tuple[np.ndarray, np.ndarray]:
    positive, log_prior = _positive_grid()
    if nonnegative:
        candidates = np.concatenate([[0.0], positive])
        return candidates, np.concatenate([[np.log(0.05)], log_prior + np.log(0.95)])
    candidates = np.concatenate([-positive[::-1], [0.0], positive])
    half = log_prior + np.log(0.475)
    return candidates, np.concatenate([half[::-1], [np.log(0.05)], half])


def grid_quantile(
    values: np.ndarray, q: float, epsilon: float, rng: Rng, *, nonnegative: bool
) -> float:
    """Choose from the grid by noisy scores."""
    candidates, log_prior = _grid(nonnegative)
    below = np.searchsorted(np.sort(values), candidates, side="right")
    scores = -np.abs(below - q * len(values)) + 2 / epsilon * log_prior
    return float(candidates[noisy_argmax(scores, epsilon, rng)])


def unbounded_quantile(
    values: np.ndarray, q: float, epsilon: float, rng: Rng, *, nonnegative: bool
) -> float:
    """Climb Durfee's ladder, on the side of zero where the quantile is (a fifth of the budget)."""
    if nonnegative:
        return _climb(values, q, epsilon, rng)
    negative = np.sum(values < 0) + integer_laplace(1, 5 / epsilon, rng)[0]
    if negative > q * len(values):
        return -_climb(-values, 1 - q, 0.8 * epsilon, rng)
    return _climb(values, q, 0.8 * epsilon, rng)


def _climb(values: np.ndarray, q: float, epsilon: float, rng: Rng) -> float:
    """First threshold whose noisy count passes the noisy target; the last one if none does.

    Half of ε on the target, half on the counts: they move in one direction, so each needs
    Laplace noise of scale 1/(ε/2) only (Lyu, Su, Li 2017, Theorem 5).
    """
    ordered = np.sort(values)
    target = q * len(values) + integer_laplace(1, 2 / epsilon, rng)[0]
    thresholds = _ladder()
    for start in range(0, len(thresholds), _BATCH):
        part = thresholds[start : start + _BATCH]
        counts = np.searchsorted(ordered, part, side="right")
        passed = counts + integer_laplace(len(part), 2 / epsilon, rng) >= target
        if passed.any():
            return float(part[np.argmax(passed)])
    return float(thresholds[-1])


@cache
def _ladder() -> np.ndarray:
    """Durfee's thresholds βⁱ - 1 in units of 2⁻⁶⁰, up to 2⁹⁶⁰."""
    return np.expm1(np.arange(1020 * _FINE) * np.log(_LADDER)) * 2.0**-60
