"""Analyze Gauss as printed: the noise of Algorithm 1, App D.1, which protects nobody."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gdppca import linalg, sensitivity
from gdppca.noise import Noise
from gdppca.privacy import NonPrivateEvent
from gdppca.privacy.accounting import classical_multiplier
from gdppca.steps.base import Public, Rows, State

PRINTED = NonPrivateEvent(purpose="scatter")  # what the printed form draws


@dataclass(frozen=True, kw_only=True)
class PrintedCovariance:
    """A noisy covariance matrix of rows over their own largest norm.

    **Privacy.** None: one row can move the matrix far beyond `sensitivity.printed_covariance`.
    """

    public: Public
    epsilon: float
    delta: float
    n_components: int
    events = (PRINTED,)
    needs_sample = True

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """The noisy matrix."""
        X = table.sample(self.public.n_seen).single
        matrix, sigma = printed_scatter(X, self.epsilon, self.delta, noise)
        return state.with_matrix(matrix, sigma, self.n_components, PRINTED)


def printed_covariance(X: np.ndarray) -> np.ndarray:
    """Lines 1 to 3 of Algorithm 1: centred rows over their largest norm, 1/(n-1)."""
    Z = X / max(np.abs(X).max(), np.finfo(float).tiny)  # changes nothing but overflow
    Z = Z - Z.mean(axis=0)
    largest = np.sqrt(np.einsum("ij,ij->i", Z, Z).max())
    if largest > 0:
        Z = Z / largest
    return linalg.symmetrized(Z.T @ Z) / (len(Z) - 1)


def printed_scatter(
    X: np.ndarray, epsilon: float, delta: float, noise: Noise
) -> tuple[np.ndarray, float]:
    """Algorithm 1 up to its eigenvectors, and its σ; not private, whatever the noise."""
    Sigma_hat = printed_covariance(X)
    if math.isinf(epsilon):
        return Sigma_hat, 0.0
    stated = sensitivity.printed_covariance(len(X))
    sigma = stated * classical_multiplier(epsilon, delta)
    noisy = noise.gaussian(linalg.vecd(Sigma_hat), sigma, sensitivity=stated)
    return linalg.vecd_inverse(noisy), sigma
