"""Directions, variances and a score map under one budget."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.engines.frames import as_matrix
from gdppca.estimators._base import telling_of_a_spend
from gdppca.kernels import Progress
from gdppca.privacy import Event
from gdppca.privacy.counting import ENTERED
from gdppca.releases import Release
from gdppca.releases.mapping import paid_map as score_map
from gdppca.releases.mapping import score_map_events
from gdppca.releases.spectrum import paid_variances, variance_events, warn_of_few_pairs

if TYPE_CHECKING:
    from gdppca.estimators.gdppca import DPPCA


def whole_release(
    pca: DPPCA,
    X: Any,
    *,
    variance_share: float,
    map_share: float,
    map_wish: dict[str, Any],
    progress: Progress,
) -> Release:
    """Fit, and release more from the same rows; (ε, δ) is spent exactly, on all of it together.

    What the later releases draw is known before, from their shares and public numbers; the
    directions get the rest.
    """
    matrix = as_matrix(X).values
    map_wish = {name: _kept(wish) for name, wish in map_wish.items()}
    parts = _parts(pca, variance_share, map_share)
    reserved = _events(pca, len(matrix), parts, map_wish)
    pca._fit(X, progress, reserved)  # enters what is reserved with its own spend
    release = pca.release_
    entered = ENTERED in release.guarantee.assumptions

    def paid(_: tuple[Event, ...]) -> bool:
        return entered

    with telling_of_a_spend(pca.epsilon, pca.delta):
        if "variances" in parts:
            seed = None if pca.random_state is None else pca.random_state + 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warned before the spend
                epsilon, delta = parts["variances"]
                found = paid_variances(
                    matrix, release, paid, epsilon=epsilon, delta=delta, random_state=seed
                )
            release = release.with_variances(found)
        if "map" in parts:
            seed = None if pca.random_state is None else pca.random_state + 2
            epsilon, delta = parts["map"]
            shown = score_map(
                X,
                pca.release_,
                paid,
                epsilon=epsilon,
                delta=delta,
                use_location=_public_center(pca),
                random_state=seed,
                **map_wish,
            )
            release = release.with_score_map(shown)
    pca._adopt(release, pca.eigenvalues_)
    return release


def _parts(pca: DPPCA, variance_share: float, map_share: float) -> dict[str, tuple[float, float]]:
    """Budgets of the later releases; an infinite ε has no parts to share out."""
    shares = {"variances": variance_share, "map": map_share}
    for name, share in shares.items():
        if share != 0:
            _validate.fraction(**{f"share of the {name}": share})
    if sum(shares.values()) >= 1:
        raise ParameterError(
            f"The shares of variances and score map must add up to less than 1, got "
            f"{sum(shares.values()):g}: the directions need the rest."
        )
    epsilon = _validate.budget(epsilon=pca.epsilon)
    delta = _validate.fraction(delta=pca.delta)
    return {
        name: (epsilon if math.isinf(epsilon) else share * epsilon, share * delta)
        for name, share in shares.items()
        if share
    }


def _events(
    pca: DPPCA, n: int, parts: dict[str, tuple[float, float]], map_wish: dict[str, Any]
) -> tuple[Event, ...]:
    """What the later releases will draw; wishes that cannot be met are refused here."""
    events: tuple[Event, ...] = ()
    if "variances" in parts:
        _check_known_components(pca, 1, "Variances")
        warn_of_few_pairs(n, pca.n_components, *parts["variances"])
        events += variance_events(*parts["variances"])
    if "map" in parts:
        _check_known_components(pca, 2, "A score map")
        events += score_map_events(n, *parts["map"], known_center=_public_center(pca), **map_wish)
    elif any(value is not None for value in (map_wish["groups"], map_wish["categories"])):
        raise ParameterError(
            "`groups` are for a score map: give `score_map` a share of the budget."
        )
    return () if math.isinf(pca.epsilon) else events


def _public_center(pca: DPPCA) -> bool:
    """Whether a centre is known before the fit: what the map draws must not depend on the fit."""
    return pca.location is not None and not isinstance(pca.location, str)


def _check_known_components(pca: DPPCA, least: int, what: str) -> None:
    """How many components there will be must be known before anything is spent."""
    m = pca.n_components
    if isinstance(m, str) or _validate.count(n_components=m) < least:
        raise ParameterError(
            f"{what} under the same budget: `n_components` must be a number of at least {least}, "
            f"got {m!r}."
        )


def _kept(wish: Any) -> Any:
    """A wish that can be read twice; an iterator cannot."""
    return list(wish) if isinstance(wish, Iterator) else wish
