"""Pictures of releases, never of rows."""

from gdppca.plots.scree import loadings, release_figure, scree

__all__ = ["loadings", "release_figure", "scree"]
