"""A noisy scatter matrix on its own, of an exact one that somebody summed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdppca._errors import DataError
from gdppca._validate import floats
from gdppca.kernels import Scheme
from gdppca.ledgers import Booking, as_protected, enter
from gdppca.noise import Noise, noise_for
from gdppca.privacy import Event
from gdppca.releases.files import checksum
from gdppca.signs import Sign
from gdppca.steps.scatter import ScatterNoise, matrix_budget, noisy_matrix


@dataclass(frozen=True, kw_only=True)
class NoisyScatter:
    """The noisy matrix K̃, the standard deviation σ of its packed noise, and what was drawn."""

    matrix: np.ndarray
    noise_sd: float
    event: Event


def scatter_noise(
    *,
    epsilon: float,
    delta: float,
    sign: Sign,
    scheme: Scheme,
    n_samples: int,
    n_features: int,
    calibration: str = "tight",
    beside: tuple[Event, ...] = (),
) -> ScatterNoise:
    r"""Noise that makes a scatter matrix (ε, δ)-private, together with the steps `beside` it.

    Notes
    -----
    **Privacy.** Nothing is spent: no row is seen.

    **Paper.** ``calibration="paper"`` gives :math:`\sigma_{\varepsilon,\delta} =
    4\|g\|_\infty^2\sqrt{2\ln(1.25/\delta)}/(n\varepsilon)` (Sec 2.2). Its event still records the
    true ratio of noise to sensitivity, so the guarantee says what is really promised.
    """
    budget = matrix_budget(epsilon, delta, calibration, beside)
    return budget.level(sign, scheme, n_samples, n_features)


def private_scatter(
    K_hat: np.ndarray,
    noise: ScatterNoise,
    random_state: int | Noise | None = None,
    *,
    ledger: str | None = None,
    unit: str = "row",
) -> NoisyScatter:
    r"""Release a scatter matrix with its noise; each call draws anew and spends anew.

    Parameters
    ----------
    K_hat : array of shape (d, d)
        Exact scatter matrix, straight from a kernel.
    noise : ScatterNoise
        From `scatter_noise`, for the same sign, scheme and shape.
    random_state : None, int or Noise, default None
        None draws from the secure source; a seed makes a simulation.
    ledger : None or str, default None
        Where the spend is entered before anything is drawn: "sqlite:///budget.db#patients". None
        where it is entered already, as by every estimator here.
    unit : {"row", "person"}, default "row"
        Whom the spend is about. "person" where the matrix is a mean over persons, in each of whom
        rows have weights that sum up to at most 1, and the noise was made for as many persons.

    Returns
    -------
    NoisyScatter
        The noisy matrix.

    Notes
    -----
    **Privacy.** One Gaussian event, replace-one, n public (docs/proofs/persons.md for persons).

    **Paper.** :math:`\tilde K_g = \hat K_g + \mathrm{vecd}^{-1}(\xi)`,
    :math:`\xi \sim N(0, \sigma^2 I)`, Sec 2.2.
    """
    source = noise_for(random_state)
    protected = as_protected(unit, "replace-one")
    K_hat = _finite(K_hat)  # what cannot be noised is refused unspent
    booking = Booking(ledger, "private_scatter")
    enter(booking, (noise.event,), protected=protected, seeded=source.seeded)
    matrix = noisy_matrix(K_hat, noise, source)
    booking.complete(checksum({"matrix": matrix.tolist()}))
    return NoisyScatter(matrix=matrix, noise_sd=noise.noise_sd, event=noise.event)


def _finite(K_hat: np.ndarray) -> np.ndarray:
    matrix = floats(K_hat)
    square = matrix is not None and matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
    if matrix is None or not square or not np.isfinite(matrix).all():
        raise DataError("`K_hat` must be a square matrix of finite numbers.")
    return matrix
