"""The only room where data meets noise, and what leaves it."""

from gdppca._files import write_whole
from gdppca.releases.mapping import score_map
from gdppca.releases.merge import merge_releases
from gdppca.releases.noise_floor import SeenSpectrum, seen_spectrum
from gdppca.releases.release import Release
from gdppca.releases.score_map import ScoreMap
from gdppca.releases.spectrum import NoisyVariances, private_variances, release_intervals
from gdppca.releases.words import heaviest_columns, marked_names
from gdppca.steps.quantile import private_quantile
from gdppca.steps.scatter import NoisyScatter, ScatterNoise, private_scatter, scatter_noise
from gdppca.steps.winsorized_mean import private_winsorized_mean

__all__ = [
    "NoisyScatter",
    "NoisyVariances",
    "Release",
    "ScatterNoise",
    "ScoreMap",
    "SeenSpectrum",
    "heaviest_columns",
    "marked_names",
    "merge_releases",
    "private_quantile",
    "private_scatter",
    "private_variances",
    "private_winsorized_mean",
    "release_intervals",
    "scatter_noise",
    "score_map",
    "seen_spectrum",
    "write_whole",
]
