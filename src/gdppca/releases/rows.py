"""Rows for a release that is there already: the same columns, read as strictly as by a fit.

And what more is released from them: of which release, and paid where.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gdppca import linalg
from gdppca._errors import DataError, ParameterError
from gdppca.noise import Noise
from gdppca.steps.base import Public, State
from gdppca.tables.description import Description
from gdppca.tables.memory import MemoryTable
from gdppca.tables.open import open_table

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


def require_replacing(release: Release) -> None:
    """Refuse to draw more beside a promise about another kind of neighbours."""
    if release.neighbors != "replace-one":
        raise ParameterError(
            "The release is private for add-remove neighbours. What is drawn on its own is private "
            "for replace-one neighbours, and both do not add up: ask for it together with the fit, "
            "by fit_release."
        )


def opened_for(
    X: Any, release: Release, noise: Noise, persons: Any = None
) -> tuple[MemoryTable, Public]:
    """A table in memory with the columns of the release, read as it was described.

    At least two rows or persons.
    """
    said = release.description
    told = None if said is None else Description.from_dict(said)
    if persons is None and told is not None:
        persons = told.person
    if release.unit == "person" and persons is None:
        raise ParameterError(
            "The release protects persons: say whose each row is with `persons`, so that this does "
            "too."
        )
    table = open_table(
        X,
        noise,
        whole=True,
        persons=persons,
        description=None if told is None else replace(told, weight=None, largest_weight=None),
        gaps=release.rates is not None,
    )
    assert isinstance(table, MemoryTable)
    n, d = table.n_samples, table.n_features
    if d != release.n_features or n < 2:
        raise DataError(
            f"At least two rows with the {release.n_features} columns of the release are needed."
        )
    if table.names is not None and release.feature_names not in (generic_names(d), table.names):
        raise DataError("The columns of `X` must be those of the release, in their order.")
    return table, Public.about(table)


def state_of(release: Release) -> State:
    """What a fit knew when it had made this release, for what more is drawn."""
    matrix = release.matrix
    values = None if matrix is None else linalg.eigenvalues_descending(matrix)
    return State(
        components=release.components,
        location=release.location,
        scale=release.scale,
        scatter=release.scatter,
        rates=release.rates,
        eigenvalues=values,
    )
