"""What a step is, and the state that it turns into the next one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from gdppca.linalg import Spectrum
from gdppca.noise import Noise
from gdppca.privacy import Event, GaussianEvent, NonPrivateEvent
from gdppca.tables.base import Recipe, Supply, Total, divided, sample_size


@dataclass(frozen=True, kw_only=True)
class Public:
    """What anybody may know of a table; a step is made from this, its shares and nothing else."""

    n_samples: int
    n_features: int
    n_seen: int  # rows that the steps before the matrix look at: of a table elsewhere, a sample

    @classmethod
    def of(cls, n_samples: int, n_features: int, supply: Supply = Supply.TABLE) -> Self:
        """Of a table's shape, and of how its rows come."""
        seen = n_samples
        if supply is not Supply.TABLE:
            seen = min(n_samples, sample_size(n_features))
        return cls(n_samples=n_samples, n_features=n_features, n_seen=seen)


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """What a fit knows: public numbers, and what its steps have drawn; nothing else.

    Centre and scales are those of the columns; `events` is what was drawn, in order.
    """

    sign: Any = None  # `Sign`, where one is needed
    scheme: Any = None  # `kernels.Scheme`, where one is needed
    location: np.ndarray | None = None
    scale: np.ndarray | None = None
    scale_error: np.ndarray | None = None
    bounds: tuple[np.ndarray, np.ndarray] | None = None  # of columns, lower and upper
    coarse: Any = None  # `steps.scale.CoarseScale`, until it is refined
    scatter: np.ndarray | None = None
    noise_sd: float = 0.0
    eigenvalues: np.ndarray | None = None
    components: Any = None  # as rows
    variances: Any = None  # `steps.variances.DrawnVariances`
    score_map: Any = None  # `steps.score_map.DrawnMap`
    quantile: float | None = None
    events: tuple[Event, ...] = ()

    def with_(self, *, events: tuple[Event, ...] = (), **found: Any) -> Self:
        """The same with what was found, and with what was drawn for it."""
        return replace(self, events=self.events + events, **found)

    def with_matrix(
        self,
        matrix: np.ndarray,
        noise_sd: float,
        n_components: int | Callable[[np.ndarray], int],
        event: Event,
    ) -> Self:
        """The same with a noisy matrix and its leading eigenvectors; values may decide how many."""
        spectrum = Spectrum(matrix)
        m = n_components(spectrum.values) if callable(n_components) else n_components
        return self.with_(
            scatter=matrix,
            noise_sd=noise_sd,
            eigenvalues=spectrum.values,
            components=spectrum.leading(m).T,
            events=(event,),
        )

    @property
    def center(self) -> np.ndarray | None:
        """The centre in the units of the scaled columns."""
        return None if self.location is None else divided(self.location, self.scale)

    def recipe(self, n_features: int) -> Recipe:
        """How rows are summed by what is known."""
        return Recipe(self.sign, n_features, self.scheme, self.center, self.scale)


class Rows(Protocol):
    """What a step may ask of a table; `codes` are the groups of its rows, where there are some."""

    @property
    def codes(self) -> np.ndarray | None:
        """Which group each row is in."""

    def sample(self, size: int) -> np.ndarray:
        """About so many random rows; all where there are no more."""

    def total(self, recipe: Recipe) -> Total:
        """The sum over all rows."""


class Step(Protocol):
    """A private step: frozen, made from public numbers alone."""

    @property
    def public(self) -> Public:
        """What is known of the table."""

    @property
    def events(self) -> tuple[Event, ...]:
        """The most that it draws, known before any row is seen."""

    @property
    def needs_sample(self) -> bool:
        """Whether it looks at rows themselves, not at their sum alone."""

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """Draw, and say what was drawn; nothing may fail after the first draw."""


def gaussian_event(purpose: str, multiplier: float) -> Event:
    """What a Gaussian draw spends: by its noise over its sensitivity, which may be none."""
    if multiplier == 0:
        return NonPrivateEvent(purpose=purpose)
    return GaussianEvent(purpose=purpose, noise_multiplier=multiplier)
