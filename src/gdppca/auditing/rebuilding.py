"""The design behind a release, rebuilt from what the file says: which steps drew, and how much."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from gdppca._errors import ParameterError
from gdppca.design import Design, Parameters, design_of
from gdppca.privacy import Event, GaussianEvent, Protected, PureEvent
from gdppca.privacy.accounting import gaussian_epsilon, gdp_mu
from gdppca.privacy.assumptions import DESIGN_WEIGHTS
from gdppca.privacy.spending import epsilon_at
from gdppca.releases import Release, ScoreMap
from gdppca.releases.publish import parameters_of
from gdppca.steps import count, histogram, rates, scale, variances
from gdppca.steps.base import Public, Step
from gdppca.steps.centre_budget import PURPOSE as CENTRE
from gdppca.steps.score_map import MapCounts
from gdppca.steps.variances import Variances
from gdppca.tables.description import Description

_MOST_CELLS = 5_000_000  # of a made-up table
_RADIUS, _AXES = "radius", 2
_VARIANCES = (variances.BOUNDS_PURPOSE, *variances.PURPOSES.values())
_MAP = (histogram.FRAME_PURPOSE, histogram.PURPOSE, histogram.THRESHOLD_PURPOSE)


def rebuilt(release: Release) -> Design:
    """The design of a release of `DPPCA`, for as many rows of the same columns.

    Noise over sensitivity is what a promise rests on, and no number of rows is in that: huge tables
    are made smaller. Steps that looked at a sample look at all rows here, the one in question
    among them.
    """
    _require_rebuildable(release)
    public = _public(release)
    more = tuple(_steps_after(release, public))
    return with_steps(design_of(_parameters(release, public), public), more)


def _require_rebuildable(release: Release) -> None:
    """Refuse what does not say how it was made, or promises nothing."""
    if release.method != "DPPCA":
        raise ParameterError(
            f"`release` must be of DPPCA, got one of {release.method}, which does not say all of "
            "its parameters: audit the estimator itself."
        )
    if math.isinf(release.guarantee.nominal_epsilon):
        raise ParameterError(
            "`release` must hold noise: without any nothing is promised, and there is nothing to "
            "audit."
        )
    if release.scheme is not None and release.scheme["name"] == "merged":
        raise ParameterError(
            "`release` was merged from several, each with noise of its own: audit those."
        )
    if release.sign is not None and release.sign["name"] == "custom":
        raise ParameterError(
            "`release` was made with a sign of your own, which is not in the file: audit the "
            "estimator itself."
        )
    if release.n_features < 2:
        raise ParameterError("An audit needs two columns: the direction of one says nothing.")


def _public(release: Release) -> Public:
    d = release.n_features
    n = release.n_samples if release.scheme is None else _seen(release, release.scheme)
    told = release.description
    return Public.of(
        max(2, min(n, _MOST_CELLS // d)),
        d,
        protected=Protected(release.unit, release.neighbors),
        gaps=release.rates is not None,
        weighted=DESIGN_WEIGHTS in release.guarantee.assumptions,
        features=() if told is None else Description.from_dict(told).features,
    )


def _seen(release: Release, scheme: dict[str, Any]) -> int:
    """Rows or persons that most steps looked at; blocks of pairs are full."""
    return max(scheme.get("sample", release.n_samples), 2 * scheme.get("size", 1))


def _parameters(release: Release, public: Public) -> Parameters:
    """Parameters of the fit, without what was drawn after its matrix."""
    told = parameters_of(release)
    known = {each.name: told[each.name] for each in fields(Parameters) if each.name in told}
    drawn_after = (*_VARIANCES, *_MAP)
    events = [event for event in release.guarantee.events if event.purpose not in drawn_after]
    known["epsilon"] = epsilon_at(tuple(events), release.guarantee.delta)
    known["n_components"] = max(1, told["n_components"])
    asked = Parameters(**known)
    if isinstance(asked.scale, str):
        asked = replace(asked, scale_share=_scale_share(events))
    for event in events:
        if event.purpose == _RADIUS and isinstance(event, PureEvent):
            share, name = event.epsilon / asked.epsilon, (release.sign or {})["name"]
            asked = replace(asked, sign=name, radius="quantile", quantile_share=share)
    return replace(asked, location=_location(asked, public, events))


def _scale_share(events: Iterable[Event]) -> float:
    """Share of μ² that private scales took of what was left for them."""
    squared = {event.purpose: 0.0 for event in events}
    for event in events:
        if isinstance(event, GaussianEvent):
            squared[event.purpose] += event.noise_multiplier**-2
    first = squared.get(count.PURPOSE, 0.0) + squared.get(rates.PURPOSE, 0.0)
    return squared[scale.PURPOSE] / (sum(squared.values()) - first)


def _location(asked: Parameters, public: Public, events: Iterable[Event]) -> Any:
    """The centre, public or looked for; also where the walk did not arrive."""
    walked = any(event.purpose == CENTRE for event in events)
    if asked.has_public_center or not walked:
        return asked.location
    automatic = replace(asked, location="auto", pairs="auto")
    found = any(event.purpose == CENTRE for event in _all_events(design_of(automatic, public)))
    return "auto" if found else "private"


def _all_events(design: Design) -> Iterable[Event]:
    return (event for step in design.steps for event in step.events)


def _steps_after(release: Release, public: Public) -> Iterable[Step]:
    """Variances and a score map, drawn under the same budget or later: the noise is the same."""
    delta = release.guarantee.delta
    drawn = [event for event in release.guarantee.events if event.purpose in _VARIANCES]
    if drawn and release.variances is not None:
        epsilon = gaussian_epsilon(1 / gdp_mu(drawn), delta)
        [method] = [m for m, p in variances.PURPOSES.items() if p == drawn[-1].purpose]
        yield Variances(
            public=public,
            epsilon=epsilon,
            delta=delta,
            n_components=len(release.variances),
            method=method,
        )
    if release.score_map is not None:
        yield _map_counts(release.score_map, public)


def _map_counts(shown: ScoreMap, public: Public) -> MapCounts:
    """The step behind a map."""
    events = shown.guarantee.events
    framed = sum(event.purpose == histogram.FRAME_PURPOSE for event in events)
    gaussian = any(isinstance(event, GaussianEvent) for event in events)
    pure = sum(event.epsilon for event in events if isinstance(event, PureEvent))
    return MapCounts(
        public=public,
        epsilon=shown.guarantee.nominal_epsilon if gaussian else pure,
        delta=shown.guarantee.delta,
        axes=shown.axes,
        known_center=framed == _AXES,  # one step on each axis, not two
        spans=None if framed else (_ends(shown.x_edges), _ends(shown.y_edges)),
        bins=shown.counts.shape[1:],
        names=shown.groups,
        kind=shown.kind,
        law="gaussian" if gaussian else "laplace",
    )


def _ends(edges: np.ndarray) -> tuple[float, float]:
    return float(edges[0]), float(edges[-1])


@dataclass(frozen=True)
class _Longer:
    """The design for a number that was counted, with more steps."""

    counted: Callable[[float], Design]
    more: tuple[Any, ...]

    def __call__(self, number: float) -> Design:
        known = self.counted(number)
        return with_steps(known, tuple(replace(step, public=known.public) for step in self.more))


def with_steps(design: Design, more: tuple[Step, ...]) -> Design:
    """The same design with steps at its end, which draw besides."""
    if not more:
        return design
    drawn = tuple(event for step in more for event in step.events)
    return replace(
        design,
        steps=(*design.steps, *more),
        debit=(*design.debit, *drawn),
        counted=None if design.counted is None else _Longer(design.counted, more),
    )
