"""Baseline: noise on a covariance matrix of bounded rows, `AnalyzeGauss`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gdppca import _validate, linalg
from gdppca._errors import ParameterError
from gdppca.estimators._base import Found
from gdppca.estimators._baseline import Baseline, Setup
from gdppca.kernels import OneSample, sign_covariance
from gdppca.noise.bits import Rng
from gdppca.noise.gaussian import add_gaussian
from gdppca.privacy import NonPrivateEvent, Status
from gdppca.privacy.accounting import classical_multiplier
from gdppca.releases import NoisyScatter, ScatterNoise, private_scatter, scatter_noise
from gdppca.signs import Winsor
from gdppca.steps.scatter import require_representable

PRINTED = NonPrivateEvent(purpose="scatter")  # what the printed form draws
_OWN_NORM = (
    "the rows are divided by their own largest norm, so one row can move the matrix far beyond "
    "the stated sensitivity; give `norm` and `center`"
)


@dataclass(eq=False, repr=False, kw_only=True)
class AnalyzeGauss(Baseline):
    r"""Principal components of a noisy covariance matrix; not robust, a baseline.

    Parameters
    ----------
    n_components : int, default 2
        Number of directions.
    epsilon, delta : float, default 1.0 and 1e-6
        Privacy ε and δ. An infinite ε adds no noise and protects nobody.
    ledger : None or str, default None
        As for `DPPCA`; a fit without `norm` protects nobody, and is refused.
    random_state : None or int, default None
        As for `DPPCA`: a seed makes a simulation.
    norm : None or float, default None
        Public bound on the distance of a row from `center`; longer rows are pulled back to it.
        None is the printed form, which takes the bound from the data and protects nobody.
    center : None or array of shape (d,), default None
        Public centre, needed with `norm`; zeros are allowed.

    Attributes
    ----------
    components_ : array of shape (m, d)
        Directions, one per row.
    guarantee_ : Guarantee
        What was promised; status "none" for the printed form.
    release_ : Release
        Everything that the method puts out.
    scatter_, eigenvalues_, noise_sd_, noise_floor_ : array or float
        The noisy matrix, its spectrum, and σ and the spectral edge of its noise.

    Notes
    -----
    **Privacy.** With `norm` and `center` pulling back is the winsorised sign around the centre,
    so :math:`\frac1n\sum_i z_i z_i^\top` moves by at most :math:`\sqrt2\,r^2/n`: one Gaussian
    event, exactly (ε, δ), replace-one, n public. Without them none: half of the rows at
    :math:`e_1`, half at :math:`-e_1` and one replaced by :math:`10^6 e_2` moves the matrix by 1
    where 6/n is claimed.

    **Paper.** Algorithm 1, App D.1, is the form with ``norm=None``: rows minus their mean, over
    their largest norm, covariance with 1/(n-1), :math:`\sigma = 6\sqrt{2\ln(1.25/\delta)}
    /(n\varepsilon)`.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.estimators import AnalyzeGauss
    >>> X = np.random.default_rng(0).normal(size=(3000, 4)) * [9, 3, 1, 1]
    >>> pca = AnalyzeGauss(1, epsilon=1.0, delta=1e-6, norm=20.0, center=np.zeros(4)).fit(X)
    >>> print(pca.guarantee_)
    (epsilon = 1, delta = 1e-06)-differential privacy, replace-one neighbours
    >>> AnalyzeGauss(1).fit(X).guarantee_.epsilon
    inf
    """

    norm: float | None = None
    center: Any = None

    def _setup(self, n: int, d: int) -> Setup:
        noiseless = math.isinf(self.epsilon)
        ball = self._ball(d)
        if ball is None:
            return Setup(
                events=(PRINTED,),
                draw=self._printed,
                calibration="printed",
                noiseless=noiseless,
                status=Status.NONE,
                reason=_OWN_NORM,
            )
        sign, center = ball
        noise = self._noise(sign, n, d)
        return Setup(
            events=(noise.event,),
            draw=partial(self._pulled_back, sign, center, noise),
            calibration="tight",
            noiseless=noiseless,
            sign=sign,
        )

    def _printed(self, X: np.ndarray, rng: Rng) -> Found:
        noisy = printed_scatter(X, self.epsilon, self.delta, rng)
        return Found.leading(noisy, self.n_components)

    def _pulled_back(
        self, ball: Winsor, center: np.ndarray, noise: ScatterNoise, X: np.ndarray, rng: Rng
    ) -> Found:
        noisy = private_scatter(sign_covariance(X, center, ball), noise, rng)
        return Found.leading(noisy, self.n_components, center)

    def _noise(self, ball: Winsor, n: int, d: int) -> ScatterNoise:
        noise = scatter_noise(
            epsilon=self.epsilon,
            delta=self.delta,
            sign=ball,
            scheme=OneSample(),
            n_samples=n,
            n_features=d,
        )
        require_representable(noise, ball, d)
        return noise

    def _ball(self, d: int) -> tuple[Winsor, np.ndarray] | None:
        """Sign and centre of the ball that rows are pulled back to, None for the printed form."""
        if self.norm is None:
            if self.center is not None:
                raise ParameterError("`center` goes with `norm`. Give both, or neither.")
            return None
        norm = _validate.finite_positive(norm=self.norm)
        if self.center is None:
            raise ParameterError(
                "`center` is missing: `norm` bounds the distance from it. Choose both without "
                "looking at the data; zeros are allowed."
            )
        return Winsor(norm), _validate.vector(d, center=self.center)


def printed_covariance(X: np.ndarray) -> np.ndarray:
    """Lines 1 to 3 of Algorithm 1: centred rows over their largest norm, 1/(n-1)."""
    Z = X / max(np.abs(X).max(), np.finfo(float).tiny)  # changes nothing but overflow
    Z = Z - Z.mean(axis=0)
    largest = np.sqrt(np.einsum("ij,ij->i", Z, Z).max())
    if largest > 0:
        Z = Z / largest
    return linalg.symmetrized(Z.T @ Z) / (len(Z) - 1)


def printed_scatter(X: np.ndarray, epsilon: float, delta: float, rng: Rng) -> NoisyScatter:
    """Algorithm 1 as printed, up to its eigenvectors; not private, whatever the noise."""
    Sigma_hat = printed_covariance(X)
    if math.isinf(epsilon):
        return NoisyScatter(matrix=Sigma_hat, noise_sd=0.0, event=PRINTED)
    sigma = 6 / len(X) * classical_multiplier(epsilon, delta)
    noisy = linalg.vecd_inverse(add_gaussian(linalg.vecd(Sigma_hat), sigma, rng))
    return NoisyScatter(matrix=noisy, noise_sd=sigma, event=PRINTED)
