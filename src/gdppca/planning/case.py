"""From public numbers to the law of the noisy matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gdppca._errors import ParameterError
from gdppca.design import (
    Design,
    Parameters,
    design_of,
    doubts,
    lost_steps,
    reserved_events,
    shared_out,
)
from gdppca.kernels import Blocks, Halves, OneSample
from gdppca.planning.prediction import Angles, Law, expected_angles
from gdppca.planning.spectrum import Spectrum
from gdppca.privacy import Event, GaussianEvent, NonPrivateEvent
from gdppca.releases.spectrum import doubt_of_few_pairs
from gdppca.signs import Spherical, as_sign
from gdppca.steps.centre import LONGEST_WALK, CentreBudget
from gdppca.steps.centre import PURPOSE as CENTRE
from gdppca.steps.scale import PURPOSE as SCALE
from gdppca.steps.scale import expected_scale_error

# How long the search for a private centre is depends on how far the rows are from the origin, which
# is not public: `CentreBudget.share` is for some tens of standard deviations. Shares of μ²:
_SURE_SEARCH = 0.3  # up to here it succeeds from there too
_LOST_SEARCH = 0.9 * LONGEST_WALK  # what a search has taken when it gives up, about
# Rows that make a column's scale too large make its part of the matrix too large as well, and the
# division takes that out. How much of the scales' sampling variance is left was measured, around a
# centre and with pairs: Gaussian and Cauchy rows, 5 to 30 columns, without noise.
_SAMPLING_LEFT = {True: 0.25, False: 0.5}
_LOST_SCALE = 2.0  # errors of a scale's logarithm beyond are as bad as this, and might overflow
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

    def changed(self, *, n_samples: int | None = None, **parameters: Any) -> Case:
        """The same but for some."""
        n = self.n_samples if n_samples is None else n_samples
        return replace(self, n_samples=n, asked=replace(self.asked, **parameters))

    @cached_property
    def start(self) -> Design:
        """The fit's design, before anything is drawn."""
        n, d = self.n_samples, self.n_features
        asked = _with_public(self.asked, d)
        reserved = reserved_events(asked, n, self.parts)
        start = design_of(asked, n, d).with_(reserved=reserved)
        _ = start.noise  # too much reserved is refused here
        self._check_units(start)
        return start

    @property
    def parts(self) -> dict[str, tuple[float, float]]:
        """Budgets of variances and map."""
        return shared_out(self.asked, variances=self.variances, score_map=self.score_map)

    def _check_units(self, start: Design) -> None:
        """A public cut-off means nothing for variances that are known up to a factor."""
        free = isinstance(start.sign, Spherical) or start.radius_event is not None
        if not free and not self.spectrum.has_units:
            raise ParameterError(
                "`spectrum` is a release, which tells ratios of variances only; a sign with a "
                "public radius needs variances in the units of the columns. Give those, or plan "
                "with `radius='quantile'`."
            )

    @cached_property
    def scaled(self) -> Design:
        """The design after private scales, whose draws count as one."""
        start = self.start
        if start.scale_share is None:
            return start
        return start.with_(drawn=(_drawn(SCALE, start.mu_left, start.scale_share),))

    @cached_property
    def design(self) -> Design:
        """The design after all that is drawn before the matrix, as it is expected."""
        design = self.scaled
        if self._seeks_centre:
            event = _drawn(CENTRE, design.mu_left, self.centre_share)
            design = design.with_(drawn=(*design.drawn, event))
        if self.centre == "private":
            design = design.with_(location=np.zeros(self.n_features), scheme=OneSample())
        if design.radius_event is not None:
            radius = self.spectrum.length_quantile(design.quantile)
            design = design.with_(sign=as_sign(self.asked.sign, radius))
        return design

    @property
    def centre(self) -> str | None:
        """What the location comes to: "public", "private", or None where pairs are compared."""
        if self.start.location is not None:
            return "public"
        found = self._seeks_centre and self._search_share <= LONGEST_WALK
        return "private" if found else None

    @property
    def centre_share(self) -> float:
        """Share of what is left after scales that the search for a centre is expected to take."""
        if not self._seeks_centre:
            return 0.0
        budget = self._centre_budget
        if self.centre == "private":
            return self._search_share + budget.polish
        # "auto" gives up after a first look
        cautious = self.start.wanted_location == "auto"
        return budget.first + budget.far if cautious else _LOST_SEARCH

    @property
    def doubtful(self) -> bool:
        """Whether a private centre is sought that rows far from the origin might not find."""
        budget = self._centre_budget
        return self._seeks_centre and budget.share - budget.polish > _SURE_SEARCH

    @property
    def doubts(self) -> Iterator[str]:
        """Steps whose noise may win, in the words of the fit's warnings."""
        yield from lost_steps(self.start)
        yield from doubts(self.start)
        if "variances" in self.parts:
            m = self.asked.n_components
            doubt = doubt_of_few_pairs(self.n_samples, m, *self.parts["variances"])
            if doubt is not None:
                yield doubt

    @property
    def _seeks_centre(self) -> bool:
        return self.scaled.seeks_centre

    @property
    def _centre_budget(self) -> CentreBudget:
        return self.scaled.centre_budget

    @property
    def _search_share(self) -> float:
        """Share of μ² to find a private centre, halfway between rows at the origin and far away."""
        budget = self._centre_budget
        saved = 0.5 * max(budget.far_looks - 1, 0.0) * budget.far
        return budget.share - budget.polish - saved

    def law(self) -> Law:
        """Law of the noisy matrix."""
        eigenvalues, moments = self.spectrum.seen_through(self.design.sign)
        found = self.centre == "private"
        return Law(
            eigenvalues=eigenvalues,
            sampling=self._sampling_ratio * moments / self.n_samples,
            noise_sd=self.design.noise.noise_sd,
            centre_error=self._centre_budget.relative_error if found else 0.0,
            variances=self.spectrum.variances,
            scale_error=self._scale_error,
        )

    @property
    def _sampling_ratio(self) -> float:
        """Sampling variance over that of as many rows around a known centre.

        A pair of its own has twice that of a row; a block of b rows mixes such pairs with the
        statistic of all pairs, by Hoeffding's formula.
        """
        match self.design.scheme:
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
        start, centred = self.start, self.centre is not None
        if start.scale_share is None:
            return 0.0
        total, sampling = (
            expected_scale_error(start.n_seen, start.n_features, mu, centred=centred)
            for mu in (start.scale_mu, math.inf)
        )
        error = math.sqrt(total**2 - (1 - _SAMPLING_LEFT[centred]) * sampling**2)
        return min(error, _LOST_SCALE)

    def angles(self) -> Angles:
        """Expected sines; one for components of equal variance, which no method tells apart."""
        m = self.asked.n_components
        angles = expected_angles(self.law(), m)
        below = self._separated[:m]
        above = np.append(True, below[:-1])
        return Angles(
            sin_theta=angles.sin_theta if self.separated else 1.0,
            per_component=np.where(above & below, angles.per_component, 1.0),
        )

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


def _is_public(value: Any) -> bool:
    return isinstance(value, str) and value == "public"


def _drawn(purpose: str, mu: float, share: float) -> Event:
    """Draws of one step together, which take a share of μ²."""
    if math.isinf(mu):
        return NonPrivateEvent(purpose=purpose)
    return GaussianEvent(purpose=purpose, noise_multiplier=1 / (mu * math.sqrt(share)))
