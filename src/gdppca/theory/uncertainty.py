r"""How far released directions may be from those without noise, from the release alone.

The law of the noise is public, so everything here is post-processing of a release and costs no
budget. A parametric bootstrap: take the released matrix, free its eigenvalues from the bias that
noise adds, draw fresh noise around it many times, that of a private centre and of private scales
too, and see how far the directions move.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg as dense
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.linalg import eigen_descending
from gdppca.noise.bits import generator_for
from gdppca.theory.intervals import PRIVACY, PRIVACY_AND_SAMPLING, LoadingIntervals, about
from gdppca.theory.noise_floor import components_above_noise, denoised_eigenvalues
from gdppca.theory.quadrature import LOG_X, STEP, X
from gdppca.theory.rates import corrected, entry_sd
from gdppca.theory.shifted import shifted_matrix, typical_distance
from gdppca.theory.spherical import spherical_eigenvalues_inverse
from gdppca.theory.uneven import EntryNoise, Gaps, RateNoise, UnevenNoise, finite_errors

_SEED = 20251012  # post-processing: the same release gives the same intervals everywhere
_DRAWS = (100, 400)  # fewest and most
_KEPT, _DRAWN = 2e7, 1e8  # numbers kept of all draws together, and drawn
_LEAST_SHARE = 1e-6  # of an eigenvalue that is not above zero
DENSE = 256  # columns up to which a full decomposition is cheap
_ENDLESS = 10**18  # so many rows have no sampling error


def loading_intervals(
    scatter: np.ndarray,
    noise_sd: float,
    n_samples: float,
    n_components: int,
    level: float = 0.9,
    *,
    sampling: bool = False,
    centre_bias: float = 0.0,
    scale_error: np.ndarray | None = None,
    rates: np.ndarray | None = None,
    rate_error: np.ndarray | None = None,
) -> LoadingIntervals:
    r"""Intervals for the loadings without noise, from the noisy matrix alone.

    Parameters
    ----------
    scatter : array of shape (d, d)
        The released matrix.
    noise_sd : float
        σ of its packed noise.
    n_samples : float
        Number of rows; only `sampling` looks at it.
    n_components : int
        m, how many leading directions to look at.
    level : float, default 0.9
        Share of the loadings that shall lie in their intervals.
    sampling : bool, default False
        False asks for the directions of the same rows without noise. True asks for those of the
        population, and takes the rows to be independent from an elliptical law and the matrix to
        be that of the spherical sign.
    centre_bias : float, default 0
        What the error of a private centre adds to the trace, d times its variance per coordinate
        over the typical distance.
    scale_error : None or array of shape (d,), default None
        Standard deviation of the logarithm of each private scale; what is infinite is taken as it
        was released.
    rates : None or array of shape (d,), default None
        Observed share of each column, where cells are missing: the directions are those of the
        matrix that is corrected for them, `gdppca.theory.corrected`.
    rate_error : None or array of shape (d,), default None
        Standard deviation of each rate; none where rates are exact.

    Returns
    -------
    LoadingIntervals
        Intervals, expected angles, and what they are about.

    Notes
    -----
    **Privacy.** Nothing is spent: post-processing. The same input gives the same output.

    In the basis of the released eigenvectors the noise has independent entries of variance
    :math:`s_{jk}^2`, which is :math:`\sigma^2/2` off the diagonal; sampling adds
    :math:`E[u_j^2 u_k^2]/n`, with u the sign of an elliptical law of the fitted shape. Its effect
    on eigenvalues is undone first: one of θ above a flat bulk of k shows up at
    :math:`\theta + s^2 k/\theta`, a gap γ between two at about :math:`\sqrt{\gamma^2 + 4s^2}`.

    Each draw splits a noisy direction into :math:`a v + w`, w orthogonal to v. A released loading
    :math:`\tilde v_j = a v_j + w_j` is turned around in two ways: as :math:`(\tilde v_j - w_j)`
    over the mean of a, which is right for a given loading; and as :math:`a \tilde v_j + w_j`,
    which is right on average over all directions. The interval is the hull of both.

    A private centre that is off by e typical distances, :math:`e \sim N(0, s_c^2 I)`, turns the
    matrix of a law that is symmetric around its centre into that of `gdppca.theory.shifted`, about
    :math:`(K + ee^\top)/(1 + |e|^2)` where no direction is far wider than the others.
    Private scales that are off by factors :math:`e^{\eta}`, :math:`H = \operatorname{diag}(\eta)`,
    add to first order :math:`HK + KH - 2 E[(u^\top H u) uu^\top]` for an elliptical law. Both are
    drawn with the noise of the matrix. A private radius is taken as it is.

    Where cells are missing the noise is uneven, see `gdppca.theory.rates`: it is drawn as it is
    and turned into the basis of the eigenvectors, and the errors of the rates with it.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import loading_intervals
    >>> found = loading_intervals(np.diag([0.5, 0.3, 0.1, 0.1]), 0.01, 5000, 2)
    >>> found.covers, found.above_noise
    ('privacy noise', 2)
    >>> np.stack([found.lower[0], found.upper[0]]).round(2)
    array([[ 1.  , -0.06, -0.03, -0.03],
           [ 1.  ,  0.06,  0.03,  0.03]])
    """
    matrix = _square(scatter)
    level = _validate.fraction(level=level)
    m = _validate.count(n_components=n_components)
    if m > len(matrix):
        raise ParameterError(
            f"`n_components` must not exceed the number of columns {len(matrix)}, got {m}."
        )
    gaps = Gaps.of(rates, rate_error, len(matrix))
    matrix = corrected(matrix, gaps.rates)
    values, vectors = eigen_descending(matrix)
    rows = _validate.finite_positive(n_samples=n_samples) if sampling else _ENDLESS
    above = _above_noise(values, noise_sd, rows, centre_bias, gaps)
    noise = _noise_of(values, vectors, noise_sd, rows, centre_bias, gaps)
    scales = ScaleNoise.of(values, vectors, finite_errors("scale_error", scale_error, len(matrix)))
    off = RateNoise(gaps.relative_error, values, vectors)
    start = _denoised(values, noise.variances + scales.variances + off.variances, above)
    centre_sd = math.sqrt(centre_bias / len(matrix))
    turned = _noisy_directions(start, noise, min(m, above), centre_sd, (scales, off))
    lower, upper = np.full((2, m, len(matrix)), [[[-1.0]], [[1.0]]])
    lower[:above], upper[:above] = _hull(vectors, turned, level)
    return LoadingIntervals(
        components=vectors[:, :m].T,
        lower=lower,
        upper=upper,
        angles=_angles(turned, m),
        subspace_angle=_subspace_angle(turned, m),
        above_noise=min(m, above),
        level=level,
        covers=PRIVACY_AND_SAMPLING if sampling else PRIVACY,
        about=about(
            sampling=sampling,
            centre=centre_bias > 0,
            scales=scale_error is not None,
            gaps=gaps.rates is not None,
        ),
    )


@dataclass(frozen=True, eq=False)
class ScaleNoise:
    """What errors of private scales do to the matrix, in the basis of its eigenvectors."""

    errors: np.ndarray  # of the logarithms, one per column
    vectors: np.ndarray
    moments: np.ndarray  # E[u_j² u_k²], times the trace

    @classmethod
    def of(cls, values: np.ndarray, vectors: np.ndarray, errors: np.ndarray) -> ScaleNoise:
        if not errors.any():
            return cls(errors, vectors, np.zeros((len(values), len(values))))
        phi = np.maximum(values, 0.0)
        return cls(errors, vectors, _moments_from(phi) * phi.sum())

    @property
    def gain(self) -> np.ndarray:
        """How much of H off the diagonal goes into the matrix: φ_j + φ_k - 4 E[u_j² u_k²]."""
        phi = self.moments.sum(axis=1)
        return phi[:, None] + phi - 4 * self.moments

    @property
    def variances(self) -> np.ndarray:
        """Of each entry of what is added."""
        squares = self.vectors**2
        spread = squares.T @ (self.errors[:, None] ** 2 * squares)
        return spread * self.gain**2

    def __bool__(self) -> bool:
        return bool(self.errors.any())

    def added(self, generator: Any) -> np.ndarray | float:
        """HK + KH - 2 E[(u'Hu)uu'] of one draw of H."""
        if not self.errors.any():
            return 0.0
        eta = self.errors * generator.normal(size=len(self.errors))
        H = self.vectors.T @ (eta[:, None] * self.vectors)
        changed, own = H * self.gain, np.diag(H)
        np.fill_diagonal(changed, 2 * own * self.moments.sum(axis=1) - 2 * self.moments @ own)
        return changed


def _square(scatter: np.ndarray) -> np.ndarray:
    matrix = _validate.floats(scatter)
    if matrix is None or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        matrix = np.full((1, 1), np.nan)
    if not np.isfinite(matrix).all():
        raise ParameterError("`scatter` must be a square matrix of finite numbers.")
    return matrix


def _above_noise(values: np.ndarray, noise_sd: float, rows: float, bias: float, gaps: Gaps) -> int:
    """How many directions stand above the noise; one that is left over is fixed by the others."""
    d = len(values)
    if noise_sd == 0 and rows == _ENDLESS:
        return d
    above = components_above_noise(values, noise_sd, int(rows), bias, gaps.rates, gaps.errors)
    return d if above == d - 1 else above


def _noise_of(
    values: np.ndarray,
    vectors: np.ndarray,
    noise_sd: float,
    rows: float,
    bias: float,
    gaps: Gaps,
) -> EntryNoise | UnevenNoise:
    """Noise of the matrix, and sampling where rows are counted, for its eigenvectors."""
    d = len(values)
    sampling = np.zeros((d, d))
    if rows != _ENDLESS:
        phi = denoised_eigenvalues(values, noise_sd, int(rows), bias, gaps.rates, gaps.errors)
        sampling = _sampling(phi, vectors, gaps.rates) / rows
    if gaps.rates is None:
        return EntryNoise(noise_sd**2 * (0.5 + 0.5 * np.eye(d)) + sampling)
    return UnevenNoise(entry_sd(noise_sd, gaps.rates, d), vectors, sampling)


def _sampling(phi: np.ndarray, vectors: np.ndarray, rates: np.ndarray | None) -> np.ndarray:
    """Variance of each entry from sampling, times the number of rows.

    A missing cell that is divided by its rate has the same mean as one that was seen, and adds a
    variance of its own to the part of a row in each direction.
    """
    moments = _moments_from(phi)
    means = moments.sum(axis=1)  # E[u_j²], for the squares of a unit vector add up to one
    if rates is not None:
        own = vectors**2 @ means  # of each column
        added = vectors.T**2 @ ((1 / rates - 1) * own)
        spread = np.outer(means, added) + np.outer(added, means + added)
        moments = phi.sum() ** 2 * (moments + spread * (1 + np.eye(len(phi))))
        means = phi.sum() * means
    return np.asarray(moments - np.diag(means**2))


def sign_moments(lam: np.ndarray) -> np.ndarray:
    r"""E[u_j² u_k²] of the sign u of an elliptical law with eigenvalues λ.

    With :math:`1/q^2 = \int_0^\infty x e^{-xq} dx` it is one integral, for j ≠ k

    .. math:: \frac{\lambda_j \lambda_k}{4} \int_0^\infty
        \frac{x\, dx}{(1 + \lambda_j x)(1 + \lambda_k x) \prod_i \sqrt{1 + \lambda_i x}},

    three times that for j = k, by the trapezoid rule in log x (as in `spherical_eigenvalues`).
    """
    scaled = lam / lam.max()
    shrunk = np.log1p(np.outer(X, scaled))
    weights = 0.25 * STEP * np.exp(2 * LOG_X - 0.5 * shrunk.sum(axis=1))
    each = scaled * np.exp(-shrunk)
    moments = each.T @ (weights[:, None] * each)
    return moments * (1 + 2 * np.eye(len(lam)))


def _moments_from(phi: np.ndarray) -> np.ndarray:
    """The same from the eigenvalues φ of the sign's matrix; of a sphere where all are zero."""
    return sign_moments(spherical_eigenvalues_inverse(phi) if phi.any() else np.ones(len(phi)))


def _denoised(values: np.ndarray, variances: np.ndarray, above: int) -> np.ndarray:
    """Eigenvalues freed from the bias of the noise: spikes above a flat bulk, gaps between them."""
    bulk = float(np.mean(values[min(above, len(values) - 1) :]))
    observed = values[:above] - bulk
    spread = 4 * variances[:above, above:].sum(axis=1)
    spikes = bulk + 0.5 * (observed + np.sqrt(np.maximum(observed**2 - spread, 0.0)))
    if above > 1:
        repelled = 4 * np.diagonal(variances[:above, :above], offset=1)
        gaps = np.sqrt(np.maximum(np.diff(spikes) ** 2 - repelled, 0.0))
        steps = -np.concatenate([[0.0], np.cumsum(gaps)])
        spikes = spikes.mean() + steps - steps.mean()
    return np.concatenate([spikes, np.full(len(values) - above, bulk)])


def _noisy_directions(
    start: np.ndarray,
    noise: EntryNoise | UnevenNoise,
    m: int,
    centre_sd: float,
    others: tuple[ScaleNoise, RateNoise],
) -> np.ndarray:
    """Leading m eigenvectors of many noisy matrices, (draws, d, m), in the basis of no noise."""
    d = len(start)
    draws = int(np.clip(min(_KEPT / max(m * d, 1), _DRAWN / d**2), *_DRAWS))
    turned = np.zeros((draws, d, m))
    if m == 0 or not (noise or centre_sd or any(others)):
        turned[:] = np.eye(d)[:, :m]
        return turned
    generator = generator_for(_SEED)
    shifted = _shifted(start)
    for draw in turned:
        matrix = noise.drawn(generator)
        exact = shifted(centre_sd * generator.normal(size=d)) if centre_sd else np.diag(start)
        for other in others:
            exact = exact + other.added(generator)
        leading = _leading(exact + matrix, m)
        draw[:] = leading * np.where(np.diagonal(leading) < 0, -1.0, 1.0)
    return turned


def _shifted(start: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """What a centre that is off by so many typical distances makes of the matrix."""
    total = float(np.maximum(start, 0.0).sum())
    if len(start) > DENSE or not total > 0:  # to second order; exact for rows equally far

        def rough(shift: np.ndarray) -> np.ndarray:
            return (np.diag(start) + np.outer(shift, shift)) / (1 + shift @ shift)

        return rough
    lam = spherical_eigenvalues_inverse(np.maximum(start, _LEAST_SHARE * total))
    distance = typical_distance(lam)
    return lambda shift: total * shifted_matrix(lam, distance * shift)


def _leading(matrix: np.ndarray, m: int) -> np.ndarray:
    """Eigenvectors of the m largest eigenvalues, largest first."""
    d = len(matrix)
    if d > DENSE and 8 * m < d:
        with contextlib.suppress(ArpackNoConvergence):
            values, vectors = eigsh(matrix, k=m, which="LA", v0=np.ones(d), tol=1e-6)
            return vectors[:, np.argsort(-values)]
    return dense.eigh(matrix, subset_by_index=[d - m, d - 1])[1][:, ::-1]


def _hull(vectors: np.ndarray, turned: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the intervals of the leading components; both signs of w are equally likely."""
    m = turned.shape[2]
    kept = np.diagonal(turned[:, :m], axis1=1, axis2=2)  # a, (draws, m)
    lower, upper = np.empty((2, m, len(vectors)))
    tails = [(1 - level) / 2, (1 + level) / 2]
    for k in range(m):
        plug_in = vectors[:, k]
        beside = turned[:, :, k] @ vectors.T - np.outer(kept[:, k], plug_in)  # w
        reach = np.quantile(np.abs(beside), level, axis=0, method="higher")
        shrunk = np.outer(kept[:, k], plug_in)
        average = np.quantile(np.concatenate([shrunk - beside, shrunk + beside]), tails, axis=0)
        mean = max(float(kept[:, k].mean()), 1e-9)
        lower[k] = np.minimum((plug_in - reach) / mean, average[0])
        upper[k] = np.maximum((plug_in + reach) / mean, average[1])
    return np.clip(lower, -1.0, 1.0), np.clip(upper, -1.0, 1.0)


def _angles(turned: np.ndarray, m: int) -> np.ndarray:
    """Mean sines of the leading components; those in the noise are random in what is left."""
    _, d, above = turned.shape
    beside = turned * (1 - np.eye(d)[:, :above])
    sines = np.linalg.norm(beside, axis=1).mean(axis=0)
    return np.concatenate([sines, np.full(m - above, math.sqrt(1 - 1 / max(d - above, 1)))])


def _subspace_angle(turned: np.ndarray, m: int) -> float:
    """Mean sine of the largest angle between the leading subspaces."""
    _, d, above = turned.shape
    if m == d:
        return 0.0
    if m > above:
        return 1.0
    return float(np.linalg.norm(turned[:, m:], ord=2, axis=(1, 2)).mean().clip(max=1.0))
