"""Eigenvalues of the spherical sign's matrix under an elliptical law, and back (F5)."""

from __future__ import annotations

import numpy as np

from gdppca._errors import ParameterError
from gdppca._validate import floats
from gdppca.theory.quadrature import LOG_X, STEP, X

_STEPS = 10_000
_TOLERANCE = 1e-14


def _shares(name: str, values: np.ndarray) -> np.ndarray:
    shares = floats(values)
    if shares is None or shares.ndim != 1 or shares.size == 0 or not np.isfinite(shares).all():
        raise ParameterError(f"`{name}` must be a non-empty vector of finite numbers.")
    if (shares < 0).any() or not shares.sum() > 0:
        raise ParameterError(f"`{name}` must hold numbers >= 0, not all zero.")
    return shares / shares.sum()


def spherical_eigenvalues(lam: np.ndarray) -> np.ndarray:
    r"""Eigenvalues of the spherical sign's matrix from those of the scatter matrix.

    Parameters
    ----------
    lam : array of shape (d,)
        Eigenvalues of Σ, in any order and up to a factor.

    Returns
    -------
    array of shape (d,)
        φ in the same order, summing to one.

    Notes
    -----
    **Paper.** Sec 3.4, :math:`\phi_\ell = E[\lambda_\ell Z_\ell^2 / \sum_j \lambda_j Z_j^2]`,
    here as the exact one-dimensional integral

    .. math:: \phi_\ell = \frac{\lambda_\ell}{2} \int_0^\infty
        \frac{dx}{(1 + \lambda_\ell x) \prod_j \sqrt{1 + \lambda_j x}}.

    Examples
    --------
    >>> from gdppca.theory import spherical_eigenvalues
    >>> spherical_eigenvalues([4.0, 1.0]).round(6)
    array([0.666667, 0.333333])
    """
    shares = _shares("lam", lam)
    scaled = shares / shares.max()
    grown = np.log1p(np.outer(X, scaled))
    common = np.exp(LOG_X - 0.5 * grown.sum(axis=1))
    phi = 0.5 * STEP * scaled * (common @ np.exp(-grown))
    return phi / phi.sum()


def spherical_eigenvalues_inverse(phi: np.ndarray) -> np.ndarray:
    r"""Eigenvalues of the scatter matrix, up to a factor, from those of the spherical sign's.

    Parameters
    ----------
    phi : array of shape (d,)
        Eigenvalues of the spherical sign's matrix, in any order and up to a factor.

    Returns
    -------
    array of shape (d,)
        λ in the same order, summing to one.

    Notes
    -----
    The fixed point :math:`\lambda \leftarrow \lambda\, \phi/\phi(\lambda)` of [1]_.

    References
    ----------
    .. [1] A. Dürre, D. E. Tyler, D. Vogel (2016). On the eigenvalues of the spatial sign
       covariance matrix in more than two dimensions. Statistics & Probability Letters 111.

    Examples
    --------
    >>> from gdppca.theory import spherical_eigenvalues, spherical_eigenvalues_inverse
    >>> spherical_eigenvalues_inverse(spherical_eigenvalues([4.0, 1.0])).round(6)
    array([0.8, 0.2])
    """
    target = _shares("phi", phi)
    lam = target.copy()
    for _ in range(_STEPS):
        reached = spherical_eigenvalues(lam)
        ratio = np.divide(target, reached, out=np.ones_like(lam), where=reached > 0)
        lam = lam * ratio / np.sum(lam * ratio)
        if np.max(np.abs(ratio - 1)) < _TOLERANCE:
            break
    return lam
