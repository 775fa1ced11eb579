"""Eigenvalues of the winsorised matrix, and the law of the pair radius (F6)."""

from __future__ import annotations

import numpy as np
from scipy import optimize, special

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.theory.pair_law import GaussianPairs, Law, PairLaw, pair_law
from gdppca.theory.quadratic_form import QuadraticForm
from gdppca.theory.spectra import spectrum

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(12)
_REACH = (45.0, 85.0)  # in log s; the integrand falls at least like s and like s^(-1/2)
_NEGLIGIBLE = 1e-18
_SMALLEST = 1e-60  # shares below this count as zero
_RADII = (1e-50, 1e50)  # in units of √λ₁


def winsor_eigenvalues(lam: np.ndarray, radius: float, law: Law = "gaussian") -> np.ndarray:
    r"""Eigenvalues of the winsorised sign's matrix from those of the scatter matrix.

    Parameters
    ----------
    lam : array of shape (d,)
        Eigenvalues of Σ, in any order.
    radius : float
        r, the winsorisation radius.
    law : "gaussian" or ("t", nu)
        Law of the rows; ``("t", 1)`` is the multivariate Cauchy law.

    Returns
    -------
    array of shape (d,)
        :math:`\phi_w^{(r)}` in the same order.

    Notes
    -----
    **Paper.** Eq 3.2, :math:`\phi_\ell = E[\min(R^2, r^2/\sum_j \lambda_j S_j^2)
    \lambda_\ell S_\ell^2]`. Both laws are Gaussian given a random scale a, so this is
    :math:`\lambda_\ell E[\min(a, r^2/Q_\ell)]` with :math:`Q_\ell = \lambda_\ell \chi^2_3 +
    \sum_{j \ne \ell} \lambda_j \chi^2_1`, or

    .. math:: \phi_\ell = \lambda_\ell \int_0^\infty P(a > x)\, P(Q_\ell \le r^2/x)\, dx.

    No simulation: the last probability is a Laplace inversion along a hyperbola, the integral is
    taken by Gauss-Legendre panels. Ten digits or more for every eigenvalue.

    Examples
    --------
    >>> from gdppca.theory import winsor_eigenvalues
    >>> winsor_eigenvalues([4.0, 1.0], 1e6).round(6)
    array([4., 1.])
    >>> winsor_eigenvalues([4.0, 1.0], 1.0, law=("t", 1)).round(6)
    array([0.638375, 0.307128])
    """
    values = spectrum(lam=lam)
    top = values.max()
    radius = _validate.finite_positive(radius=radius) / np.sqrt(top)
    if not _RADII[0] <= radius <= _RADII[1]:
        raise ParameterError("`radius` must lie within 50 decades of the largest √λ.")
    shares = np.where(values < _SMALLEST * top, 0.0, values / top)
    distinct, place, counts = np.unique(shares, return_inverse=True, return_counts=True)
    form = QuadraticForm(distinct, counts.astype(float))
    means = _clipped_means(form, radius**2, pair_law(law))
    return top * shares * means[place]


def _clipped_means(form: QuadraticForm, square: float, law: PairLaw) -> np.ndarray:
    """E[min(a, r²/Q_l)], one entry per distinct weight."""
    centre = np.log(form.saddle(square))  # where x = 1
    log_s, weights = _panels(_edges(form, centre, law))
    s = np.exp(log_s)
    level = form.level(s)
    x = square / level
    mass = weights * s * form.curvature(s) * x / level  # dx
    mass *= law.scale_survival(x)
    bound = mass[:, None] * form.tail_bound(s)
    kept = (bound > _NEGLIGIBLE * bound.sum(axis=0)).any(axis=1)
    return form.tilted_mean(s[kept], mass[kept])


def _edges(form: QuadraticForm, centre: float, law: PairLaw) -> np.ndarray:
    """Ends of the panels in log s: unit steps, finer where a has its law, one end at x = 1."""
    smallest = form.weights[form.weights > 0].min()
    below = np.arange(0.0, max(0.0, centre + np.log(form.order)) + _REACH[0])
    above = np.arange(0.0, max(0.0, -np.log(smallest) - centre) + _REACH[1])
    finer = np.geomspace(law.width, 1.0, 2 + int(2 * np.log(1 / law.width)))[:-1]
    return centre + np.unique(np.concatenate([-below, -finer, finer, above]))


def _panels(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the Gauss-Legendre rule on every panel."""
    half = 0.5 * np.diff(edges)[:, None]
    nodes = edges[:-1, None] + half * (1 + _NODES)
    return nodes.ravel(), (half * _NODE_WEIGHTS).ravel()


def pair_radius_survival(radius: float, n_features: int, law: Law = "gaussian") -> float:
    r"""Probability that the pair radius R reaches a value.

    Parameters
    ----------
    radius : float
        Value to reach.
    n_features : int
        d.
    law : "gaussian" or ("t", nu)
        Law of the rows.

    Returns
    -------
    float
        :math:`P(R \ge r)`, :math:`R^2 = \frac12 (X - \tilde X)^\top \Sigma^{-1} (X - \tilde X)`.

    Notes
    -----
    **Paper.** App C.2. For Gaussian rows :math:`R^2 \sim \chi^2_d`. For the t law
    :math:`R^2 = d F/z` with F of the F law with d and 2ν degrees of freedom and z beta of shapes
    ν/2 and 1/2, independent.

    Examples
    --------
    >>> from gdppca.theory import pair_radius_survival
    >>> round(pair_radius_survival(2.0, 2), 6)
    0.135335
    """
    radius = min(_validate.finite_positive(radius=radius), 1e120)  # its square must be finite
    d = _validate.count(n_features=n_features)
    return pair_law(law).radius_survival(radius**2, d)


def pair_radius_quantile(q: float, n_features: int, law: Law = "gaussian") -> float:
    r"""Quantile of the pair radius R.

    Parameters
    ----------
    q : float
        Level, strictly between 0 and 1.
    n_features, law
        As in `pair_radius_survival`.

    Returns
    -------
    float
        The value that R stays below with probability q.

    Notes
    -----
    **Paper.** App C.2 and Figure C.1, which draws these quantiles over √d for the t law with one
    degree of freedom.

    Examples
    --------
    >>> from gdppca.theory import pair_radius_quantile
    >>> round(pair_radius_quantile(0.5, 100, law=("t", 1)) / 10, 3)
    2.089
    """
    q = _validate.fraction(q=q)
    d = _validate.count(n_features=n_features)
    known = pair_law(law)
    if isinstance(known, GaussianPairs):
        return float(np.sqrt(special.chdtri(d, 1 - q)))

    def excess(log_square: float) -> float:
        return known.radius_survival(float(np.exp(log_square)), d) - (1 - q)

    low, high = np.log(d) - 1, np.log(d) + 1
    while excess(low) < 0:
        low -= 2 * (high - low)
    while excess(high) > 0:
        high += 2 * (high - low)
    return float(np.exp(0.5 * optimize.brentq(excess, low, high, xtol=1e-13)))
