r"""How far the released directions will be from the true ones, on average.

In the basis of the true directions the noisy matrix of the spherical sign is

.. math:: M = \operatorname{diag}(\varphi) + \sqrt{v} \circ W, \qquad
    v_{jk} = \sigma^2/2 + \kappa V_{jk}/n,

with W a Gaussian orthogonal ensemble (off-diagonal variance 1, diagonal 2), σ the privacy noise and
V the sampling noise. φ, V and σ are public, so the law of the angles is too. It is averaged over a
fixed set of W: the same ones for every ε and n, so that the error is a smooth curve of both.

Private scales that are off by e^{τz} in each column turn Σ into DΣD, D = diag(e^{τz}). How that
turns the directions depends on the loadings, which nobody knows beforehand: they are averaged over
random bases, and the matrix gets the eigenvectors of DΣD.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from gdppca.linalg import directions
from gdppca.noise.bits import generator_for
from gdppca.planning.gaps import GapLaw
from gdppca.signs import Sign
from gdppca.theory import components_above_noise

_SEED = 20_160_111  # of a simulation without data; any number would do
_DRAWS = (10, 2000)  # fewest and most
_WORK = 100_000  # draws times columns^1.5: angles vary less, and take longer, where there are many
_STACK = 250_000  # entries drawn at once
_SMALL = 32  # columns; up to there all eigenvectors at once are faster than a few
_TRIPLES = (2_000, 40_000)
_TRIPLE_WORK = 2_000_000
_TAIL = 3  # degrees of freedom: the pair statistic's sampling noise is then midway, see below
_COUNTED_DRAWS = 25

_STEP = 0.25  # as for φ: the trapezoid rule in log x, see gdppca.theory.spherical
_LOG_X = np.arange(-42.0, 78.0, _STEP)


@dataclass(frozen=True, kw_only=True, eq=False)
class Law:
    """Everything that decides about the angles, in the basis of the true directions.

    Parameters
    ----------
    eigenvalues : array of shape (d,)
        φ, of the spherical sign's matrix, largest first.
    sampling : array of shape (d, d)
        Variance of the entries from sampling, diagonal halved as in W.
    noise_sd : float
        σ of the packed privacy noise.
    centre_error : float
        Standard deviation per coordinate of a centre's error, over the typical distance to it.
    variances : array of shape (d,)
        λ, in the same order; needed where scales have an error.
    scale_error : float
        τ, the standard deviation of the logarithm of a column's scale.
    gaps : None or GapLaw
        Where cells are missing: noise that is uneven in the columns' own basis.
    """

    eigenvalues: np.ndarray
    sampling: np.ndarray
    noise_sd: float
    centre_error: float = 0.0
    variances: np.ndarray | None = None
    scale_error: float = 0.0
    gaps: GapLaw | None = None

    @property
    def even(self) -> bool:
        """Whether the noise of all entries is the same, whatever the loadings are."""
        return self.gaps is None and self.scale_error == 0

    def draws(self, number: int) -> Iterator[np.ndarray]:
        """Stacks of noisy matrices; the same random numbers whatever the law."""
        d = len(self.eigenvalues)
        even = self.noise_sd if self.gaps is None else 0.0
        spread = np.sqrt(even**2 + 2 * self.sampling) / 2  # √v over √2
        generator, bases, uneven = (generator_for(_SEED + k) for k in range(3))
        total = self.eigenvalues.sum()
        size = max(1, _STACK // d**2)
        for start in range(0, number, size):
            stack = min(size, number - start)
            square = generator.standard_normal((stack, d, d))
            shift = self.centre_error * generator.standard_normal((stack, d, 1))
            # A centre off by e turns E[uu'] into about (E[uu'] + ee'/R²) / (1 + |e|²/R²).
            shifted = self._turned(bases.standard_normal, stack) + total * shift * shift.transpose(
                0, 2, 1
            )
            exact = shifted / (1 + (shift**2).sum(axis=1, keepdims=True))
            if self.gaps is not None:
                exact = self.gaps.drawn(exact, self.noise_sd, uneven.standard_normal)
            yield exact + spread * (square + square.transpose(0, 2, 1))

    def _turned(self, normal: Callable[..., np.ndarray], stack: int) -> np.ndarray:
        """The matrices without noise, of columns whose scales are off."""
        if self.variances is None or self.scale_error == 0:
            return np.diag(self.eigenvalues)
        d = len(self.eigenvalues)
        basis = np.linalg.qr(normal((stack, d, d)))[0]
        off = np.exp(self.scale_error * normal((stack, d, 1)))
        deformed = basis.transpose(0, 2, 1) @ (off * basis)  # D in the basis of the directions
        vectors = np.linalg.eigh(deformed @ (self.variances[:, None] * deformed))[1][:, :, ::-1]
        return (vectors * self.eigenvalues) @ vectors.transpose(0, 2, 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Angles:
    """Mean sine of the largest angle of the subspace, and of each component's own."""

    sin_theta: float
    per_component: np.ndarray


