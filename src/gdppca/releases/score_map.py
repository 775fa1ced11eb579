"""Private score maps: what can be shown of the scatter plot of two components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca.privacy import Guarantee


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreMap:
    """A private histogram of the scores on two components, maybe by group."""

    axes: tuple[int, int]
    x_edges: np.ndarray
    y_edges: np.ndarray
    groups: tuple[str, ...] | None
    counts: np.ndarray
    kind: str
    noise_sd: float
    threshold: int
    guarantee: Guarantee

    def to_dict(self) -> dict[str, Any]:
        """Plain form, as it stands in a release."""
        return {
            "axes": list(self.axes),
            "x_edges": self.x_edges.tolist(),
            "y_edges": self.y_edges.tolist(),
            "groups": None if self.groups is None else list(self.groups),
            "counts": self.counts.tolist(),
            "kind": self.kind,
            "noise_sd": self.noise_sd,
            "threshold": self.threshold,
            "guarantee": self.guarantee.to_dict(),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> ScoreMap:
        """Read what `to_dict` wrote."""
        return cls(
            axes=(plain["axes"][0], plain["axes"][1]),
            x_edges=np.array(plain["x_edges"], dtype=float),
            y_edges=np.array(plain["y_edges"], dtype=float),
            groups=None if plain["groups"] is None else tuple(plain["groups"]),
            counts=np.array(plain["counts"], dtype=np.int64),
            kind=plain["kind"],
            noise_sd=float(plain["noise_sd"]),
            threshold=int(plain["threshold"]),
            guarantee=Guarantee.from_dict(plain["guarantee"]),
        )
