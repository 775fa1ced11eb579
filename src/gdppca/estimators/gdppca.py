"""The paper's method, with tight noise: `DPPCA`."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from gdppca import linalg
from gdppca._errors import DataError, ParameterError, ReleaseError, StateError
from gdppca.design import Parameters, Supply
from gdppca.engines.base import Engine, OrderKeys
from gdppca.engines.opening import lives_on_a_cluster, open_engine
from gdppca.estimators._base import PrivatePCA, check_rows, telling_of_a_spend
from gdppca.estimators._parameters import settings_of, warn_of_weakness
from gdppca.estimators._settings import Settings, Stream
from gdppca.estimators.whole import whole_release
from gdppca.kernels import OneSample, Progress, pair_scatter, sign_covariance, silent
from gdppca.ledgers import enter, require_room
from gdppca.planning import Plan, plan
from gdppca.privacy import Event
from gdppca.randomness import Rng, rng_for
from gdppca.releases import NoisyScatter, Release, private_scatter
from gdppca.releases.quantile import private_radius
from gdppca.releases.scale import coarse_scale
from gdppca.releases.spatial_median import centre_bias, private_spatial_median
from gdppca.signs import as_sign, sign_from_description
from gdppca.theory import components_above_noise


class DPPCA(PrivatePCA):
    r"""Robust and differentially private principal component analysis.

    Heavy tails do not bend it, a few poisoned rows bend it little, no bounds on the columns are
    needed, and any one person's row is hidden by calibrated noise.

    Parameters
    ----------
    n_components : int or "auto", default 2
        Number of directions; "auto" keeps those that stand above the noise, maybe none.
    epsilon : float, default 1.0
        Privacy ε. Infinity adds no noise and protects nobody.
    delta : float, default 1e-6
        Privacy δ, which should be far below one over the number of rows.
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
    ledger : None or str, default None
        Where spends are counted, and of which data set: "sqlite:///budget.db#patients". A fit that
        would go beyond the data set's cap is refused before any noise is drawn.
    random_state : None or int, default None
        None draws from the system's secure source. A seed makes a simulation that protects
        nobody, and the guarantee says so.

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
    n_components_, n_samples_, n_features_in_ : int
        Numbers of directions, rows and columns.
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

    def __init__(
        self,
        n_components: Any = 2,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        sign: Any = "spherical",
        radius: Any = None,
        quantile: Any = None,
        quantile_share: float = 0.05,
        pairs: Any = "auto",
        calibration: str = "tight",
        location: Any = "auto",
        scale: Any = None,
        scale_share: float = 0.2,
        ledger: Any = None,
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.sign = sign
        self.radius = radius
        self.quantile = quantile
        self.quantile_share = quantile_share
        self.pairs = pairs
        self.calibration = calibration
        self.location = location
        self.scale = scale
        self.scale_share = scale_share
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release private principal components of a table.

        Parameters
        ----------
        X : table of shape (n, d)
            numpy, pandas, polars or pyarrow, or a table of Dask or Spark; one row per person, at
            least two rows.
        y : None
            Ignored.

        Returns
        -------
        DPPCA
            Itself.
        """
        return self.fit_stream(X) if lives_on_a_cluster(X) else self._fit(X)

    def fit_release(
        self,
        X: Any,
        *,
        variances: float = 0.0,
        score_map: float = 0.0,
        bins: Any = "auto",
        groups: Any = None,
        categories: Any = None,
        progress: Progress = silent,
    ) -> Release:
        """Fit, and release variances and a score map from the same rows under the same (ε, δ).

        Parameters
        ----------
        X : table of shape (n, d)
            As for `fit`.
        variances : float, default 0
            Share of the budget for the variances of the components; 0 releases none.
        score_map : float, default 0
            Share of the budget for a private map of the scores; 0 releases none.
        bins : "auto", int or (int, int), default "auto"
            Bins of the map along each axis.
        groups : None or sequence of labels, default None
            Public labels of the rows, for a map by group.
        categories : None or sequence, default None
            The labels that there can be, declared without looking at the data.
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
        return whole_release(
            self,
            X,
            variance_share=variances,
            map_share=score_map,
            map_wish={"bins": bins, "groups": groups, "categories": categories},
            progress=progress,
        )

    def plan(
        self,
        n_samples: int,
        n_features: int,
        *,
        spectrum: Any = None,
        variances: float = 0.0,
        score_map: float = 0.0,
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
        return plan(
            n_samples,
            n_features,
            spectrum=spectrum,
            variances=variances,
            score_map=score_map,
            **vars(Parameters.of(self)),
        )

    def fit_stream(
        self,
        source: Any,
        *,
        columns: list[str] | None = None,
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
        self._forget()
        rng = rng_for(self.random_state)
        keys = None if assume_shuffled else OrderKeys.drawn(rng)
        with open_engine(source, keys, columns) as engine:
            self._learn_columns(engine)
            supply = Supply.UNSHUFFLED if assume_shuffled else Supply.ENGINE
            settings = settings_of(self, engine.n_samples, engine.n_features, supply)
            warn_of_weakness(settings, stacklevel=3)
            require_room(settings.ledger, settings.debit)
            return self._fit_engine(engine, settings, rng, progress)

    @np.errstate(all="ignore")  # no error or warning may depend on a cell
    def _fit(self, X: Any, progress: Progress = silent, reserved: tuple[Event, ...] = ()) -> Self:
        """Fit within (ε, δ) less what is reserved for releases to come."""
        self._forget()
        X = self._checked(X, reset=True).values
        settings = settings_of(self, *X.shape).with_(reserved=reserved)
        settings.require_noise()  # too much reserved is refused here
        warn_of_weakness(settings, stacklevel=4)
        rng = rng_for(self.random_state)
        enter(settings.ledger, settings.debit)
        with telling_of_a_spend(settings.epsilon, settings.delta):
            settings = self._first_steps(X, settings, rng)
            K_hat = _statistic(settings.divided(X), settings, rng, progress)  # not private
            noisy = private_scatter(K_hat, settings.noise, rng)
            return self._publish(noisy, settings)

    @np.errstate(all="ignore")
    def _fit_engine(self, engine: Engine, settings: Settings, rng: Rng, progress: Progress) -> Self:
        """Fit rows that live elsewhere; the debit waits until all that can fail without it is done.

        Scales, centre and radius come from a random sample, whose members do not depend on values.
        """
        if settings.looks_first:
            sample = engine.sample(settings.n_seen)  # not private
            enter(settings.ledger, settings.debit)
            with telling_of_a_spend(settings.epsilon, settings.delta):
                settings = self._first_steps(sample, settings, rng)
                sums = engine.total(settings.recipe, progress)  # not private
        else:
            sums = engine.total(settings.recipe, progress)  # not private
            enter(settings.ledger, settings.debit)
        with telling_of_a_spend(settings.epsilon, settings.delta):
            if sums.n_samples != settings.n_samples:  # noise for another number of rows is wrong
                raise DataError("The number of rows changed while they were read.")
            noisy = private_scatter(sums.mean(), settings.noise, rng)
            return self._publish(noisy, settings)

    def _first_steps(self, X: np.ndarray, settings: Settings, rng: Rng) -> Settings:
        """Private scales, centre and radius, as far as they are asked for; spends."""
        if settings.scale_share is not None:
            coarse = coarse_scale(X, settings.scale_mu, rng)
            settings = settings.with_scale(coarse)
        if settings.seeks_centre:
            cautious = settings.wanted_location == "auto"
            found = private_spatial_median(
                settings.divided(X), settings.mu_left, rng, cautious=cautious
            )
            settings = settings.with_centre(found)
        if settings.scale_share is not None:  # paid for
            refined = coarse.refined(X, settings.location, rng)
            settings = settings.with_(scale=refined.scale, scale_error=refined.error)
        if settings.radius_event is not None:
            epsilon = settings.radius_event.epsilon
            lengths_of = settings.divided(X), settings.center
            radius = private_radius(*lengths_of, settings.quantile, epsilon, rng)
            settings = settings.with_(sign=as_sign(self.sign, radius))
        return settings

    @np.errstate(all="ignore")
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a batch of rows. Draws no noise and releases nothing until `finalize`.

        Parameters
        ----------
        X : table of shape (n, d)
            A batch of rows, each person in one batch only.
        y : None
            Ignored.

        Returns
        -------
        DPPCA
            Itself, holding exact sums that are not private: it refuses to be pickled.

        Notes
        -----
        **Privacy.** Rows are shuffled inside a batch only, so the guarantee assumes that the order
        of the batches does not depend on their values. The first batch fixes every parameter:
        `finalize` draws by them and debits their ledger, whatever was set since.
        """
        if hasattr(self, "release_"):
            raise StateError("The release is made. Use sklearn.base.clone(...) for new rows.")
        first = not hasattr(self, "_streaming")
        X = self._checked(X, reset=first).values
        stream = self._start(X.shape[1]) if first else self._taken_stream()
        # Not put back after an error or an interrupt: some rows might be counted already.
        stream.sums.update(stream.settings.divided(X), stream.rng.permutation(len(X)))
        self._stream = stream
        return self

    def finalize(self) -> Self:
        """Draw the noise, once, over all rows given to `partial_fit`.

        Returns
        -------
        DPPCA
            Itself, fitted; the exact sums are gone.
        """
        self._refuse_later_ledger()
        stream = self._taken_stream()
        n = stream.sums.n_samples
        check_rows(n)
        settings = stream.settings.with_(n_samples=n)
        settings.require_noise()
        warn_of_weakness(settings, stacklevel=3)
        enter(settings.ledger, settings.debit)
        with telling_of_a_spend(settings.epsilon, settings.delta):
            K_hat = stream.sums.mean()  # not private
            noisy = private_scatter(K_hat, settings.noise, stream.rng)
            return self._publish(noisy, settings)

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
        if release.method != "DPPCA" or release.sign is None or release.scheme is None:
            raise ReleaseError(f"The release was made by {release.method}, not by DPPCA.")
        private = {event.purpose for event in release.guarantee.events}
        pca = cls(
            n_components=len(release.components),
            # The true ε with tight noise is the noise that was drawn, whatever the calibration.
            epsilon=release.guarantee.nominal_epsilon,
            delta=release.guarantee.delta,
            sign=sign_from_description(release.sign),
            pairs=_pairs_of(release.scheme),
            location="private" if "centre" in private else release.location,
            scale="private" if "scale" in private else release.scale,
        )
        pca.n_features_in_ = release.n_features
        generic = tuple(f"x{k}" for k in range(release.n_features))
        if release.feature_names != generic:
            pca.feature_names_in_ = np.asarray(release.feature_names, dtype=object)
        return pca._adopt(release)

    def _learn_columns(self, engine: Engine) -> None:
        if engine.n_features == 0:
            raise DataError("At least one column is needed, got 0 feature(s).")
        self.n_features_in_ = engine.n_features
        if engine.names is not None:
            self.feature_names_in_ = np.asarray(engine.names, dtype=object)

    def _refuse_later_ledger(self) -> None:
        """A ledger that came after the first batch would not be debited: say so, keep the rows."""
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is not None and stream.settings.ledger is None and self.ledger is not None:
            raise StateError(
                "`ledger` was set after the first batch, which fixes all parameters. Set it to "
                "None again, or start again with sklearn.base.clone(...)."
            )

    def _start(self, d: int) -> Stream:
        settings = settings_of(self, 2, d, Supply.BATCHES)  # any n will do until all rows are in
        self._streaming = True
        return Stream(settings.recipe.empty(), rng_for(self.random_state), settings)

    def _taken_stream(self) -> Stream:
        """Take the exact sums off this object, so that nobody else can use them meanwhile."""
        stream: Stream | None = self.__dict__.pop("_stream", None)
        if stream is not None:
            return stream
        if hasattr(self, "_streaming") and not hasattr(self, "release_"):
            raise StateError(
                "A batch failed midway or is still under way, so some rows may be counted and "
                "others not. Start again with sklearn.base.clone(...)."
            )
        raise StateError("There is nothing to finalize: call partial_fit first, finalize once.")

    def _forget(self) -> None:
        """Drop everything that an earlier fit left."""
        fitted = [name for name in vars(self) if name.endswith("_")]
        for name in (*fitted, "_stream", "_streaming"):
            self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to be pickled with exact sums inside."""
        if hasattr(self, "_streaming"):
            raise StateError("Exact sums are not private and are not pickled: call finalize first.")
        state: dict[str, Any] = super().__getstate__()
        return state

    def _publish(self, noisy: NoisyScatter, settings: Settings) -> Self:
        """Post-process the noisy matrix into a release and take it over."""
        spectrum = linalg.Spectrum(noisy.matrix)
        m = settings.n_components
        if isinstance(m, str):
            n, d = settings.n_samples, settings.n_features
            centred = settings.location is not None
            bias = centre_bias(settings.drawn, settings.n_seen, d) if centred else 0.0
            m = components_above_noise(spectrum.values, noisy.noise_sd, n, bias)
        release = Release(
            components=spectrum.leading(m).T,
            scatter=noisy.matrix,
            noise_sd=noisy.noise_sd,
            sign=settings.sign.describe(),
            scheme=settings.described_scheme,
            calibration=settings.calibration,
            n_samples=settings.n_samples,
            n_features=settings.n_features,
            feature_names=self._names(),
            location=settings.location,
            scale=settings.scale,
            scale_error=settings.scale_error,
            guarantee=settings.guarantee,
            method=type(self).__name__,
        )
        self.__dict__.pop("_streaming", None)
        self._adopt(release, spectrum.values)
        if m == 0:  # only now: a warning may be an error, and the release is paid for
            warnings.warn(
                "No direction stands above the noise: there are no components. More rows or "
                "a larger epsilon may show some.",
                UserWarning,
                stacklevel=4,
            )
        return self


def _pairs_of(scheme: dict[str, Any]) -> int | str:
    """The parameter `pairs` behind a scheme's description."""
    if scheme["name"] in ("one-sample", "merged"):
        return "auto"
    return scheme.get("size", scheme["name"])


def _statistic(X: np.ndarray, settings: Settings, rng: Rng, progress: Progress) -> np.ndarray:
    """The exact scatter matrix, not private; rows in secret random order where order matters."""
    if settings.center is not None:
        return sign_covariance(X, settings.center, settings.sign, progress=progress)
    scheme = settings.scheme
    assert not isinstance(scheme, OneSample)  # it has a centre
    order = rng.permutation(len(X)) if scheme.ordered else None
    return pair_scatter(X, settings.sign, scheme, order, progress)
