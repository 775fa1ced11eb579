"""The only room where data meets noise, and what leaves it."""

from gdppca.releases.location import private_winsorized_mean
from gdppca.releases.quantile import private_quantile
from gdppca.releases.release import Release, write_whole
from gdppca.releases.scatter import NoisyScatter, ScatterNoise, private_scatter, scatter_noise

__all__ = [
    "NoisyScatter",
    "Release",
    "ScatterNoise",
    "private_quantile",
    "private_scatter",
    "private_winsorized_mean",
    "scatter_noise",
    "write_whole",
]
