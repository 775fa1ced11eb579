"""A private cut-off for a sign: a quantile of the lengths that it will see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca.linalg import LARGEST, SQRT2, directions
from gdppca.noise import Noise
from gdppca.privacy import Event, PureEvent
from gdppca.signs import as_sign
from gdppca.signs.base import legal_radius
from gdppca.steps.base import Public, Rows, State
from gdppca.steps.pairing import halved_differences
from gdppca.steps.quantile import grid_quantile
from gdppca.tables.base import divided, filled

_LEAST_ROOM = 12.0  # ε times ranks; below, the noise of the quantile may win


@dataclass(frozen=True, kw_only=True)
class Radius:
    """A cut-off of a named sign.

    **Privacy.** One pure event: rows, one random one of each person, are paired at random, each in
    one pair, or compared with a released centre, so one row moves one length and every rank by at
    most `sensitivity.ONE_RANK`.
    """

    public: Public
    sign: str
    quantile: float
    epsilon: float
    public_center: bool  # lengths from a centre that is known beforehand, one for every row
    needs_sample = True

    @property
    def events(self) -> tuple[Event, ...]:
        """One pure step."""
        return (PureEvent(purpose="radius", epsilon=self.epsilon),)

    @property
    def room(self) -> float:
        """Its ε times the ranks between its quantile and the nearer end."""
        lengths = self.public.n_seen if self.public_center else self.public.n_seen // 2
        return self.epsilon * lengths * min(self.quantile, 1 - self.quantile)

    @property
    def doubt(self) -> str | None:
        """Why the radius may be far off; None where it is not."""
        if self.room >= _LEAST_ROOM:
            return None
        return (
            f"{self.public.how_many} and this budget are too little for a private radius: it may "
            f"be far off. Use more {self.public.those}, a larger `epsilon` or `quantile_share`, or "
            "give `radius` as a number."
        )

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """The same sign with a private radius."""
        X = divided(table.sample(self.public.n_seen).single, state.scale)
        radius = private_radius(X, state.center, self.quantile, self.epsilon, noise)
        return state.with_(sign=as_sign(self.sign, radius), events=self.events)


def private_radius(
    X: np.ndarray, center: np.ndarray | None, q: float, epsilon: float, noise: Noise
) -> float:
    """A quantile of lengths: of pairs over √2, or from a centre; as legal as a cut-off must be."""
    if center is None:
        differences, factor = halved_differences(X, noise), SQRT2
    else:
        differences, factor = 0.5 * filled(X, center) - 0.5 * center, 2.0
    with np.errstate(over="ignore"):
        lengths = np.minimum(directions(differences)[1] * factor, LARGEST)
    return legal_radius(grid_quantile(lengths, q, epsilon, noise, nonnegative=True))
