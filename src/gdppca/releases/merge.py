"""Releases of disjoint groups of people into one; post-processing, no trusted centre."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError, ReleaseError
from gdppca.linalg import Spectrum, packed_length
from gdppca.privacy import (
    ApproximateEvent,
    Event,
    GaussianEvent,
    Guarantee,
    Neighbors,
    NonPrivateEvent,
    PureEvent,
)
from gdppca.privacy.accounting import gdp_mu
from gdppca.privacy.assumptions import in_one_of, public_group_sizes
from gdppca.privacy.guarantee import weakest
from gdppca.privacy.spending import epsilon_at
from gdppca.releases.origin import Origin
from gdppca.releases.release import Release
from gdppca.theory import corrected
from gdppca.theory.rates import divisors

_PURPOSE = "weakest of the merged groups"


def merge_releases(releases: Sequence[Release], n_components: int | None = None) -> Release:
    r"""Merge releases of disjoint groups of people into one, without any row.

    Parameters
    ----------
    releases : sequence of Release
        At least two, of `DPPCA`, with the same columns, sign and scales.
    n_components : None or int, default None
        Number of directions; None takes the smallest of the parts.

    Returns
    -------
    Release
        The weighted mean of the matrices and its directions, shrunk where those of all parts were
        asked to be for one target. What the parts hold beside that (variances, score map, plan,
        a second stage) is left out.

    Notes
    -----
    **Privacy.** Nothing is spent. Replacing one person's row changes the release of that person's
    group only, so each person has the guarantee of one group. The result states the weakest of
    them, at the largest δ, and the assumption that the groups are disjoint; see
    docs/proofs/merge.md.

    Weights are inverse to the expected squared error of each matrix, noise and sampling:
    :math:`1/(\sigma_s^2 d(d+1)/2 + r^4/n_s)`. The centre is the mean of the centres, by rows; what
    their errors add to an eigenvalue is averaged with the same weights as the matrices. A doubt
    about the scales, which are the same everywhere, stays. Where cells are missing each matrix is
    first brought to the rates of all groups together.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.releases import merge_releases
    >>> rng = np.random.default_rng(0)
    >>> sites = [rng.standard_t(2, size=(n, 4)) * [9, 3, 1, 1] for n in (1000, 3000)]
    >>> parts = [DPPCA(epsilon=e, delta=1e-6).fit(X).release_ for X, e in zip(sites, (1.0, 0.5))]
    >>> merged = merge_releases(parts)
    >>> merged.n_samples, merged.scheme, round(merged.guarantee.epsilon, 2)
    (4000, {'name': 'merged', 'groups': 2}, 1.0)
    """
    parts = list(releases)
    _check_mergeable(parts)
    first = parts[0]
    m = min(len(part.components) for part in parts) if n_components is None else n_components
    if _validate.count(n_components=m, at_least=0) > first.n_features:
        raise ParameterError(
            f"`n_components` must not exceed the number of columns {first.n_features}, got {m}."
        )
    rates = _pooled_rates(parts)
    factors = [_factors(part, rates) for part in parts]
    noise = np.array([_noise(part, each) for part, each in zip(parts, factors, strict=True)])
    weights, groups = _weights(parts, noise), sum(_scheme(part)["groups"] for part in parts)
    matrix = sum(w * part.scatter * f for w, part, f in zip(weights, parts, factors, strict=True))
    gaps: dict[str, Any] = {} if rates is None else {"rates": rates}
    drawn = any(part.scale_origin is Origin.PRIVATE for part in parts)
    merged = Release(
        components=Spectrum(corrected(matrix, rates)).leading(m).T,
        scatter=matrix,
        noise_sd=float(np.sqrt(np.sum((weights * noise) ** 2))),
        sign=first.sign,
        scheme={"name": "merged", "groups": groups},
        calibration=first.calibration,
        n_samples=sum(part.n_samples for part in parts),
        n_features=first.n_features,
        feature_names=first.feature_names,
        description=_shared_description(parts),
        location=_mean_location(parts),
        centre_origin=Origin.MERGED,
        centre_bias=float(weights @ [part.centre_bias for part in parts]),
        scale=first.scale,
        scale_origin=Origin.PRIVATE if drawn else first.scale_origin,
        scale_error=_largest_error(parts),
        guarantee=parallel_guarantee([part.guarantee for part in parts], groups),
        method=first.method,
        entries=tuple(dict.fromkeys(each for part in parts for each in part.entries)),
        **gaps,
    )
    targets = {None if part.loadings is None else part.loadings.target for part in parts}
    target = targets.pop() if len(targets) == 1 else None
    return merged if target is None else merged.shrunk(target)


def _check_mergeable(parts: list[Release]) -> None:
    """Refuse what cannot be averaged; everything looked at is public."""
    if len(parts) < 2 or not all(isinstance(part, Release) for part in parts):
        raise ParameterError("`releases` must hold at least two releases.")
    for part in parts:
        if part.method != "DPPCA" or part.scatter is None or part.sign is None:
            raise ReleaseError(
                f"Only releases of DPPCA with their matrix can be merged; one is of {part.method}."
            )
    first = parts[0]
    for one, other in itertools.combinations(parts, 2):
        if np.array_equal(np.asarray(one.scatter), np.asarray(other.scatter)):
            raise ReleaseError("Two of the releases hold the same matrix: one of them is a copy.")
    for part in parts[1:]:
        for name, remedy in _REMEDY.items():
            if not np.array_equal(getattr(part, name), getattr(first, name)):
                raise ReleaseError(f"The releases differ in `{name}`. {remedy}")
    centred = {_scheme(part)["name"] == "one-sample" for part in parts}
    assert first.sign is not None
    if len(centred) > 1 and first.sign["name"] != "spherical":
        raise ReleaseError(
            "Some releases compare pairs, others look from a centre: for this sign their matrices "
            "mean different things. Use one `location` setting everywhere."
        )


_REMEDY = {
    "feature_names": "Every group must use the same columns in the same order.",
    "sign": "Agree on one sign, and on its radius as a number, before fitting.",
    "calibration": "Agree on one calibration before fitting.",
    "scale": "Agree on public scales before fitting, or use none; private ones differ by group.",
}


def _scheme(part: Release) -> dict[str, Any]:
    """How rows were compared, and how many groups were merged before: one where none was."""
    return {"groups": 1, **(part.scheme or {"name": ""})}


def _pooled_rates(parts: list[Release]) -> np.ndarray | None:
    """Observed rates of all groups together; None where no cell may be missing in any."""
    found = [part.rates for part in parts]
    if all(rates is None for rates in found):
        return None
    rows = np.array([part.n_samples for part in parts], dtype=float)
    known = [np.ones(parts[0].n_features) if rates is None else rates for rates in found]
    if all(np.array_equal(rates, known[0]) for rates in known):
        return known[0]
    return np.asarray((rows / rows.sum()) @ np.array(known))


def _factors(part: Release, pooled: np.ndarray | None) -> np.ndarray | float:
    """What brings a matrix from its own rates to others, at the trace that these give."""
    if pooled is None:
        return 1.0
    own = part.rates
    own = np.ones_like(pooled) if own is None else own
    return np.asarray(divisors(pooled) / divisors(own) * (own.mean() / pooled.mean()))


def _noise(part: Release, factors: np.ndarray | float) -> float:
    """σ of the packed noise of a matrix times factors: of the same mean square."""
    if isinstance(factors, float):
        return part.noise_sd
    upper = np.triu_indices(len(factors))
    return part.noise_sd * float(np.sqrt(np.mean(factors[upper] ** 2)))


def _weights(parts: list[Release], noise: np.ndarray) -> np.ndarray:
    """Inverse to the expected squared Frobenius error, noise and sampling; adding up to one."""
    assert parts[0].sign is not None
    length = packed_length(parts[0].n_features)
    bound = parts[0].sign["sup_norm"] ** 4
    errors = [
        length * sd**2 + bound / part.n_samples for sd, part in zip(noise, parts, strict=True)
    ]
    precisions = 1 / np.array(errors)
    return np.asarray(precisions / precisions.sum())


def _shared_description(parts: list[Release]) -> dict[str, Any] | None:
    """What all parts say of their tables, where they say the same."""
    first = parts[0].description
    return first if all(part.description == first for part in parts) else None


def _mean_location(parts: list[Release]) -> np.ndarray | None:
    locations = [part.location for part in parts if part.location is not None]
    if len(locations) < len(parts):
        return None
    rows = np.array([part.n_samples for part in parts], dtype=float)
    return np.asarray((rows / rows.sum()) @ np.array(locations))


def _largest_error(parts: list[Release]) -> np.ndarray | None:
    """Errors of scales that all parts share: the largest that is known of each."""
    known = [part.scale_error for part in parts if part.scale_error is not None]
    return np.max(known, axis=0) if known else None


def parallel_guarantee(parts: Sequence[Guarantee], groups: int) -> Guarantee:
    """Promise about results from disjoint groups of people, to each person in any of them."""
    weaker = weakest(*parts)
    sizes = (public_group_sizes(weaker.unit),)
    public = () if weaker.neighbors is Neighbors.ADD_REMOVE else sizes
    return replace(
        weaker,
        events=_dominating([part.events for part in parts], weaker.delta),
        assumptions=in_one_of((*weaker.assumptions, *public), groups),
    )


def _dominating(lists: list[tuple[Event, ...]], delta: float) -> tuple[Event, ...]:
    """Events that together promise no more than any of the lists does (docs/proofs/merge.md)."""
    for events in lists:
        if any(isinstance(event, NonPrivateEvent) for event in events):
            return events
    if any(isinstance(event, ApproximateEvent) for events in lists for event in events):
        return _worst_pair(lists, delta)
    profiles = [_profile(events) for events in lists]
    largest = tuple(max(column) for column in itertools.zip_longest(*profiles, fillvalue=0.0))
    for events, profile in zip(lists, profiles, strict=True):
        if profile == largest:
            return events
    together = _events(largest)
    gaussian = _events((max(map(gdp_mu, lists)),))
    return min(together, gaussian, key=lambda events: epsilon_at(events, delta))


def _profile(events: tuple[Event, ...]) -> tuple[float, ...]:
    """μ of the Gaussian events together, then the ε of the pure ones, largest first."""
    gaussian = gdp_mu(event for event in events if isinstance(event, GaussianEvent))
    pure = [event.epsilon for event in events if isinstance(event, PureEvent)]
    return (gaussian, *sorted(pure, reverse=True))


def _events(profile: tuple[float, ...]) -> tuple[Event, ...]:
    mu, *pure = profile
    steps: list[Event] = [PureEvent(purpose=_PURPOSE, epsilon=epsilon) for epsilon in pure]
    if mu > 0:
        steps.append(GaussianEvent(purpose=_PURPOSE, noise_multiplier=1 / mu))
    return tuple(steps)


def _worst_pair(lists: list[tuple[Event, ...]], delta: float) -> tuple[Event, ...]:
    """The largest ε at δ, all that is known where a part is known by one pair only."""
    epsilon = max(epsilon_at(events, delta) for events in lists)
    if math.isinf(epsilon):
        return (NonPrivateEvent(purpose=_PURPOSE),)
    return (ApproximateEvent(purpose=_PURPOSE, epsilon=max(epsilon, 1e-9), delta=delta),)
