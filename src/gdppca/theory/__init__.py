"""The paper's formulas and the law of the noise: public numbers in, public numbers out."""

from gdppca.theory.noise_floor import (
    components_above_noise,
    denoised_eigenvalues,
    noise_band,
    noise_edge,
)
from gdppca.theory.spherical import spherical_eigenvalues, spherical_eigenvalues_inverse

__all__ = [
    "components_above_noise",
    "denoised_eigenvalues",
    "noise_band",
    "noise_edge",
    "spherical_eigenvalues",
    "spherical_eigenvalues_inverse",
]
