r"""A second stage: where its noise is worth more than more of the matrix's, and what it tells.

Both are post-processing of what was released: `wanted_cross` decides from the noisy matrix so far,
and `Refined` puts matrix and cross part together, each as far as it is sure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gdppca.linalg import with_stable_signs
from gdppca.theory.cross_law import CrossLaw, Sampling, largest_turn
from gdppca.theory.leading import Known, Leading

_CURVATURE = 0.5  # what is left of the squared angle of the first stage; measured
_SETTLED = 0.97  # of the squared error: more of the matrix first only where it gains more
_STANDING = 1.1  # times what noise fills around the bulk, that a component must stand above it
_UNLIKE = 0.03  # sine that a cross part may be off by where rows follow no elliptical law


@dataclass(frozen=True)
class Noises:
    """Noise of either statistic if all that is left were spent on it."""

    matrix: float  # σ of the packed matrix
    cross: float  # of a cross part, over its clip


@dataclass(frozen=True, eq=False)
class CrossNumbers:
    """A drawn cross part: the directions across which rows were looked at, and what was seen.

    Parameters
    ----------
    directions : array of shape (m, d)
        The leading eigenvectors of the matrix that was released before.
    factors : array of shape (m,)
        By which what lies along them was multiplied.
    clip : float
        The most that one row counted.
    values : array of shape (d, m)
        The noisy mean of w·a·(Db)'.
    noise_sd : float
        Of the noise of each of its numbers.
    """

    directions: np.ndarray
    factors: np.ndarray
    clip: float
    values: np.ndarray
    noise_sd: float


@dataclass(frozen=True, eq=False)
class _Fitted:
    """The elliptical law that a released matrix speaks for: spikes above a flat bulk."""

    law: CrossLaw
    trace: float  # of the matrix: less than one where rows have weights

    @classmethod
    def to(cls, leading: Leading) -> _Fitted | None:
        """None where some component does not stand clearly above the noise, or one beyond does.

        Tables that follow no such law have components beyond: what lies across the first ones,
        clipped, then tells of other directions than the matrix does.
        """
        sizes, d, m = leading.sizes, leading.d, leading.m
        trace = float(sizes.sum() + leading.bulk * (d - m))
        if not 0 < m == leading.r < d or leading.bulk <= 0 or not trace > 0:
            return None
        around = leading.known.noise_sd * math.sqrt(2 * (d - m))
        if leading.values[m - 1] - leading.bulk <= _STANDING * around:
            return None
        return cls(CrossLaw.of(sizes / trace, d), trace)


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a cross part is to be like, and the squared sine that is expected with it."""

    factors: np.ndarray
    clip: float
    expected: float


def wanted_cross(
    leading: Leading, share: float, later: tuple[float, ...], whole: Noises, margin: float
) -> Wanted | None:
    """A cross part where it is time for one; None: more of the matrix first.

    Parameters
    ----------
    leading : Leading
        Of the matrix released so far.
    share : float
        Of what there was to spend, spent on it.
    later : tuple of float
        Shares at which one could stop instead.
    whole : Noises
        If all were spent on one of them.
    margin : float
        The largest expected error, over that of the matrix alone, for which a cross part is drawn.
    """
    fitted = _Fitted.to(leading)
    if fitted is None:
        return None
    outlook = Outlook(
        fitted.law,
        leading.spikes / fitted.trace,
        leading.d,
        leading.known.n_samples,
        Noises(whole.matrix / fitted.trace, whole.cross / fitted.trace),
    )
    return outlook.wanted(share, later, margin)


@dataclass(frozen=True)
class Foreseen:
    """A second stage that is to be expected: after which share, and its error over that of one."""

    share: float
    ratio: float


def foreseen_stage(
    eigenvalues: np.ndarray,
    m: int,
    n_samples: float,
    whole: Noises,
    increments: tuple[float, ...],
    margin: float,
) -> Foreseen | None:
    """What `wanted_cross` is to be expected to say of the sign's matrix with these eigenvalues.

    None where more and more of the matrix is expected to the end.
    """
    d, bulk = len(eigenvalues), float(eigenvalues[m:].mean())
    spikes, beyond = eigenvalues[:m] - bulk, float((eigenvalues[m:] - bulk).max())
    if bulk <= 0 or not spikes[-1] > 0:
        return None
    outlook = Outlook(CrossLaw.of(eigenvalues[:m], d), spikes, d, n_samples, whole)
    for place, share in enumerate(increments[:-1]):
        # A component shows above a bulk of d - m from a size of s√(d - m) on, at θ + s²(d - m)/θ.
        fills = whole.matrix * math.sqrt((d - m) / (2 * share))
        if beyond > fills:
            return None
        lowest = float(spikes[-1])
        stands = lowest > fills and lowest + fills**2 / lowest > 2 * _STANDING * fills
        wanted = outlook.wanted(share, increments[place + 1 : -1], margin) if stands else None
        if wanted is not None:
            left = wanted.expected - _UNLIKE**2
            return Foreseen(share, math.sqrt(left / outlook.one_stage))
    return None


