r"""Loadings that are drawn to what the known noise leaves of them.

The law of the noise is public, so the estimate of the loadings given the released matrix is
post-processing and costs no budget. See docs/guide/loadings.md for the model, for what it gains
and where it fails.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import linalg as dense
from scipy.stats import norm

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.linalg import with_stable_signs
from gdppca.noise.bits import generator_for
from gdppca.theory.leading import Known, Leading
from gdppca.theory.loading_errors import beside_the_posterior
from gdppca.theory.loading_prior import Kind, Posterior, posterior
from gdppca.theory.second_stage import CrossNumbers, Refined, together
from gdppca.theory.uneven import Gaps, finite_errors

Target = Literal["rows", "population"]
TARGETS: tuple[Target, ...] = ("rows", "population")

NEGLIGIBLE = 0.9  # probability from which a loading is called so

_GAIN = 3.0  # nats over a dense direction before anything is shrunk
_MOST_COMPONENTS = 30  # nobody reads the loadings of more
_LEAST_KEPT = 0.1  # of a direction's length; what is shrunk further has no direction left
_WEAK = 0.005  # squared length of the noise of a direction, from which more looks pay
_LOOKS = 3  # at the matrix after the first; more make no difference
_APART = 0.7  # of the last component: the next one must be smaller for them
_SEED, _DRAWS = 20_251_014, 200  # of the expected angle; the same everywhere
_DRAWN = 4e6  # numbers for it


@dataclass(frozen=True, kw_only=True, eq=False)
class ShrunkLoadings:
    """Directions after their loadings were shrunk, and how sure they are.

    Parameters
    ----------
    components : array of shape (m, d)
        Orthonormal directions as rows; the entry of largest size is positive.
    plain : array of shape (m, d)
        The leading eigenvectors of the released matrix.
    kind : "plain", "rows" or "axes"
        What the likelihood asked for: nothing, so that `components` are `plain`; shrinking each
        column's loadings together; or shrinking them along single axes too.
    target : "rows" or "population"
        Whose loadings are estimated.
    negligible : array of bool of shape (m, d)
        Where a loading of the population is zero with a probability of 0.9 or more.
    sd : array of shape (m, d)
        Posterior standard deviation of each loading; infinite where `kind` is "plain" and for
        components that do not stand above the noise.
    """

    components: np.ndarray = field(repr=False)
    plain: np.ndarray = field(repr=False)
    kind: Kind
    target: Target
    negligible: np.ndarray = field(repr=False)
    sd: np.ndarray = field(repr=False)
    _covariance: np.ndarray | None = field(default=None, repr=False)  # (d, m, m)

    @classmethod
    def unshrunk(cls, plain: np.ndarray, target: Target) -> ShrunkLoadings:
        """Plain eigenvectors, where there is nothing to shrink by."""
        return cls(
            components=plain,
            plain=plain,
            kind="plain",
            target=target,
            negligible=np.zeros(plain.shape, dtype=bool),
            sd=np.full(plain.shape, np.inf),
        )

    def interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends for each loading, within -1 and 1."""
        reach = float(norm.ppf(0.5 + level / 2)) * self.sd
        ends = self.components - reach, self.components + reach
        return np.clip(ends[0], -1.0, 1.0), np.clip(ends[1], -1.0, 1.0)

    @property
    def angles(self) -> np.ndarray:
        """Expected sine of the angle of each direction."""
        return np.sqrt(np.minimum((self.sd**2).sum(axis=1), 1.0))

    @cached_property
    def subspace_angle(self) -> float:
        """Expected sine of the largest angle between the subspaces."""
        if self._covariance is None or not np.isfinite(self.sd).all():
            return 1.0
        d, m, _ = self._covariance.shape
        values, vectors = np.linalg.eigh(self._covariance)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        draws = int(np.clip(_DRAWN // (d * m), 20, _DRAWS))
        normal = generator_for(_SEED).standard_normal((draws, d, m))
        errors = np.einsum("jab,njb->nja", roots, normal)
        outside = errors - self.components.T @ (self.components @ errors)
        lengths = np.linalg.norm(outside, ord=2, axis=(1, 2))
        return float(np.minimum(lengths, 1.0).mean())


def shrunken_loadings(
    scatter: np.ndarray,
    noise_sd: float,
    n_samples: float,
    n_components: int,
    *,
    target: Target = "rows",
    centre_bias: float = 0.0,
    scale_error: np.ndarray | None = None,
    rates: np.ndarray | None = None,
    rate_error: np.ndarray | None = None,
    cross: CrossNumbers | None = None,
) -> ShrunkLoadings:
    r"""Leading directions of a released matrix, their loadings shrunk under its known noise.

    Parameters
    ----------
    scatter : array of shape (d, d)
        The released matrix, symmetric.
    noise_sd : float
        σ of its packed noise, maybe zero.
    n_samples : float
        Number of independent rows behind it.
    n_components : int
        m, how many leading directions.
    target : "rows" or "population", default "rows"
        The loadings that the same rows have without noise, or those of the population that they
        were drawn from. The second shrinks more.
    centre_bias, scale_error, rates, rate_error
        What is known of a private centre, private scales and missing cells, as for
        `gdppca.theory.loading_intervals`.
    cross : CrossNumbers or None
        What a second stage drew: the plain directions are then those of both stages.

    Returns
    -------
    ShrunkLoadings
        Plain eigenvectors, bit for bit, wherever the likelihood does not ask for more.

    Notes
    -----
    **Privacy.** Nothing is spent: post-processing. The same input gives the same output.

    Noisy loadings and the variances of their noise (`gdppca.theory.leading`) fit a prior for the
    loadings of a column (`gdppca.theory.loading_prior`). Where it gains three nats over a dense
    direction, posterior means take the place of the loadings. Where noise is strong, three steps of
    approximate message passing follow: with V the orthonormal form of the means, the rows of
    :math:`(K - bI)V/\theta`, less what the same noise does twice (Onsager's term), are noisy
    loadings again. Of a component l beyond the m that noise mixed into the k-th they hold less
    than the eigenvectors do, :math:`1 - \theta_l/\theta_k` of what was shrunk away.

    The rows' own loadings are those of the population and the noise of sampling, a known share ρ
    of all noise: of what the posterior took away from a noisy loading, that share is given back.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory import shrunken_loadings
    >>> rng = np.random.default_rng(0)
    >>> truth = np.r_[np.full(4, 0.5), np.zeros(36)]
    >>> noise = rng.normal(scale=0.01, size=(40, 40))
    >>> released = 0.3 * np.outer(truth, truth) + np.eye(40) / 50 + (noise + noise.T) / 2
    >>> found = shrunken_loadings(released, 0.01, 5000, 1)
    >>> found.kind, int(found.negligible.sum())
    ('rows', 36)
    >>> bool(found.components[0] @ truth > found.plain[0] @ truth > 0.9)
    True
    """
    _validate.one_of(TARGETS, target=target)
    matrix, m = _checked(scatter, n_components)
    rows = _validate.finite_positive(n_samples=n_samples)
    gaps = Gaps.of(rates, rate_error, len(matrix))
    scales = finite_errors("scale_error", scale_error, len(matrix))
    known = Known(float(noise_sd), rows, float(centre_bias), gaps)
    with np.errstate(all="ignore"):
        leading, plain = together(matrix, m, known, cross)
        with suppress(np.linalg.LinAlgError):  # never seen; the matrix may be paid for
            found = _shrunk(leading, target) if _telling(leading, target) else None
            if found is not None:
                return found.published(leading, plain, target, scales)
    return ShrunkLoadings.unshrunk(plain, target)


def staged_loadings(
    scatter: np.ndarray,
    noise_sd: float,
    n_samples: float,
    cross: CrossNumbers,
    *,
    target: Target = "rows",
    centre_bias: float = 0.0,
    scale_error: np.ndarray | None = None,
) -> ShrunkLoadings | None:
    """Directions by a matrix and a second stage, unshrunk, and how sure they are.

    Parameters are those of `shrunken_loadings`. None where the matrix does not speak for the law
    that a second stage takes for granted.
    """
    matrix, m = _checked(scatter, len(cross.factors))
    gaps = Gaps.of(None, None, len(matrix))
    known = Known(float(noise_sd), float(n_samples), float(centre_bias), gaps)
    with np.errstate(all="ignore"):
        leading, plain = together(matrix, m, known, cross)
        if not isinstance(leading, Refined):
            return None
        errors = finite_errors("scale_error", scale_error, len(matrix))
        beside = leading.variances if target == "population" else leading.private_variances
        variances = beside + beside_the_posterior(leading, errors, target)
    return ShrunkLoadings(
        components=plain,
        plain=plain,
        kind="plain",
        target=target,
        negligible=np.zeros(plain.shape, dtype=bool),
        sd=np.sqrt(variances).T,
        _covariance=beside[:, :, None] * np.eye(m),
    )


def _checked(scatter: np.ndarray, n_components: int) -> tuple[np.ndarray, int]:
    matrix = _validate.floats(scatter)
    square = matrix is not None and matrix.ndim == 2 and len(matrix) == matrix.shape[1] > 0
    if matrix is None or not square or not np.isfinite(matrix).all():
        raise ParameterError("`scatter` must be a square matrix of finite numbers.")
    m = _validate.count(n_components=n_components, at_least=0)
    if m > len(matrix):
        raise ParameterError(
            f"`n_components` must not exceed the number of columns {len(matrix)}, got {m}."
        )
    return matrix, m


def _telling(leading: Leading, target: Target) -> bool:
    """Whether there is something to shrink: components above the noise, columns beside them."""
    noisy = target == "population" or leading.known.noise_sd > 0
    few = leading.m < leading.d - 1 and leading.m <= _MOST_COMPONENTS
    return noisy and leading.d >= 3 and leading.m > 0 and few


def _shrunk(leading: Leading, target: Target) -> _Shrunk | None:
    """Posterior means of the loadings, and an orthonormal form of them; None: leave them plain."""
    apart = _apart(leading)
    look = _Look(leading.plain, leading.variances, apart)
    if look.found.gain < _GAIN:
        return None
    last, form = leading.plain, _Form.of(look.found.mean)
    for _ in range(_LOOKS if _looks_again(leading) else 0):
        if form is None:
            return None
        seen = _seen_again(leading, look, form, last)
        last, look = form.directions, _Look(seen, leading.message_variances, apart)
        form = _Form.of(look.found.mean)
    if target == "rows":
        form = _Form.of(look.mean_of_rows(leading.from_sampling))
    if form is None:
        return None
    covariance = look.found.covariance
    if target == "rows":
        covariance = look.covariance_of_rows(leading.from_sampling)
    return _Shrunk(look.found, covariance, form)


@dataclass(frozen=True, eq=False)
class _Look:
    """Noisy loadings, the variances of their noise, and what they tell of those without it."""

    seen: np.ndarray  # (d, m)
    variances: np.ndarray  # (d, m)
    apart: bool  # from the next component

    @cached_property
    def found(self) -> Posterior:
        """Posterior of the population's loadings."""
        return posterior(self.seen, self.variances, apart=self.apart)

    def mean_of_rows(self, share: np.ndarray) -> np.ndarray:
        """Posterior means of the rows' own loadings: sampling's share of the noise is theirs."""
        return np.asarray(self.found.mean + share * (self.seen - self.found.mean))

    def covariance_of_rows(self, share: np.ndarray) -> np.ndarray:
        """Posterior covariances of them."""
        kept = 1 - share
        covariance = self.found.covariance * kept[:, :, None] * kept[:, None, :]
        diagonal = range(share.shape[1])
        covariance[:, diagonal, diagonal] += share * kept * self.variances
        return np.asarray(covariance)


@dataclass(frozen=True, eq=False)
class _Form:
    """The nearest orthonormal directions to some, V = F A."""

    directions: np.ndarray  # V, (d, m)
    factor: np.ndarray  # A, (m, m)

    @classmethod
    def of(cls, loadings: np.ndarray) -> _Form | None:
        """None where one of them has shrunk to nothing."""
        left, sizes, right = np.linalg.svd(loadings, full_matrices=False)
        if not sizes[-1] >= _LEAST_KEPT:
            return None
        return cls(left @ right, (right.T / sizes) @ right)


def _looks_again(leading: Leading) -> bool:
    """Whether noise is strong, and no component beyond the last is nearly as large.

    What shrinking did wrong along a component beyond fades with each look, by the ratio of sizes.
    """
    if isinstance(leading, Refined):  # the matrix alone tells less than is known
        return False
    return bool((leading.variances.sum(axis=0) > _WEAK).any()) and _apart(leading)


def _apart(leading: Leading) -> bool:
    m, theta = leading.m, leading.spikes
    return bool(leading.r == m or theta[m] < _APART * theta[m - 1])


def _seen_again(leading: Leading, look: _Look, form: _Form, last: np.ndarray) -> np.ndarray:
    """Noisy loadings once more, through the matrix: one step of approximate message passing."""
    theta, V = leading.spikes[: leading.m], form.directions
    image = leading.matrix @ V - leading.bulk * V
    slopes = look.found.covariance / look.variances[:, :, None] @ form.factor  # of V by the seen
    twice = slopes / theta[:, None]
    entries = leading.entry_variances
    if len(entries) == 1:
        reaction = last @ (entries[0, 0] * twice.sum(axis=0))
    else:
        met = (entries @ twice.reshape(leading.d, -1)).reshape(twice.shape)
        reaction = np.einsum("ja,jac->jc", last, met)
    return np.asarray((image - reaction) / theta)


@dataclass(frozen=True, eq=False)
class _Shrunk:
    """Shrunken directions before they are put in order."""

    found: Posterior
    covariance: np.ndarray
    form: _Form

    def published(
        self, leading: Leading, plain: np.ndarray, target: Target, scale_error: np.ndarray
    ) -> ShrunkLoadings:
        """In the order of the matrix on them, with the wanted components beyond them."""
        m, wanted = leading.m, len(plain)
        V = self.form.directions
        _, turn = np.linalg.eigh(V.T @ leading.matrix @ V)
        turn = turn[:, ::-1]
        shown = with_stable_signs(V @ turn)
        onto = self.form.factor @ turn
        covariance = onto.T @ self.covariance @ onto
        variance = np.einsum("jkk->jk", covariance)
        variance = variance + beside_the_posterior(leading, scale_error, target)
        components, sd = plain.copy(), np.full(plain.shape, np.inf)
        components[:m], sd[:m] = shown.T, np.sqrt(np.maximum(variance, 0.0)).T
        if wanted > m:
            components[m:] = _beyond(leading.matrix, shown, wanted - m).T
        negligible = np.zeros(plain.shape, dtype=bool)
        negligible[:m] = (self._null(turn) >= NEGLIGIBLE).T
        return ShrunkLoadings(
            components=components,
            plain=plain,
            kind=self.found.kind,
            target=target,
            negligible=negligible,
            sd=sd,
            _covariance=covariance if wanted == m else None,
        )

    def _null(self, turn: np.ndarray) -> np.ndarray:
        """Probability that a loading is zero, after components were put in order."""
        part = (np.abs(turn) > 0.1)[None, :, :]  # what a component is made of
        return np.where(part, self.found.null[:, :, None], 1.0).min(axis=1)


def _beyond(matrix: np.ndarray, shown: np.ndarray, many: int) -> np.ndarray:
    """Leading directions of a matrix beside given ones."""
    d = len(matrix)
    apart = np.eye(d) - shown @ shown.T
    left = apart @ matrix @ apart
    size = 2 * float(np.abs(matrix).sum(axis=1).max()) + 1.0
    left = 0.5 * (left + left.T) - size * (shown @ shown.T)  # the given ones come last
    _, vectors = dense.eigh(left, subset_by_index=[d - many, d - 1])
    beside = vectors[:, ::-1] - shown @ (shown.T @ vectors[:, ::-1])
    return with_stable_signs(np.linalg.qr(beside)[0])
