"""Everything that a fit of `DPPCA` knows before it sees a row."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from gdppca.engines.base import ASSUMED_SHUFFLED, Recipe, Sums, divided, sample_size
from gdppca.estimators._base import ASSUMED, ASSUMED_LOCATION, NO_NOISE
from gdppca.kernels import Blocks, OneSample, Scheme
from gdppca.kernels.schemes import DEFAULT_BLOCK
from gdppca.linalg import LARGEST
from gdppca.privacy import Event, GaussianEvent, Guarantee, NonPrivateEvent, PureEvent, Status
from gdppca.privacy.accounting import multiplier_left
from gdppca.privacy.counting import counted
from gdppca.randomness import Rng
from gdppca.releases import ScatterNoise, scatter_noise
from gdppca.releases.scale import NoisyScale
from gdppca.releases.spatial_median import CentreBudget, NoisyCentre, centre_budget
from gdppca.signs import Sign

_ASSUMED_SCALE = "The column scales were chosen without looking at the data."
_ASSUMED_ORDER = (
    "Rows came in batches whose order did not depend on their values; "
    "rows were shuffled inside each batch only."
)


class Supply(Enum):
    """How the rows come."""

    TABLE = "table"  # all at once, in memory
    ENGINE = "engine"  # from files or a cluster, in an order that the engine makes
    UNSHUFFLED = "unshuffled"  # from files or a cluster, in the order that they have
    BATCHES = "batches"  # one batch after the other, from the user


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Resolved, checked and frozen parameters; noise and guarantee follow from them alone."""

    n_components: int | str
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
    ledger: str | None = field(repr=False)  # may hold a password
    seeded: bool
    supply: Supply
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
    def looks_first(self) -> bool:
        """Whether something is drawn before the matrix: scales, a centre or a radius."""
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

    def with_scale(self, found: NoisyScale) -> Settings:
        """The same settings with coarse private scales, to be refined; all of it is paid for."""
        return self.with_(scale=found.scale, drawn=self.drawn + found.events)

    def with_centre(self, found: NoisyCentre) -> Settings:
        """The same settings with a private centre; pairs are compared where it was not found."""
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

    @property
    def guarantee(self) -> Guarantee:
        """What the draws will promise, with everything that is taken for granted."""
        matrix = self.noise.event
        events: tuple[Event, ...] = (*self.own, matrix)
        exact = isinstance(matrix, NonPrivateEvent)
        return Guarantee(
            events=events,
            delta=self.delta,
            assumptions=self._assumptions,
            seeded=self.seeded,
            status=Status.NONE if exact else Status.PROVEN,
            reason=NO_NOISE if exact else "",
        )

    @property
    def _assumptions(self) -> tuple[str, ...]:
        assumed = list(counted(ASSUMED, entered=self.ledger is not None))
        if self.location is not None and self.wanted_location is None:
            assumed.append(ASSUMED_LOCATION)
        if self.scale is not None and self.scale_share is None:
            assumed.append(_ASSUMED_SCALE)
        if self.supply is Supply.BATCHES and self.scheme.ordered:
            assumed.append(_ASSUMED_ORDER)
        if self.supply is Supply.UNSHUFFLED and (self.scheme.ordered or self.sampled):
            assumed.append(ASSUMED_SHUFFLED)
        return tuple(assumed)

    @property
    def quantile_room(self) -> float:
        """Budget of the radius times the ranks between its quantile and the nearer end."""
        lengths = self.n_seen if self.location is not None else self.n_seen // 2
        epsilon = 0.0 if self.radius_event is None else self.radius_event.epsilon
        return epsilon * lengths * min(self.quantile, 1 - self.quantile)

    def divided(self, values: np.ndarray) -> np.ndarray:
        """Values over the scales."""
        return divided(values, self.scale)

    @property
    def center(self) -> np.ndarray | None:
        """The centre in the units of the scaled columns."""
        return None if self.location is None else self.divided(self.location)

    @property
    def recipe(self) -> Recipe:
        """How rows that come in parts are summed."""
        size = self.scheme.size if isinstance(self.scheme, Blocks) else DEFAULT_BLOCK
        return Recipe(self.sign, self.n_features, size, self.center, self.scale)

    def with_(self, **changes: Any) -> Settings:
        """The same settings but for some."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Stream:
    """What `partial_fit` gathers until `finalize`: exact sums, not private.

    The settings, the ledger among them, are those of the first batch: noise for other parameters
    than those of the sums would protect nobody, and a draw without its debit would be uncounted.
    """

    sums: Sums
    rng: Rng
    settings: Settings
