"""How far noise may have moved single numbers of a release: variances, rates, totals of a map."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gdppca.privacy import Unit
from gdppca.privacy.assumptions import DESIGN_WEIGHTS
from gdppca.releases.noise_floor import multipliers_for, rate_noise, rows_looked_at
from gdppca.sensitivity import Moves
from gdppca.steps.variances import BOUNDS_PURPOSE, PURPOSES, Looks

if TYPE_CHECKING:
    from gdppca.releases.release import Release
    from gdppca.releases.score_map import ScoreMap

NO_BETTER = 0.5  # noise over the variance from which it may be mere noise


def variance_noise(release: Release) -> float | None:
    """Noise of a variance over the variance, by what was drawn for it; None where it is not known.

    For scores that are about normal, by the method that the events name. Where rows have weights,
    how many of them counted is secret.
    """
    if release.variances is None or DESIGN_WEIGHTS in release.guarantee.assumptions:
        return None
    m, moves = len(release.variances), Moves(release.neighbors)
    for method, purpose in PURPOSES.items():
        if drawn := multipliers_for(release, purpose):
            return _looks(release).relative_noise(drawn[-1], m, moves, method)
    return 0.0


def variance_doubt(release: Release) -> str | None:
    """Why variances may be mere noise, in the words of the warning before they were drawn."""
    noise, m = variance_noise(release) or 0.0, len(release.components)
    if release.variances is None:
        return None
    bounds, moves = multipliers_for(release, BOUNDS_PURPOSE), Moves(release.neighbors)
    sd = bounds[-1] * moves.counts_below(m) if bounds else 0.0
    looks = _looks(release)
    said = looks.doubt(sd if noise < NO_BETTER else math.inf, m, f"{release.unit}s")
    return f"About {said}" if said and release.n_is_estimate else said


def _looks(release: Release) -> Looks:
    return Looks.of(rows_looked_at(release), paired=release.rates is None)


def rate_sd(release: Release) -> np.ndarray:
    """How far each rate may be off: its noise, and the choice of the rows that it was seen in."""
    assert release.rates is not None
    noise, seen = rate_noise(release), rows_looked_at(release)
    all_rows = release.unit is Unit.ROW and seen == release.n_samples
    chance = 0.0 if all_rows else release.rates * (1 - release.rates) / seen
    return np.sqrt(noise**2 + chance) * np.ones(release.n_features)


def total_sd(shown: ScoreMap) -> np.ndarray:
    """Noise of the sum of the counts of each group, over all of its cells that are shown."""
    cells = np.prod(shown.counts.shape[1:])
    summed = (shown.counts != 0).sum(axis=(1, 2)) if shown.kind == "sparse" else cells
    return np.asarray(shown.noise_sd * np.sqrt(summed) * np.ones(len(shown.counts)))
