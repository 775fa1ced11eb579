r"""A prior for the loadings of one column on all components, fitted to noisy loadings.

A column j has loadings :math:`f_j \in R^m`; seen are :math:`y_j = f_j + e_j` with independent
:math:`e_{jk} \sim N(0, s_{jk})` of known variances. The prior is a mixture that the columns
themselves fit,

.. math:: f_j \sim \sum_g \pi_g N(0, \omega_g I) + \sum_{r, g} \pi_{rg} N(0, \omega_g rr^\top),

over variances ω from zero (a spike: a column that has no part in any component), from an eighth
of 1/d, in octaves, up to one; and, where there are columns enough to tell, over single axes r,
which are those of the components and those of a varimax rotation. The weights π are found by EM.
A dense direction has :math:`\omega = 1/d` for every column: that variance gets two columns' worth
of weight beforehand, and all gains are counted from it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["plain", "rows", "axes"]
_ROWS: Kind = "rows"
_AXES: Kind = "axes"

_OCTAVES_BELOW = 3  # of 1/d, the variance of a dense direction's loadings
_DENSE = _OCTAVES_BELOW + 1  # place of 1/d among the variances, after zero and the octaves below
_DENSE_COLUMNS = 2.0  # columns that speak for a dense direction before any is seen
_MANY_COLUMNS = 20  # that tell single axes
_LEAST_COLUMNS = 8  # that tell those of two components which stand apart, where it is clearer
_MOST_COMPONENTS = 10  # for single axes
_AXIS_GAIN = (2.0, 1.25)  # nats over whole rows, and more for each component; measured
_SAME_AXIS = 0.98  # cosine from which a varimax axis is one of the components'
_STEPS, _STILL = 50, 1e-5  # of EM
_SWEEPS = 20  # of varimax
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Posterior:
    """What noisy loadings tell of those without noise."""

    mean: np.ndarray  # (d, m)
    covariance: np.ndarray  # (d, m, m)
    null: np.ndarray  # (d, m), probability that a loading is zero
    gain: float  # log-likelihood over that of a dense direction
    kind: Kind


@dataclass(frozen=True, eq=False)
class _Group:
    """Parts of the mixture that share a shape: all directions alike, or one axis only."""

    log_densities: np.ndarray  # (d, number of variances)
    axis: np.ndarray | None = None  # (m,)


def posterior(seen: np.ndarray, variances: np.ndarray, *, apart: bool = True) -> Posterior:
    """Fit the mixture to noisy loadings, and give their posterior.

    Parameters
    ----------
    seen : array of shape (d, m)
        Noisy loadings, a column of the table in each row.
    variances : array of shape (d, m)
        Those of the noise, above zero.
    apart : bool, default True
        Whether the next component is well below the last of these. If not, what noise mixed into
        them looks like an axis, and few columns do not tell.

    Returns
    -------
    Posterior
        Of the whole rows, or with single axes where the likelihood clearly asks for them.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory.loading_prior import posterior
    >>> seen = np.r_[0.7, 0.7, np.tile([0.03, -0.03], 14)][:, None]
    >>> found = posterior(seen, np.full((30, 1), 0.03**2))
    >>> found.kind, found.gain > 3, found.mean[:3, 0].round(2)
    ('rows', True, array([0.7, 0.7, 0. ]))
    """
    d, m = seen.shape
    grid = loading_variances(d)
    whole = [_Group(_whole_row_densities(seen, variances, grid))]
    shares, likelihood = _fitted(whole)
    dense = float(whole[0].log_densities[:, _DENSE].sum())
    groups, kind = whole, _ROWS
    wanted = _wanted_gain(d, m, apart=apart)
    if math.isfinite(wanted):
        more = whole + [_axis_group(seen, variances, grid, axis) for axis in axes_of(seen)]
        finer, better = _fitted(more)
        if better - likelihood > wanted:
            groups, shares, likelihood, kind = more, finer, better, _AXES
    mean, covariance = _moments(seen, variances, grid, groups, shares)
    return Posterior(
        mean,
        covariance,
        _null(groups, shares, m),
        likelihood - dense,
        kind,
    )


def _wanted_gain(d: int, m: int, *, apart: bool) -> float:
    """Nats that single axes must gain over whole rows; infinite where columns cannot tell them."""
    few = m == 2 and apart and d >= _LEAST_COLUMNS
    if not 1 < m <= _MOST_COMPONENTS or not (d >= _MANY_COLUMNS or few):
        return math.inf
    return max(1.0, _MANY_COLUMNS / d) * (_AXIS_GAIN[0] + _AXIS_GAIN[1] * m)


def loading_variances(d: int) -> np.ndarray:
    """Variances that a loading may have: zero, then octaves from an eighth of 1/d to one."""
    octaves = np.arange(-_OCTAVES_BELOW, math.ceil(math.log2(max(d, 2))) + 1)
    return np.concatenate([[0.0], np.unique(np.minimum(2.0**octaves / d, 1.0))])


def axes_of(seen: np.ndarray) -> list[np.ndarray]:
    """Axes of the components, and those of a varimax rotation that differ from them."""
    turned = varimax(seen)
    others = [axis for axis in turned.T if np.abs(axis).max() < _SAME_AXIS]
    return [*np.eye(seen.shape[1]), *others]


def varimax(loadings: np.ndarray) -> np.ndarray:
    """Rotation after which squared loadings vary most within components (Kaiser 1958).

    Parameters
    ----------
    loadings : array of shape (d, m)
        Loadings of d columns.

    Returns
    -------
    array of shape (m, m)
        Orthogonal; the rotated loadings are ``loadings @ rotation``.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory.loading_prior import varimax
    >>> turned = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> apart = np.repeat(np.eye(2), 3, axis=0)
    >>> np.abs(apart @ turned @ varimax(apart @ turned)).round(3)[[3, 0]]
    array([[1., 0.],
           [0., 1.]])
    """
    d, m = loadings.shape
    both = np.vstack([loadings, np.eye(m)]).T.copy()  # components as rows, and how they were turned
    for _ in range(_SWEEPS):
        largest = 0.0
        for i, j in itertools.combinations(range(m), 2):
            x, y = both[i], both[j]
            angle = _best_angle(x[:d], y[:d])
            largest = max(largest, abs(angle))
            c, s = math.cos(angle), math.sin(angle)
            both[i], both[j] = c * x + s * y, c * y - s * x
        if largest < _STILL:
            break
    return both[:, d:].T


def _best_angle(x: np.ndarray, y: np.ndarray) -> float:
    """By how much to turn two components so that their squared loadings vary most."""
    u, v = (x - y) * (x + y), 2 * x * y
    u, v = u - np.add.reduce(u) / len(u), v - np.add.reduce(v) / len(v)
    return 0.25 * math.atan2(2 * float(u @ v), float(u @ u - v @ v))


def _whole_row_densities(seen: np.ndarray, variances: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Log-densities of each column's loadings under N(0, ω I) and the noise, (d, len(grid))."""
    spread = grid[:, None, None] + variances
    return np.asarray(-0.5 * (seen**2 / spread + np.log(spread)).sum(axis=2).T)


