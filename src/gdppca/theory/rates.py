r"""What missing cells make of the noise: an uneven law that is public all the same.

A missing cell is set to the centre, so the sign is zero there. With observed rates q, the matrix
:math:`\tilde K` becomes :math:`\tilde K_{jk}/(q_j q_k)` off the diagonal and
:math:`\tilde K_{jj}/q_j` on it, and its noise is divided with it. All here is post-processing.
See docs/proofs/missing.md.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.linalg import SQRT2
from gdppca.noise.bits import generator_for

LEAST_RATE = 0.05  # below, a column is nearly empty, and dividing by noise would be all there is

_SEED = 20_251_013  # of a simulation without data; any number would do
_DRAWS = (4, 1000)  # fewest and most matrices
_WORK = 800_000  # draws times columns^2.5
_MOST = 200  # columns drawn; of more, so many that stand for all of them
_RARE = 2.33  # standard deviations of the largest eigenvalue, about one in a hundred
# What the correction leaves on the diagonal beside components, over what it leaves of the squares
# of the columns' variances: measured, 5 to 25 columns, 20 to 60 % missing.
_UNEQUAL, _FEW = 6.0, 100.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


def corrected(scatter: np.ndarray, rates: np.ndarray | None) -> np.ndarray:
    r"""Matrix of the signs as if no cell were missing.

    Parameters
    ----------
    scatter : array of shape (d, d)
        The released matrix, zeros where cells are missing.
    rates : None or array of shape (d,)
        Observed share of each column, in (0, 1]; None where no cell may be missing.

    Returns
    -------
    array of shape (d, d)
        Divided by :math:`q_j q_k` off the diagonal and by :math:`q_j` on it; `scatter` itself
        without rates.

    Notes
    -----
    It is right where cells are missing completely at random, and off by the order of
    :math:`(1 - q)/(qd)` even then.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import corrected
    >>> corrected(np.array([[0.4, 0.1], [0.1, 0.4]]), np.array([0.5, 0.8]))
    array([[0.8 , 0.25],
           [0.25, 0.5 ]])
    """
    return scatter if rates is None else scatter / divisors(rates)


def divisors(rates: np.ndarray) -> np.ndarray:
    """What the entries are divided by: q_j q_k off the diagonal, q_j on it."""
    products = np.outer(rates, rates)
    np.fill_diagonal(products, rates)
    return products


def checked_rates(rates: np.ndarray | None, d: int) -> np.ndarray | None:
    """Rates as floats; what cannot be rates is refused."""
    if rates is None:
        return None
    found = _validate.floats(rates)
    if found is None or found.shape != (d,) or not ((found > 0) & (found <= 1)).all():
        raise ParameterError(f"`rates` must hold {d} numbers in (0, 1].")
    return found


def entry_sd(noise_sd: float, rates: np.ndarray | None, d: int) -> np.ndarray:
    """Standard deviations of the noise's entries after the correction, (d, d).

    Parameters
    ----------
    noise_sd : float
        σ of the packed noise before it.
    rates : None or array of shape (d,)
        As in `corrected`.
    d : int
        Number of columns.

    Returns
    -------
    array of shape (d, d)
        The entries are independent but for symmetry.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import entry_sd
    >>> entry_sd(1.0, np.array([0.5, 1.0]), 2).round(3)
    array([[2.   , 1.414],
           [1.414, 1.   ]])
    """
    even = noise_sd * np.sqrt(0.5 + 0.5 * np.eye(d))
    return even if rates is None else even / divisors(rates)


def even_noise(noise_sd: float, rates: np.ndarray | None, d: int) -> float:
    """σ of an even noise whose spectrum ends where that of the uneven one does.

    Parameters
    ----------
    noise_sd, rates, d
        As in `entry_sd`.

    Returns
    -------
    float
        `noise_sd` itself without rates, or where all are 1.

    Notes
    -----
    The mean of the largest eigenvalue over a fixed set of draws, over that of an even noise in the
    same draws. Of more than 200 columns 200 stand for all, evenly taken in the order of the rates.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import even_noise
    >>> even_noise(0.01, np.ones(10), 10)
    0.01
    >>> round(even_noise(0.01, np.linspace(0.4, 1.0, 10), 10), 3)
    0.026
    """
    if rates is None or (rates == 1).all():
        return noise_sd
    return float(noise_sd * _edges(tuple(rates.tolist()))[0])


def mean_noise(noise_sd: float, rates: np.ndarray | None, d: int) -> float:
    """σ of an even noise with the same mean variance: what a direction over all columns meets."""
    if rates is None or (rates == 1).all():
        return noise_sd
    inverse = rates**-2.0
    return float(noise_sd * np.mean(inverse))


def null_sd(
    noise_sd: float,
    rates: np.ndarray,
    rate_error: np.ndarray | None,
    eigenvalues: np.ndarray,
    m: int,
    n_samples: float,
) -> float:
    r"""Off-diagonal standard deviation of an even noise with the edge of all that is chance.

    Around eigenvalues that are equal to b from the m-th on these are: the noise of the matrix;
    sampling, of variance :math:`b^2/(n q_j q_k)` for zeros that are divided; what the correction
    leaves on the diagonal of equal variances, and of columns that m components make unequal; and
    the errors of the rates, which leave half of themselves on the diagonal. Their edges add up as
    those of independent noises do, in squares.
    """
    d = len(rates)
    _, noise, sampling, left = _edges(tuple(rates.tolist()))
    bulk, diagonal = (max(float(np.mean(part)), 0.0) for part in (eigenvalues[m:], eigenvalues))
    unequal = _UNEQUAL / (d**2 + _FEW) * float(np.mean(1 / rates) - 1)
    parts = [
        noise_sd / SQRT2 * noise,
        bulk * sampling / math.sqrt(n_samples),
        bulk * left,
        unequal * math.hypot(*eigenvalues[:m].tolist()) * _diagonal_edge(np.ones(d)),
    ]
    if rate_error is not None:
        parts.append(diagonal * _diagonal_edge(rate_error / rates))
    return math.hypot(*parts)


def shrunk_rates(noisy: np.ndarray, noise_sd: float) -> np.ndarray:
    """Noisy rates drawn to their mean by as much as their noise asks for, within (0, 1].

    Parameters
    ----------
    noisy : array of shape (d,)
        Observed shares with Gaussian noise.
    noise_sd : float
        Its standard deviation.

    Returns
    -------
    array of shape (d,)
        Between 0.05 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import shrunk_rates
    >>> shrunk_rates(np.array([0.5, 0.6, 0.7]), 0.1)
    array([0.6, 0.6, 0.6])
    >>> shrunk_rates(np.array([0.5, 0.7, 1.2]), 0.0)
    array([0.5, 0.7, 1. ])
    """
    mean = float(np.mean(noisy))
    kept = _kept(max(float(np.var(noisy)) - noise_sd**2, 0.0), noise_sd)
    return np.clip(mean + kept * (np.asarray(noisy) - mean), LEAST_RATE, 1.0)


def rate_errors(rates: np.ndarray, noise_sd: float, n_samples: float) -> np.ndarray:
    """Standard deviations of released rates around those of the rows, after shrinking.

    Parameters
    ----------
    rates : array of shape (d,)
        As `shrunk_rates` gives them.
    noise_sd : float
        Standard deviation of their noise.
    n_samples : float
        Number of rows.

    Returns
    -------
    array of shape (d,)
        Not below what the rates vary by chance where they are drawn to one mean.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import rate_errors
    >>> rate_errors(np.array([0.5, 0.7, 1.0]), 0.01, 5000).round(4)
    array([0.01, 0.01, 0.01])
    """
    spread = _spread_before(rates, noise_sd)
    kept = _kept(spread, noise_sd)
    chance = rates * (1 - rates) / n_samples
    lost = (1 - kept) ** 2 * np.maximum(chance, spread)
    noise = (kept**2 + (1 - kept) ** 2 / len(rates)) * noise_sd**2
    return np.asarray(np.sqrt(lost + noise))


def kept_share(rates: np.ndarray, noise_sd: float) -> float:
    """Share of its difference from their mean that `shrunk_rates` left to each of these rates.

    Parameters
    ----------
    rates, noise_sd
        As in `rate_errors`.

    Returns
    -------
    float
        One where nothing was drawn to the mean, zero where all of it was.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import kept_share, shrunk_rates
    >>> noisy = np.array([0.5, 0.7, 0.9])
    >>> rates = shrunk_rates(noisy, 0.1)
    >>> round(kept_share(rates, 0.1), 3), round(float(np.ptp(rates) / np.ptp(noisy)), 3)
    (0.625, 0.625)
    """
    return _kept(_spread_before(rates, noise_sd), noise_sd)


def _spread_before(rates: np.ndarray, noise_sd: float) -> float:
    """Variance of the rates without noise s²: they vary by v²/(v + s²) once they are shrunk."""
    shown = float(np.var(rates))
    return 0.5 * (shown + math.sqrt(shown**2 + 4 * shown * noise_sd**2))


def _kept(spread: float, noise_sd: float) -> float:
    """Share of a difference from the mean that is not noise."""
    return 1.0 if noise_sd == 0 else spread / (spread + noise_sd**2)


@lru_cache(maxsize=16)
def _edges(rates: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Edge of privacy noise over that of even noise; and with what is rarely reached: the same, of
    sampling, and of what the correction leaves.

    Of noise and sampling of size one, and of equal eigenvalues of one.
    """
    q, d = np.sort(np.array(rates)), len(rates)
    if d == 1:
        return float(1 / q[0]), float(1 / q[0]), float(1 / math.sqrt(q[0])), 0.0
    products = divisors(q[_some(d)])
    size = 1 + np.eye(len(products))
    even, even_rare = _even_edge(len(products))
    privacy, rare = _edge(np.sqrt(size) / products)
    sampling = _edge(np.sqrt(size / products))[1]
    # What is left reaches its largest entry by itself; an even noise of one reaches 2√d.
    left = float(_left_over(q).max()) / (2 * math.sqrt(d))
    return privacy / even, rare / even_rare, sampling / even_rare, left


