"""Conditions under which the bounds in terms of Σ are proved (F8)."""

from __future__ import annotations

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.theory.pair_law import Law
from gdppca.theory.spectra import spectrum
from gdppca.theory.winsor import pair_radius_survival


def spherical_condition(lam: np.ndarray) -> float:
    r"""How far the spherical bound in terms of Σ is from its condition; it must be small.

    Parameters
    ----------
    lam : array of shape (d,)
        Eigenvalues of Σ, in any order.

    Returns
    -------
    float
        :math:`\|\Sigma\|_F \log d / \mathrm{tr}\,\Sigma`.

    Notes
    -----
    **Paper.** Prop 3.5 and App C.1: it must vanish as d grows. The logarithm makes that slow: at
    d = 100 it is still 0.46 for Σ = I, and 0.61 with two eigenvalues 10 and 5 in front.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import spherical_condition
    >>> round(spherical_condition(np.ones(100)), 6)
    0.460517
    """
    values = spectrum(lam=lam)
    return float(np.linalg.norm(values) * np.log(values.size) / values.sum())


def winsor_condition(radius: float, lam: np.ndarray, law: Law = "gaussian") -> float:
    r"""Probability that must stay away from zero for winsorising to equal the spherical sign.

    Parameters
    ----------
    radius : float
        r, the winsorisation radius.
    lam : array of shape (d,)
        Eigenvalues of Σ, in any order, all above zero.
    law : "gaussian" or ("t", nu)
        Law of the rows.

    Returns
    -------
    float
        :math:`P(R^2 \ge r^2/\lambda_d)`.

    Notes
    -----
    **Paper.** Eq 3.4 of Prop 3.6, and App C.2. It also bounds the eigenvalues:
    :math:`P(R^2 \ge r^2/\lambda_d)\, r^2 \phi_{sph} \le \phi_w^{(r)} \le r^2 \phi_{sph}`.

    Examples
    --------
    >>> from gdppca.theory import winsor_condition
    >>> round(winsor_condition(2.0, [4.0, 1.0]), 6)
    0.135335
    """
    values = spectrum(lam=lam)
    radius = _validate.finite_positive(radius=radius)
    if not values.min() > 0:
        raise ParameterError("`lam` must hold numbers > 0.")
    return pair_radius_survival(radius / float(np.sqrt(values.min())), values.size, law)
