"""What a release holds of a second stage, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gdppca._errors import ReleaseError
from gdppca.noise.gaussian import lattice_slack
from gdppca.privacy import GaussianEvent
from gdppca.releases.files import frozen
from gdppca.sensitivity import Moves
from gdppca.steps.staged import PURPOSE
from gdppca.theory import ShrunkLoadings
from gdppca.theory.second_stage import CrossNumbers
from gdppca.theory.shrinkage import Target, staged_loadings

if TYPE_CHECKING:
    from gdppca.releases.release import Release

_ROUNDING = 1e-6  # relative
_TOLERANCE = 1e-6  # within which a file must hold what follows from its numbers


@dataclass(frozen=True, eq=False)
class SecondStage(CrossNumbers):
    """How rows lie across the leading directions of the matrix, with noise; read-only.

    `directions` are the leading eigenvectors of the release's matrix, as rows. With b what lies
    along them of a row's sign and a what lies beside them, `values` is the noisy mean of
    w·a·(Db)', D being `factors` and w = min(1, clip/(|a||Db|)); `noise_sd` is that of each number.
    """

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for name in ("directions", "factors", "values"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=float)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy is as read-only as what it was made of."""
        self.__dict__.update(state)
        for name in ("directions", "factors", "values"):
            self.__dict__[name].setflags(write=False)

    @classmethod
    def of(cls, drawn: CrossNumbers | None) -> Self | None:
        """As it was drawn, where it was."""
        return None if drawn is None else cls(**vars(drawn))

    def to_dict(self) -> dict[str, Any]:
        """Plain form; numbers across a direction stand in its row."""
        return {
            "directions": self.directions.tolist(),
            "factors": self.factors.tolist(),
            "clip": self.clip,
            "values": self.values.T.tolist(),
            "noise_sd": self.noise_sd,
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any], m: int, d: int) -> Self:
        """Read the plain form of m components of d columns."""
        rows = (plain["directions"], plain["values"])
        if len(plain["factors"]) != m or any(
            len(each) != m or any(len(row) != d for row in each) for each in rows
        ):
            raise ReleaseError("The release's second stage does not fit its components.")
        return cls(
            directions=np.array(plain["directions"], dtype=float),
            factors=np.array(plain["factors"], dtype=float),
            clip=float(plain["clip"]),
            values=np.array(plain["values"], dtype=float).T,
            noise_sd=float(plain["noise_sd"]),
        )


def staged_for(release: Release, target: Target) -> ShrunkLoadings | None:
    """Unshrunk directions of a release with a second stage, and how sure they are."""
    assert release.scatter is not None
    assert release.second_stage is not None
    return staged_loadings(
        release.scatter,
        release.noise_sd,
        release.n_samples,
        release.second_stage,
        target=target,
        centre_bias=release.centre_bias,
        scale_error=release.scale_error,
    )


def check_second_stage(release: Release, *, same_version: bool) -> None:
    """Refuse a second stage whose noise or directions contradict events or matrix."""
    drawn = [event for event in release.guarantee.events if event.purpose == PURPOSE]
    stage = release.second_stage
    merged = release.scheme is not None and release.scheme["name"] == "merged"
    if stage is None and (merged or not drawn):
        return
    match drawn:
        case [GaussianEvent(noise_multiplier=stated)] if stage is not None and not merged:
            fits = _follows(release, stage, stated)
        case _:
            fits = False
    if not fits:
        raise ReleaseError("The release's second stage does not follow from its events and shape.")
    assert stage is not None
    found = staged_for(release, "rows") if same_version else None
    shown = release.plain_components
    if same_version and (
        found is None or not np.allclose(found.components, shown, rtol=0, atol=_TOLERANCE)
    ):
        raise ReleaseError(
            "The release's components do not follow from its matrix and second stage. It was "
            "edited, or made by an incompatible version."
        )


def _follows(release: Release, stage: SecondStage, stated: float) -> bool:
    """Whether a multiplier is the noise over the sensitivity of what it was drawn for.

    Without a known n that is a sum, which was divided by the estimate afterwards.
    """
    if not (((stage.factors > 0) & (stage.factors <= 1)).all() and 0 < stage.clip <= 1):
        return False
    moves, (m, d) = Moves(release.neighbors), stage.directions.shape
    n = release.n_samples if moves.replaces else 1
    sd = stage.noise_sd * (release.n_samples if not moves.replaces else 1)
    bound = moves.cross(stage.clip, n, d, m) + lattice_slack(sd, d * m)
    return math.isclose(sd / bound, stated, rel_tol=_ROUNDING)
