"""What a step is, and the state that it turns into the next one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from gdppca.linalg import Spectrum
from gdppca.noise import Noise
from gdppca.privacy import Event, GaussianEvent, Neighbors, NonPrivateEvent, Protected, Unit
from gdppca.sensitivity import REPLACING, Moves
from gdppca.tables.base import Recipe, Sample, Supply, Total, divided, sample_size
from gdppca.tables.description import Feature
from gdppca.theory.rates import corrected


@dataclass(frozen=True, kw_only=True)
class Public:
    """What anybody may know of a table; a step is made from this, its shares and nothing else."""

    n_samples: int  # rows or persons; an estimate where it is secret
    n_features: int
    n_seen: int  # rows that the steps before the matrix look at: of a table elsewhere, a sample
    moves: Moves = REPLACING  # how far one row or person moves what a step noises
    unit: Unit = Unit.ROW
    gaps: bool = False  # whether cells may be missing
    weighted: bool = False  # whether rows have weights of their own
    features: tuple[Feature, ...] = ()  # what a description says of the columns
    USUAL_NUMBER: ClassVar[int] = 10_000  # of rows where it is secret, until they are counted

    @classmethod
    def of(
        cls,
        n_samples: int,
        n_features: int,
        supply: Supply = Supply.TABLE,
        protected: Protected | None = None,
        **more: Any,
    ) -> Self:
        """Of a table's shape, of how its rows come, and of who is protected."""
        seen, protected = n_samples, protected or Protected()
        if supply is not Supply.TABLE:
            seen = min(n_samples, sample_size(n_features))
        return cls(
            n_samples=n_samples,
            n_features=n_features,
            n_seen=seen,
            moves=Moves(protected.neighbors),
            unit=protected.unit,
            **more,
        )

    @classmethod
    def about(cls, table: Any, neighbors: Neighbors = Neighbors.REPLACE_ONE) -> Self:
        """What anybody may know of a table; where its number of rows is secret, a usual one."""
        secret = neighbors is not Neighbors.REPLACE_ONE
        told = getattr(table, "description", None)
        return cls.of(
            cls.USUAL_NUMBER if secret else table.n_samples,
            table.n_features,
            table.supply,
            Protected(getattr(table, "unit", Unit.ROW), neighbors),
            gaps=getattr(table, "gaps", False),
            weighted=getattr(table, "weighted", False),
            features=() if told is None else told.features,
        )

    @property
    def centred(self) -> bool:
        """Whether rows can only be compared with a centre, not with each other."""
        return self.gaps or self.weighted or not self.moves.replaces

    def known(self, what: str) -> np.ndarray | None:
        """What a description says of every column, NaN where it says nothing; None of none."""
        said = [getattr(feature, what) for feature in self.features]
        if all(each is None for each in said):
            return None
        return np.array([np.nan if each is None else each for each in said], dtype=float)

    @property
    def protected(self) -> Protected:
        """Who is protected, and against what."""
        return Protected(self.unit, self.moves.neighbors)

    @property
    def those(self) -> str:
        """What is counted, in words."""
        return "persons" if self.unit is Unit.PERSON else "rows"

    @property
    def how_many(self) -> str:
        """How many the steps before the matrix look at, in words."""
        return f"{'' if self.moves.replaces else 'About '}{self.n_seen} {self.those}"


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """What a fit knows: public numbers, and what its steps have drawn; nothing else.

    Centre and scales are those of the columns; `events` is what was drawn, in order.
    """

    sign: Any = None  # `Sign`, where one is needed
    scheme: Any = None  # `kernels.Scheme`, where one is needed
    location: np.ndarray | None = None
    typical: np.ndarray | None = None  # a public guess of the centre
    scale: np.ndarray | None = None
    scale_error: np.ndarray | None = None
    fixed: np.ndarray | None = None  # public scales, of indicators say; NaN where there is none
    spread: np.ndarray | None = None  # public guesses of scales; NaN where there is none
    rates: np.ndarray | None = None  # shares of the cells of each column that are there
    rate_error: np.ndarray | None = None
    number: float | None = None  # of rows or persons, where it is secret: as it was counted
    number_sd: float = 0.0
    estimate: int | None = None  # the same, by all that was drawn
    bounds: tuple[np.ndarray, np.ndarray] | None = None  # of columns, lower and upper
    coarse: Any = None  # `steps.scale.CoarseScale`, until it is refined
    scatter: np.ndarray | None = None
    noise_sd: float = 0.0
    cross: Any = None  # `theory.second_stage.CrossNumbers`, where a second stage was drawn
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
        *events: Event,
    ) -> Self:
        """The same with a noisy matrix and its leading eigenvectors; values may decide how many."""
        spectrum = Spectrum(corrected(matrix, self.rates))
        m = n_components(spectrum.values) if callable(n_components) else n_components
        return self.with_(
            scatter=matrix,
            noise_sd=noise_sd,
            eigenvalues=spectrum.values,
            components=spectrum.leading(m).T,
            events=events,
        )

    @property
    def working_scale(self) -> np.ndarray | None:
        """Scales as far as they are known: the last ones, or those that are to be refined."""
        return self.coarse.scale if self.scale is None and self.coarse is not None else self.scale

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
    def n_samples(self) -> int:
        """How many rows or persons there are, which may be secret."""

    @property
    def codes(self) -> np.ndarray | None:
        """Which group each row is in."""

    def sample(self, size: int) -> Sample:
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


@dataclass(frozen=True, kw_only=True)
class OneGaussian:
    """What a step is that draws once and takes a fixed share of a budget of Gaussian steps."""

    public: Public
    mu: float  # of this and of all Gaussian steps after it
    purpose: ClassVar[str]
    share: ClassVar[float]  # of μ²

    @property
    def multiplier(self) -> float:
        """Noise over sensitivity."""
        return 1 / (self.mu * math.sqrt(self.share))

    @property
    def events(self) -> tuple[Event, ...]:
        """The one draw."""
        return (gaussian_event(self.purpose, self.multiplier),)
