"""For the data owner only: which rows lie far from the released directions. NOT PRIVATE."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2, norm
from sklearn.utils.validation import check_is_fitted

from gdppca import _validate
from gdppca._errors import MissingExtraError, ParameterError, PrivacyWarning
from gdppca.estimators.base import PrivatePCA, checked_matrix
from gdppca.linalg import LARGEST, directions
from gdppca.releases.noise_floor import known_noise
from gdppca.theory import breakdown_bound, denoised_eigenvalues

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OWNER_ONLY = "for the data owner only - NOT PRIVATE"

_MAD = float(norm.ppf(0.75))  # median of |Z|
_LOOKS = {  # Okabe and Ito; marker as a second sign, for print
    "regular": ("o", "#6E6E6E"),
    "good leverage": ("^", "#0072B2"),
    "orthogonal outlier": ("s", "#E69F00"),
    "bad leverage": ("X", "#D55E00"),
}
KINDS = tuple(_LOOKS)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OutlierMap:
    """How far each row lies from the centre inside the subspace, and from the subspace.

    For the data owner only. NOT PRIVATE: each number belongs to one person.

    Parameters
    ----------
    score_distance : array of shape (n,)
        Distance from the centre inside the subspace, in standard deviations of the scores.
    orthogonal_distance : array of shape (n,)
        Distance from the subspace, in units of the (scaled) columns.
    cutoffs : (float, float)
        Distances that the given share of clean rows stays below.
    """

    score_distance: np.ndarray
    orthogonal_distance: np.ndarray
    cutoffs: tuple[float, float]

    def __repr__(self) -> str:
        return f"OutlierMap({len(self.score_distance)} rows; {OWNER_ONLY})"

    @property
    def kinds(self) -> np.ndarray:
        """What each row is: "regular", "good leverage", "orthogonal outlier" or "bad leverage".

        Good leverage: far out, but inside the subspace. Orthogonal outlier: away from the
        subspace. Bad leverage: both; such rows pull at a covariance matrix.
        """
        far = self.score_distance > self.cutoffs[0]
        off = self.orthogonal_distance > self.cutoffs[1]
        return np.array(KINDS)[far + 2 * off]


def outlier_map(X: Any, pca: PrivatePCA, *, level: float = 0.975) -> OutlierMap:
    r"""Distances of rows to a private fit. For the data owner only: NOT PRIVATE.

    Parameters
    ----------
    X : table of shape (n, d)
        Rows with the columns of the fit.
    pca : DPPCA or another fitted estimator of this package
        Where the directions come from.
    level : float, default 0.975
        Share of clean rows that each cut-off is to stay above.

    Returns
    -------
    OutlierMap
        Two distances per row, and their cut-offs.

    Notes
    -----
    **Privacy.** None: the result belongs next to the rows, and so does its picture. What is done
    to the rows after looking at it (dropping some, say) is not covered by any later guarantee.

    The outlier map of ROBPCA [1]_. Score distance
    :math:`\sqrt{\sum_k t_k^2/l_k}` with l the squared normalised median absolute deviation of the
    scores, cut off at :math:`\sqrt{\chi^2_{m}}`; orthogonal distance, whose power 2/3 is nearly
    Gaussian, cut off by the median and median absolute deviation of that power. The centre is
    that of the fit, or the columns' medians where it needed none.

    References
    ----------
    .. [1] M. Hubert, P. J. Rousseeuw, K. Vanden Branden (2005). ROBPCA: a new approach to robust
       principal component analysis. Technometrics 47.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.estimators.diagnostics import outlier_map
    >>> X = np.random.default_rng(0).normal(size=(2000, 4)) * [9, 3, 1, 1]
    >>> X[:20] = [0, 0, 30, 30]
    >>> pca = DPPCA(n_components=2, epsilon=1.0, delta=1e-6).fit(X)
    >>> found = outlier_map(X, pca)                  # warns: NOT PRIVATE
    >>> bool((found.kinds[:20] == "orthogonal outlier").all())
    True
    >>> found
    OutlierMap(2000 rows; for the data owner only - NOT PRIVATE)
    """
    _require_fitted(pca)
    level = _validate.fraction(level=level)
    rows = checked_matrix(pca, X, reset=False).values
    warnings.warn(
        "An outlier map is not private: each distance belongs to one person. Keep it, and "
        "decisions drawn from it, next to the rows.",
        PrivacyWarning,
        stacklevel=2,
    )
    unit, length = directions(_centred(rows, pca))
    V = pca.components_
    share = unit @ V.T
    scores = _product(share, length[:, None])
    # What a unit vector leaves outside the subspace; below the rounding error it is nothing.
    outside = np.linalg.norm(unit - share @ V, axis=1)
    orthogonal = _product(np.where(outside > 1e-12, outside, 0.0), length)
    if len(V) == rows.shape[1]:
        orthogonal = np.zeros(len(rows))
    return OutlierMap(
        score_distance=_score_distance(scores),
        orthogonal_distance=orthogonal,
        cutoffs=(float(np.sqrt(chi2.ppf(level, len(V)))), _orthogonal_cutoff(orthogonal, level)),
    )


def breakdown_of(pca: PrivatePCA) -> float:
    r"""Share of rows below which no corruption could have turned the fit by a right angle.

    Parameters
    ----------
    pca : DPPCA
        Fitted, with fewer components than columns.

    Returns
    -------
    float
        Lower bound on the breakdown point at the fitted matrix, at most 1/8; zero where the
        last component does not stand above the noise.

    Notes
    -----
    **Privacy.** Nothing is spent: unlike the outlier map this comes from the release alone and
    may be published.

    **Paper.** Thm 3.3, with the eigenvalues of the released matrix freed from the bias of its
    noise in place of :math:`\hat\phi_g`. See `gdppca.theory.breakdown_bound`.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.estimators.diagnostics import breakdown_of
    >>> X = np.random.default_rng(0).normal(size=(2000, 4)) * [9, 3, 1, 1]
    >>> pca = DPPCA(n_components=2, epsilon=1.0, delta=1e-6, random_state=0).fit(X)
    >>> round(breakdown_of(pca), 2)
    0.02
    """
    _require_fitted(pca)
    release = pca.release_
    if release.scatter is None or release.sign is None:
        raise ParameterError("`pca` must be a fit whose release holds a sign and a matrix.")
    eigenvalues = denoised_eigenvalues(pca.eigenvalues_, *known_noise(release))
    rates = known_noise(release).rates
    least = 1.0 if rates is None else float(rates.min())  # a row is divided by its rates
    return breakdown_bound(eigenvalues, pca.n_components_, release.sign["sup_norm"] / least)


def _require_fitted(pca: Any) -> None:
    if not isinstance(pca, PrivatePCA):
        raise ParameterError("`pca` must be a fitted estimator of this package.")
    check_is_fitted(pca, "release_")


def _centred(rows: np.ndarray, pca: PrivatePCA) -> np.ndarray:
    """Rows from the centre, in units of the scales; halves first, so that nothing overflows."""
    halves = 0.5 * rows
    center = np.median(halves, axis=0) if pca.mean_ is None else 0.5 * pca.mean_
    unit = 0.5 if pca.scale_ is None else 0.5 * pca.scale_
    with np.errstate(over="ignore"):
        centred: np.ndarray = np.clip((halves - center) / unit, -LARGEST, LARGEST)
    return centred


def _product(share: np.ndarray, length: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        product: np.ndarray = np.clip(share * length, -LARGEST, LARGEST)
    return product


def _score_distance(scores: np.ndarray) -> np.ndarray:
    """Length of the scores in robust standard deviations; a constant score adds nothing."""
    halves = 0.5 * scores
    spread = np.median(np.abs(halves - np.median(halves, axis=0)), axis=0) / _MAD
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        standard = np.where(halves == 0, 0.0, np.abs(halves) / spread)
        lengths: np.ndarray = directions(np.minimum(standard, LARGEST))[1]  # none above the largest
    return lengths


def _orthogonal_cutoff(distances: np.ndarray, level: float) -> float:
    """Quantile of clean distances by the Wilson-Hilferty power 2/3."""
    powers = distances ** (2 / 3)
    middle = np.median(powers)
    spread = np.median(np.abs(powers - middle)) / _MAD
    with np.errstate(over="ignore"):
        return float(min((middle + spread * norm.ppf(level)) ** 1.5, LARGEST))


def outlier_figure(found: OutlierMap) -> Figure:
    """Draw an outlier map. For the data owner only: NOT PRIVATE, and the picture says so.

    Parameters
    ----------
    found : OutlierMap
        From `outlier_map`.

    Returns
    -------
    matplotlib.figure.Figure
        It needs no screen; save it with ``savefig``, next to the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.estimators.diagnostics import outlier_figure, outlier_map
    >>> X = np.random.default_rng(0).normal(size=(500, 4)) * [9, 3, 1, 1]
    >>> figure = outlier_figure(outlier_map(X, DPPCA(n_components=2).fit(X)))
    >>> figure.savefig("keep-private.png")  # doctest: +SKIP
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("Plots need matplotlib: pip install matplotlib.") from None
    figure = Figure(figsize=(6.0, 4.6), dpi=150, layout="constrained")
    _draw(found, figure.subplots())
    figure.suptitle(OWNER_ONLY, color="#B00000", fontweight="bold", fontsize=10)
    return figure


def _draw(found: OutlierMap, axes: Axes) -> None:
    kinds = found.kinds
    for kind, (marker, colour) in _LOOKS.items():
        own = kinds == kind
        axes.plot(
            found.score_distance[own],
            found.orthogonal_distance[own],
            marker,
            color=colour,
            ms=3 if kind == "regular" else 5,
            mew=0,
            alpha=0.4 if kind == "regular" else 0.8,
            label=f"{kind} ({own.sum()})",
            rasterized=True,
        )
    axes.axvline(found.cutoffs[0], color="#6E6E6E", lw=0.8, ls="--")
    axes.axhline(found.cutoffs[1], color="#6E6E6E", lw=0.8, ls="--")
    axes.set(
        xlabel="score distance (inside the subspace)",
        ylabel="orthogonal distance (from the subspace)",
        title="Outlier map",
    )
    axes.legend(frameon=False, fontsize=8, loc="best")
    axes.spines[["top", "right"]].set_visible(False)
