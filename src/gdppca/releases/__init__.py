"""What may be published, and the doors to single releases: each designs, debits, draws."""

from gdppca._files import write_whole
from gdppca.releases.intervals import release_intervals
from gdppca.releases.loadings import Loadings, sparse_components
from gdppca.releases.mapping import score_map
from gdppca.releases.merge import merge_releases
from gdppca.releases.noise_floor import SeenSpectrum, seen_spectrum
from gdppca.releases.origin import Origin
from gdppca.releases.quantile import private_quantile
from gdppca.releases.release import Release
from gdppca.releases.scatter import NoisyScatter, private_scatter, scatter_noise
from gdppca.releases.score_map import ScoreMap
from gdppca.releases.variances import NoisyVariances, private_variances
from gdppca.releases.winsorized_mean import private_winsorized_mean
from gdppca.releases.words import heaviest_columns, marked_names
from gdppca.steps.scatter import ScatterNoise

__all__ = [
    "Loadings",
    "NoisyScatter",
    "NoisyVariances",
    "Origin",
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
    "sparse_components",
    "write_whole",
]
