"""Pictures of releases, never of rows."""

from gdppca.plots.biplot import biplot, biplot_figure
from gdppca.plots.scores import score_figure, score_heatmap, score_points
from gdppca.plots.scree import loadings, release_figure, scree

__all__ = [
    "biplot",
    "biplot_figure",
    "loadings",
    "release_figure",
    "score_figure",
    "score_heatmap",
    "score_points",
    "scree",
]
