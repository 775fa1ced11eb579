"""Baseline: noise on the projection onto the leading eigenvectors, `SGPCA`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca import _validate, linalg
from gdppca._errors import ParameterError
from gdppca.estimators._base import Found
from gdppca.estimators._baseline import Baseline, Setup
from gdppca.noise.bits import Rng
from gdppca.noise.gaussian import add_gaussian, lattice_slack
from gdppca.privacy import GaussianEvent, NonPrivateEvent, Status
from gdppca.privacy.accounting import classical_multiplier
from gdppca.releases import NoisyScatter, ScatterNoise

_ONLY_LIKELY = (
    "the sensitivity bound holds with high probability only, and only for rows of a spiked "
    "sub-Gaussian model with the given eigenvalues"
)


@dataclass(eq=False, repr=False, kw_only=True)
class SGPCA(Baseline):
    r"""Principal components of a noisy projection; an oracle under a spiked Gaussian model.

    Parameters
    ----------
    n_components : int, default 2
        Number of directions, taken to be the number of spikes.
    epsilon, delta : float, default 1.0 and 1e-6
        Privacy ε and δ. An infinite ε adds no noise and protects nobody.
    ledger : None or str, default None
        As for `DPPCA`. The entry is worth what the guarantee is: it holds with high
        probability only.
    random_state : None or int, default None
        As for `DPPCA`: a seed makes a simulation.
    eigenvalues : array of shape (d,)
        Eigenvalues of the population covariance, known beforehand: the method is an oracle.

    Attributes
    ----------
    components_ : array of shape (m, d)
        Directions, one per row.
    guarantee_ : Guarantee
        What was promised; status "high-probability".
    release_ : Release
        Everything that the method puts out.
    scatter_, eigenvalues_ : array
        The noisy projection and its spectrum.
    noise_sd_, noise_floor_ : float
        √2 times the noise of an entry, in units of the other estimators, and its spectral edge.

    Notes
    -----
    **Privacy.** One Gaussian event, replace-one, if Δ below bounds the move of the projection.
    One row can break that: the bound holds with high probability under a spiked sub-Gaussian
    model, not for every table. Rows are put in a secret random order before they are paired.

    **Paper.** Algorithm 2, App D.2: :math:`\hat V_m\hat V_m^\top + E` from paired differences,
    with :math:`\Delta = 4(\lambda_d/\lambda_1 + \sqrt{\lambda_d/\lambda_1})
    \sqrt{d(m + \log n)}/n`. The n in Δ is the number of rows, not of pairs: only so do the
    paper's figures come out.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.estimators import SGPCA
    >>> X = np.random.default_rng(0).normal(size=(3000, 4)) * np.sqrt([90, 1, 1, 1])
    >>> pca = SGPCA(1, epsilon=1.0, delta=1e-6, eigenvalues=[90, 1, 1, 1]).fit(X)
    >>> np.abs(pca.components_[0]).argmax(), str(pca.guarantee_.status)
    (np.int64(0), 'high-probability')
    """

    eigenvalues: Any = None

    def _setup(self, n: int, d: int) -> Setup:
        noise = projection_noise(self._sensitivity(n, d), self.epsilon, self.delta, d)

        def draw(X: np.ndarray, rng: Rng) -> Found:
            Z = paired_differences(X, rng)
            projection = _leading_projection(Z, self.n_components)  # not private
            return Found.leading(_noisy_projection(projection, noise, rng), self.n_components)

        return Setup(
            events=(noise.event,),
            draw=draw,
            calibration="printed",
            noiseless=math.isinf(self.epsilon),
            status=Status.HIGH_PROBABILITY,
            reason=_ONLY_LIKELY,
        )

    def _sensitivity(self, n: int, d: int) -> float:
        """Δ of App D.2; holds with high probability only."""
        if self.eigenvalues is None:
            raise ParameterError(
                "`eigenvalues` is missing: SGPCA is an oracle that needs the population "
                f"eigenvalues, one for each of the {d} columns. They must not come from the data."
            )
        eigenvalues = _validate.vector(d, eigenvalues=self.eigenvalues)
        if not (eigenvalues > 0).all():
            raise ParameterError("`eigenvalues` must hold numbers > 0.")
        return likely_sensitivity(eigenvalues, self.n_components, n)


def likely_sensitivity(eigenvalues: np.ndarray, n_components: int, n_samples: int) -> float:
    r"""Δ = 4(λ_d/λ_1 + √(λ_d/λ_1)) √(d(m + log n))/n of App D.2."""
    ratio = float(eigenvalues.min() / eigenvalues.max())
    size = math.sqrt(len(eigenvalues) * (n_components + math.log(n_samples)))
    return 4 * (ratio + math.sqrt(ratio)) * size / n_samples


def paired_differences(X: np.ndarray, rng: Rng) -> np.ndarray:
    """Halved differences of row i and row i + ⌊n/2⌋, rows in secret random order.

    Halving instead of the paper's division by √2 keeps the difference of any two floats finite
    and changes no direction. An odd last row is left out.
    """
    half = len(X) // 2
    order = rng.permutation(len(X))
    differences: np.ndarray = 0.5 * X[order[half : 2 * half]] - 0.5 * X[order[:half]]
    return differences


def _leading_projection(Z: np.ndarray, n_components: int) -> np.ndarray:
    """Projection onto the leading eigenvectors of Z'Z, whose scale does not matter."""
    Z = Z / max(np.abs(Z).max(), np.finfo(float).tiny)
    V = linalg.Spectrum(linalg.symmetrized(Z.T @ Z)).leading(n_components)
    return linalg.symmetrized(V @ V.T)


def projection_noise(Delta: float, epsilon: float, delta: float, n_features: int) -> ScatterNoise:
    """Noise of each entry of the upper triangle, and its event, from public numbers alone."""
    if math.isinf(epsilon):
        return ScatterNoise(noise_sd=0.0, event=NonPrivateEvent(purpose="projection"))
    sigma = Delta * classical_multiplier(epsilon, delta)
    multiplier = sigma / (Delta + lattice_slack(sigma, linalg.packed_length(n_features)))
    event = GaussianEvent(purpose="projection", noise_multiplier=multiplier)
    return ScatterNoise(noise_sd=sigma, event=event)


def _noisy_projection(projection: np.ndarray, noise: ScatterNoise, rng: Rng) -> NoisyScatter:
    """The projection with independent noise of one size on its upper triangle."""
    if noise.noise_sd == 0:
        return NoisyScatter(matrix=projection, noise_sd=0.0, event=noise.event)
    upper = np.triu_indices(len(projection))
    noisy = np.zeros_like(projection)
    noisy[upper] = add_gaussian(projection[upper], noise.noise_sd, rng)
    return NoisyScatter(
        matrix=noisy + np.triu(noisy, k=1).T,
        # Off the diagonal the noise is this over √2, as elsewhere.
        noise_sd=linalg.SQRT2 * noise.noise_sd,
        event=noise.event,
    )
