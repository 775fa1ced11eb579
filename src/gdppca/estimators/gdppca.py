"""The paper's method, with tight noise: `DPPCA`."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np

from gdppca import _validate, linalg
from gdppca._errors import (
    ParameterError,
    PrivacyWarning,
    ReleaseError,
    StateError,
)
from gdppca.estimators._base import (
    PrivatePCA,
    check_components,
    check_rows,
    telling_of_a_spend,
    warn_of_large_delta,
)
from gdppca.estimators._settings import Settings, Stream
from gdppca.estimators.whole import whole_release
from gdppca.kernels import (
    Blocks,
    OneSample,
    Progress,
    Scheme,
    as_scheme,
    kendall_tau,
    sign_covariance,
    silent,
)
from gdppca.privacy import Event, PureEvent
from gdppca.randomness import Rng, rng_for
from gdppca.releases import NoisyScatter, Release, private_scatter
from gdppca.releases.quantile import private_radius
from gdppca.releases.scale import NoisyScale, coarse_scale, scale_is_doubtful
from gdppca.releases.spatial_median import centre_bias, private_spatial_median
from gdppca.signs import TYPICAL_QUANTILE, Sign, as_sign, sign_from_description
from gdppca.theory import components_above_noise

_LEAST_QUANTILE_ROOM = 12.0  # ε times ranks; below, the noise of the quantile may win
_LARGEST_QUANTILE_EPSILON = 10.0  # where the matrix gets no noise at all


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
            numpy, pandas, polars or pyarrow; one row per person, at least two rows.
        y : None
            Ignored.

        Returns
        -------
        DPPCA
            Itself.
        """
        return self._fit(X)

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

    @np.errstate(all="ignore")  # no error or warning may depend on a cell
    def _fit(self, X: Any, progress: Progress = silent, reserved: tuple[Event, ...] = ()) -> Self:
        """Fit within (ε, δ) less what is reserved for releases to come."""
        self._forget()
        X = self._checked(X, reset=True).values
        settings = self._settings(*X.shape).with_(reserved=reserved)
        _ = settings.noise  # too much reserved is refused here
        _warn_of_weakness(settings, stacklevel=4)
        rng = rng_for(self.random_state)
        self._debit(settings)
        with telling_of_a_spend(settings.epsilon, settings.delta):
            if settings.scale_share is not None:  # spends
                coarse = _coarse_scale(X, settings, rng)
                settings = settings.with_scale(coarse)
            if settings.seeks_centre:  # spends
                cautious = settings.wanted_location == "auto"
                found = private_spatial_median(
                    settings.divided(X), settings.mu_left, rng, cautious=cautious
                )
                settings = settings.with_centre(found)
            if settings.scale_share is not None:  # paid for
                refined = coarse.refined(X, settings.location, rng)
                settings = settings.with_(scale=refined.scale)
            X = settings.divided(X)
            if settings.radius_event is not None:  # spends
                settings = settings.with_(sign=self._private_sign(X, settings, rng))
            K_hat = _statistic(X, settings, rng, progress)  # not private
            noisy = private_scatter(K_hat, settings.noise, rng)
        return self._publish(noisy, settings)

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
        of the batches does not depend on their values.
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
        stream = self._taken_stream()
        n = stream.sums.n_samples
        check_rows(n)
        settings = stream.settings.with_(n_samples=n)
        _warn_of_weakness(settings, stacklevel=3)
        self._debit(settings)
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

    def _settings(self, n: int, d: int, *, streamed: bool = False) -> Settings:
        """Check every parameter against the shape, before any row counts."""
        check_rows(n)
        self._check_choices(d)
        radius_event = self._radius_event(streamed=streamed)
        radius = self.radius if radius_event is None else 1.0  # until it is known
        location, scale = self._public_vectors(d)
        settings = Settings(
            n_components=self.n_components,
            epsilon=self.epsilon,
            delta=self.delta,
            calibration=self.calibration,
            n_samples=n,
            n_features=d,
            sign=as_sign(self.sign, radius, n_features=d),
            scheme=self._scheme(n, d, streamed=streamed),
            location=location,
            scale=scale,
            wanted_location=self._wanted_location(streamed=streamed),
            scale_share=self._scale_share(streamed=streamed),
            radius_event=radius_event,
            quantile=self._quantile(),
            counted=self.ledger is not None,
            seeded=rng_for(self.random_state).seeded,
            streamed=streamed,
        )
        _ = settings.noise  # a bad budget is refused here
        return settings

    def _debit(self, settings: Settings) -> None:
        """Enter the whole spend in the ledger, durably, before any noise is drawn."""
        if self.ledger is None:
            return
        from gdppca.ledgers import open_account  # SQL is loaded only where it is used

        ledger, dataset = open_account(self.ledger)
        ledger.spend(dataset, settings.debit)

    def _radius_event(self, *, streamed: bool) -> PureEvent | None:
        """What a private radius will spend, or None where the radius is public."""
        if not isinstance(self.radius, str) or self.radius != "quantile":
            return None
        share = _validate.fraction(quantile_share=self.quantile_share)
        if self.quantile is not None:
            _validate.fraction(quantile=self.quantile)
        if not isinstance(self.sign, str) or self.sign not in TYPICAL_QUANTILE:
            raise ParameterError(
                "`radius='quantile'` needs a sign given by name that has a cut-off."
            )
        if streamed:
            raise ParameterError(
                "`radius='quantile'` needs all rows at once. With partial_fit give a number."
            )
        epsilon = min(share * _validate.positive(epsilon=self.epsilon), _LARGEST_QUANTILE_EPSILON)
        return PureEvent(purpose="radius", epsilon=epsilon)

    def _quantile(self) -> float:
        """Which quantile a private radius is."""
        if self.quantile is not None:
            return _validate.fraction(quantile=self.quantile)
        return TYPICAL_QUANTILE.get(self.sign, 0.5) if isinstance(self.sign, str) else 0.5

    def _private_sign(self, X: np.ndarray, settings: Settings, rng: Rng) -> Sign:
        """Release the radius of the sign."""
        assert settings.radius_event is not None
        epsilon = settings.radius_event.epsilon
        radius = private_radius(X, settings.center, settings.quantile, epsilon, rng)
        return as_sign(self.sign, radius)

    def _check_choices(self, d: int) -> None:
        if isinstance(self.n_components, str):
            if self.n_components != "auto":
                raise ParameterError(
                    f"`n_components` must be a whole number or 'auto', got {self.n_components!r}."
                )
        else:
            check_components(self.n_components, d)
        if self.ledger is not None and self.random_state is not None:
            raise ParameterError(
                "`random_state` makes a simulation, which no ledger counts: leave one of them out."
            )

    def _public_vectors(self, d: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Public centre and scales, where they are arrays."""
        public = {
            name: _validate.vector(d, **{name: value})
            for name in ("location", "scale")
            if (value := getattr(self, name)) is not None and not isinstance(value, str)
        }
        location, scale = public.get("location"), public.get("scale")
        if scale is not None and not (scale > 0).all():
            raise ParameterError("`scale` must hold numbers > 0.")
        return location, scale

    def _wanted_location(self, *, streamed: bool) -> str | None:
        """Whether a private centre is asked for; "auto" leaves it to the public numbers."""
        if not isinstance(self.location, str):
            return None
        wanted = _validate.one_of(("private", "auto"), location=self.location)
        asks_for_pairs = self.calibration == "paper" or not _is_auto(self.pairs)
        if wanted == "auto":
            return None if streamed or asks_for_pairs else "auto"
        if streamed:
            raise ParameterError(
                "`location='private'` needs all rows at once. With partial_fit give None, 'auto' "
                "or a public centre."
            )
        if asks_for_pairs:
            raise ParameterError(
                "`location='private'` compares rows with a centre, not in pairs, and has tight "
                "noise: leave `pairs` at 'auto' and `calibration` at 'tight'."
            )
        return "private"

    def _scale_share(self, *, streamed: bool) -> float | None:
        """Share of μ² for private scales, None where they are not asked for."""
        if not isinstance(self.scale, str):
            return None
        _validate.one_of(("private",), scale=self.scale)
        if streamed:
            raise ParameterError(
                "`scale='private'` needs all rows at once. With partial_fit give numbers."
            )
        if self.calibration == "paper":
            raise ParameterError("`scale='private'` goes with `calibration='tight'` only.")
        return _validate.fraction(scale_share=self.scale_share)

    def _scheme(self, n: int, d: int, *, streamed: bool) -> Scheme:
        asked = as_scheme(self.pairs, n, d)
        if self.location is not None and not isinstance(self.location, str):
            return OneSample()
        if not streamed:
            return asked
        if self.pairs != "auto" and not isinstance(asked, Blocks):
            raise ParameterError(
                f"`pairs={self.pairs!r}` needs all rows at once. With partial_fit use a block size "
                "or 'auto'."
            )
        return asked if isinstance(asked, Blocks) else Blocks()

    def _start(self, d: int) -> Stream:
        settings = self._settings(2, d, streamed=True)  # as good as any n until all rows are in
        self._streaming = True
        return Stream(settings.new_sums(), rng_for(self.random_state), settings)

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
        values, vectors = linalg.eigen_descending(noisy.matrix)
        m = settings.n_components
        if isinstance(m, str):
            n, d = settings.n_samples, settings.n_features
            bias = centre_bias(settings.drawn, n, d) if settings.location is not None else 0.0
            m = components_above_noise(values, noisy.noise_sd, n, bias)
        release = Release(
            components=vectors[:, :m].T,
            scatter=noisy.matrix,
            noise_sd=noisy.noise_sd,
            sign=settings.sign.describe(),
            scheme=settings.scheme.describe(),
            calibration=settings.calibration,
            n_samples=settings.n_samples,
            n_features=settings.n_features,
            feature_names=self._names(),
            location=settings.location,
            scale=settings.scale,
            guarantee=settings.guarantee,
            method=type(self).__name__,
        )
        self.__dict__.pop("_streaming", None)
        self._adopt(release)
        if m == 0:  # only now: a warning may be an error, and the release is paid for
            warnings.warn(
                "No direction stands above the noise: there are no components. More rows or "
                "a larger epsilon may show some.",
                UserWarning,
                stacklevel=4,
            )
        return self


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _pairs_of(scheme: dict[str, Any]) -> int | str:
    """The parameter `pairs` behind a scheme's description."""
    if scheme["name"] in ("one-sample", "merged"):
        return "auto"
    return scheme.get("size", scheme["name"])


def _coarse_scale(X: np.ndarray, settings: Settings, rng: Rng) -> NoisyScale:
    assert settings.scale_share is not None
    return coarse_scale(X, settings.mu_left * math.sqrt(settings.scale_share), rng)


def _warn_of_weakness(settings: Settings, stacklevel: int) -> None:
    """Warn of doubtful budgets, from public numbers and before anything is drawn."""
    n = settings.n_samples
    warn_of_large_delta(settings.delta, n, stacklevel)
    if settings.radius_event is not None and settings.quantile_room < _LEAST_QUANTILE_ROOM:
        _warn(
            f"{n} rows and this budget are too little for a private radius: it may be far off. Use "
            "more rows, a larger `epsilon` or `quantile_share`, or give `radius` as a number.",
            stacklevel,
        )
    if settings.scale_share is not None:
        mu = settings.mu_left * math.sqrt(settings.scale_share)
        if scale_is_doubtful(n, settings.n_features, mu):
            _warn(
                f"{n} rows and this budget are too little for private scales: some may be far "
                "off. Use more rows, a larger `epsilon` or `scale_share`, or give `scale`.",
                stacklevel,
            )
    if settings.wanted_location == "private" and not settings.centre_budget.worthwhile:
        _warn(
            f"{n} rows and this budget are too little for a private centre: comparing pairs, "
            "`location=None`, is expected to be more accurate.",
            stacklevel,
        )
    reached = settings.guarantee.nominal_epsilon
    if reached > settings.epsilon:
        _warn(
            f"The paper's noise does not reach epsilon = {settings.epsilon:g} here; the guarantee "
            f"states the true value, {reached:.4g}.",
            stacklevel,
        )


def _warn(message: str, stacklevel: int) -> None:
    warnings.warn(message, PrivacyWarning, stacklevel=stacklevel + 1)


def _statistic(X: np.ndarray, settings: Settings, rng: Rng, progress: Progress) -> np.ndarray:
    """The exact scatter matrix, not private; rows in secret random order where order matters."""
    if settings.center is not None:
        return sign_covariance(X, settings.center, settings.sign, progress=progress)
    scheme = settings.scheme
    pairs = scheme.size if isinstance(scheme, Blocks) else scheme.name
    order = rng.permutation(len(X)) if scheme.ordered else None
    return kendall_tau(X, settings.sign, pairs, order=order, progress=progress)