def _axis_group(
    seen: np.ndarray, variances: np.ndarray, grid: np.ndarray, axis: np.ndarray
) -> _Group:
    """The same under N(0, ω rr'), from which the spike is left out."""
    told, precision = _along(seen, variances, axis)
    alone = -0.5 * (seen**2 / variances + np.log(variances)).sum(axis=1)
    grown = np.outer(precision, grid[1:])
    densities = alone[:, None] + 0.5 * (told[:, None] ** 2 * grid[1:] / (1 + grown))
    return _Group(densities - 0.5 * np.log1p(grown), axis)


def _along(
    seen: np.ndarray, variances: np.ndarray, axis: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What the noisy loadings say along an axis, times its precision; and that precision."""
    return (seen / variances) @ axis, (1 / variances) @ axis**2


def _fitted(groups: list[_Group]) -> tuple[np.ndarray, float]:
    """Each column's shares in the parts of the mixture, (d, parts), and the log-likelihood; EM."""
    logs = np.hstack([group.log_densities for group in groups])
    parts = logs.shape[1]
    before = np.zeros(parts)
    before[_DENSE] = _DENSE_COLUMNS
    best = logs.max(axis=1, keepdims=True)
    density = np.exp(logs - best)
    weights = np.full(parts, 1 / parts)
    for _ in range(_STEPS):
        last, column = weights, density @ weights
        taken = density.T @ (1 / np.maximum(column, _TINY)) * weights
        weights = (taken + before) / (np.add.reduce(taken) + _DENSE_COLUMNS)
        if np.maximum.reduce(np.abs(weights - last)) < _STILL:
            break
    column = np.maximum(density @ weights, _TINY)
    return density * weights / column[:, None], float((np.log(column) + best[:, 0]).sum())


def _moments(
    seen: np.ndarray,
    variances: np.ndarray,
    grid: np.ndarray,
    groups: list[_Group],
    shares: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Posterior means and covariances of the rows."""
    d, m = seen.shape
    mean, square, first = np.zeros((d, m)), np.zeros((d, m, m)), 0
    for group in groups:
        own = shares[:, first : first + group.log_densities.shape[1]]
        first += own.shape[1]
        if group.axis is None:
            for share, variance in zip(own.T, grid, strict=True):
                kept = variance / (variance + variances)
                part, weight = kept * seen, share[:, None]
                mean += weight * part
                square += weight[:, :, None] * (part[:, :, None] * part[:, None, :])
                square[:, range(m), range(m)] += weight * kept * variances
        else:
            told, precision = _along(seen, variances, group.axis)
            left = grid[1:] / (1 + np.outer(precision, grid[1:]))
            part = left * told[:, None]
            mean += np.outer((own * part).sum(axis=1), group.axis)
            second = (own * (part**2 + left)).sum(axis=1)
            square += second[:, None, None] * np.outer(group.axis, group.axis)
    return mean, square - mean[:, :, None] * mean[:, None, :]


def _null(groups: list[_Group], shares: np.ndarray, m: int) -> np.ndarray:
    """Probability of each loading to be zero: in the spike, or on an axis of others."""
    null = np.repeat(shares[:, :1], m, axis=1)
    first = groups[0].log_densities.shape[1]
    for group in groups[1:]:
        own = shares[:, first : first + group.log_densities.shape[1]].sum(axis=1)
        first += group.log_densities.shape[1]
        assert group.axis is not None
        null[:, group.axis == 0] += own[:, None]
    return np.minimum(null, 1.0)
