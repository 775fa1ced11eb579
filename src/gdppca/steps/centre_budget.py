"""What a private centre costs, how many rows its walk sees, and how good it gets.

Public numbers alone: a plan, a debit and a fit ask here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gdppca.privacy import Event, GaussianEvent
from gdppca.sensitivity import REPLACING, Moves

PURPOSE = "centre"
_HISTOGRAM_SD = (0.08, 0.10)  # noise of a bin of the first histogram, as a share of the rows
_HISTOGRAM_SHARE = 0.02  # of the budget, where the noise may rise for it
_DIRECTION_SD = {True: 0.6, False: 0.5}  # length of a look's noise, far and near
_DISTANCE_SD = (0.12, 0.17)  # noise of a look's number
_LOOK_SHARE = 0.04  # of the budget, where that noise may rise for it
_LARGEST_POLISH = 0.25
LONGEST_WALK = 0.4  # share of the budget
LARGEST_SHARE = LONGEST_WALK + _LARGEST_POLISH  # that a centre ever takes
_LEAST_SHARE = 0.002  # of the budget for a look, where less would do
_USUAL_DISTANCE = 40.0  # a walk is reckoned to shorten the distance by this factor
_USUAL_NEAR = 3  # looks near home
_PROBE = 0.17  # share that may be lost on a walk that is given up: a tenth more noise
FEWEST_WALKED = 2**15  # rows that a walk sees, and one in so many of a large table
_WALKED_PART = 64


@dataclass(frozen=True, kw_only=True)
class CentreBudget:
    """Shares of μ² that a private centre takes, from public numbers alone."""

    first: float
    far: float
    near: float
    polish: float
    far_looks: float  # expected
    relative_error: float

    @property
    def share(self) -> float:
        """What a centre some tens of standard deviations away is expected to take."""
        return self.first + self.rest(0, far=True) + self.polish

    @property
    def worthwhile(self) -> bool:
        """Whether a first look costs little, and a short walk fits into the limit."""
        probe = self.first + self.far
        return probe <= _PROBE and probe + _USUAL_NEAR * self.near <= LONGEST_WALK

    def rest(self, looks: int, *, far: bool) -> float:
        """What the rest of a walk is expected to take after so many looks."""
        if not far:
            return self.near
        return max(self.far_looks - looks, 1.0) * self.far + _USUAL_NEAR * self.near


def walk_size(
    n_samples: int,
    n_features: int,
    mu: float,
    moves: Moves = REPLACING,
    fewest: int = FEWEST_WALKED,
) -> int:
    """How many random rows a walk sees: as many as make a look cheap; all of a table of some more.

    Public numbers alone. Where the number of rows is secret, all are seen: one more row would push
    another one out of a sample of a fixed size.
    """
    if math.isinf(mu) or not moves.replaces:
        return n_samples
    look = 2 * moves.sides**2  # squared sensitivity
    dearest = max(n_features / _DIRECTION_SD[False] ** 2, 1 / _DISTANCE_SD[0] ** 2)
    cheap = math.sqrt(look * dearest / _LEAST_SHARE) / mu
    size = max(fewest, n_samples // _WALKED_PART, math.ceil(min(cheap, n_samples)))
    return size if 2 * size <= n_samples else n_samples


def centre_budget(
    n_samples: float,
    n_features: int,
    mu: float,
    moves: Moves = REPLACING,
    n_walked: float | None = None,
) -> CentreBudget:
    """What a private centre costs and how good it gets.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the table.
    mu : float
        μ of Gaussian differential privacy that centre and matrix have together.
    moves : Moves
        How far one row or person moves a look.
    n_walked : int, optional
        Rows that the walk sees; all without it.

    Returns
    -------
    CentreBudget
        Shares, and the expected error of each coordinate over the typical distance.
    """
    if math.isinf(mu):
        return CentreBudget(
            first=0.0, far=0.0, near=0.0, polish=0.0, far_looks=1.0, relative_error=0.0
        )
    room = (n_samples * mu) ** 2
    walked = room if n_walked is None else (n_walked * mu) ** 2
    sides = moves.sides  # as long as one row's part, or twice
    look = 2 * sides**2 / walked  # squared sensitivity of a look, which has length √2
    distance = look / _noise(look, _LOOK_SHARE, _DISTANCE_SD) ** 2
    near, far = (
        max(look * n_features / _DIRECTION_SD[way] ** 2, distance, _LEAST_SHARE)
        for way in (False, True)
    )
    counts = sides / walked
    # A share s of the polish costs s/2 in noise and leaves a bias of order d/(room s).
    polish = min(_LARGEST_POLISH, (sides**2 * n_features / room) ** (1 / 3))
    # Noise of squared length η² leaves η²/(1 + η²) of the squared distance.
    shortened = 0.5 * math.log1p(far / (look * n_features))
    return CentreBudget(
        first=counts / _noise(counts, _HISTOGRAM_SHARE, _HISTOGRAM_SD) ** 2,
        far=far,
        near=near,
        polish=polish,
        far_looks=math.log(_USUAL_DISTANCE) / shortened,
        relative_error=sides / math.sqrt(room * polish),
    )


def _noise(squared_sensitivity: float, share: float, limits: tuple[float, float]) -> float:
    """Noise that costs the given share, within limits."""
    return min(max(math.sqrt(squared_sensitivity / share), limits[0]), limits[1])


def centre_bias(
    events: Iterable[Event],
    n_samples: float,
    n_features: int,
    moves: Moves = REPLACING,
    rates: np.ndarray | None = None,
) -> float:
    """About how much the error of a private centre adds to an eigenvalue of the sign covariance.

    It adds the outer product of the error over the typical distance; the error is that of the
    two polishing looks, the last events of the centre. Zero where there is no private centre.
    """
    polish = [
        event.noise_multiplier
        for event in events
        if event.purpose == PURPOSE and isinstance(event, GaussianEvent)
    ][-2:]
    if len(polish) < 2:
        return 0.0
    look, gradient = 2 * moves.sides**2, moves.sides**2  # squared sensitivities
    precision = n_samples**2 * (1 / (look * polish[0] ** 2) + 1 / (gradient * polish[1] ** 2))
    growth = 1.0  # where cells are missing a coordinate is seen less often, and nearer
    if rates is not None:
        growth = float(np.mean(rates) * np.mean(rates**-2.0))
    return growth * n_features / precision