@dataclass(frozen=True, eq=False)
class Outlook:
    """Expected squared sines of the largest angle, by shares of what is left to spend.

    Parameters
    ----------
    law : CrossLaw
        Of the rows.
    spikes : array of shape (m,)
        Eigenvalues of the matrix above its bulk, at trace one.
    d, n_samples : int and float
        Columns and independent rows.
    whole : Noises
        If all were spent on matrix or cross part, at trace one.
    """

    law: CrossLaw
    spikes: np.ndarray
    d: int
    n_samples: float
    whole: Noises

    @cached_property
    def _choices(self) -> list[tuple[float, np.ndarray, Sampling]]:
        return [(c, self.law.slopes(c), self.law.sampling(c)) for c in self.law.clips]

    def best(self, share: float) -> tuple[float, float]:
        """Expected squared sine with a cross part after so much of the matrix, and its clip."""
        sd, noise = self.whole.matrix / math.sqrt(share), self.whole.cross / math.sqrt(1 - share)
        left = (_CURVATURE * self._by_matrix(sd)) ** 2 + _UNLIKE**2
        found = []
        for clip, slopes, sampling in self._choices:
            told, variances = by_precision(self.spikes, slopes, sd, noise * clip)
            rows = sampling.averaged(told * slopes) / self.n_samples
            found.append((self._largest(variances + rows) + left, clip))
        return min(found)

    def wanted(self, share: float, later: tuple[float, ...], margin: float) -> Wanted | None:
        """A cross part where now is the best time for it, and it is expected to gain enough."""
        now, clip = self.best(share)
        after = min((self.best(x)[0] for x in later), default=math.inf)
        enough = min(now, after) <= margin**2 * self.one_stage
        return Wanted(self.law.factors, clip, now) if enough and after >= _SETTLED * now else None

    @property
    def one_stage(self) -> float:
        """The same where all is spent on the matrix."""
        return self._by_matrix(self.whole.matrix)

    def _by_matrix(self, sd: float) -> float:
        rows = self._choices[0][2].matrix / self.n_samples
        return self._largest(0.5 * (sd / self.spikes) ** 2 + rows)

    def _largest(self, variances: np.ndarray) -> float:
        return min(largest_turn(variances, self.d - len(variances)), 1.0)


@dataclass(frozen=True, eq=False)
class Refined(Leading):
    """Leading components by matrix and cross part together, in the order of the matrix on them."""

    beside: np.ndarray = field(
        default_factory=lambda: np.empty(0)
    )  # variances of their noise, (m,)

    @classmethod
    def by(cls, leading: Leading, cross: CrossNumbers) -> Leading:
        """A Newton step from the matrix's own directions, averaged with them by precision.

        The matrix's own where it does not speak for any law.
        """
        m, fitted = leading.m, _Fitted.to(leading)
        if fitted is None or m != len(cross.factors):
            return leading
        V, slopes = cross.directions.T, fitted.trace * fitted.law.slopes(cross.clip)
        seen = cross.values / leading.scale
        told, beside = by_precision(
            leading.spikes, slopes, leading.known.noise_sd, cross.noise_sd / leading.scale
        )
        turned = V + (seen - V @ (V.T @ seen)) * told
        rows = fitted.law.sampling(cross.clip).apart / leading.known.n_samples
        return cls(
            leading.matrix,
            _in_order(turned, leading.matrix),
            leading.values,
            m,
            leading.known,
            leading.scale,
            beside + (told * slopes) ** 2 * rows,
        )

    @cached_property
    def private(self) -> np.ndarray:
        """Variances of what privacy adds, as if the matrix alone had told the same."""
        return np.tile(self.spikes**2 * self.beside + self._centre**2, (self.d, 1))

    @property
    def private_variances(self) -> np.ndarray:
        """Of the noise of each loading without sampling, (d, m)."""
        own = np.maximum(1 - (self.vectors**2).sum(axis=1), 0.0)[:, None]
        return np.asarray(own * self.private / self.spikes**2)

    def between(self, *, sampling: bool = True) -> np.ndarray:
        """Variances of the noise between two components: those of the matrix alone, (r, r)."""
        more = super().between(sampling=sampling) - float(self.private.mean())
        return more + self.entry_variances[0, 0] + self._centre**2


def together(
    scatter: np.ndarray, m: int, known: Known, cross: CrossNumbers | None
) -> tuple[Leading, np.ndarray]:
    """Leading components of a matrix, with a second stage where there is one, and as rows."""
    leading, plain = Leading.of(scatter, m, known)
    if cross is not None:
        leading = Refined.by(leading, cross)
        plain = leading.plain.T if isinstance(leading, Refined) else plain
    return leading, plain


def by_precision(
    gaps: np.ndarray, slopes: np.ndarray, sd: float, noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """By what a cross part is multiplied beside the matrix's own direction; variances after it."""
    in_matrix, across = 2 * (gaps / sd) ** 2, (slopes / noise) ** 2
    total = in_matrix + across
    return across / total / slopes, 1 / total


def _in_order(columns: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Orthonormal directions of the same subspace, largest value of the matrix first."""
    basis = np.linalg.qr(columns)[0]
    _, turn = np.linalg.eigh(basis.T @ matrix @ basis)
    return with_stable_signs(basis @ turn[:, ::-1])
