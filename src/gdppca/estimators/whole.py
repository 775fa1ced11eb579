"""Directions, variances and a score map under one budget."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gdppca.design import Parameters, reserved_events, shared_out
from gdppca.engines.frames import as_matrix
from gdppca.estimators._base import telling_of_a_spend
from gdppca.kernels import Progress
from gdppca.privacy import Event
from gdppca.privacy.counting import ENTERED
from gdppca.releases import Release
from gdppca.releases.mapping import paid_map as score_map
from gdppca.releases.spectrum import paid_variances, warn_of_few_pairs

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
    asked = Parameters.of(pca)
    parts = shared_out(asked, variances=variance_share, score_map=map_share)
    reserved = reserved_events(asked, len(matrix), parts, **map_wish)
    if "variances" in parts:
        warn_of_few_pairs(len(matrix), pca.n_components, *parts["variances"])
    pca._fit(X, progress, reserved)  # enters what is reserved with its own spend
    release = pca.release_
    entered = ENTERED in release.guarantee.assumptions

    def paid(_: tuple[Event, ...]) -> bool:
        return entered

    with telling_of_a_spend(pca.epsilon, pca.delta), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warned before the spend
        if "variances" in parts:
            seed = None if pca.random_state is None else pca.random_state + 1
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
                use_location=asked.has_public_center,
                random_state=seed,
                **map_wish,
            )
            release = release.with_score_map(shown)
    pca._adopt(release, pca.eigenvalues_)
    return release


def _kept(wish: Any) -> Any:
    """A wish that can be read twice; an iterator cannot."""
    return list(wish) if isinstance(wish, Iterator) else wish
