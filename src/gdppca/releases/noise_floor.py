"""The spectrum that a release shows, against its noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gdppca.linalg import eigenvalues_descending
from gdppca.privacy import GaussianEvent
from gdppca.theory import (
    components_above_noise,
    denoised_eigenvalues,
    noise_band,
    rate_errors,
)

if TYPE_CHECKING:
    from gdppca.releases.release import Release


RATES = "rates"  # purpose of the draw of observed rates


class KnownNoise(NamedTuple):
    """What is known of the noise around the eigenvalues of a release, as `noise_band` takes it."""

    noise_sd: float
    n_samples: float
    centre_bias: float
    rates: np.ndarray | None
    rate_error: np.ndarray | None


def known_noise(release: Release) -> KnownNoise:
    """What a release tells of the noise of its matrix."""
    return KnownNoise(
        release.noise_sd,
        release.n_samples,
        release.centre_bias,
        release.rates,
        rate_error(release),
    )


def rate_error(release: Release) -> np.ndarray | None:
    """Standard deviations of the rates, by what was drawn for them."""
    if release.rates is None:
        return None
    return rate_errors(release.rates, rate_noise(release), rows_looked_at(release))


def rate_noise(release: Release) -> float:
    """Standard deviation of the noise on each rate, before they were drawn to their mean."""
    drawn = multipliers_for(release, RATES)
    groups = (release.scheme or {}).get("groups", 1)  # merged groups have noise of their own
    sides = math.sqrt(release.n_features * groups)
    return sides / rows_looked_at(release) * drawn[0] if drawn else 0.0


def multipliers_for(release: Release, purpose: str) -> list[float]:
    """Noise over sensitivity of every Gaussian draw for something, in order."""
    return [
        event.noise_multiplier
        for event in release.guarantee.events
        if event.purpose == purpose and isinstance(event, GaussianEvent)
    ]


def rows_looked_at(release: Release) -> int:
    """How many rows, or persons, the steps before and after the matrix looked at."""
    return int((release.scheme or {}).get("sample", release.n_samples))


@dataclass(frozen=True, eq=False)
class SeenSpectrum:
    """Eigenvalues of the released matrix, and the band of those that chance could explain."""

    values: np.ndarray
    low: float
    high: float
    clear: int  # how many components stand above the noise
    without_noise: np.ndarray

    def is_clear(self, k: int) -> bool:
        """Whether this eigenvalue lies above the band."""
        return bool(self.values[k] > self.high)


def seen_spectrum(release: Release) -> SeenSpectrum | None:
    """What a release shows of its spectrum; None where it holds no matrix."""
    matrix = release.matrix
    if matrix is None:
        return None
    values = eigenvalues_descending(matrix)
    noise = known_noise(release)
    low, high = noise_band(values, *noise)
    return SeenSpectrum(
        values,
        low,
        high,
        components_above_noise(values, *noise),
        denoised_eigenvalues(values, *noise),
    )
