"""The paper's method, with tight noise: `DPPCA`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from gdppca import _validate, linalg
from gdppca._errors import (
    DataError,
    NotAvailableError,
    ParameterError,
    PrivacyWarning,
    ReleaseError,
    StateError,
)
from gdppca.estimators._base import PrivatePCA
from gdppca.kernels import (
    Blocks,
    OneSample,
    PairSum,
    Progress,
    Scheme,
    SignSum,
    as_scheme,
    kendall_tau,
    sign_covariance,
    silent,
)
from gdppca.linalg import LARGEST
from gdppca.privacy import Guarantee, NonPrivateEvent, Status
from gdppca.randomness import Rng, rng_for
from gdppca.releases import NoisyScatter, Release, ScatterNoise, private_scatter, scatter_noise
from gdppca.signs import Sign, as_sign, sign_from_description
from gdppca.theory import components_above_noise

_ASSUMED = (
    "Each person is in one row only.",
    "The number of rows and the column names are public.",
    "Parameters were chosen without looking at the data.",
    "Nothing counts repeated fits: each one spends its own budget.",
)
_ASSUMED_LOCATION = "The centre was chosen without looking at the data."
_ASSUMED_SCALE = "The column scales were chosen without looking at the data."
_ASSUMED_ORDER = (
    "Rows came in batches whose order did not depend on their values; "
    "rows were shuffled inside each batch only."
)


@dataclass(frozen=True)
class _Settings:
    """Everything that a fit needs to know before it sees a row, frozen."""

    n_components: int | str
    epsilon: float
    delta: float
    calibration: str
    n_samples: int
    n_features: int
    sign: Sign
    scheme: Scheme
    location: np.ndarray | None
    scale: np.ndarray | None
    noise: ScatterNoise


@dataclass
class _Accumulated:
    """What `partial_fit` gathers until `finalize`: exact sums, not private.

    `frozen` is a copy of the estimator as it was at the first batch: noise for other parameters
    than those of the sums would protect nobody.
    """

    sums: PairSum | SignSum
    rng: Rng
    frozen: DPPCA


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
    radius : None, float or "sqrt_d", default None
        Cut-off of a named sign that has one; None is √d.
    pairs : "auto", "all", "halves" or int, default "auto"
        Which pairs of rows are compared: all of them, row i with row i + ⌊n/2⌋, or those inside
        random blocks of so many rows. "auto" takes all pairs while that is cheap, then blocks.
    calibration : "tight" or "paper", default "tight"
        Exact noise, or the larger noise that the paper states.
    location : None or array of shape (d,), default None
        None compares pairs of rows and needs no centre. A public centre halves the noise.
    scale : None or array of shape (d,), default None
        Public column scales to divide by.
    ledger : None
        Where spends are recorded; not available in this version.
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
    public: one Gaussian event. `transform` is not private.

    **Paper.** g-DPPCA of Sec 2.2: :math:`\tilde K_g = \hat K_g + Z`, eigenvectors of
    :math:`\tilde K_g`. ``calibration="paper"`` with ``pairs="all"`` is the paper's method.

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
        pairs: Any = "auto",
        calibration: str = "tight",
        location: Any = None,
        scale: Any = None,
        ledger: Any = None,
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.sign = sign
        self.radius = radius
        self.pairs = pairs
        self.calibration = calibration
        self.location = location
        self.scale = scale
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

    def _fit(self, X: Any, progress: Progress = silent) -> Self:
        self._forget_partial()
        X = self._checked(X, reset=True).values
        settings = self._settings(*X.shape)
        rng = rng_for(self.random_state)
        K_hat = _statistic(X, settings, rng, progress)  # not private
        return self._publish(private_scatter(K_hat, settings.noise, rng), settings, rng)

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
        first = not hasattr(self, "_accumulated")
        if first and hasattr(self, "release_"):
            raise StateError("The release is made. Use sklearn.base.clone(...) for new rows.")
        X = self._checked(X, reset=first).values
        if first:
            self._accumulated = self._start(X.shape[1])
        accumulated = self._accumulated
        _, scale = accumulated.frozen._public_vectors(X.shape[1])
        order = accumulated.rng.permutation(len(X))
        accumulated.sums.update(_divided(X, scale), order)
        return self

    def finalize(self) -> Self:
        """Draw the noise, once, over all rows given to `partial_fit`.

        Returns
        -------
        DPPCA
            Itself, fitted; the exact sums are gone.
        """
        if not hasattr(self, "_accumulated"):
            raise StateError("There is nothing to finalize: call partial_fit first, finalize once.")
        sums, rng, frozen = vars(self._accumulated).values()
        settings = frozen._settings(sums.n_samples, sums.n_features, streamed=True)
        K_hat = sums.mean()  # not private
        self._forget_partial()
        noisy = private_scatter(K_hat, settings.noise, rng)
        return self._publish(noisy, settings, rng, streamed=True)

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
        if release.sign is None or release.scheme is None:
            raise ReleaseError(f"The release was made by {release.method}, not by DPPCA.")
        scheme = release.scheme
        pca = cls(
            n_components=len(release.components),
            # The true ε with tight noise is the noise that was drawn, whatever the calibration.
            epsilon=release.guarantee.nominal_epsilon,
            delta=release.guarantee.delta,
            sign=sign_from_description(release.sign),
            pairs=scheme.get("size", scheme["name"]) if scheme["name"] != "one-sample" else "auto",
            location=release.location,
            scale=release.scale,
        )
        pca.n_features_in_ = release.n_features
        generic = tuple(f"x{k}" for k in range(release.n_features))
        if release.feature_names != generic:
            pca.feature_names_in_ = np.asarray(release.feature_names, dtype=object)
        return pca._adopt(release)

    def _settings(self, n: int, d: int, *, streamed: bool = False) -> _Settings:
        """Check every parameter against the shape, before any row counts."""
        if n < 2:
            raise DataError(f"At least 2 rows are needed, got {n} sample{'s' * (n != 1)}.")
        self._check_choices(n, d)
        sign = as_sign(self.sign, self.radius, n_features=d)
        location, scale = self._public_vectors(d)
        scheme = self._scheme(n, d, streamed=streamed)
        noise = scatter_noise(
            epsilon=self.epsilon,
            delta=self.delta,
            sign=sign,
            scheme=scheme,
            n_samples=n,
            n_features=d,
            calibration=self.calibration,
        )
        return _Settings(
            n_components=self.n_components,
            epsilon=self.epsilon,
            delta=self.delta,
            calibration=self.calibration,
            n_samples=n,
            n_features=d,
            sign=sign,
            scheme=scheme,
            location=location,
            scale=scale,
            noise=noise,
        )

    def _check_choices(self, n: int, d: int) -> None:
        if isinstance(self.n_components, str):
            _validate.one_of(("auto",), n_components=self.n_components)
        elif _validate.count(n_components=self.n_components) > d:
            raise ParameterError(
                f"`n_components` must not exceed the number of columns {d}, "
                f"got {self.n_components}."
            )
        if self.ledger is not None:
            raise NotAvailableError("`ledger` is not available in this version; use None.")
        if _validate.fraction(delta=self.delta) >= 1 / n:
            warnings.warn(
                f"`delta` = {self.delta:g} is not below 1/n with n = {n} rows: publishing one "
                "person's whole row could pass as private. Choose it far smaller.",
                PrivacyWarning,
                stacklevel=5,
            )

    def _public_vectors(self, d: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        for name in ("location", "scale"):
            value = getattr(self, name)
            if isinstance(value, str):
                _validate.one_of(
                    ("private", "auto") if name == "location" else ("private",), **{name: value}
                )
                raise NotAvailableError(
                    f"`{name}={value!r}` is not available in this version. Give an array that was "
                    "chosen without looking at the data, or None."
                )
        location = None if self.location is None else _validate.vector(d, location=self.location)
        scale = None if self.scale is None else _validate.vector(d, scale=self.scale)
        if scale is not None and not (scale > 0).all():
            raise ParameterError("`scale` must hold numbers > 0.")
        return location, scale

    def _scheme(self, n: int, d: int, *, streamed: bool) -> Scheme:
        asked = as_scheme(self.pairs, n, d)
        if self.location is not None:
            return OneSample()
        if not streamed:
            return asked
        if self.pairs != "auto" and not isinstance(asked, Blocks):
            raise ParameterError(
                f"`pairs={self.pairs!r}` needs all rows at once. With partial_fit use a block size "
                "or 'auto'."
            )
        return asked if isinstance(asked, Blocks) else Blocks()

    def _start(self, d: int) -> _Accumulated:
        settings = self._settings(2, d, streamed=True)  # as good as any n for sign and scheme
        sign, scheme = settings.sign, settings.scheme
        sums: PairSum | SignSum
        if settings.location is not None:
            sums = SignSum(sign, _divided(settings.location, settings.scale))
        else:
            assert isinstance(scheme, Blocks)
            sums = PairSum(sign, d, pairs=scheme.size)
        return _Accumulated(sums, rng_for(self.random_state), clone(self))

    def _forget_partial(self) -> None:
        self.__dict__.pop("_accumulated", None)

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to be pickled with exact sums inside."""
        if hasattr(self, "_accumulated"):
            raise StateError("Exact sums are not private and are not pickled: call finalize first.")
        state: dict[str, Any] = super().__getstate__()
        return state

    def _publish(
        self, noisy: NoisyScatter, settings: _Settings, rng: Rng, *, streamed: bool = False
    ) -> Self:
        """Post-process the noisy matrix into a release and take it over."""
        values, vectors = linalg.eigen_descending(noisy.matrix)
        m = settings.n_components
        if isinstance(m, str):
            m = components_above_noise(values, noisy.noise_sd, settings.n_samples)
            if m == 0:
                warnings.warn(
                    "No direction stands above the noise: there are no components. More rows or "
                    "a larger epsilon may show some.",
                    UserWarning,
                    stacklevel=4,
                )
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
            guarantee=_guarantee(noisy, settings, rng, streamed=streamed),
            method=type(self).__name__,
        )
        return self._adopt(release)


