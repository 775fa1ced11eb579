r"""The paper's noise and its error bounds on sin Θ in terms of a sign's matrix (F1, F2, F4).

Every bound is stated up to an absolute constant, which is left out: compare bounds with one
another and over n, d and ε, not with a measured loss. ``epsilon=inf`` drops the privacy term.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca.privacy.accounting import classical_multiplier
from gdppca.theory.spectra import corrupted_share, gap_factor, spectrum


def classical_noise_sd(
    epsilon: float, delta: float, *, n_samples: int, sup_norm: float = 1.0
) -> float:
    r"""Standard deviation of the paper's noise.

    Parameters
    ----------
    epsilon : float
        ε.
    delta : float
        δ.
    n_samples : int
        n.
    sup_norm : float
        :math:`\|g\|_\infty`, one for the spherical sign and r for the winsorised one.

    Returns
    -------
    float
        :math:`\sigma_{\varepsilon,\delta}`, of every packed entry.

    Notes
    -----
    **Privacy.** Proved for ε < 1 only; it fails, giving less privacy than it says, from ε = 8.42
    on at δ = 1e-5. The estimators calibrate exactly and to a smaller sensitivity.

    **Paper.** :math:`\sigma_{\varepsilon,\delta} = 4\|g\|_\infty^2 \sqrt{2\ln(1.25/\delta)}/
    (n\varepsilon)`, Prop 1.1 and Sec 2.2.

    Examples
    --------
    >>> from gdppca.theory import classical_noise_sd
    >>> round(classical_noise_sd(0.5, 1e-5, n_samples=2000), 6)
    0.019379
    """
    n = _validate.count(n_samples=n_samples)
    sup_norm = _validate.finite_positive(sup_norm=sup_norm)
    return 4 * sup_norm**2 / n * classical_multiplier(epsilon, delta)


def error_bound(
    eigenvalues: np.ndarray,
    n_components: int,
    *,
    sup_norm: float,
    n_samples: int,
    epsilon: float,
    delta: float,
    beta: float = 0.05,
) -> float:
    r"""Bound on sin Θ that holds with probability 1 - β, up to an absolute constant.

    Parameters
    ----------
    eigenvalues : array of shape (d,)
        :math:`\phi_g`, eigenvalues of :math:`K_g`, in any order.
    n_components : int
        m, below d.
    sup_norm : float
        :math:`\|g\|_\infty`.
    n_samples : int
        n; the bound is proved from `required_samples` on.
    epsilon : float
        ε; infinity for no noise.
    delta : float
        δ.
    beta : float
        β, how often the bound may fail.

    Returns
    -------
    float
        :math:`u_{g,m}`; infinity where the eigengap vanishes.

    Notes
    -----
    **Paper.** Thm 3.2, with the classical noise of Prop 1.1.

    Examples
    --------
    >>> from gdppca.theory import error_bound
    >>> sizes = dict(sup_norm=1.0, n_samples=1000, epsilon=1.0, delta=1e-5)
    >>> round(error_bound([0.5, 0.3, 0.2], 1, **sizes), 6)
    0.284977
    """
    phi, n, sup_norm = _checked(eigenvalues, n_samples, sup_norm)
    beta = _validate.fraction(beta=beta)
    scale = float(sup_norm**2 / phi.max())
    privacy = _privacy_term(scale, phi.size, n, epsilon, delta, beta)
    sampling = math.sqrt(scale * math.log(phi.size / beta) / n)
    return gap_factor(phi, n_components) * (privacy + sampling)


def required_samples(
    eigenvalues: np.ndarray, *, sup_norm: float, beta: float = 0.05, alpha: float = 0.0
) -> int:
    r"""Number of rows from which the error bounds are proved.

    Parameters
    ----------
    eigenvalues, sup_norm, beta
        As in `error_bound`.
    alpha : float
        α, fraction of corrupted rows, in [0, 1).

    Returns
    -------
    int
        The smallest such n.

    Notes
    -----
    **Paper.** :math:`n \ge \frac{16}{3(1-\alpha)} (\|g\|_\infty^2/\phi_{g,1} + 1) \log(2d/\beta)`,
    Thm 3.2 (α = 0) and Thm 3.4. Here the constant is the paper's own.

    Examples
    --------
    >>> from gdppca.theory import required_samples
    >>> required_samples([0.5, 0.3, 0.2], sup_norm=1.0)
    77
    """
    phi, _, sup_norm = _checked(eigenvalues, 1, sup_norm)
    beta = _validate.fraction(beta=beta)
    factor = 16 / (3 * (1 - corrupted_share(alpha)))
    return math.ceil(factor * (sup_norm**2 / phi.max() + 1) * math.log(2 * phi.size / beta))


@dataclass(frozen=True, slots=True, kw_only=True)
class CorruptionBound:
    r"""Terms of the error bound under corruption, before the factor of the eigengap, and its total.

    Parameters
    ----------
    privacy : float
        I₁, from the noise.
    sampling : float
        I₂, from the sample.
    corruption : float
        I₃, from the corrupted rows; it does not fall with n.
    total : float
        :math:`\phi_1/(\phi_m - \phi_{m+1})` times the sum of the three.
    """

    privacy: float
    sampling: float
    corruption: float
    total: float


def corruption_bound(
    eigenvalues: np.ndarray,
    n_components: int,
    *,
    alpha: float,
    sup_norm: float,
    n_samples: int,
    epsilon: float,
    delta: float,
    beta: float = 0.05,
) -> CorruptionBound:
    r"""Bound on sin Θ when a fraction α of the rows is corrupted at will.

    Parameters
    ----------
    eigenvalues : array of shape (d,)
        :math:`\phi_g` of the clean rows, in any order.
    n_components
        As in `error_bound`.
    alpha : float
        α, fraction of corrupted rows, in [0, 1).
    sup_norm, n_samples, epsilon, delta, beta
        As in `error_bound`.

    Returns
    -------
    CorruptionBound
        Three terms and their total, up to an absolute constant.

    Notes
    -----
    **Paper.** Thm 3.4. At α = 0 the sampling term is up to √2 times that of Thm 3.2, since it
    keeps a summand which the earlier theorem absorbs into its constant.

    Examples
    --------
    >>> from gdppca.theory import corruption_bound
    >>> sizes = dict(sup_norm=1.0, n_samples=1000, epsilon=1.0, delta=1e-5)
    >>> round(corruption_bound([0.5, 0.3, 0.2], 1, alpha=0.05, **sizes).corruption, 6)
    0.2925
    """
    phi, n, sup_norm = _checked(eigenvalues, n_samples, sup_norm)
    beta, alpha = _validate.fraction(beta=beta), corrupted_share(alpha)
    scale = float(sup_norm**2 / phi.max())
    privacy = _privacy_term(scale, phi.size, n, epsilon, delta, beta)
    sampling = math.sqrt((scale + 1) * math.log(phi.size / beta) / ((1 - alpha) * n))
    corruption = alpha * (2 - alpha) * (1 + scale)
    factor = gap_factor(phi, n_components)
    return CorruptionBound(
        privacy=privacy,
        sampling=sampling,
        corruption=corruption,
        total=factor * (privacy + sampling + corruption),
    )


def _checked(eigenvalues: Any, n_samples: int, sup_norm: float) -> tuple[np.ndarray, int, float]:
    phi = spectrum(eigenvalues=eigenvalues)
    n = _validate.count(n_samples=n_samples)
    return phi, n, _validate.finite_positive(sup_norm=sup_norm)


def _privacy_term(scale: float, d: int, n: int, epsilon: float, delta: float, beta: float) -> float:
    """I₁ of Thm 3.4, also the first term of Thm 3.2."""
    epsilon = _validate.positive(epsilon=epsilon)
    delta = _validate.fraction(delta=delta)
    reach = math.sqrt(d) + math.sqrt(math.log(1 / beta))
    return scale * reach * math.sqrt(math.log(1 / delta)) / (n * epsilon)
