"""The paper's method, with tight noise: `DPPCA`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.design import Choices, Design, Parameters, Shares, design_of, showing
from gdppca.estimators.base import PrivatePCA, check_rows, kept, said_of
from gdppca.estimators.batches import InBatches
from gdppca.estimators.doubts import warn_of_doubts, warn_of_weakness
from gdppca.estimators.showing import Showing, View, asked_of, check_wanted
from gdppca.kernels import Progress, silent
from gdppca.ledgers import Booking, check_ledger
from gdppca.noise import noise_for
from gdppca.planning import Plan, plan
from gdppca.privacy import Neighbors
from gdppca.releases import Release
from gdppca.releases.publish import parameters_of
from gdppca.releases.rows import generic_names
from gdppca.steps.base import Public, State
from gdppca.tables.base import Supply, Table
from gdppca.tables.description import Description
from gdppca.tables.memory import MemoryTable


@dataclass(eq=False, repr=False, kw_only=True)
class DPPCA(InBatches, Showing, Choices, PrivatePCA):
    r"""Robust and differentially private principal component analysis.

    Heavy tails do not bend it, a few poisoned rows bend it little, no bounds on the columns are
    needed, and any one person's row is hidden by calibrated noise.

    Parameters
    ----------
    n_components : int, "auto" or float, default 2
        Number of directions; "auto" keeps those that stand above the noise, maybe none. A share
        between 0 and 1 keeps those that carry so much of the variance, by the free spectrum, as
        far as they stand above the noise.
    epsilon : float, default 1.0
        Privacy ε. Infinity adds no noise and protects nobody.
    delta : float, default 1e-6
        Privacy δ, which should be far below one over the number of rows.
    ledger : None or str, default None
        Where spends are counted, and of which data set: "sqlite:///budget.db#patients". A fit that
        would go beyond the data set's cap is refused before any noise is drawn.
    random_state : None, int or Noise, default None
        None draws from the system's secure source. A seed makes a simulation that protects
        nobody, and the guarantee says so. `gdppca.noise` has noise that is overheard, for audits.
    sign : str or Sign, default "spherical"
        What is kept of a difference: "spherical", "winsor", "trimmed", "ball", "quad", "shell",
        "lr", or an object with `radial` and `sup_norm`.
    radius : None, float, "sqrt_d" or "quantile", default None
        Cut-off of a named sign that has one; None is √d. "quantile" releases a private quantile of
        the lengths for it.
    quantile : None or float, default None
        Which quantile; None takes what suits the sign (the first quartile for "winsor", 0.9 for
        "trimmed").
    quantile_share : float, default 0.05
        Share of ε that the quantile takes; composed exactly with the rest.
    pairs : "auto", "all", "halves" or int, default "auto"
        Which pairs of rows are compared: all of them, row i with row i + ⌊n/2⌋, or those inside
        random blocks of so many rows. "auto" takes all pairs while that is cheap, then blocks.
    calibration : "tight" or "paper", default "tight"
        Exact noise, or the larger noise that the paper states.
    location : "auto", "private", None or array of shape (d,), default "auto"
        What rows are compared with. A centre halves the noise, even a private one, which is found
        for a part of the budget and needs no bounds. None compares pairs of rows, as the paper
        does, and needs no centre. "auto" takes a private centre where the numbers of rows and
        columns and the budget promise that it pays, pairs else and where `pairs` or the paper's
        calibration is asked for. An array is a public centre.
    scale : None, "private" or array of shape (d,), default None
        Column scales to divide by: none, private robust ones for columns in different units, or
        public ones.
    scale_share : float, default 0.2
        Share of the budget (of μ²) that private scales take.
    neighbors : "replace-one" or "add-remove", default "replace-one"
        Which two tables must look alike: one row or person replaced by another, the number of them
        public; or one more or less, their number secret. The second is the weaker promise about
        what a row says, and needs a centre.
    missing : "refuse" or "rates", default "refuse"
        What becomes of missing cells: refused; or taken to be missing completely at random, which a
        small private step measures and the matrix is corrected for. That needs a centre.
    stages : "one" or "auto", default "one"
        All of the budget for the matrix; or, from 50 columns on, a part of it for what lies across
        its leading directions, where that is more accurate (spherical sign around a centre, no
        missing cells, a known number of components).
    loadings : "shrunk" or "plain", default "shrunk"
        Loadings of the noisy matrix's leading eigenvectors, shrunk under its known noise wherever
        the likelihood asks for it, at no budget; or the plain eigenvectors. The paper's
        calibration keeps plain ones, and a release holds them in any case.
    target : "rows" or "population", default "rows"
        Whose loadings shrinking estimates: those that the same rows have without noise, or those
        of the population that they were drawn from.
    max_loadings : None or int, default None
        The most columns that a component is to be explained by: `sparse_components_` holds so many
        of its largest loadings.
    whiten : bool, default False
        Divide scores by the roots of the components' variances: of those that were paid for
        (`fit_release`), else of the free ones, which are known up to one common factor.

    Attributes
    ----------
    components_ : array of shape (m, d)
        Directions, one per row; the entry of largest size is positive.
    guarantee_ : Guarantee
        What was promised.
    release_ : Release
        Everything publishable, nothing else.
    scatter_ : array of shape (d, d)
        The noisy matrix K̃.
    eigenvalues_ : array of shape (d,)
        Of `scatter_`, largest first.
    noise_sd_ : float
        σ of its packed noise.
    noise_floor_ : float
        Where the spectrum of the noise alone ends, σ√(2d).
    explained_variance_ratio_ : array of shape (m,)
        Shares of variance, free of budget (spherical sign only).
    explained_variance_, noise_variance_ : array of shape (m,) and float
        Variances along the components, and the mean of those beside them; where variances were
        paid for.
    negligible_ : array of bool of shape (m, d)
        Where a shrunken loading is zero with a probability of 0.9 or more.
    sparse_components_ : array of shape (m, d)
        With `max_loadings`: the largest loadings of each component, at length one. They are not
        orthogonal to each other in general.
    n_components_, n_samples_, n_features_in_ : int
        Numbers of directions, rows and columns. Where a person may have several rows `n_samples_`
        counts persons; where their number is secret it is an estimate.
    n_persons_ : int
        Number of persons, where a person may have several rows.
    description_ : Description
        What was said of the table, where something was.
    feature_names_in_ : array of str
        Column names, where the table had them.
    mean_, scale_ : array of shape (d,) or None
        Centre and scales that `transform` uses.

    Notes
    -----
    **Privacy.** (ε, δ)-differential privacy for replace-one neighbours, with the number of rows
    public. Gaussian events for the matrix and for a private centre and scales before it, a pure
    one for ``radius="quantile"``; together they spend (ε, δ) exactly. `transform` is not private.

    **Paper.** g-DPPCA of Sec 2.2: :math:`\tilde K_g = \hat K_g + Z`, eigenvectors of
    :math:`\tilde K_g`. ``calibration="paper"`` with ``pairs="all"`` and ``location=None`` is the
    paper's method.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_t(2, size=(3000, 5)) * [9, 3, 1, 1, 1]
    >>> pca = DPPCA(n_components=2, epsilon=1.0, delta=1e-6).fit(X)
    >>> print(pca.guarantee_)
    (epsilon = 1, delta = 1e-06)-differential privacy, replace-one neighbours
    >>> np.abs(pca.components_[0]).argmax()
    np.int64(0)
    """

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        persons: Any = None,
        weights: Any = None,
        largest_weight: float | None = None,
        description: Any = None,
    ) -> Self:
        """Release private principal components of a table.

        Parameters
        ----------
        X : table of shape (n, d), str or path
            numpy, pandas, polars or pyarrow, a table of Dask or Spark, or a file; at least two
            rows, one per person unless `persons` says whose they are.
        y : None
            Ignored.
        persons : sequence of ids, str or None, default None
            Whose each row is, where a person may have several rows, which need not lie together; or
            the name of the column that says so. The promise is about a whole person then, the
            number of persons is public and the number of rows is not. Ids are not kept.
        weights : sequence of numbers, str or None, default None
            Design weights of the rows, or the name of their column: each must follow from its own
            row alone, as the weights of a sampling design do. Weights that were raked or scaled to
            add up to something depend on other rows and are not covered.
        largest_weight : float, optional
            The weight from which all count alike, chosen without looking at the data.
        description : Description, str or path, optional
            What is publicly known of the table: columns, types, codes of missing cells.

        Returns
        -------
        DPPCA
            Itself.
        """
        return self._fit(X, **said_of(self, persons, weights, largest_weight, description))

    def fit_release(
        self,
        X: Any,
        *,
        variances: float = 0.0,
        score_map: float = 0.0,
        axes: tuple[int, int] = (0, 1),
        bins: Any = "auto",
        groups: Any = None,
        categories: Any = None,
        columns: list[str] | None = None,
        persons: Any = None,
        weights: Any = None,
        largest_weight: float | None = None,
        description: Any = None,
        assume_shuffled: bool = False,
        plan: Any = None,
        progress: Progress = silent,
    ) -> Release:
        """Fit, and release variances and a score map from the same rows under the same (ε, δ).

        Parameters
        ----------
        X : table of shape (n, d)
            As for `fit`.
        variances, score_map : float, default 0
            Shares of the budget for the components' variances, and for a map of the scores.
        axes : (int, int), default (0, 1)
            The two components of the map, counted from zero.
        bins : "auto", int or (int, int), default "auto"
            Bins of the map along each axis.
        groups : None, sequence of labels or str, default None
            Labels of the rows, for a map by group; of a file, the name of their column.
        categories : None or sequence, default None
            The labels that there can be, declared without looking at the data.
        columns, persons, weights, largest_weight, description, assume_shuffled
            As for `fit` and `fit_stream`. In variances and maps secret coins say which rows are
            counted, each with its weight over the largest one as its chance.
        plan : dict or None, default None
            What `Plan.to_dict` gave: a plan of another fit is refused before anything is spent.
        progress : callable, optional
            Called with the number of tasks done and in all.

        Returns
        -------
        Release
            Everything together, also as ``release_``; its guarantee is (ε, δ).

        Examples
        --------
        >>> import numpy as np
        >>> from gdppca import DPPCA
        >>> X = np.random.default_rng(0).normal(size=(5000, 5)) * [9, 3, 1, 1, 1] + 50
        >>> pca = DPPCA(n_components=2, epsilon=1.0, delta=1e-6)
        >>> release = pca.fit_release(X, variances=0.1, score_map=0.2)
        >>> print(release.guarantee)
        (epsilon = 1, delta = 1e-06)-differential privacy, replace-one neighbours
        >>> release.score_map.counts.ndim, release.variances.shape
        (3, (2,))
        """
        shown: dict[str, Any] = {"score_map": score_map, "axes": kept(axes), "bins": kept(bins)}
        whole = bool(variances or score_map or groups is not None or categories is not None)
        self._fit(
            X,
            Shares(variances=variances, plan=plan, **shown),
            progress,
            columns=columns,
            groups=kept(groups),
            categories=kept(categories),
            assume_shuffled=assume_shuffled,
            whole=whole or None,
            **said_of(self, persons, weights, largest_weight, description),
        )
        return self.release_

    def plan(
        self,
        n_samples: int,
        n_features: int | None = None,
        *,
        spectrum: Any = None,
        variances: float = 0.0,
        score_map: float = 0.0,
        **expected: Any,
    ) -> Plan:
        """Predict the accuracy of this fit before any budget is spent; no row is seen.

        Parameters
        ----------
        n_samples, n_features : int
            Shape of the table.
        spectrum : None, array of shape (d,), str, path or Release, default None
            What is known about the variances, as for `gdppca.plan`.
        variances, score_map : float, default 0
            Shares of the budget, as for `fit_release`.
        **expected
            `unit`, `neighbors`, `missing`, `description` and `sparsity`, as for `gdppca.plan`;
            plain loadings gain nothing from the last.

        Returns
        -------
        Plan
            Expected errors, noise, and what it would take to do better.

        Examples
        --------
        >>> from gdppca import DPPCA
        >>> DPPCA(n_components=2, scale="private").plan(20_000, 10).scales
        'private'
        """
        if self.loadings == "plain":
            expected["sparsity"] = None
        return plan(
            n_samples,
            n_features,
            spectrum=spectrum,
            variances=variances,
            score_map=score_map,
            **vars(Parameters.of(self)) | expected,
        )

    def fit_stream(
        self,
        source: Any,
        *,
        columns: list[str] | None = None,
        persons: Any = None,
        weights: Any = None,
        largest_weight: float | None = None,
        description: Any = None,
        assume_shuffled: bool = False,
        progress: Progress = silent,
    ) -> Self:
        """Fit rows that do not fit into memory: files, or tables on a cluster.

        Parameters
        ----------
        source : str, path, list of paths, or table
            A CSV, Parquet, Arrow or JSON file, a folder of them, a pattern such as
            ``"visits/*.parquet"``, or a table of arrow, DuckDB, Dask or Spark.
        columns : list of str, optional
            Columns to use; all if left out.
        persons, weights, largest_weight, description
            As for `fit`; ids and weights by the names of their columns.
        assume_shuffled : bool, default False
            Take the rows in the order that they have instead of a secret random one. Faster, and
            the guarantee says that it rests on that order.
        progress : callable, optional
            Called with the number of rows done and in all.

        Returns
        -------
        DPPCA
            Itself.

        Notes
        -----
        **Privacy.** As `fit`. Private scales, centre and radius are found on a random sample of
        rows that fits into memory, with noise for the size of that sample; the matrix is about
        all rows. Pairs are compared in blocks of a secret random order, so that a file sorted by
        a column costs neither privacy nor accuracy.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import numpy as np, pyarrow as pa
        >>> from pyarrow import parquet
        >>> from gdppca import DPPCA
        >>> X = np.random.default_rng(0).normal(size=(20_000, 3)) * [5, 1, 1]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "rows.parquet"
        ...     parquet.write_table(pa.table(dict(zip("abc", X.T))), file)
        ...     pca = DPPCA(n_components=1).fit_stream(file)
        >>> pca.n_samples_, np.abs(pca.components_[0]).argmax()
        (20000, np.int64(0))
        """
        return self._fit(
            source,
            progress=progress,
            columns=columns,
            assume_shuffled=assume_shuffled,
            whole=False,
            **said_of(self, persons, weights, largest_weight, description),
        )

    def _design(self, table: Table, shares: Shares | None) -> Design:
        wanted = _validate.one_of(tuple(Neighbors), neighbors=self.neighbors)
        public = Public.about(table, Neighbors(wanted))
        if public.moves.replaces:  # a secret number must not show by a refusal
            check_rows(table.n_samples, those=public.those)
        if shares is not None and isinstance(table, MemoryTable):
            shares = replace(shares, groups=table.groups)
        design = self._checked_design(public, table.supply, shares)
        self._view = View.of(self, design)
        if shares is not None and shares.counts_rows and self._view.target is not None:
            names = table.names or generic_names(table.n_features)
            design = showing(design, partial(self._view.of_state, design, tuple(names)))
        warn_of_weakness(design, stacklevel=5)
        return design

    def _checked_design(
        self, public: Public, supply: Supply, shares: Shares | None = None
    ) -> Design:
        """Check every parameter against the shape, before any row counts."""
        check_wanted(self.n_components, public.n_features, shares)
        check_ledger(self.ledger, seeded=noise_for(self.random_state).seeded)
        return design_of(asked_of(self), public, supply, shares)

    @classmethod
    def from_release(cls, release: Release) -> Self:
        """Make a fitted estimator from a release, to transform rows with it.

        Parameters
        ----------
        release : Release
            From ``release_`` or ``Release.load``.

        Returns
        -------
        DPPCA
            Fitted, with the parameters of the release; nothing is spent. A user's own sign is not
            in a release: it becomes the spherical one here, which matters only for a new fit.
        """
        if not isinstance(release, Release):
            raise ParameterError("`release` must be a Release; read a file with Release.load.")
        pca = cls(**parameters_of(release))
        named = release.feature_names != generic_names(release.n_features)
        pca._learn_columns(release.n_features, release.feature_names if named else None)
        if release.description is not None:
            pca.description_ = Description.from_dict(release.description)
        return pca._adopt(release)

    def _shown(self, release: Release) -> Release:
        return self._view.of_release(release)

    def _publish(self, design: Design, state: State, booking: Booking, *, seeded: bool) -> Self:
        super()._publish(design, state, booking, seeded=seeded)
        self.__dict__.pop("_view").warn_of_missing_share(self.release_, stacklevel=4)
        if design.counted is not None:  # what is doubtful is known only now
            warn_of_doubts(design.known_by(state), stacklevel=4)
        if self.n_components_ == 0:  # only now: a warning may be an error, and it is paid for
            said = "No direction stands above the noise: there are no components. More rows or "
            warnings.warn(said + "a larger epsilon may show some.", UserWarning, stacklevel=4)
        return self
