"""Directions, variances and a score map under one budget."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gdppca.design import Parameters, reserved_events, shared_out
from gdppca.estimators._base import note_spend_on_error
from gdppca.privacy import Event
from gdppca.privacy.assumptions import ENTERED
from gdppca.releases import Release
from gdppca.releases.mapping import paid_map
from gdppca.releases.spectrum import paid_variances, warn_of_few_pairs
from gdppca.tables.frames import as_matrix


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)  # holds rows
class Additions:
    """What is released beside the directions, from the same rows and the same (ε, δ).

    What it draws is known before the fit, from shares and public numbers: it is `reserved`, and
    entered with the fit's own spend. The directions get the rest.
    """

    asked: Parameters
    parts: dict[str, tuple[float, float]]
    map_wish: dict[str, Any]
    reserved: tuple[Event, ...]
    random_state: int | None
    X: Any
    rows: np.ndarray

    @classmethod
    def of(cls, pca: Any, X: Any, *, variances: float, score_map: float, **map_wish: Any) -> Self:
        """Check shares and wishes; nothing is spent."""
        rows = as_matrix(X).values
        map_wish = {name: _kept(wish) for name, wish in map_wish.items()}
        asked = Parameters.of(pca)
        parts = shared_out(asked, variances=variances, score_map=score_map)
        reserved = reserved_events(asked, len(rows), parts, **map_wish)
        if "variances" in parts:
            warn_of_few_pairs(len(rows), asked.n_components, *parts["variances"])
        return cls(
            asked=asked,
            parts=parts,
            map_wish=map_wish,
            reserved=reserved,
            random_state=pca.random_state,
            X=X,
            rows=rows,
        )

    def added_to(self, release: Release) -> Release:
        """The release of a fit that reserved them, with them; draws what is paid for."""
        entered = ENTERED in release.guarantee.assumptions
        directions = release

        def paid(_: tuple[Event, ...]) -> bool:
            return entered

        with (
            note_spend_on_error(self.asked.epsilon, self.asked.delta),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # warned before the spend
            if "variances" in self.parts:
                budget = self._budget("variances", 1)
                found = paid_variances(self.rows, directions, paid, **budget)
                release = release.with_variances(found)
            if "map" in self.parts:
                wish = self.map_wish | {"use_location": self.asked.has_public_center}
                shown = paid_map(self.X, directions, paid, **self._budget("map", 2), **wish)
                release = release.with_score_map(shown)
        return release

    def _budget(self, part: str, step: int) -> dict[str, Any]:
        """Budget and seed of a part; every draw of a simulation has a seed of its own."""
        epsilon, delta = self.parts[part]
        seed = None if self.random_state is None else self.random_state + step
        return {"epsilon": epsilon, "delta": delta, "random_state": seed}


def _kept(wish: Any) -> Any:
    """A wish that can be read twice; an iterator cannot."""
    return list(wish) if isinstance(wish, Iterator) else wish
