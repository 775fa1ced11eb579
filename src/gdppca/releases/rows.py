"""Rows for a release that is there already: the same columns, read as strictly as by a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca._errors import DataError
from gdppca.engines.frames import as_matrix

if TYPE_CHECKING:
    from gdppca.releases.release import Release


def rows_of(X: Any, release: Release) -> np.ndarray:
    """The table as finite floats, with the columns of the release and at least two rows."""
    matrix = as_matrix(X)
    n, d = matrix.values.shape
    if d != release.n_features or n < 2:
        raise DataError(
            f"At least two rows with the {release.n_features} columns of the release are needed, "
            f"got shape {(n, d)}."
        )
    generic = tuple(f"x{k}" for k in range(d))
    if matrix.names is not None and release.feature_names not in (generic, matrix.names):
        raise DataError("The columns of `X` must be those of the release, in their order.")
    return matrix.values
