"""From public numbers to the law of the noisy matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gdppca.kernels import OneSample, as_scheme
from gdppca.planning.prediction import Angles, Law, expected_angles
from gdppca.planning.spectrum import Spectrum
from gdppca.privacy import Event, GaussianEvent
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.releases import scatter_noise
from gdppca.releases.spatial_median import LONGEST_WALK, PURPOSE, CentreBudget, centre_budget
from gdppca.signs import as_sign

# How long the search for a private centre is depends on how far the rows are from the origin, which
# is not public: `CentreBudget.share` is for some tens of standard deviations. Shares of μ²:
_SURE_SEARCH = 0.3  # up to here it succeeds from there too
_LOST_SEARCH = 0.9 * LONGEST_WALK  # what a search has taken when it gives up, about
_LEAST_GAP = 1e-9  # relative; below, no method tells two components apart


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """The public numbers that an error is predicted from; `location` as in `gdppca.plan`."""

    n_samples: int
    n_components: int
    epsilon: float
    delta: float
    location: str | None
    spectrum: Spectrum

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.spectrum.eigenvalues)

    @property
    def centre(self) -> str | None:
        """What the location comes to: "public", "private", or None where pairs are compared."""
        if self.location == "public":
            return "public"
        found = self._seeks_centre and self._search_share <= LONGEST_WALK
        return "private" if found else None

    @property
    def doubtful(self) -> bool:
        """Whether a private centre is sought that rows far from the origin might not find."""
        budget = self._centre_budget
        return self._seeks_centre and budget.share - budget.polish > _SURE_SEARCH

    @property
    def _seeks_centre(self) -> bool:
        wanted = self.location == "auto" and self._centre_budget.worthwhile
        return wanted or self.location == "private"

    def law(self) -> Law:
        """Law of the noisy matrix."""
        ratio = self.spectrum.pair_ratio if self.centre is None else 1.0
        found = self.centre == "private"
        return Law(
            eigenvalues=self.spectrum.eigenvalues,
            sampling=ratio * self.spectrum.moments / self.n_samples,
            noise_sd=self._noise_sd(),
            centre_error=self._centre_budget.relative_error if found else 0.0,
        )

    @property
    def _mu(self) -> float:
        exact = math.isinf(self.epsilon)
        return math.inf if exact else 1 / gaussian_multiplier(self.epsilon, self.delta)

    @property
    def _centre_budget(self) -> CentreBudget:
        return centre_budget(self.n_samples, self.n_features, self._mu)

    @property
    def _search_share(self) -> float:
        """Share of μ² to find a private centre, halfway between rows at the origin and far away."""
        budget = self._centre_budget
        saved = 0.5 * max(budget.far_looks - 1, 0.0) * budget.far
        return budget.share - budget.polish - saved

    @property
    def _beside(self) -> tuple[Event, ...]:
        """What the search for a private centre is expected to draw, as one event."""
        if not self._seeks_centre or math.isinf(self.epsilon):
            return ()
        budget = self._centre_budget
        if self.centre == "private":
            share = self._search_share + budget.polish
        else:  # "auto" gives up after a first look
            share = budget.first + budget.far if self.location == "auto" else _LOST_SEARCH
        return (GaussianEvent(purpose=PURPOSE, noise_multiplier=1 / (self._mu * share**0.5)),)

    def _noise_sd(self) -> float:
        """σ of the matrix, beside what the centre takes."""
        n, d = self.n_samples, self.n_features
        return scatter_noise(
            epsilon=self.epsilon,
            delta=self.delta,
            sign=as_sign("spherical", None, n_features=d),
            scheme=as_scheme("auto", n, d) if self.centre is None else OneSample(),
            n_samples=n,
            n_features=d,
            beside=self._beside,
        ).noise_sd

    def angles(self) -> Angles:
        """Expected sines; one for components of equal variance, which no method tells apart."""
        angles = expected_angles(self.law(), self.n_components)
        below = self._separated[: self.n_components]
        above = np.append(True, below[:-1])
        return Angles(
            sin_theta=angles.sin_theta if self.separated else 1.0,
            per_component=np.where(above & below, angles.per_component, 1.0),
        )

    @property
    def separated(self) -> bool:
        """Whether the last component's variance is above the next one's."""
        return bool(self._separated[self.n_components - 1])

    @property
    def _separated(self) -> np.ndarray:
        """Per component, whether its variance is above the next one's."""
        values = self.spectrum.eigenvalues
        return np.append(values[:-1] - values[1:] > _LEAST_GAP * values[0], True)
