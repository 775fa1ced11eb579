"""Signs around a private centre, `SignCovariancePCA`."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca import _validate, linalg
from gdppca._errors import ParameterError, PrivacyWarning
from gdppca.estimators._base import Found, assumed_of_sign
from gdppca.estimators._baseline import Baseline, Setup
from gdppca.kernels import OneSample, sign_covariance
from gdppca.noise.bits import Rng
from gdppca.noise.gaussian import calibrated_sigma, lattice_slack
from gdppca.privacy import Event, GaussianEvent, NonPrivateEvent, Status
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.privacy.assumptions import PUBLIC_CENTRE
from gdppca.releases import ScatterNoise, private_scatter
from gdppca.sensitivity import scatter_sensitivity
from gdppca.signs import Sign, as_sign
from gdppca.steps.scatter import require_representable
from gdppca.steps.winsorized_mean import (
    drawn_winsorized_mean,
    location_events,
    published_winsorized_mean,
    warn_of_few_rows,
)

_UNPROVEN = (
    "the published search for the centre's bounds compares many counts with Gaussian noise and "
    "pays for one; use location='pmwm'"
)


@dataclass(eq=False, repr=False, kw_only=True)
class SignCovariancePCA(Baseline):
    r"""Principal components of the sign covariance matrix around a private centre.

    Parameters
    ----------
    n_components : int, default 2
        Number of directions.
    epsilon : float, default 1.0
        Privacy ε; not used where `rho` is given. Infinity adds no noise and protects nobody.
    delta : float, default 1e-6
        Privacy δ, at which the guarantee quotes its ε.
    ledger : None or str, default None
        As for `DPPCA`; a fit that protects nobody is refused.
    random_state : None or int, default None
        As for `DPPCA`: a seed makes a simulation.
    rho : None or float, default None
        Total budget of zero-concentrated differential privacy. None takes the largest that gives
        (ε, δ).
    sign : str or Sign, default "spherical"
        What is kept of the difference between a row and the centre.
    radius : None, float or "sqrt_d", default None
        Cut-off of a named sign that has one; None is √d.
    location : "pmwm", "pmwm-published" or array of shape (d,), default "pmwm"
        A private winsorised mean, for half of the budget; the same as its authors publish it, which
        is not proven here; or a public centre, for nothing.
    noise : "accounted" or "printed", default "accounted"
        Noise for the rest of the budget, or the paper's, which spends more than it says.

    Attributes
    ----------
    components_ : array of shape (m, d)
        Directions, one per row.
    guarantee_ : Guarantee
        What was promised.
    release_ : Release
        Everything publishable, nothing else.
    mean_ : array of shape (d,)
        The centre, private or public.
    scatter_, eigenvalues_, noise_sd_, noise_floor_ : array or float
        The noisy matrix, its spectrum, and σ and the spectral edge of its noise.

    Notes
    -----
    **Privacy.** Gaussian events only, replace-one, n public: seventeen for the centre (see
    `private_winsorized_mean`) and one for the matrix, which moves by at most
    :math:`\sqrt2\|g\|_\infty^2/n` around a given centre. With ``noise="accounted"`` each half
    is exactly ρ/2-zCDP. The printed σ spends ρ on the matrix alone, 3ρ/2 together; the guarantee
    states the true sum, and a warning says so.

    **Paper.** Remark 2.2 and App B.1, :math:`\sigma = 2\|g\|_\infty^2/(n\sqrt{4\rho})`. That is
    half of what ρ/2-zCDP needs with the sensitivity :math:`2\|g\|_\infty^2/n` stated for it. The
    centre is a variant of the PMWM of Ramsay and Spicker (2025).

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.estimators import SignCovariancePCA
    >>> X = 5 + np.random.default_rng(0).standard_t(3, size=(3000, 4)) * [9, 3, 1, 1]
    >>> pca = SignCovariancePCA(1, rho=0.5, delta=1e-6).fit(X)
    >>> np.abs(pca.components_[0]).argmax(), round(pca.guarantee_.zcdp_rho, 6)
    (np.int64(0), 0.5)
    """

    rho: float | None = None
    sign: Any = "spherical"
    radius: Any = None
    location: Any = "pmwm"
    noise: str = "accounted"

    def _setup(self, n: int, d: int) -> Setup:
        sign = as_sign(self.sign, self.radius, n_features=d)
        center = self._public_center(d)
        rho = self._total_rho()
        location_rho = 0.0 if center is not None else rho / 2
        noise = matrix_noise(
            rho, rho - location_rho if math.isfinite(rho) else rho, sign, n, d, self.noise
        )
        require_representable(noise, sign, d)
        if center is None:
            self._warn_of_weakness(rho, n, d)
        published = center is None and self.location == "pmwm-published"

        def draw(X: np.ndarray, rng: Rng) -> Found:
            found = self._center(X, location_rho, rng) if center is None else center  # step 2
            Sigma_hat = sign_covariance(X, found, sign)  # step 3, not private
            noisy = private_scatter(Sigma_hat, noise, rng)  # step 4
            return Found.leading(noisy, self.n_components, found)

        return Setup(
            events=(*(self._center_events(location_rho) if center is None else ()), noise.event),
            draw=draw,
            calibration=self.noise,
            noiseless=math.isinf(rho),
            sign=sign,
            assumed=assumed_of_sign(sign) + ((PUBLIC_CENTRE,) if center is not None else ()),
            status=Status.NONE if published else Status.PROVEN,
            reason=_UNPROVEN if published else "",
        )

    def _public_center(self, d: int) -> np.ndarray | None:
        if self.location is None:
            raise ParameterError(
                "`location` is missing: signs need a centre. Use 'pmwm', or an array that was "
                "chosen without looking at the data; the sample mean would not be private."
            )
        if isinstance(self.location, str):
            _validate.one_of(("pmwm", "pmwm-published"), location=self.location)
            return None
        return _validate.vector(d, location=self.location)

    def _total_rho(self) -> float:
        if self.rho is not None:
            return _validate.positive(rho=self.rho)
        if math.isinf(self.epsilon):
            return math.inf
        return 0.5 / gaussian_multiplier(self.epsilon, self.delta) ** 2

    def _warn_of_weakness(self, rho: float, n: int, d: int) -> None:
        """Warn from public numbers, before anything is spent: a warning may be an error."""
        if self.location == "pmwm":
            warn_of_few_rows(n, d, rho / 2, stacklevel=4)
        if self.noise == "printed" and math.isfinite(rho):
            warnings.warn(
                f"The printed noise spends rho = {1.5 * rho:.4g} where {rho:.4g} was asked for; "
                "the guarantee states the true value.",
                PrivacyWarning,
                stacklevel=4,
            )

    def _center_events(self, rho: float) -> tuple[Event, ...]:
        """What a private centre draws."""
        if self.location == "pmwm-published":
            return (NonPrivateEvent(purpose="location"),)
        return location_events(rho)

    def _center(self, X: np.ndarray, rho: float, rng: Rng) -> np.ndarray:
        """A private centre."""
        if self.location == "pmwm-published":
            return published_winsorized_mean(X, rho, rng)
        return drawn_winsorized_mean(X, rho, rng).center


def matrix_noise(
    total_rho: float, rho: float, sign: Sign, n_samples: int, n_features: int, noise: str
) -> ScatterNoise:
    """Noise for ρ-zCDP on the sign covariance, or the printed noise for a total budget."""
    printed = _validate.one_of(("accounted", "printed"), noise=noise) == "printed"
    if math.isinf(rho):
        return ScatterNoise(noise_sd=0.0, event=NonPrivateEvent(purpose="scatter"))
    sensitivity = scatter_sensitivity(OneSample(), sign.sup_norm, n_samples, n_features)
    length = linalg.packed_length(n_features)
    if printed:
        sigma = 2 * sign.sup_norm**2 / (n_samples * math.sqrt(4 * total_rho))  # App B.1
        multiplier = sigma / (sensitivity + lattice_slack(sigma, length))
    else:
        multiplier = 1 / math.sqrt(2 * rho)
        sigma = calibrated_sigma(multiplier, sensitivity, length)
    event = GaussianEvent(purpose="scatter", noise_multiplier=multiplier)
    return ScatterNoise(noise_sd=sigma, event=event)
