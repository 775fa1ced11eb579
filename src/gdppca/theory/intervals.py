"""Intervals for loadings, and what they are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gdppca._frames import frame_of

PRIVACY = "privacy noise"
PRIVACY_AND_SAMPLING = "privacy noise and sampling"

_ROWS = "the loadings that the same rows have without any noise"
_POPULATION = "the loadings of the population that the rows were drawn from"
_GAPS = "corrected for the cells that are missing"
_IF_RANDOM = "if cells are missing completely at random"
_IF_SYMMETRIC = "if they lie symmetrically around their centre; on skewed columns, those"


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadingIntervals:
    """Where the loadings without noise may be.

    Parameters
    ----------
    components : array of shape (m, d)
        The released directions that the intervals are about.
    lower, upper : array of shape (m, d)
        Ends of an interval for each loading, its direction turned to the side of the released one.
        -1 and 1 where a component does not stand above the noise: nothing is known of it.
    angles : array of shape (m,)
        Expected sine of the angle between each released direction and the one without noise.
    subspace_angle : float
        Expected sine of the largest angle between the two subspaces; 1 where some component does
        not stand above the noise.
    above_noise : int
        How many of the m components stand above the noise.
    level : float
        Share of loadings that the intervals are to hold.
    covers : str
        "privacy noise": about the directions of the same rows without noise. "privacy noise and
        sampling": about those of the population that the rows were drawn from.
    about : str
        The same in words, with its condition: on skewed columns the error of a private centre
        moves the matrix by what no release knows, and the intervals are about the directions
        around the released centre and with the released scales.
    feature_names : tuple of str
        Names of the columns, where they are known.
    """

    components: np.ndarray = field(repr=False)
    lower: np.ndarray = field(repr=False)
    upper: np.ndarray = field(repr=False)
    angles: np.ndarray
    subspace_angle: float
    above_noise: int
    level: float
    covers: str
    about: str
    feature_names: tuple[str, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Lower and upper ends: ``lower, upper = intervals``."""
        return iter((self.lower, self.upper))

    def first(self, m: int) -> LoadingIntervals:
        """The same of the first m components."""
        return replace(
            self,
            components=self.components[:m],
            lower=self.lower[:m],
            upper=self.upper[:m],
            angles=self.angles[:m],
            above_noise=min(self.above_noise, m),
        )

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row for each loading: component, column, loading, lower, upper.

        Parameters
        ----------
        backend : None, "pandas", "polars" or "pyarrow", default None
            Whose frame it is; None takes the first of these that is installed.

        Returns
        -------
        data frame
            Components are counted from one, as in reports.
        """
        m, d = self.components.shape
        names = self.feature_names or tuple(f"x{j}" for j in range(d))
        return frame_of(
            {
                "component": np.repeat(np.arange(1, m + 1), d),
                "column": list(names) * m,
                "loading": self.components.ravel(),
                "lower": self.lower.ravel(),
                "upper": self.upper.ravel(),
            },
            backend,
        )


def about(*, sampling: bool, centre: bool, scales: bool, gaps: bool) -> str:
    """What the intervals are about."""
    given = " and ".join(
        ["around the released centre"] * centre + ["with the released scales"] * scales
    )
    what = _POPULATION if sampling else _ROWS
    if gaps:
        what = f"{what}, {_IF_RANDOM if sampling else _GAPS}"
    return f"{what}, {_IF_SYMMETRIC} {given}" if given else what
