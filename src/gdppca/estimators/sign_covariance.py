"""Signs around a private centre, `SignCovariancePCA`."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError, PrivacyWarning
from gdppca.design import Design, assumed_of_sign
from gdppca.estimators.baseline import Baseline
from gdppca.kernels import OneSample
from gdppca.privacy import Status
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.privacy.assumptions import PUBLIC_CENTRE
from gdppca.signs import as_sign
from gdppca.steps.base import Public, State, Step
from gdppca.steps.scatter import MatrixBudget, Scatter, require_representable
from gdppca.steps.winsorized_mean import PublishedWinsorizedMean, WinsorizedMean

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

    def _steps_for(self, public: Public) -> Design:
        sign = as_sign(self.sign, self.radius, n_features=public.n_features)
        center, rho = self._public_center(public.n_features), self._total_rho()
        location_rho = 0.0 if center is not None else rho / 2
        left = rho if math.isinf(rho) else rho - location_rho
        level = self._budget(rho, left).level(
            sign, OneSample(), public.n_samples, public.n_features
        )
        require_representable(level, sign, public.n_features)
        steps: tuple[Step, ...] = (
            Scatter(public=public, n_components=self.n_components, first=level),
        )
        published = center is None and self.location == "pmwm-published"
        if center is None:
            mean = PublishedWinsorizedMean if published else WinsorizedMean
            steps = (mean(public=public, zcdp_rho=location_rho), *steps)
            self._warn_of_printed(rho)
        return self._list(
            *steps,
            start=State(sign=sign, scheme=OneSample(), location=center),
            noiseless=math.isinf(rho),
            calibration=self.noise,
            assumptions=assumed_of_sign(sign) + ((PUBLIC_CENTRE,) if center is not None else ()),
            status=Status.NONE if published else Status.PROVEN,
            reason=_UNPROVEN if published else "",
        )

    def _budget(self, total_rho: float, rho: float) -> MatrixBudget:
        """What ρ-zCDP leaves to the matrix, or the printed noise for the total budget."""
        printed = _validate.one_of(("accounted", "printed"), noise=self.noise) == "printed"
        stated = 1 / math.sqrt(4 * total_rho) if printed else None  # App B.1
        return MatrixBudget(mu=math.sqrt(2 * rho), stated=stated)

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

    def _warn_of_printed(self, rho: float) -> None:
        """Warn before anything is spent: a warning may be an error."""
        if self.noise == "printed" and math.isfinite(rho):
            warnings.warn(
                f"The printed noise spends rho = {1.5 * rho:.4g} where {rho:.4g} was asked for; "
                "the guarantee states the true value.",
                PrivacyWarning,
                stacklevel=6,
            )
