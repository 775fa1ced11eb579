"""From public numbers to the law of the noisy matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.design import Design, Parameters, Shares, design_of
from gdppca.kernels import Blocks, Halves, OneSample
from gdppca.planning.gaps import GapLaw
from gdppca.planning.prediction import Angles, Law, expected_angles
from gdppca.planning.promise import Promise
from gdppca.planning.sparse import shrunken_angles
from gdppca.planning.spectrum import Spectrum
from gdppca.privacy import Event, GaussianEvent
from gdppca.signs import Spherical, as_sign
from gdppca.steps.base import Public, State, gaussian_event
from gdppca.steps.centre import Centre
from gdppca.steps.centre_budget import LONGEST_WALK
from gdppca.steps.centre_budget import PURPOSE as CENTRE
from gdppca.steps.count import Count
from gdppca.steps.radius import Radius
from gdppca.steps.rates import PURPOSE as RATES
from gdppca.steps.rates import Rates
from gdppca.steps.refine import Refinement, expected_scale_error
from gdppca.steps.scale import PURPOSE as SCALE
from gdppca.steps.scatter import Scatter, ScatterNoise
from gdppca.steps.score_map import MapCounts
from gdppca.steps.staged import PURPOSE as CROSS
from gdppca.steps.staged import StagedScatter
from gdppca.steps.variances import Variances
from gdppca.theory import rate_errors
from gdppca.theory.second_stage import Foreseen, Noises, foreseen_stage

# How long the search for a private centre is depends on how far the rows are from the origin, which
# is not public: `CentreBudget.share` is for some tens of standard deviations. Shares of μ²:
_SURE_SEARCH = 0.3  # up to here it succeeds from there too
_LOST_SEARCH = 0.9 * LONGEST_WALK  # what a search has taken when it gives up, about
# Rows that make a column's scale too large make its part of the matrix too large as well, and the
# division takes that out. How much of the scales' sampling variance is left was measured, around a
# centre and with pairs: Gaussian and Cauchy rows, 5 to 30 columns, without noise.
_SAMPLING_LEFT = {True: 0.25, False: 0.5}
_LOST_SCALE = 2.0  # errors of a scale's logarithm beyond are as bad as this, and might overflow
_LOCATIONS, _SCALES = ("public", "private", "auto"), ("public", "private")
_LEAST_GAP = 1e-9  # relative; below, no method tells two components apart


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """The public numbers that an error is predicted from; `asked` as in `gdppca.plan`."""

    n_samples: int
    n_features: int
    asked: Parameters  # location and scale may be "public" here
    variances: float  # shares of the budget
    score_map: float
    spectrum: Spectrum
    promise: Promise = field(default_factory=Promise)
    sparsity: int | None = None  # columns of a component; None: dense, where nothing is shrunk

    def changed(self, *, n_samples: int | None = None, **parameters: Any) -> Case:
        """The same but for some."""
        n = self.n_samples if n_samples is None else n_samples
        return replace(self, n_samples=n, asked=replace(self.asked, **parameters))

    @cached_property
    def design(self) -> Design:
        """The fit's own design, before anything is drawn."""
        public = Public.of(
            self.n_samples,
            self.n_features,
            protected=self.promise.protected,
            gaps=self.promise.rates is not None,
            weighted=self.promise.weighted,
            features=self.promise.features,
        )
        shares = Shares(variances=self.variances, score_map=self.score_map)
        design = design_of(_with_public(self.asked, self.n_features), public, shares=shares)
        self._check_units(design)
        return design

    def _check_units(self, design: Design) -> None:
        """A public cut-off means nothing for variances that are known up to a factor."""
        free = isinstance(design.start.sign, Spherical) or design.step(Radius) is not None
        if not free and not self.spectrum.has_units:
            raise ParameterError(
                "`spectrum` is a release, which tells ratios of variances only; a sign with a "
                "public radius needs variances in the units of the columns. Give those, or plan "
                "with `radius='quantile'`."
            )

    @cached_property
    def state(self) -> State:
        """The state after all that is drawn before the matrix, as it is expected."""
        state, radius = self.design.start, self.design.step(Radius)
        state = state.with_(events=tuple(self._first_events.values()))
        if self._scales is not None:
            state = state.with_(events=(gaussian_event(SCALE, 1 / self._scales.mu),))
        if self._walk is not None:
            state = state.with_(events=(self._walk_event,))
        if self.centre == "private":
            state = state.with_(location=np.zeros(self.n_features), scheme=OneSample())
        if radius is not None:
            length = self.spectrum.length_quantile(radius.quantile)
            state = state.with_(sign=as_sign(self.asked.sign, length), events=radius.events)
        return state

    @property
    def _first_events(self) -> dict[str, Event]:
        """What is drawn before everything else, by what it is for."""
        steps = (self.design.step(Count), self.design.step(Rates))
        return {event.purpose: event for step in steps if step for event in step.events}

    @property
    def first_shares(self) -> dict[str, float]:
        """Shares of μ² that it takes."""
        return {
            purpose: (event.noise_multiplier * self._mu) ** -2
            for purpose, event in self._first_events.items()
            if isinstance(event, GaussianEvent)
        }

    @property
    def _walk_event(self) -> Event:
        """What the search for a centre is expected to draw."""
        assert self._walk is not None
        if math.isinf(self._walk.mu):  # it costs nothing then: no share of anything
            return gaussian_event(CENTRE, 0.0)
        return gaussian_event(CENTRE, 1 / (self._walk.mu * math.sqrt(self.centre_share)))

    @property
    def _mu(self) -> float:
        """μ of all Gaussian steps together."""
        matrix = self.design.step(Scatter)
        assert matrix is not None
        return math.inf if matrix.budget is None else matrix.budget.mu

    @cached_property
    def level(self) -> ScatterNoise:
        """Noise of the matrix, as it is expected."""
        matrix = self.design.step(Scatter)
        assert matrix is not None
        return matrix.level(self.state)

    @property
    def events(self) -> tuple[Event, ...]:
        """What is expected to be drawn."""
        after = (self.design.step(Variances), self.design.step(MapCounts))
        more = (event for step in after if step is not None for event in step.events)
        return (*self.state.events, *self._matrix_events, *more)

    @property
    def _matrix_events(self) -> tuple[Event, ...]:
        """The matrix, and a second stage where one is expected."""
        event, stage = self.level.event, self.second_stage
        if stage is None or not isinstance(event, GaussianEvent):
            return (event,)
        each = event.noise_multiplier
        return (
            gaussian_event(event.purpose, each / math.sqrt(stage.share)),
            gaussian_event(CROSS, each / math.sqrt(1 - stage.share)),
        )

    @cached_property
    def second_stage(self) -> Foreseen | None:
        """What is to be expected of a second stage; None where none is."""
        matrix, event = self.design.step(StagedScatter), self.level.event
        centred = isinstance(self.state.scheme, OneSample)
        if matrix is None or not centred or not isinstance(event, GaussianEvent):
            return None
        if self.sparsity is not None:  # shrinking takes hold before
            return None
        m, d, n = self.asked.n_components, self.n_features, self.n_samples
        if m >= d:
            return None
        cross = event.noise_multiplier * matrix.public.moves.cross(1.0, n, d, m)
        whole = Noises(self.level.noise_sd, cross)
        return foreseen_stage(
            self.spectrum.eigenvalues, m, n, whole, matrix.increments, matrix.margin
        )

    @property
    def sign_name(self) -> str:
        """What the sign is called."""
        return str(self.design.start.sign.name)

    @property
    def scale_share(self) -> float:
        """Share of μ² that private scales take."""
        if self._scales is None:
            return 0.0
        left = self._mu**2 * (1 - sum(self.first_shares.values()))
        return self._scales.mu**2 / left if math.isfinite(left) else self.asked.scale_share

    @property
    def _scales(self) -> Refinement | None:
        """The last step of private scales, which shares its budget with the one before."""
        return self.design.step(Refinement)

    @property
    def radius_share(self) -> float:
        """Share of ε that a private radius takes."""
        radius = self.design.step(Radius)
        return 0.0 if radius is None else radius.epsilon / self.asked.epsilon

    @property
    def centre(self) -> str | None:
        """What the location comes to: "public", "private", or None where pairs are compared."""
        if self.design.start.location is not None:
            return "public"
        if self._walk is None:
            return None
        found = self._walk.needed or self._search_share <= LONGEST_WALK
        return "private" if found else None

    @property
    def centre_share(self) -> float:
        """Share of what is left after scales that the search for a centre is expected to take."""
        if self._walk is None:
            return 0.0
        budget = self._walk.budget
        if self.centre == "private":
            return min(self._search_share, LONGEST_WALK) + budget.polish
        # "auto" gives up after a first look
        return budget.first + budget.far if self._walk.cautious else _LOST_SEARCH

    @property
    def doubtful(self) -> bool:
        """Whether a private centre is sought that rows far from the origin might not find."""
        if self._walk is None:
            return False
        budget = self._walk.budget
        saved = 0.5 * self._far_away if self._starts_near else 0.0
        return budget.share - budget.polish - saved > _SURE_SEARCH

    @property
    def doubts(self) -> Iterator[str]:
        """Steps whose noise may win, in the words of the fit's warnings."""
        yield from self.design.lost
        yield from self.design.doubts

    @property
    def _walk(self) -> Centre | None:
        """The search for a private centre, if there is one."""
        return self.design.step(Centre)

    @property
    def _search_share(self) -> float:
        """Share of μ² to find a private centre, halfway between rows at the start and far away.

        Where it is publicly known what is typical, the rows are near.
        """
        assert self._walk is not None
        saved = (1.0 if self._starts_near else 0.5) * self._far_away
        return self._walk.budget.share - self._walk.budget.polish - saved

    @property
    def _far_away(self) -> float:
        """Share of μ² that looks from far away would take beside the first one."""
        assert self._walk is not None
        budget = self._walk.budget
        return max(budget.far_looks - 1, 0.0) * budget.far

    @property
    def _starts_near(self) -> bool:
        """Whether something is known of the middle of every column."""
        known = self.design.public.known("typical")
        return known is not None and not np.isnan(known).any()

    def released_law(self) -> Law:
        """Law of the matrix that is released: with more noise where a second stage follows it."""
        law, stage = self.law(), self.second_stage
        if stage is None:
            return law
        return replace(law, noise_sd=law.noise_sd / math.sqrt(stage.share))

    def law(self) -> Law:
        """Law of the noisy matrix, if all that is left is spent on it."""
        eigenvalues, moments = self.spectrum.seen_through(self.state.sign)
        law = Law(
            eigenvalues=eigenvalues,
            sampling=self._sampling_ratio * moments / self.n_samples,
            noise_sd=self.level.noise_sd,
            centre_error=self._centre_error,
            variances=self.spectrum.variances,
            scale_error=self._scale_error,
        )
        return self._with_gaps(law)

    def _with_gaps(self, law: Law) -> Law:
        """The same where cells are missing: fewer of them tell of centre and scales too."""
        rates = self.promise.rates
        if rates is None:
            return law
        drawn = self._first_events[RATES]
        multiplier = drawn.noise_multiplier if isinstance(drawn, GaussianEvent) else 0.0
        noise = multiplier * math.sqrt(len(rates)) / self.n_samples
        errors = rate_errors(rates, noise, self.n_samples)
        gaps = GapLaw(
            rates=rates,
            rate_error=errors,
            variances=self.spectrum.variances,
            moments=self.spectrum.moments,
        )
        whole = self.spectrum.moments / self.n_samples
        more = np.divide(law.sampling, whole, out=np.ones_like(whole), where=whole > 0)
        return replace(
            law,
            gaps=gaps,
            sampling=more * gaps.sampling / self.n_samples,
            centre_error=gaps.centre_growth * law.centre_error,
            scale_error=min(law.scale_error / rates.mean(), _LOST_SCALE),
        )

    @property
    def _centre_error(self) -> float:
        if self._walk is None or self.centre != "private":
            return 0.0
        return self._walk.budget.relative_error

    @property
    def _sampling_ratio(self) -> float:
        """Sampling variance over that of as many rows around a known centre.

        A pair of its own has twice that of a row; a block of b rows mixes such pairs with the
        statistic of all pairs, by Hoeffding's formula.
        """
        match self.state.scheme:
            case OneSample():
                return 1.0
            case Halves():
                return 2.0
            case Blocks(size=b):
                return (self.spectrum.pair_ratio * (b - 2) + 2) / (b - 1)
            case _:
                return self.spectrum.pair_ratio

    @property
    def _scale_error(self) -> float:
        """Standard deviation of what the errors of private scales add to their logarithms."""
        scale, centred = self._scales, self.centre is not None
        if scale is None:
            return 0.0
        n, d, sized = scale.public.n_seen, scale.public.n_features, scale.columns
        k, unknown = len(sized.columns), len(sized.unknown)
        total, sampling = (
            expected_scale_error(n, k, mu, centred=centred, unknown=unknown)
            for mu in (scale.mu, math.inf)
        )
        error = math.sqrt(total**2 - (1 - _SAMPLING_LEFT[centred]) * sampling**2)
        return min(error * math.sqrt(k / d), _LOST_SCALE)  # other columns have public scales

    def angles(self) -> Angles:
        """Expected sines; one for components of equal variance, which no method tells apart."""
        m = self.asked.n_components
        angles = self._angles(self.law())
        below = self._separated[:m]
        above = np.append(True, below[:-1])
        return Angles(
            sin_theta=angles.sin_theta if self.separated else 1.0,
            per_component=np.where(above & below, angles.per_component, 1.0),
        )

    def _angles(self, law: Law) -> Angles:
        m, k = self.asked.n_components, self.sparsity
        if k is None or self.asked.calibration == "paper":  # which keeps plain eigenvectors
            return self._staged(expected_angles(law, m))
        return shrunken_angles(law, m, k, self.n_samples)

    def _staged(self, angles: Angles) -> Angles:
        """The same after a second stage, if one is expected.

        Components turn among each other as the matrix lets them, which has a part of the budget.
        """
        stage = self.second_stage
        if stage is None:
            return angles
        leading = self.spectrum.eigenvalues[: self.asked.n_components]
        gaps = (leading[:, None] - leading) ** 2 + np.diag(np.full(len(leading), np.inf))
        turned = np.minimum(0.5 * self.level.noise_sd**2 / np.maximum(gaps, 1e-300), 0.5).sum(
            axis=0
        )
        beside = np.maximum(angles.per_component**2 - turned, 0.0) * stage.ratio**2
        own = np.sqrt(np.minimum(beside + turned / stage.share, 1.0))
        return Angles(sin_theta=angles.sin_theta * stage.ratio, per_component=own)

    @property
    def separated(self) -> bool:
        """Whether the last component's variance is above the next one's."""
        return bool(self._separated[self.asked.n_components - 1])

    @property
    def _separated(self) -> np.ndarray:
        """Per component, whether its variance is above the next one's."""
        values = self.spectrum.eigenvalues
        return np.append(values[:-1] - values[1:] > _LEAST_GAP * values[0], True)


def _with_public(asked: Parameters, d: int) -> Parameters:
    """Public centre and scales that are not named: any will do for the noise."""
    given = {"location": np.zeros(d), "scale": np.ones(d)}
    unnamed: dict[str, Any] = {
        name: values for name, values in given.items() if _is_public(getattr(asked, name))
    }
    return replace(asked, **unnamed)


def named_location(location: Any, n_features: int) -> str | None:
    """Where the centre is to come from, as a user writes it; numbers are public ones."""
    if location is None or isinstance(location, str):
        return location and _validate.word_for_numbers(_LOCATIONS, location=location)
    _validate.vector(n_features, location=location)
    return "public"


def named_scale(scale: Any) -> Any:
    """Where scales are to come from, as a user writes it."""
    return _validate.word_for_numbers(_SCALES, scale=scale) if isinstance(scale, str) else scale


def _is_public(value: Any) -> bool:
    return isinstance(value, str) and value == "public"
