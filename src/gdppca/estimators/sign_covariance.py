"""Signs around a private centre, `SignCovariancePCA`."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gdppca import _validate, linalg
from gdppca._errors import ParameterError, PrivacyWarning
from gdppca.estimators._base import (
    ASSUMED,
    ASSUMED_LOCATION,
    NO_NOISE,
    PrivatePCA,
    assumed_of_sign,
)
from gdppca.estimators.analyze_gauss import check_choices
from gdppca.kernels import OneSample, sign_covariance
from gdppca.mechanisms.gaussian import calibrated_sigma, lattice_slack
from gdppca.privacy import Event, GaussianEvent, Guarantee, NonPrivateEvent, Status
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.privacy.counting import counted
from gdppca.randomness import Rng, rng_for
from gdppca.releases import NoisyScatter, Release, ScatterNoise, private_scatter
from gdppca.releases.location import (
    drawn_winsorized_mean,
    location_events,
    published_winsorized_mean,
    warn_of_few_rows,
)
from gdppca.releases.scatter import require_representable
from gdppca.sensitivity import scatter_sensitivity
from gdppca.signs import Sign, as_sign

_UNPROVEN = (
    "the published search for the centre's bounds compares many counts with Gaussian noise and "
    "pays for one; use location='pmwm'"
)


@dataclass(frozen=True)
class _Settings:
    """Everything that a fit needs to know before it sees a row."""

    sign: Sign
    public_center: np.ndarray | None
    location_rho: float
    rho: float
    noise: ScatterNoise


class SignCovariancePCA(PrivatePCA):
    r"""Principal components of the sign covariance matrix around a private centre.

    Parameters
    ----------
    n_components : int, default 2
        Number of directions.
    epsilon : float, default 1.0
        Privacy ε; not used where `rho` is given. Infinity adds no noise and protects nobody.
    delta : float, default 1e-6
        Privacy δ, at which the guarantee quotes its ε.
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
    ledger : None or str, default None
        Where spends are counted, and of which data set: "sqlite:///budget.db#patients". What
        does not fit under its cap, or protects nobody, is refused before any noise is drawn.
    random_state : None or int, default None
        None draws from the system's secure source; a seed makes a simulation.

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

    def __init__(
        self,
        n_components: int = 2,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        rho: float | None = None,
        sign: Any = "spherical",
        radius: Any = None,
        location: Any = "pmwm",
        noise: str = "accounted",
        ledger: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.sign = sign
        self.radius = radius
        self.location = location
        self.noise = noise
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release private principal components of a table.

        Parameters
        ----------
        X : table of shape (n, d)
            numpy, pandas, polars or pyarrow; one row per person, at least two rows.
        y : None
            Ignored.

        Returns
        -------
        SignCovariancePCA
            Itself.
        """
        X = self._checked(X, reset=True).values
        settings = self._settings(*X.shape)
        rng = rng_for(self.random_state)
        self._warn_of_weakness(settings, *X.shape)
        events = (*self._center_events(settings), settings.noise.event)
        self._debit(events)
        center = self._center(X, settings, rng)  # step 2
        Sigma_hat = sign_covariance(X, center, settings.sign)  # step 3, not private
        noisy = private_scatter(Sigma_hat, settings.noise, rng)  # step 4
        return self._publish(noisy, center, events, settings, len(X), rng)

    def _settings(self, n: int, d: int) -> _Settings:
        """Check every parameter against the shape, before any row counts."""
        check_choices(self, n, d)
        sign = as_sign(self.sign, self.radius, n_features=d)
        center = self._public_center(d)
        rho = self._total_rho()
        location_rho = 0.0 if center is not None else rho / 2
        noise = matrix_noise(
            rho, rho - location_rho if math.isfinite(rho) else rho, sign, n, d, self.noise
        )
        require_representable(noise, sign, d)
        return _Settings(sign, center, location_rho, rho, noise)

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

    def _warn_of_weakness(self, settings: _Settings, n: int, d: int) -> None:
        """Warn from public numbers, before anything is spent: a warning may be an error."""
        if settings.public_center is not None:
            return
        if self.location == "pmwm":
            warn_of_few_rows(n, d, settings.location_rho, stacklevel=3)
        if self.noise == "printed" and math.isfinite(settings.rho):
            warnings.warn(
                f"The printed noise spends rho = {1.5 * settings.rho:.4g} where "
                f"{settings.rho:.4g} was asked for; the guarantee states the true value.",
                PrivacyWarning,
                stacklevel=3,
            )

    def _center_events(self, settings: _Settings) -> tuple[Event, ...]:
        if settings.public_center is not None:
            return ()
        if self.location == "pmwm-published":
            return (NonPrivateEvent(purpose="location"),)
        return location_events(settings.location_rho)

    def _center(self, X: np.ndarray, settings: _Settings, rng: Rng) -> np.ndarray:
        if settings.public_center is not None:
            return settings.public_center
        if self.location == "pmwm-published":
            return published_winsorized_mean(X, settings.location_rho, rng)
        return drawn_winsorized_mean(X, settings.location_rho, rng).center

    def _publish(
        self,
        noisy: NoisyScatter,
        center: np.ndarray,
        events: tuple[Event, ...],
        settings: _Settings,
        n: int,
        rng: Rng,
    ) -> Self:
        spectrum = linalg.Spectrum(noisy.matrix)
        release = Release(
            components=spectrum.leading(self.n_components).T,
            scatter=noisy.matrix,
            noise_sd=noisy.noise_sd,
            sign=settings.sign.describe(),
            scheme=OneSample().describe(),
            calibration=self.noise,
            n_samples=n,
            n_features=len(center),
            feature_names=self._names(),
            location=center,
            scale=None,
            guarantee=self._guarantee(events, settings, rng),
            method=type(self).__name__,
        )
        return self._adopt(release, spectrum.values)

    def _guarantee(self, events: tuple[Event, ...], settings: _Settings, rng: Rng) -> Guarantee:
        exact = isinstance(events[-1], NonPrivateEvent)
        public = settings.public_center is not None
        published = not public and self.location == "pmwm-published"
        assumed = (
            *counted(ASSUMED, entered=self.ledger is not None),
            *assumed_of_sign(settings.sign),
        )
        return Guarantee(
            events=events,
            delta=self.delta,
            assumptions=(*assumed, ASSUMED_LOCATION) if public else assumed,
            seeded=rng.seeded,
            status=Status.NONE if exact or published else Status.PROVEN,
            reason=NO_NOISE if exact else _UNPROVEN if published else "",
        )


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
