"""Rows for a release that is there already: the same columns, read as strictly as by a fit.

And what more is released from them: of which release, and paid where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gdppca._errors import DataError, ParameterError
from gdppca.noise import Noise
from gdppca.steps.base import Public
from gdppca.tables.frames import as_matrix
from gdppca.tables.memory import MemoryTable

if TYPE_CHECKING:
    from gdppca.releases.release import Release


def generic_names(n_features: int) -> tuple[str, ...]:
    """Names of columns that have none."""
    return tuple(f"x{k}" for k in range(n_features))


def release_of(pca: Any) -> Release:
    """The release of a fitted estimator, or the release itself."""
    from gdppca.releases.release import Release

    release = getattr(pca, "release_", pca)
    if not isinstance(release, Release):
        raise ParameterError("`pca` must be a fitted estimator or a Release: call fit first.")
    return release


def ledger_of(pca: Any, ledger: str | None) -> str | None:
    """Where a further release is entered: as asked for, or where the estimator's fits are."""
    return getattr(pca, "ledger", None) if ledger is None else ledger


def opened_for(X: Any, release: Release, noise: Noise) -> tuple[MemoryTable, Public]:
    """A table in memory with the columns of the release and at least two rows."""
    matrix = as_matrix(X)
    n, d = matrix.values.shape
    if d != release.n_features or n < 2:
        raise DataError(
            f"At least two rows with the {release.n_features} columns of the release are needed, "
            f"got shape {(n, d)}."
        )
    if matrix.names is not None and release.feature_names not in (generic_names(d), matrix.names):
        raise DataError("The columns of `X` must be those of the release, in their order.")
    return MemoryTable(matrix.values, matrix.names, noise), Public.of(n, d)