def expected_angles(law: Law, n_components: int) -> Angles:
    """Mean sines of the angles between the leading eigenvectors and the true ones."""
    number = _number_of_draws(len(law.eigenvalues))
    seen = [sines(_leading(stack, n_components)) for stack in law.draws(number)]
    largest, *single = np.minimum(np.concatenate(seen).mean(axis=0), 1.0)
    return Angles(sin_theta=float(largest), per_component=np.array(single))


def _leading(stack: np.ndarray, m: int) -> np.ndarray:
    """Leading eigenvectors of each matrix, as columns."""
    d = stack.shape[-1]
    if d <= _SMALL:
        return np.linalg.eigh(stack)[1][:, :, : -m - 1 : -1]
    few = [linalg.eigh(matrix, subset_by_index=[d - m, d - 1])[1] for matrix in stack]
    return np.array(few)[:, :, ::-1]


def sines(vectors: np.ndarray) -> np.ndarray:
    """Per matrix, of the subspace's largest angle, then of each column's own.

    The truth is the unit vectors.
    """
    m = vectors.shape[-1]
    outside = vectors[:, m:]
    # The Gram matrix is m × m and cheap, and half the digits are plenty for a mean.
    largest = np.linalg.eigvalsh(outside.transpose(0, 2, 1) @ outside)[:, -1:]
    own = 1 - np.diagonal(vectors, axis1=1, axis2=2) ** 2
    return np.sqrt(np.maximum(np.hstack([largest, own]), 0.0))


def expected_count(law: Law, n_samples: int) -> int:
    """How many eigenvalues `components_above_noise` will count: the median over draws."""
    d = len(law.eigenvalues)
    number = min(_COUNTED_DRAWS, _number_of_draws(d))
    bias = law.eigenvalues.sum() * d * law.centre_error**2
    rates = (None, None) if law.gaps is None else (law.gaps.rates, law.gaps.rate_error)
    counts = [
        components_above_noise(values[::-1], law.noise_sd, n_samples, bias, *rates)
        for stack in law.draws(number)
        for values in np.linalg.eigvalsh(stack)
    ]
    return int(np.median(counts))


def _number_of_draws(d: int) -> int:
    return int(np.clip(_WORK // d**1.5, *_DRAWS))


def sign_moments(variances: np.ndarray) -> np.ndarray:
    r"""E[u_j² u_k²] of the unit vector u of an elliptical law; on the diagonal a third of E[u_j⁴].

    The same integral as φ, once more by parts:
    :math:`\frac{\lambda_j \lambda_k}{4} \int_0^\infty
    \frac{x\,dx}{(1 + \lambda_j x)(1 + \lambda_k x) \prod_l \sqrt{1 + \lambda_l x}}`. Twice the
    diagonal, which W doubles, is the variance that a rotation of equal variances asks for.
    """
    scaled = variances / variances.max()
    grown = np.log1p(np.outer(np.exp(_LOG_X), scaled))
    weight = 0.25 * _STEP * np.exp(2 * _LOG_X - 0.5 * grown.sum(axis=1))
    factor = scaled * np.exp(-grown)
    return (factor * weight[:, None]).T @ factor


def gaussian_lengths(variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors and lengths of simulated Gaussian rows, the same ones for every sign."""
    d = len(variances)
    number = int(np.clip(_TRIPLE_WORK // d, *_TRIPLES))
    normal = generator_for(_SEED).standard_normal((number, d))
    return directions(normal * np.sqrt(variances))


def sign_ratios(sign: Sign, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E[ξ² u_j²] over E[u_j²] and E[ξ⁴ u_j² u_k²] over E[u_j² u_k²], for Gaussian rows.

    Over and not by itself: the spherical sign's own numbers are known exactly, and in a ratio most
    of the simulation's error cancels.
    """
    unit, length = gaussian_lengths(variances)
    squares = unit**2
    kept = squares * sign.radial(length)[:, None] ** 2
    return _over(kept.sum(axis=0), squares.sum(axis=0)), _over(kept.T @ kept, squares.T @ squares)


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def pair_ratio(variances: np.ndarray) -> float:
    r"""κ, the sampling variance of the pair statistic over that of signs around a known centre.

    By its Hájek projection the statistic varies as :math:`4 E[a_j a_k b_j b_k]/n`, with a and b the
    signs of one row against two others. That depends on the tails: from few columns to many, κ
    rises from 0.6 to 1 for Gaussian rows and from 0.95 to 1.2 for Cauchy rows. Rows from the t law
    with three degrees of freedom are midway, and the square root brings both within 12 %.
    """
    d = len(variances)
    if d < 2:
        return 1.0
    number = int(np.clip(_TRIPLE_WORK // d, *_TRIPLES))
    generator = generator_for(_SEED)

    def rows() -> np.ndarray:
        normal = generator.standard_normal((number, d)) * np.sqrt(variances)
        return normal / np.sqrt(generator.chisquare(_TAIL, (number, 1)) / _TAIL)

    row = rows()
    product = directions(row - rows())[0] * directions(row - rows())[0]
    moments = sign_moments(variances)
    known = 1 - 3 * np.trace(moments)  # off-diagonal sum: all moments add up to one
    off_diagonal = np.mean(product.sum(axis=1) ** 2 - (product**2).sum(axis=1))
    return float(4 * off_diagonal / known) if known > 1e-12 else 1.0
