r"""Mean of the corrected matrix over all patterns of missing cells.

Cells are missing completely at random. Given a row x the mean over the patterns is one integral,

.. math:: \frac{E[u_j u_k \mid x]}{q_j q_k} = x_j x_k \int_0^\infty e^{-t(x_j^2 + x_k^2)}
    \prod_{l \ne j, k} \bigl(1 - q_l + q_l e^{-t x_l^2}\bigr)\, dt,

likewise on the diagonal, by the trapezoid rule in log t. Lengths of rows cancel.
"""

from __future__ import annotations

import numpy as np

from gdppca.linalg import directions
from gdppca.noise.bits import generator_for
from gdppca.theory.spherical import spherical_eigenvalues, spherical_eigenvalues_inverse

FEW = 100  # columns; of more the correction leaves hardly anything

_SEED = 20_251_015  # of a simulation without data; any number would do
_BASES = 3
_ROWS = (200, 2000)
_WORK = 600_000  # rows times columns²
_TURNS = 8  # each takes more than half of what is off
_LOG_T, _STEP = np.arange(-9.0, 12.0, 0.4), 0.4


def mean_over_patterns(unit: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Mean over rows of the corrected matrix, each averaged over all patterns of missing cells."""
    d = unit.shape[1]
    total, own = np.zeros((d, d)), np.zeros(d)
    for log_t in _LOG_T:
        kept = np.exp(-np.exp(log_t) * unit**2)
        either = np.maximum(1 - rates + rates * kept, 1e-300)
        weight = _STEP * np.exp(log_t + np.log(either).sum(axis=1))
        part = unit * kept / either
        total += (weight[:, None] * part).T @ part
        own += weight @ (unit * part)
    np.fill_diagonal(total, own)
    return total / len(unit)


def variance_shares(eigenvalues: np.ndarray, rates: np.ndarray | None = None) -> np.ndarray:
    """Shares of the variance behind eigenvalues of the spherical sign's matrix.

    Parameters
    ----------
    eigenvalues : array of shape (d,)
        Of the matrix, freed from noise, largest first.
    rates : None or array of shape (d,), default None
        Observed share of each column, where cells are missing and the matrix is corrected.

    Returns
    -------
    array of shape (d,)
        They add up to one; all alike where no eigenvalue is positive, which tells nothing.

    Notes
    -----
    Without rates it is `spherical_eigenvalues_inverse`. Of a corrected matrix the map from
    variances to eigenvalues is another one: it is found by simulated rows, for random loadings,
    and turned around.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import variance_shares
    >>> variance_shares(np.array([0.5, 0.3, 0.2])).round(2)
    array([0.62, 0.25, 0.13])
    >>> variance_shares(np.array([0.5, 0.3, 0.2]), np.full(3, 0.8)).round(2)
    array([0.67, 0.23, 0.1 ])
    """
    if not (eigenvalues > 0).any():
        return np.full(len(eigenvalues), 1 / len(eigenvalues))
    if rates is None or len(rates) > FEW or (rates == 1).all():
        return spherical_eigenvalues_inverse(eigenvalues)
    shown = np.maximum(eigenvalues, 0.0) / np.maximum(eigenvalues, 0.0).sum()
    shares, wanted = spherical_eigenvalues_inverse(shown), shown
    for _ in range(_TURNS):
        seen = _seen(shares, rates)
        wanted = wanted * np.divide(shown, seen, out=np.ones_like(seen), where=seen > 0)
        wanted = np.maximum.accumulate(wanted[::-1])[::-1] / wanted.sum()
        shares = spherical_eigenvalues_inverse(wanted)
    return shares


def _seen(variances: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Eigenvalues of the corrected matrix, over their sum; the same rows at every call."""
    d, generator = len(rates), generator_for(_SEED)
    rows = int(np.clip(_WORK // d**2, *_ROWS))
    found = np.zeros(d)
    for basis in np.linalg.qr(generator.standard_normal((_BASES, d, d)))[0]:
        unit = directions(generator.standard_normal((rows, d)) * np.sqrt(variances))[0]
        matrix = basis.T @ mean_over_patterns(unit @ basis.T, rates) @ basis
        # What the rows themselves are off by is known, and the same with and without gaps.
        found += np.diagonal(matrix) / np.maximum(np.mean(unit**2, axis=0), 1e-300)
    seen = found / _BASES * spherical_eigenvalues(variances)
    return np.asarray(seen / seen.sum())
