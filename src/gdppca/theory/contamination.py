"""What a cluster of outliers does to a covariance matrix (F9)."""

from __future__ import annotations

import math

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError


def contaminated_covariance(
    Sigma: np.ndarray,
    *,
    fraction: float,
    shift: float,
    direction: np.ndarray,
    spread: float = 0.05,
) -> np.ndarray:
    r"""Covariance of rows of which some come from a tight cluster elsewhere.

    Parameters
    ----------
    Sigma : array of shape (d, d)
        Covariance of the clean rows, which have mean zero.
    fraction : float
        ρ, fraction of rows in the cluster.
    shift : float
        :math:`c_\perp`, how far the cluster lies from zero.
    direction : array of shape (d,)
        :math:`v_\perp`, where it lies; its length does not matter.
    spread : float
        Standard deviation of the cluster in every direction.

    Returns
    -------
    array of shape (d, d)
        Covariance of the mixture.

    Notes
    -----
    **Paper.** :math:`(1-\rho)\Sigma + \rho\sigma^2 I + c_\perp^2 \rho(1-\rho) v_\perp
    v_\perp^\top`, App B.3.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import contaminated_covariance
    >>> contaminated_covariance(
    ...     np.eye(2), fraction=0.5, shift=2.0, direction=[0, 1], spread=1.0
    ... )
    array([[1., 0.],
           [0., 2.]])
    """
    matrix = _square(Sigma)
    unit = _unit(len(matrix), direction)
    rho = _validate.fraction(fraction=fraction)
    shift = _not_negative(shift=shift)
    noise = _not_negative(spread=spread) ** 2 * np.eye(len(matrix))
    cluster = shift**2 * rho * (1 - rho) * np.outer(unit, unit)
    return (1 - rho) * matrix + rho * noise + cluster


def flip_shift(
    lam2: float, *, fraction: float, spread: float = 0.05, lam_direction: float | None = None
) -> float:
    r"""Distance of the cluster from which a covariance method takes it for a component.

    Parameters
    ----------
    lam2 : float
        The last eigenvalue of Σ that is looked for, λ₂ for two components.
    fraction : float
        ρ, fraction of rows in the cluster.
    spread : float
        Standard deviation of the cluster in every direction.
    lam_direction : float, optional
        Eigenvalue of Σ along the cluster's direction, λ_d in the paper's simulation. With it the
        answer is exact; without it, it is the one that the paper prints.

    Returns
    -------
    float
        :math:`c_\perp`; zero where the direction already has the larger variance.

    Notes
    -----
    **Paper.** App B.3 prints :math:`(1-\rho)\lambda_2 + \rho\sigma^2 = c_\perp^2 \rho(1-\rho)`.
    This leaves out the variance :math:`(1-\rho)\lambda_d + \rho\sigma^2` which the matrix of
    `contaminated_covariance` has along the direction anyway. With it the spread cancels and
    :math:`c_\perp^2 = (\lambda_2 - \lambda_d)/\rho`: 8.94 and not 10 in the paper's simulation.

    Examples
    --------
    >>> from gdppca.theory import flip_shift
    >>> round(flip_shift(5.0, fraction=0.05), 4)
    10.0001
    >>> round(flip_shift(5.0, fraction=0.05, lam_direction=1.0), 4)
    8.9443
    """
    lam2 = _validate.finite_positive(lam2=lam2)
    rho = _validate.fraction(fraction=fraction)
    spread = _not_negative(spread=spread)
    if lam_direction is None:
        return math.sqrt(lam2 / rho + spread**2 / (1 - rho))
    along = _not_negative(lam_direction=lam_direction)
    return math.sqrt(max(lam2 - along, 0.0) / rho)


def _not_negative(**parameter: float) -> float:
    [value] = parameter.values()
    return 0.0 if value == 0 else _validate.finite_positive(**parameter)


def _square(Sigma: np.ndarray) -> np.ndarray:
    matrix = _validate.floats(Sigma)
    square = matrix is not None and matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
    if matrix is None or not square or not np.isfinite(matrix).all():
        raise ParameterError("`Sigma` must be a square matrix of finite numbers.")
    return matrix


def _unit(d: int, direction: np.ndarray) -> np.ndarray:
    vector = _validate.vector(d, direction=direction)
    length = np.linalg.norm(vector)
    if not length > 0:
        raise ParameterError("`direction` must not be zero.")
    return vector / length
