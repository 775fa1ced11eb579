"""Pictures of releases, never of rows."""

from gdppca.plots.scree import release_figure

__all__ = ["release_figure"]
