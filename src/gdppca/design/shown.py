"""A step that draws nothing: directions are turned into those that are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gdppca.design.design import Design
from gdppca.noise import Noise
from gdppca.privacy import Event
from gdppca.steps.base import Public, Rows, State
from gdppca.steps.scatter import Scatter


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Post-processing right after the matrix, for steps that look at the directions shown.

    **Privacy.** Nothing is drawn: a function of what earlier steps released.
    """

    public: Public
    turned: Callable[[State], np.ndarray]
    events: tuple[Event, ...] = ()
    needs_sample = False

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """The same state with other directions."""
        return state.with_(components=self.turned(state))


def showing(design: Design, turned: Callable[[State], np.ndarray]) -> Design:
    """The same design, with the directions turned before anything looks at them."""
    steps, counted = design.steps, design.counted
    place = 1 + next(k for k, step in enumerate(steps) if isinstance(step, Scatter))
    shown = Shown(public=design.public, turned=turned)
    return replace(
        design,
        steps=(*steps[:place], shown, *steps[place:]),
        counted=None if counted is None else partial(_counted, counted, turned),
    )


def _counted(
    counted: Callable[[float], Design], turned: Callable[[State], np.ndarray], number: float
) -> Design:
    return showing(counted(number), turned)