def _some(d: int) -> np.ndarray:
    """Places that stand for all columns."""
    return np.unique(np.linspace(0, d - 1, min(d, _MOST)).round().astype(int))


@lru_cache(maxsize=16)
def _even_edge(d: int) -> tuple[float, float]:
    return _edge(np.sqrt(1 + np.eye(d)))


def _edge(sd: np.ndarray) -> tuple[float, float]:
    """Mean of the largest eigenvalue over a fixed set of draws, and what it rarely reaches."""
    d, size = len(sd), float(sd.max())
    square = np.triu(_normals(d, (d, d)))
    noise = square + np.triu(square, k=1).transpose(0, 2, 1)
    values = np.linalg.eigvalsh(noise * (sd / size))
    ends = np.concatenate([values[:, -1], -values[:, 0]])  # the law is symmetric
    mean = float(np.mean(ends))
    return size * mean, size * (mean + _RARE * float(np.std(ends)))


def _diagonal_edge(sd: np.ndarray) -> float:
    """Mean of the largest of independent numbers, over the edge of an even noise of size one."""
    d = len(sd)
    if d == 1:
        return float(sd[0])
    numbers = np.sort(sd)[_some(d)] * _normals(d, (min(d, _MOST),))
    reach = 0.5 * float(np.mean(np.ptp(numbers, axis=1)))
    return reach / _even_edge(min(d, _MOST))[0] * math.sqrt(min(d, _MOST) / d)


def _normals(d: int, shape: tuple[int, ...]) -> np.ndarray:
    draws = int(np.clip(_WORK // d**2.5, *_DRAWS))
    return np.asarray(generator_for(_SEED).standard_normal((draws, *shape)))


def _left_over(q: np.ndarray) -> np.ndarray:
    r"""Diagonal of the corrected matrix of equal variances, over its mean, less one.

    :math:`E[u_j^2 \mid j \text{ seen}] = \int_0^1 \prod_{l \ne j} (1 - q_l v)\, dv`.
    """
    x = 0.5 * (_NODES + 1)
    v, weight = x**3, 1.5 * x**2 * _WEIGHTS  # many columns fall off near zero
    logs = np.log1p(-np.outer(v, q) * (1 - 1e-12))
    others = np.exp(logs.sum(axis=1, keepdims=True) - logs)
    found = weight @ others
    return np.asarray(found / found.mean() - 1)
