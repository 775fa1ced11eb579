r"""What pure noise looks like, and what stands above it.

The noise on a packed matrix is a Gaussian orthogonal ensemble with off-diagonal variance σ²/2. Its
law is public, so everything here is post-processing of a release and costs no budget. Where cells
are missing it is uneven, see `gdppca.theory.rates`; eigenvalues are those of the corrected matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca.linalg import SQRT2
from gdppca.theory.rates import checked_rates, even_noise, mean_noise, null_sd
from gdppca.theory.shifted import centre_rise

_UNLUCKY = 4.0  # an error of the centre that is rare, over the usual one, beside a wide direction
_TRACY_WIDOM_99 = 2.0234  # 0.99 quantile of the Tracy-Widom law for β = 1


def noise_edge(noise_sd: float, n_features: int, rates: np.ndarray | None = None) -> float:
    r"""Where the spectrum of the noise alone ends, :math:`\sigma\sqrt{2d}`.

    Parameters
    ----------
    noise_sd : float
        σ, standard deviation of the packed noise.
    n_features : int
        d, order of the matrix.
    rates : None or array of shape (d,), default None
        Observed share of each column, where cells are missing and the matrix is corrected.

    Returns
    -------
    float
        The edge; of the uneven noise where there are rates.

    Examples
    --------
    >>> from gdppca.theory import noise_edge
    >>> noise_edge(0.01, 50)
    0.1
    """
    even = even_noise(noise_sd, checked_rates(rates, n_features), n_features)
    return float(even * np.sqrt(2 * n_features))


@dataclass(frozen=True, eq=False)
class _Chance:
    """All that may raise an eigenvalue beside what it stands for."""

    noise_sd: float
    n_samples: float
    centre_bias: float
    rates: np.ndarray | None
    rate_error: np.ndarray | None

    def null_edge(self, eigenvalues: np.ndarray, m: int) -> float:
        """0.99 quantile of how far the first of equal eigenvalues, from m on, rises above them.

        The privacy noise and the sampling noise of a sign scatter add up, entry by entry; the
        second is that of equal eigenvalues, variance bulk²/n. The error of a private centre adds
        its bias.
        """
        k, bulk = len(eigenvalues) - m, max(float(np.mean(eigenvalues[m:])), 0.0)
        if self.rates is None:  # a square may not be a float
            sd = np.hypot(self.noise_sd / SQRT2, bulk / np.sqrt(self.n_samples))
        else:
            sd = null_sd(
                *(self.noise_sd, self.rates, self.rate_error, eigenvalues, m, self.n_samples)
            )
        bias = _centre_rise(eigenvalues, m, self._bias(eigenvalues))
        return float(sd * (2 * np.sqrt(k) + _TRACY_WIDOM_99 * k ** (-1 / 6)) + bias)

    def _bias(self, eigenvalues: np.ndarray) -> float:
        """Of a corrected matrix the trace is not one, and the bias grows with it."""
        total = 1.0 if self.rates is None else max(float(np.sum(eigenvalues)), 0.0)
        return total * self.centre_bias

    def above(self, eigenvalues: np.ndarray) -> int:
        """How many of the leading eigenvalues it does not explain."""
        last = max(len(eigenvalues) - 1, 0)
        for m in range(last):
            bulk = max(float(np.mean(eigenvalues[m:])), 0.0)
            if eigenvalues[m] - bulk <= self.null_edge(eigenvalues, m):
                return m
        return last


def _centre_rise(eigenvalues: np.ndarray, m: int, centre_bias: float) -> float:
    """Eigenvalue m that the error of a private centre could make by itself.

    Beside a direction that is far wider than the rest it is of the order of the error, not of its
    square: the bias alone would not do.
    """
    values = np.maximum(np.delete(eigenvalues, m), 0.0)
    if centre_bias == 0 or m == 0 or not values.max() > 0:
        return centre_bias
    d = len(eigenvalues)
    # Eigenvalues of two directions are as the roots of their variances; of many, nearly as they.
    others = (values / values.max()) ** 2
    rise = centre_rise(others, np.sqrt(centre_bias * (d - m) / d))
    return centre_bias + _UNLUCKY * max(rise - centre_bias, 0.0)


def components_above_noise(
    eigenvalues: np.ndarray,
    noise_sd: float,
    n_samples: float,
    centre_bias: float = 0.0,
    rates: np.ndarray | None = None,
    rate_error: np.ndarray | None = None,
) -> int:
    """Number of leading eigenvalues that noise around equal eigenvalues would not produce.

    One after the other, from the largest: the rest is taken to be equal, at its mean, until the
    largest of the rest could be noise (one in a hundred would be, by chance).

    Parameters
    ----------
    eigenvalues : array of shape (d,)
        Of the released matrix, largest first.
    noise_sd : float
        σ of its packed noise.
    n_samples : int
        Number of rows.
    centre_bias : float, default 0
        What the error of a private centre may add to an eigenvalue.
    rates : None or array of shape (d,), default None
        Observed share of each column, where cells are missing; the eigenvalues are then those of
        the corrected matrix, `gdppca.theory.corrected`, and `noise_sd` is that before it.
    rate_error : None or array of shape (d,), default None
        Standard deviation of each rate.

    Returns
    -------
    int
        Between 0 and d - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import components_above_noise
    >>> components_above_noise(np.array([0.5, 0.2, 0.101, 0.1, 0.099]), 0.01, 10_000)
    2
    """
    rates = checked_rates(rates, len(eigenvalues))
    return _Chance(noise_sd, n_samples, centre_bias, rates, rate_error).above(eigenvalues)


def noise_band(
    eigenvalues: np.ndarray,
    noise_sd: float,
    n_samples: float,
    centre_bias: float = 0.0,
    rates: np.ndarray | None = None,
    rate_error: np.ndarray | None = None,
) -> tuple[float, float]:
    """Range that noise fills around the eigenvalues which do not stand above it.

    Parameters
    ----------
    eigenvalues, noise_sd, n_samples, centre_bias, rates, rate_error
        As in `components_above_noise`.

    Returns
    -------
    tuple of float
        Lower and upper end; the upper one is what `components_above_noise` compares with.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import noise_band
    >>> round(noise_band(np.array([0.5, 0.1, 0.1, 0.1]), 0.0, 10**18)[1], 3)
    0.1
    """
    rates = checked_rates(rates, len(eigenvalues))
    chance = _Chance(noise_sd, n_samples, centre_bias, rates, rate_error)
    m = chance.above(eigenvalues)
    bulk = float(np.mean(eigenvalues[m:]))
    reach = chance.null_edge(eigenvalues, m)
    return bulk - reach, bulk + reach


def denoised_eigenvalues(
    eigenvalues: np.ndarray,
    noise_sd: float,
    n_samples: float,
    centre_bias: float = 0.0,
    rates: np.ndarray | None = None,
    rate_error: np.ndarray | None = None,
) -> np.ndarray:
    r"""Eigenvalues of a released matrix, freed from the bias that its noise adds.

    An eigenvalue θ above a flat bulk of k shows up at :math:`\theta + s^2 k/\theta` under noise of
    off-diagonal variance s² = σ²/2, or of that mean variance where it is uneven; that is inverted
    for those above the noise, and the others are replaced by their mean. The trace is kept.

    Parameters
    ----------
    eigenvalues, noise_sd, n_samples, centre_bias, rates, rate_error
        As in `noise_band`.

    Returns
    -------
    array of shape (d,)
        Not below zero.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import denoised_eigenvalues
    >>> denoised_eigenvalues(np.array([0.6, 0.25, 0.15]), 0.0, 10**6).round(3)
    array([0.6 , 0.25, 0.15])
    """
    d = len(eigenvalues)
    m = components_above_noise(eigenvalues, noise_sd, n_samples, centre_bias, rates, rate_error)
    bulk = float(np.mean(eigenvalues[m:]))
    observed = np.asarray(eigenvalues[:m]) - bulk
    met = mean_noise(noise_sd, checked_rates(rates, d), d)
    spread = met * np.sqrt(2 * (d - m))  # its square is 4 s² times the order of the bulk
    # The root of observed² - spread², whose squares may not be floats.
    root = np.sqrt(np.maximum(observed - spread, 0.0)) * np.sqrt(observed + spread)
    spikes = bulk + 0.5 * (observed + root)
    rest = (np.sum(eigenvalues) - spikes.sum()) / (d - m)
    return np.maximum(np.concatenate([spikes, np.full(d - m, rest)]), 0.0)
