"""From what was drawn to what is published."""

from __future__ import annotations

from typing import Any

from gdppca._errors import ReleaseError
from gdppca.design import Design
from gdppca.ledgers import Booking
from gdppca.releases.origin import Origin
from gdppca.releases.release import Release
from gdppca.releases.score_map import published_map
from gdppca.releases.second_stage import SecondStage
from gdppca.signs import sign_from_description
from gdppca.steps.base import State
from gdppca.steps.centre import Centre
from gdppca.steps.centre_budget import PURPOSE as CENTRE
from gdppca.steps.score_map import MapCounts
from gdppca.tables.description import Description


def parameters_of(release: Release) -> dict[str, Any]:
    """Parameters of `DPPCA` behind a release."""
    if release.method != "DPPCA" or release.sign is None or release.scheme is None:
        raise ReleaseError(f"The release was made by {release.method}, not by DPPCA.")
    return {
        "n_components": len(release.components),
        # The true ε with tight noise is the noise that was drawn, whatever the calibration.
        "epsilon": release.guarantee.nominal_epsilon,
        "delta": release.guarantee.delta,
        "sign": sign_from_description(release.sign),
        "pairs": _pairs_of(release.scheme),
        "neighbors": str(release.neighbors),
        "missing": "refuse" if release.rates is None else "rates",
        "location": "private" if release.centre_origin == Origin.PRIVATE else release.location,
        "scale": "private" if release.scale_origin == Origin.PRIVATE else release.scale,
        "loadings": "plain" if release.loadings is None else "shrunk",
        "target": "rows" if release.loadings is None else release.loadings.target,
        "max_loadings": release.max_loadings,
        "stages": "one" if release.second_stage is None else "auto",
    }


def _pairs_of(scheme: dict[str, Any]) -> int | str:
    """The parameter `pairs` behind a scheme's description."""
    if scheme["name"] in ("one-sample", "merged"):
        return "auto"
    pairs: int | str = scheme.get("size", scheme["name"])
    return pairs


def published(
    design: Design,
    state: State,
    method: str,
    names: tuple[str, ...],
    description: Description | None = None,
    *,
    booking: Booking,
    seeded: bool,
) -> Release:
    """The release of a fit: everything that its steps drew, and their promise together."""
    public, shown = design.public, design.step(MapCounts)
    entered = booking.address is not None
    scheme = None if state.scheme is None else state.scheme.describe()
    if scheme is not None and design.needs_sample and public.n_seen < public.n_samples:
        scheme["sample"] = public.n_seen
    return Release(
        components=state.components,
        scatter=state.scatter,
        noise_sd=state.noise_sd,
        sign=None if state.sign is None else state.sign.describe(),
        scheme=scheme,
        calibration=design.calibration,
        n_samples=public.n_samples if state.estimate is None else state.estimate,
        n_features=public.n_features,
        feature_names=names,
        location=state.location,
        scale=state.scale,
        scale_error=state.scale_error,
        variances=None if state.variances is None else state.variances.variances,
        score_map=None if shown is None else published_map(shown, design, state, entered, seeded),
        centre_origin=_origin(_public_centre(design, state), state.location),
        scale_origin=_origin(design.start.scale, state.scale),
        guarantee=design.guarantee(state.events, entered=entered, seeded=seeded),
        method=method,
        rates=state.rates,
        description=None if description is None else description.to_dict(),
        second_stage=SecondStage.of(state.cross),
        entries=booking.entries,
    )


def _public_centre(design: Design, state: State) -> object:
    """A centre that was given, or where a walk had no room for a single look: its start."""
    walked = any(event.purpose == CENTRE for event in state.events)
    return design.start.location if walked or design.step(Centre) is None else state.location


def _origin(public: object, known: object) -> Origin:
    """Where something came from: it was public, or a step drew it."""
    if known is None:
        return Origin.NONE
    return Origin.PRIVATE if public is None else Origin.PUBLIC
