"""Where data meets noise: the noisy scatter matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gdppca import _validate, linalg
from gdppca._errors import ParameterError
from gdppca.kernels import Scheme
from gdppca.ledgers import enter
from gdppca.noise.bits import Rng
from gdppca.noise.gaussian import add_gaussian, calibrated_sigma, lattice_slack
from gdppca.privacy import Event, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.privacy.accounting import classical_multiplier, multiplier_left
from gdppca.sensitivity import CALIBRATIONS, paper_sensitivity, scatter_sensitivity
from gdppca.signs import Sign

_TAIL = 50.0  # standard deviations that no noise ever reaches
_SMALLEST_SD = 1e-306  # its lattice, and that of half of it, are made of floats


@dataclass(frozen=True, kw_only=True)
class NoisyScatter:
    """The noisy matrix K̃, the standard deviation σ of its packed noise, and what was drawn."""

    matrix: np.ndarray
    noise_sd: float
    event: Event


@dataclass(frozen=True, kw_only=True)
class ScatterNoise:
    """How much noise a scatter matrix gets, from public numbers alone."""

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
    epsilon = _validate.budget(epsilon=epsilon)
    delta = _validate.fraction(delta=delta)
    purpose = "scatter"
    if math.isinf(epsilon):
        return ScatterNoise(noise_sd=0.0, event=NonPrivateEvent(purpose=purpose))
    sensitivity = scatter_sensitivity(scheme, sign.sup_norm, n_samples, n_features)
    length = linalg.packed_length(n_features)
    if _validate.one_of(CALIBRATIONS, calibration=calibration) == "tight":
        multiplier = multiplier_left(epsilon, delta, beside)
        sigma = calibrated_sigma(multiplier, sensitivity, length)
    else:
        if any(isinstance(event, GaussianEvent) for event in beside):
            raise ParameterError(
                "The paper's noise shares its budget with no other Gaussian step: use "
                "`calibration='tight'`."
            )
        stated = paper_sensitivity(scheme, sign.sup_norm, n_samples)
        pure = sum(event.epsilon for event in beside if isinstance(event, PureEvent))
        sigma = classical_multiplier(epsilon - pure, delta) * stated
        multiplier = sigma / (sensitivity + lattice_slack(sigma, length))
    return ScatterNoise(
        noise_sd=float(sigma), event=GaussianEvent(purpose=purpose, noise_multiplier=multiplier)
    )


def require_representable(noise: ScatterNoise, sign: Sign, n_features: int) -> None:
    """Refuse a matrix that floating point cannot hold, from public numbers and unspent.

    Eigenvalues and their sums stay floats too, and the noise has a lattice.
    """
    private = isinstance(noise.event, GaussianEvent)
    if n_features * (sign.sup_norm**2 + _TAIL * noise.noise_sd) > linalg.LARGEST:
        raise ParameterError(
            f"The sign's bound {sign.sup_norm:g} and this budget make the noisy matrix too large "
            "for floating point: use a smaller radius, and rescale the columns."
        )
    if private and noise.noise_sd < _SMALLEST_SD:
        raise ParameterError(
            f"The sign's bound {sign.sup_norm:g} and this budget make the noise too small for "
            "floating point: use a larger radius, and rescale the columns."
        )


def private_scatter(
    K_hat: np.ndarray, noise: ScatterNoise, rng: Rng, *, ledger: str | None = None
) -> NoisyScatter:
    r"""Release a scatter matrix with its noise; each call draws anew and spends anew.

    Parameters
    ----------
    K_hat : array of shape (d, d)
        Exact scatter matrix, straight from a kernel.
    noise : ScatterNoise
        From `scatter_noise`, for the same sign, scheme and shape.
    rng : Rng
        Source of bits.
    ledger : None or str, default None
        Where the spend is entered before anything is drawn: "sqlite:///budget.db#patients". None
        where it is entered already, as by every estimator here.

    Returns
    -------
    NoisyScatter
        The noisy matrix.

    Notes
    -----
    **Privacy.** One Gaussian event, replace-one, n public.

    **Paper.** :math:`\tilde K_g = \hat K_g + \mathrm{vecd}^{-1}(\xi)`,
    :math:`\xi \sim N(0, \sigma^2 I)`, Sec 2.2.
    """
    enter(ledger, (noise.event,), seeded=rng.seeded)
    if isinstance(noise.event, NonPrivateEvent):
        return NoisyScatter(matrix=K_hat, noise_sd=0.0, event=noise.event)
    noisy = add_gaussian(linalg.vecd(K_hat), noise.noise_sd, rng)
    return NoisyScatter(
        matrix=linalg.vecd_inverse(noisy), noise_sd=noise.noise_sd, event=noise.event
    )