def _guarantee(noisy: NoisyScatter, settings: _Settings, rng: Rng, *, streamed: bool) -> Guarantee:
    """What the draw promises, with everything that it takes for granted."""
    assumed = list(_ASSUMED)
    if settings.location is not None:
        assumed.append(_ASSUMED_LOCATION)
    if settings.scale is not None:
        assumed.append(_ASSUMED_SCALE)
    if streamed and settings.scheme.ordered:
        assumed.append(_ASSUMED_ORDER)
    exact = isinstance(noisy.event, NonPrivateEvent)
    guarantee = Guarantee(
        events=(noisy.event,),
        delta=settings.delta,
        assumptions=tuple(assumed),
        seeded=rng.seeded,
        status=Status.NONE if exact else Status.PROVEN,
        reason="epsilon is infinite, so no noise was added" if exact else "",
    )
    if guarantee.nominal_epsilon > settings.epsilon:
        warnings.warn(
            f"The paper's noise does not reach epsilon = {settings.epsilon:g} here; the guarantee "
            f"states the true value, {guarantee.nominal_epsilon:.4g}.",
            PrivacyWarning,
            stacklevel=5,
        )
    return guarantee


def _statistic(X: np.ndarray, settings: _Settings, rng: Rng, progress: Progress) -> np.ndarray:
    """The exact scatter matrix, not private; rows in secret random order where order matters."""
    X = _divided(X, settings.scale)
    if settings.location is not None:
        center = _divided(settings.location, settings.scale)
        return sign_covariance(X, center, settings.sign, progress=progress)
    scheme = settings.scheme
    pairs = scheme.size if isinstance(scheme, Blocks) else scheme.name
    order = rng.permutation(len(X)) if scheme.ordered else None
    return kendall_tau(X, settings.sign, pairs, order=order, progress=progress)


def _divided(values: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Values over the scales; what leaves the range of floats stays at its end."""
    if scale is None:
        return values
    with np.errstate(over="ignore"):
        return np.clip(values / scale, -LARGEST, LARGEST)
