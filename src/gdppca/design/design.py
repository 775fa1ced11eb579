"""Everything about a fit of `DPPCA` that is known before it sees a row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Self

import numpy as np

from gdppca._errors import ParameterError
from gdppca._words import rounded_up
from gdppca.kernels import OneSample, Scheme
from gdppca.linalg import LARGEST
from gdppca.privacy import Event, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.privacy.accounting import gaussian_epsilon, multiplier_left
from gdppca.releases import ScatterNoise, scatter_noise
from gdppca.signs import Sign
from gdppca.steps.centre import (
    LARGEST_SHARE,
    CentreBudget,
    NoisyCentre,
    centre_budget,
)
from gdppca.steps.scale import NoisyScale, lacking_room
from gdppca.steps.scatter import require_representable
from gdppca.tables.base import sample_size

_LEAST_KEPT = 1e-9  # of μ²; shares are known to fewer digits than that
_LEAST_QUANTILE_ROOM = 12.0  # ε times ranks; below, the noise of the quantile may win


class Supply(Enum):
    """How the rows come."""

    TABLE = "table"  # all at once, in memory
    ENGINE = "engine"  # from files or a cluster, in an order that the engine makes
    UNSHUFFLED = "unshuffled"  # from files or a cluster, in the order that they have
    BATCHES = "batches"  # one batch after the other, from the user


@dataclass(frozen=True, kw_only=True)
class Design:
    """Resolved, checked and frozen parameters; the noise and the spend follow from them alone."""

    epsilon: float
    delta: float
    calibration: str
    n_samples: int
    n_features: int
    sign: Sign
    scheme: Scheme
    location: np.ndarray | None
    scale: np.ndarray | None
    wanted_location: str | None  # "private", "auto" or None: public or not needed
    scale_share: float | None  # of μ² for private scales, None: public or not needed
    radius_event: PureEvent | None
    quantile: float
    supply: Supply
    scale_error: np.ndarray | None = None  # of private scales, once they are drawn
    drawn: tuple[Event, ...] = ()
    reserved: tuple[Event, ...] = ()  # for releases to come that share the budget

    @property
    def own(self) -> tuple[Event, ...]:
        """What this fit draws beside the matrix, as far as it is known."""
        return self.drawn if self.radius_event is None else (*self.drawn, self.radius_event)

    @property
    def beside(self) -> tuple[Event, ...]:
        """What shares the budget with the matrix, as far as it is known."""
        return self.own + self.reserved

    @property
    def mu_left(self) -> float:
        """μ of Gaussian differential privacy that nothing has spent yet."""
        if math.isinf(self.epsilon):
            return math.inf
        return 1 / multiplier_left(self.epsilon, self.delta, self.beside)

    @property
    def scale_mu(self) -> float:
        """μ of private scales, of what is left before they are drawn."""
        return self.mu_left * math.sqrt(self.scale_share or 0.0)

    @property
    def debit(self) -> tuple[Event, ...]:
        """What this fit and the releases reserved with it will spend, before any of it is drawn.

        All Gaussian steps of the fit count as one: their number is not known yet, their sum is.
        """
        if math.isinf(self.epsilon):
            return (NonPrivateEvent(purpose="fit"),)
        fit = self.noise.event
        if self.calibration == "tight":
            fit = GaussianEvent(purpose="fit", noise_multiplier=1 / self.mu_left)
        return (fit, *self.beside)

    @property
    def n_seen(self) -> int:
        """Rows that the steps before the matrix look at: of an engine, a random sample."""
        if self.supply is Supply.TABLE:
            return self.n_samples
        return min(self.n_samples, sample_size(self.n_features))

    @property
    def sampled(self) -> bool:
        """Whether something was found on a sample of the rows."""
        return bool(self.own) and self.n_seen < self.n_samples

    @property
    def described_scheme(self) -> dict[str, Any]:
        """The scheme, and the size of the sample if there was one, as they stand in a release."""
        return self.scheme.describe() | ({"sample": self.n_seen} if self.sampled else {})

    @property
    def needs_sample(self) -> bool:
        """Whether something is drawn before the matrix: scales, a centre or a radius.

        Of rows that are not in memory, it is found on a sample.
        """
        return self.scale_share is not None or self.seeks_centre or self.radius_event is not None

    @property
    def seeks_centre(self) -> bool:
        """Whether a private centre is to be found; "auto" asks the public numbers."""
        if self.wanted_location != "auto":
            return self.wanted_location == "private"
        # Without noise there is none to halve, and pairs need no centre.
        return math.isfinite(self.epsilon) and self.centre_budget.worthwhile

    @property
    def centre_budget(self) -> CentreBudget:
        """What a private centre would take of what is left."""
        return centre_budget(self.n_seen, self.n_features, self.mu_left)

    def with_scale(self, found: NoisyScale) -> Self:
        """The same design with coarse private scales, to be refined; all of it is paid for."""
        return self.with_(scale=found.scale, drawn=self.drawn + found.events)

    def with_centre(self, found: NoisyCentre) -> Self:
        """The same design with a private centre; pairs are compared where it was not found."""
        drawn = self.drawn + found.events
        if not found.arrived:
            return self.with_(drawn=drawn)
        scale = 1.0 if self.scale is None else self.scale
        with np.errstate(over="ignore"):
            location = np.clip(found.center * scale, -LARGEST, LARGEST)
        return self.with_(location=location, scheme=OneSample(), drawn=drawn)

    @property
    def noise(self) -> ScatterNoise:
        """Noise of the matrix, beside the other steps."""
        return scatter_noise(
            epsilon=self.epsilon,
            delta=self.delta,
            sign=self.sign,
            scheme=self.scheme,
            n_samples=self.n_samples,
            n_features=self.n_features,
            calibration=self.calibration,
            beside=self.beside,
        )

    def require_noise(self) -> None:
        """Refuse noise that could not be drawn, whatever the steps before the matrix will take."""
        require_representable(self.noise, self.sign, self.n_features)  # refuses a bad budget too
        require_representable(self._leanest.noise, self.sign, self.n_features)

    @property
    def _leanest(self) -> Self:
        """The same design after the most that the steps before the matrix may spend."""
        kept = 1 - (self.scale_share or 0.0)
        if self.wanted_location is not None:
            kept *= 1 - LARGEST_SHARE
        if math.isinf(self.epsilon) or kept == 1:
            return self
        if kept < _LEAST_KEPT:
            raise ParameterError("`scale_share` leaves nothing for the matrix: choose it smaller.")
        multiplier = 1 / (self.mu_left * math.sqrt(1 - kept))
        taken = GaussianEvent(purpose="steps before the matrix", noise_multiplier=multiplier)
        return self.with_(drawn=(*self.drawn, taken))

    @property
    def quantile_room(self) -> float:
        """Budget of the radius times the ranks between its quantile and the nearer end."""
        lengths = self.n_seen if self.location is not None else self.n_seen // 2
        epsilon = 0.0 if self.radius_event is None else self.radius_event.epsilon
        return epsilon * lengths * min(self.quantile, 1 - self.quantile)

    def with_(self, **changes: Any) -> Self:
        """The same design but for some."""
        return replace(self, **changes)


def lost_steps(design: Design) -> Iterator[str]:
    """Steps whose noise would win over what they measure, and what would do; a fit is refused."""
    if design.scale_share is None:
        return
    n, d = design.n_seen, design.n_features
    times = lacking_room(n, d, design.scale_mu)
    if times > 1:
        enough = gaussian_epsilon(1 / (design.mu_left * times), design.delta)
        yield (
            f"`scale='private'` needs more than {n} rows at this budget: noise would win over the "
            f"scales of {d} columns. About {rounded_up(n * times, 2)} rows would do, or `epsilon` "
            f"= {rounded_up(enough, 2)}, or a larger `scale_share`, or public `scale=[...]`."
        )


def doubts(design: Design) -> Iterator[str]:
    """Steps whose noise may win, in words; from public numbers, before anything is drawn."""
    n = design.n_seen
    if design.radius_event is not None and design.quantile_room < _LEAST_QUANTILE_ROOM:
        yield (
            f"{n} rows and this budget are too little for a private radius: it may be far off. Use "
            "more rows, a larger `epsilon` or `quantile_share`, or give `radius` as a number."
        )
    if design.wanted_location == "private" and not design.centre_budget.worthwhile:
        yield (
            f"{n} rows and this budget are too little for a private centre: comparing pairs, "
            "`location=None`, is expected to be more accurate."
        )
