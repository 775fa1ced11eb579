"""The noisy projection of SGPCA: Algorithm 2, App D.2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gdppca import linalg
from gdppca.noise import Noise, lattice_slack
from gdppca.privacy import Event
from gdppca.privacy.accounting import classical_multiplier
from gdppca.steps.base import Public, Rows, State, gaussian_event
from gdppca.steps.pairing import halved_differences

PURPOSE = "projection"


@dataclass(frozen=True, kw_only=True)
class Projection:
    """The projection onto the leading eigenvectors of paired differences, with noise.

    **Privacy.** One Gaussian event, replace-one, if `sensitivity.likely_projection` bounds the
    move of the projection, which holds with high probability only.
    """

    public: Public
    epsilon: float
    delta: float
    n_components: int
    sensitivity: float
    needs_sample = True

    @property
    def noise_sd(self) -> float:
        """Noise of each entry of the upper triangle."""
        if math.isinf(self.epsilon):
            return 0.0
        return self.sensitivity * classical_multiplier(self.epsilon, self.delta)

    @property
    def events(self) -> tuple[Event, ...]:
        """The noise over the sensitivity that is taken for granted."""
        sigma = self.noise_sd
        slack = lattice_slack(sigma, linalg.packed_length(self.public.n_features)) if sigma else 0.0
        return (gaussian_event(PURPOSE, sigma / (self.sensitivity + slack)),)

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """The noisy projection and its leading eigenvectors."""
        Z = halved_differences(table.sample(self.public.n_seen).single, noise)
        noisy = self._noisy(leading_projection(Z, self.n_components), noise)
        # Off the diagonal the noise is this over √2, as elsewhere.
        sd = linalg.SQRT2 * self.noise_sd
        return state.with_matrix(noisy, sd, self.n_components, *self.events)

    def _noisy(self, projection: np.ndarray, noise: Noise) -> np.ndarray:
        """Independent noise of one size on the upper triangle."""
        if self.noise_sd == 0:
            return projection
        upper = np.triu_indices(len(projection))
        noisy = np.zeros_like(projection)
        exact = projection[upper]
        noisy[upper] = noise.gaussian(exact, self.noise_sd, sensitivity=self.sensitivity)
        return noisy + np.triu(noisy, k=1).T


def leading_projection(Z: np.ndarray, n_components: int) -> np.ndarray:
    """Projection onto the leading eigenvectors of Z'Z, whose scale does not matter."""
    Z = Z / max(np.abs(Z).max(), np.finfo(float).tiny)
    V = linalg.Spectrum(linalg.symmetrized(Z.T @ Z)).leading(n_components)
    return linalg.symmetrized(V @ V.T)
