"""The spectrum that a release shows, against its noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gdppca.linalg import eigenvalues_descending
from gdppca.theory import components_above_noise, denoised_eigenvalues, noise_band

if TYPE_CHECKING:
    from gdppca.releases.release import Release


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
    if release.scatter is None:
        return None
    values = eigenvalues_descending(release.scatter)
    noise = (release.noise_sd, release.n_samples, release.centre_bias)
    low, high = noise_band(values, *noise)
    return SeenSpectrum(
        values,
        low,
        high,
        components_above_noise(values, *noise),
        denoised_eigenvalues(values, *noise),
    )
