"""The one door to random bits, secret orders and noise: secure, seeded, overheard, repeated."""

from gdppca.noise.gaussian import Noised, calibrated_sigma, lattice_slack, noised
from gdppca.noise.orders import OrderKeys, Texts, lots, random_places
from gdppca.noise.overheard import AllDrawn, Draw, Overheard, Repeated
from gdppca.noise.source import FreshNoise, Noise, noise_for, secure_noise, seeded_noise

__all__ = [
    "AllDrawn",
    "Draw",
    "FreshNoise",
    "Noise",
    "Noised",
    "OrderKeys",
    "Overheard",
    "Repeated",
    "Texts",
    "calibrated_sigma",
    "lattice_slack",
    "lots",
    "noise_for",
    "noised",
    "random_places",
    "secure_noise",
    "seeded_noise",
]
