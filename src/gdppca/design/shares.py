"""What is released beside the directions, from the same rows and the same (ε, δ)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.steps.base import Public, Step
from gdppca.steps.score_map import MapCounts
from gdppca.steps.variances import Variances


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Shares of the budget for variances and a score map, what the map is like, and the plan."""

    variances: float = 0.0
    score_map: float = 0.0
    axes: Any = (0, 1)  # components of the map, counted from zero
    bins: Any = "auto"
    groups: tuple[str, ...] | None = None  # names, which are public
    plan: Any = None  # what was expected of all of it, in its plain form

    @property
    def counts_rows(self) -> bool:
        """Whether something is asked for that looks at whole rows."""
        return bool(self.variances or self.score_map)

    @property
    def told(self) -> dict[str, Any]:
        """The shares that there are, by name, and components of a map that are not the usual."""
        shares = {"variances": self.variances, "score_map": self.score_map}
        told: dict[str, Any] = {name: share for name, share in shares.items() if share}
        usual = not self.score_map or tuple(self.axes) == (0, 1)
        return told if usual else told | {"axes": list(self.axes)}

    def steps(
        self, public: Public, epsilon: float, delta: float, m: Any, *, known_center: bool
    ) -> tuple[Step, ...]:
        """The steps, with what each one gets; wishes that cannot be met are refused here."""
        parts = self._parts(epsilon, delta)
        steps: list[Step] = []
        if self.variances:
            many = _known_components(m, 1, "Variances")
            own, own_delta = parts["variances"]
            steps.append(
                Variances(
                    public=public, epsilon=own, delta=own_delta, n_components=many, joint=True
                )
            )
        if self.score_map:
            many = _known_components(m, 2, "A score map")
            steps.append(
                MapCounts(
                    public=public,
                    epsilon=parts["map"][0],
                    delta=parts["map"][1],
                    axes=checked_axes(self.axes, many),
                    known_center=known_center,  # what it draws must not depend on the fit
                    bins=self.bins,
                    names=self.groups,
                    joint=True,
                )
            )
        elif self.groups is not None:
            raise ParameterError(
                "`groups` are for a score map: give `score_map` a share of the budget."
            )
        return tuple(steps)

    def _parts(self, epsilon: float, delta: float) -> dict[str, tuple[float, float]]:
        """Budgets (ε, δ) of the parts; an infinite ε has no parts to share out."""
        shares = {"variances": self.variances, "map": self.score_map}
        for name, share in shares.items():
            if share != 0:
                _validate.fraction(**{f"share of the {name}": share})
        if sum(shares.values()) >= 1:
            raise ParameterError(
                f"The shares of variances and score map must add up to less than 1, got "
                f"{sum(shares.values()):g}: the directions need the rest."
            )
        epsilon, delta = _validate.budget(epsilon=epsilon), _validate.fraction(delta=delta)
        return {
            name: (epsilon if math.isinf(epsilon) else share * epsilon, share * delta)
            for name, share in shares.items()
        }


def checked_axes(axes: Any, m: int) -> tuple[int, int]:
    """Two different components of m, counted from zero."""
    try:
        first, second = axes
    except (TypeError, ValueError):
        raise ParameterError("`axes` must be two components, such as (0, 1).") from None
    chosen = tuple(_validate.count(axes=axis, at_least=0) for axis in (first, second))
    if chosen[0] == chosen[1] or max(chosen) >= m:
        raise ParameterError(
            f"`axes` must be two different components below {m}, got {chosen}. "
            "Fit more components for a map of them."
        )
    return chosen[0], chosen[1]


def _known_components(m: Any, least: int, what: str) -> int:
    """How many components there will be must be known before anything is spent."""
    if isinstance(m, str) or _validate.count(n_components=m) < least:
        raise ParameterError(
            f"{what} under the same budget: `n_components` must be a number of at least {least}, "
            f"got {m!r}."
        )
    return int(m)
