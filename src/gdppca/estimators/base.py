"""What every estimator here shares: parameters, the promise, and all that follows the noise."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gdppca import _validate, linalg
from gdppca._errors import DataError, ParameterError, PrivacyWarning
from gdppca._frames import frame_of
from gdppca.design import Design, Shares, note_spend_on_error, run
from gdppca.estimators.surroundings import plain_parameters, warn_before_fit
from gdppca.kernels import Progress, silent
from gdppca.ledgers import Booking, HiddenPassword
from gdppca.noise import noise_for
from gdppca.privacy import Neighbors, Unit
from gdppca.releases import Release, release_intervals
from gdppca.releases.noise_floor import known_noise
from gdppca.releases.publish import published
from gdppca.releases.rows import generic_names
from gdppca.steps.base import State
from gdppca.tables.base import Table
from gdppca.tables.frame_columns import described_matrix
from gdppca.tables.frames import Matrix, as_matrix
from gdppca.tables.memory import MemoryTable
from gdppca.tables.open import open_table
from gdppca.theory import (
    LoadingIntervals,
    denoised_eigenvalues,
    noise_edge,
    variance_shares,
)


def kept(wish: Any) -> Any:
    """A wish that can be read twice; an iterator cannot."""
    return list(wish) if isinstance(wish, Iterator) else wish


def said_of(
    pca: Any, persons: Any, weights: Any, largest_weight: float | None, description: Any
) -> dict[str, Any]:
    """What is said of the rows of a fit, for `open_table`."""
    return {
        "persons": kept(persons),
        "weights": kept(weights),
        "largest_weight": largest_weight,
        "description": description,
        "gaps": _validate.one_of(("refuse", "rates"), missing=pca.missing) == "rates",
    }


def check_rows(n: int, at_least: int = 2, those: str = "rows") -> None:
    """Refuse too few rows or persons."""
    if n < at_least:
        raise DataError(f"At least {at_least} {those} are needed, got {n} sample{'s' * (n != 1)}.")


def check_components(n_components: Any, d: int) -> None:
    """Refuse more components than columns."""
    if _validate.count(n_components=n_components) > d:
        raise ParameterError(
            f"`n_components` must not exceed the number of columns {d}, got {n_components}."
        )


def require_columns(n: int | str, d: int) -> None:
    """Refuse a table without columns; `n` is left out where the number of rows is secret."""
    if d == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required."
        )


@np.errstate(all="ignore")  # no error or warning may depend on a cell
def checked_matrix(pca: Any, X: Any, *, reset: bool) -> Matrix:
    """The table as a matrix with the right columns, which `reset` learns from it.

    A frame is read by the description of the fit; an array holds the features that came of it.
    """
    gaps = getattr(pca, "missing", "refuse") == "rates"
    told = getattr(pca, "description_", None)
    if told is not None and nw.dependencies.is_into_dataframe(X):
        return described_matrix(X, told, gaps)
    matrix = as_matrix(X, gaps)
    require_columns(*matrix.values.shape)
    validate_data(pca, X if matrix.names else matrix.values, reset=reset, skip_check_array=True)
    return matrix


@dataclass(eq=False, repr=False)  # scikit-learn compares and shows estimators in its own way
class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Shared face of the estimators: everything below is post-processing of `release_`."""

    n_components: Any = 2
    _: KW_ONLY
    epsilon: float = 1.0
    delta: float = 1e-6
    ledger: str | None = None
    random_state: Any = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; an address is itself but for its repr, which hides a password.

        Parameters
        ----------
        deep : bool, default True
            As everywhere in scikit-learn.

        Returns
        -------
        dict
            Names and values.
        """
        params: dict[str, Any] = super().get_params(deep)
        if type(params["ledger"]) is str:
            params["ledger"] = HiddenPassword(params["ledger"])
        return params

    def _forget(self) -> None:
        """Drop everything that an earlier fit left: it is not about the rows that come now."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            del self.__dict__[name]

    def _learn_columns(self, n_features: int, names: Sequence[str] | None) -> None:
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def _names(self) -> tuple[str, ...]:
        names = getattr(self, "feature_names_in_", None)
        return generic_names(self.n_features_in_) if names is None else tuple(names)

    def _fit(
        self,
        source: Any,
        shares: Shares | None = None,
        progress: Progress = silent,
        **how: Any,
    ) -> Self:
        """Open the table, design, debit, one step after the other, publish."""
        self._forget()
        noise = noise_for(self.random_state)
        with open_table(source, noise, **how) as table:
            public = isinstance(table, MemoryTable) and not self._hides_number
            require_columns(table.n_samples if public else "", table.n_features)
            design = self._design(table, shares)
            alone = design.public.unit is Unit.ROW
            warn_before_fit(self, table.names, unused=getattr(table, "unused", ()) if alone else ())
            self._learn_table(source, table)  # nothing of a table whose fit is refused
            booking = self._booking(self.ledger, shares)
            state = run(design, table, noise, booking, progress)
        return self._publish(design, state, booking, seeded=noise.seeded)

    def _booking(self, ledger: str | None, shares: Shares | None = None) -> Booking:
        """The draw as a ledger knows it: by which method, and with which parameters."""
        parameters = plain_parameters(self.get_params()) | (shares or Shares()).told
        return Booking(ledger, type(self).__name__, parameters)

    @property
    def _hides_number(self) -> bool:
        """Whether nobody may know how many rows there are."""
        wanted = getattr(self, "neighbors", None)
        return isinstance(wanted, str) and wanted == Neighbors.ADD_REMOVE

    def _learn_table(self, source: Any, table: Table) -> None:
        """Take the columns' names as scikit-learn does, from a frame or from a file."""
        told = getattr(table, "description", None)
        if told is not None:
            self.description_ = told
        own = isinstance(table, MemoryTable) and told is None and table.names
        framed = nw.dependencies.is_into_dataframe(source)
        if own and framed and len(getattr(source, "columns", ())) == table.n_features:
            validate_data(self, source, reset=True, skip_check_array=True)
        else:  # scikit-learn finds no names in tables of Dask, Spark and DuckDB
            self._learn_columns(table.n_features, table.names)

    @abstractmethod
    def _design(self, table: Table, shares: Shares | None) -> Design:
        """Check all parameters against public numbers, and warn; nothing is spent."""

    def _publish(self, design: Design, state: State, booking: Booking, *, seeded: bool) -> Self:
        """Make the release of what was drawn, take it over, and name it in the ledger."""
        with note_spend_on_error(design.epsilon, design.delta), np.errstate(all="ignore"):
            release = published(
                design.known_by(state),
                state,
                type(self).__name__,
                self._names(),
                getattr(self, "description_", None),
                booking=booking,
                seeded=seeded,
            )
            self._adopt(self._shown(release), state.eigenvalues)
        if booking.receipt is not None:
            booking.complete(self.release_.checksum)
        return self

    def _shown(self, release: Release) -> Release:
        """The release as it is shown; post-processing."""
        return release

    def _adopt(self, release: Release, eigenvalues: np.ndarray | None = None) -> Self:
        """Take over a release, with its eigenvalues where they are known; nothing else stays."""
        self.release_ = release
        self.guarantee_ = release.guarantee
        self.scatter_ = release.scatter
        self.noise_sd_ = release.noise_sd
        self.components_ = release.components
        self.n_components_ = len(release.components)
        self.negligible_ = release.negligible
        if release.max_loadings is not None:
            self.sparse_components_ = release.sparse_components
        self.n_samples_ = release.n_samples
        if release.guarantee.unit is Unit.PERSON:
            self.n_persons_ = release.n_samples
        self.mean_ = release.location
        self.scale_ = release.scale
        if (matrix := release.matrix) is not None:
            if eigenvalues is None:
                eigenvalues = linalg.eigenvalues_descending(matrix)
            self.eigenvalues_ = eigenvalues
            self.noise_floor_ = noise_edge(release.noise_sd, release.n_features, release.rates)
        return self

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        """Shares of the total variance that the components explain, at no budget.

        The released matrix fixes the shape of the spectrum under an elliptical law: its
        eigenvalues are freed from the noise's bias and mapped back to variances. For the
        spherical sign only; other signs would need the law of the lengths too.
        """
        check_is_fitted(self, "release_")
        sign = self.release_.sign
        if sign is None or sign["name"] != "spherical":
            raise AttributeError(
                "explained_variance_ratio_ is known for the spherical sign only: with other signs "
                "the eigenvalues depend on the law of the lengths too."
            )
        known = known_noise(self.release_)
        phi = denoised_eigenvalues(self.eigenvalues_, *known)
        return variance_shares(phi, known.rates)[: self.n_components_]

    @property
    def explained_variance_(self) -> np.ndarray:
        """Variances of the scores on the components, where they were paid for."""
        check_is_fitted(self, "release_")
        if self.release_.variances is None:
            raise AttributeError(
                "explained_variance_ is known where variances were paid for: "
                "fit_release(X, variances=0.1). explained_variance_ratio_ costs nothing."
            )
        return self.release_.variances

    @property
    def noise_variance_(self) -> float:
        """Mean variance of the directions beside the components, where variances were paid for.

        Their shares of the total variance are free; the variances that were paid for tell the
        total.
        """
        left = self.n_features_in_ - self.n_components_
        ratio, variances = self.explained_variance_ratio_, self.explained_variance_
        carried = float(ratio.sum())
        if left == 0 or not carried > 0:
            return 0.0
        return float(variances.sum() / carried * max(1 - carried, 0.0) / left)

    def components_frame(self, backend: str | None = None) -> Any:
        """The components as a data frame: a row for each column of the table.

        Parameters
        ----------
        backend : None, "pandas", "polars" or "pyarrow", default None
            Whose frame it is; None takes the first of these that is installed.

        Returns
        -------
        data frame
            The column's name, and its loading on each component.
        """
        check_is_fitted(self, "release_")
        names = self.release_.feature_names
        loadings = {f"component {k + 1}": row for k, row in enumerate(self.components_)}
        return frame_of({"column": list(names), **loadings}, backend)

    def _score_sizes(self) -> np.ndarray:
        """What whitened scores are divided by: roots of variances, paid for or free.

        The free spectrum tells variances up to one common factor.
        """
        variances = self.release_.variances
        if variances is None:
            variances = self.explained_variance_ratio_
        largest = float(np.max(variances, initial=0.0))
        least = np.finfo(float).eps * (largest if largest > 0 else 1.0)
        return np.sqrt(np.maximum(variances, least))

    def loading_intervals(self, level: float = 0.9, *, sampling: bool = False) -> LoadingIntervals:
        """Intervals for the loadings and expected angles of the directions, at no budget.

        Parameters
        ----------
        level : float, default 0.9
            How often an interval holds the loading that the same statistic has without noise.
        sampling : bool, default False
            Whether to allow for the sampling of the rows too (spherical sign only).

        Returns
        -------
        LoadingIntervals
            Lower and upper ends of shape (m, d), expected sines of angles, and what they cover.

        Notes
        -----
        **Privacy.** Post-processing of the released matrix under its known noise.
        """
        check_is_fitted(self, "release_")
        return release_intervals(self.release_, level, sampling=sampling)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def transform(self, X: Any) -> np.ndarray:
        """Scores of rows on the components. NOT private: keep them where the rows are.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows with the columns of the fit.

        Returns
        -------
        array of shape (n, m)
            One score per row and component, from `mean_` where a centre is known; a missing cell
            counts as the centre. With ``whiten=True`` over the root of the component's variance.

        Notes
        -----
        **Privacy.** None: each score belongs to one person. Only the directions are protected.
        """
        check_is_fitted(self, "release_")
        X = checked_matrix(self, X, reset=False).values
        warnings.warn(
            "Row scores are not private: each belongs to one person. Publish `release_` instead.",
            PrivacyWarning,
            stacklevel=3,  # past scikit-learn's wrapper
        )
        X = np.where(np.isnan(X), 0.0 if self.mean_ is None else self.mean_, X)
        if self.mean_ is not None:
            X = X - self.mean_
        if self.scale_ is not None:
            X = X / self.scale_
        scores: np.ndarray = X @ self.components_.T
        return scores / self._score_sizes() if getattr(self, "whiten", False) else scores

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows in the original columns from scores. NOT private, as scores are not.

        Parameters
        ----------
        X : array of shape (n, m)
            Scores.

        Returns
        -------
        array of shape (n, d)
            Points of the components' subspace.
        """
        check_is_fitted(self, "release_")
        scores = as_matrix(X).values
        if scores.shape[1] != self.n_components_:
            raise DataError(
                f"Scores have {scores.shape[1]} columns where {self.n_components_} components are."
            )
        if getattr(self, "whiten", False):
            scores = scores * self._score_sizes()
        rows: np.ndarray = scores @ self.components_
        if self.scale_ is not None:
            rows = rows * self.scale_
        return rows if self.mean_ is None else rows + self.mean_
