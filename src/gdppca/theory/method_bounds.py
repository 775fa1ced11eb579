r"""The paper's error bounds of methods on sin Θ, in terms of Σ (F7).

Every bound is stated up to an absolute constant, as in `gdppca.theory.error_bounds`.
``epsilon=inf`` drops the privacy term.
"""

from __future__ import annotations

import math

import numpy as np

from gdppca import _validate
from gdppca.theory.pair_law import Law
from gdppca.theory.spectra import descending, eigengap, gap_factor, ratio, spectrum
from gdppca.theory.spherical import spherical_eigenvalues
from gdppca.theory.winsor import winsor_eigenvalues


def effective_rank(lam: np.ndarray) -> float:
    r"""Effective rank, the trace over the largest eigenvalue.

    Parameters
    ----------
    lam
        As in `spherical_bound`.

    Returns
    -------
    float
        Between 1 and d.

    Notes
    -----
    **Paper.** :math:`\mathrm{er}(\Sigma) = \mathrm{tr}(\Sigma)/\lambda_1`, Sec 3.4.

    Examples
    --------
    >>> from gdppca.theory import effective_rank
    >>> effective_rank([10.0, 5.0, 1.0, 1.0])
    1.7
    """
    values = spectrum(lam=lam)
    return float(values.sum() / values.max())


def spherical_bound(
    lam: np.ndarray, n_components: int, *, n_samples: int, epsilon: float, through: str = "signs"
) -> float:
    r"""Error bound of the spherical sign, without logarithms of β and δ.

    Parameters
    ----------
    lam : array of shape (d,)
        Eigenvalues of Σ, in any order.
    n_components : int
        m, below d.
    n_samples : int
        n.
    epsilon : float
        ε; infinity for no noise.
    through : "signs" or "scatter"
        The form in :math:`\phi_{sph}`, or the one in λ, which is proved where
        `spherical_condition` is small.

    Returns
    -------
    float
        :math:`u_{sph,m}`, up to an absolute constant.

    Notes
    -----
    **Paper.** Prop 3.5; the form in λ is eq 3.1. Eq 3.5 of Remark 3.1 is eq 3.1 under a spiked
    covariance without its log d.

    Examples
    --------
    >>> from gdppca.theory import spherical_bound
    >>> sizes = dict(n_samples=1000, epsilon=1.0)
    >>> round(spherical_bound([4.0, 1.0], 1, **sizes), 6)
    0.068732
    >>> round(spherical_bound([4.0, 1.0], 1, through="scatter", **sizes), 6)
    0.041604
    """
    values = spectrum(lam=lam)
    _validate.one_of(("signs", "scatter"), through=through)
    phi = spherical_eigenvalues(values) if through == "signs" else values / values.sum()
    return _sign_bound(phi, n_components, 1.0, n_samples, epsilon)


def winsor_bound(
    lam: np.ndarray,
    n_components: int,
    *,
    radius: float,
    n_samples: int,
    epsilon: float,
    law: Law = "gaussian",
) -> float:
    r"""Error bound of the winsorised sign, without logarithms of β and δ.

    Parameters
    ----------
    lam, n_components, n_samples, epsilon
        As in `spherical_bound`.
    radius, law
        As in `winsor_eigenvalues`.

    Returns
    -------
    float
        :math:`u_{wins,m}^{(r)}`, up to an absolute constant.

    Notes
    -----
    **Paper.** Prop 3.6, eq 3.3, with the eigenvalues of eq 3.2.

    Examples
    --------
    >>> from gdppca.theory import winsor_bound
    >>> round(winsor_bound([4.0, 1.0], 1, radius=0.01, n_samples=1000, epsilon=1.0), 4)
    0.0687
    """
    phi = winsor_eigenvalues(lam, radius, law)
    return _sign_bound(phi, n_components, float(radius), n_samples, epsilon)


def _sign_bound(
    phi: np.ndarray, n_components: int, sup_norm: float, n_samples: int, epsilon: float
) -> float:
    """Eq 3.3; with ‖g‖ = 1 it is the first form of Prop 3.5, and eq 3.1 with φ = λ/tr Σ."""
    n, epsilon = _validate.count(n_samples=n_samples), _validate.positive(epsilon=epsilon)
    privacy = math.sqrt(phi.size) / (n * epsilon)
    sampling = math.sqrt(phi.max() / sup_norm**2 * math.log(phi.size) / n)
    return ratio(sup_norm**2, eigengap(phi, n_components)) * (privacy + sampling)


def analyze_gauss_bound(
    lam: np.ndarray, n_components: int, *, n_samples: int, epsilon: float
) -> float:
    r"""Error bound of Analyze Gauss, up to an absolute constant.

    Parameters
    ----------
    lam, n_components, n_samples, epsilon
        As in `spherical_bound`.

    Returns
    -------
    float
        Bound on sin Θ.

    Notes
    -----
    **Paper.** :math:`\frac{\lambda_1}{\lambda_m - \lambda_{m+1}} (\frac{d^{3/2}}{\varepsilon n} +
    \sqrt{d/n})`, Remark 3.1.

    Examples
    --------
    >>> from gdppca.theory import analyze_gauss_bound
    >>> round(analyze_gauss_bound([4.0, 2.0, 1.0, 1.0], 1, n_samples=1000, epsilon=1.0), 6)
    0.142491
    """
    values = spectrum(lam=lam)
    n, epsilon = _validate.count(n_samples=n_samples), _validate.positive(epsilon=epsilon)
    d = values.size
    return gap_factor(values, n_components) * (d**1.5 / (epsilon * n) + math.sqrt(d / n))


def sgpca_bound(lam: np.ndarray, n_components: int, *, n_samples: int, epsilon: float) -> float:
    r"""Error bound of SGPCA under a spiked covariance, up to an absolute constant.

    Parameters
    ----------
    lam, n_components, n_samples, epsilon
        As in `spherical_bound`; the model takes all eigenvalues but m to be equal.

    Returns
    -------
    float
        The bound for sub-Gaussian rows.

    Notes
    -----
    **Paper.** :math:`(\sigma^2/\lambda + \sqrt{\sigma^2/\lambda}) (\frac{d}{\varepsilon n} +
    \sqrt{d/n})`, eq 3.6 of Remark 3.1, for :math:`\Sigma = \lambda U_m U_m^\top + \sigma^2 I`.
    Here :math:`\sigma^2 = \lambda_d` and the spike is the smallest one,
    :math:`\lambda_m - \lambda_d`. Proved for sub-Gaussian rows only.

    Examples
    --------
    >>> from gdppca.theory import sgpca_bound
    >>> round(sgpca_bound([5.0, 1.0, 1.0, 1.0], 1, n_samples=1000, epsilon=1.0), 6)
    0.050434
    """
    values = descending(spectrum(lam=lam))
    n, epsilon = _validate.count(n_samples=n_samples), _validate.positive(epsilon=epsilon)
    eigengap(values, n_components)  # refuses m >= d
    d, noise = values.size, values[-1]
    inverse_snr = ratio(noise, values[n_components - 1] - noise)
    return (inverse_snr + math.sqrt(inverse_snr)) * (d / (epsilon * n) + math.sqrt(d / n))
