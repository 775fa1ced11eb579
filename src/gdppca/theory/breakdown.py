"""Breakdown points (F3)."""

from __future__ import annotations

import numpy as np

from gdppca import _validate
from gdppca.theory.spectra import eigengap, finite_spectrum


def breakdown_bound(eigenvalues: np.ndarray, n_components: int, sup_norm: float) -> float:
    r"""Fraction of rows below which no corruption can turn the subspace by a right angle.

    Parameters
    ----------
    eigenvalues : array of shape (d,)
        :math:`\hat\phi_g`, eigenvalues of :math:`\hat K_g` at the data, in any order.
    n_components : int
        m, below d.
    sup_norm : float
        :math:`\|g\|_\infty`.

    Returns
    -------
    float
        Lower bound on the breakdown point, at most 1/8.

    Notes
    -----
    **Paper.** :math:`(\hat\phi_{g,m} - \hat\phi_{g,m+1})/(8\|g\|_\infty^2)`, Thm 3.3. It concerns
    the subspace without noise. The covariance matrix has breakdown point 1/n.

    Examples
    --------
    >>> from gdppca.theory import breakdown_bound
    >>> round(breakdown_bound([0.5, 0.3, 0.2], 1, 1.0), 6)
    0.025
    """
    values = finite_spectrum(eigenvalues=eigenvalues)
    sup_norm = _validate.finite_positive(sup_norm=sup_norm)
    return eigengap(values, n_components) / (8 * sup_norm**2)
