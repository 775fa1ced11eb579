r"""Law of a matrix that is corrected for missing cells, in the basis of the true directions.

How the columns' rates meet the directions depends on the loadings, which nobody knows beforehand:
a few random bases stand for them. What the correction leaves is averaged over all patterns of
missing cells (`gdppca.theory.patterns`) and over simulated rows; the matrix of whole rows, whose
mean is known, takes most of the simulation's error out. Tails do not matter. The noise and the
errors of the rates are those of `gdppca.theory.rates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gdppca.linalg import directions
from gdppca.noise.bits import generator_for
from gdppca.theory import spherical_eigenvalues
from gdppca.theory.patterns import FEW, mean_over_patterns
from gdppca.theory.rates import corrected, divisors, entry_sd

_SEED = 20_251_014  # of a simulation without data; any number would do
_BASES = {True: 10, False: 2}  # of few columns and of many
_ROWS = (200, 4000)
_WORK = 2_500_000  # rows times columns²


@dataclass(frozen=True, eq=False)
class Corrected:
    """What the correction makes of the spherical sign, over random bases of the directions."""

    bases: np.ndarray  # directions as columns, (bases, d, d)
    means: np.ndarray  # of the matrix, in the basis of the directions
    sampling: np.ndarray | None  # variance of its entries, times the rows; half on the diagonal


@dataclass(frozen=True, kw_only=True, eq=False)
class GapLaw:
    """Rates that are expected and their errors, and the variances behind the matrix.

    `moments` are E[u_a² u_b²] of the spherical sign, a third on the diagonal.
    """

    rates: np.ndarray
    rate_error: np.ndarray
    variances: np.ndarray
    moments: np.ndarray

    @property
    def growth(self) -> float:
        """Of the trace."""
        return float(1 / self.rates.mean())

    @property
    def centre_growth(self) -> float:
        """Of a centre's error over the typical distance: it is seen in fewer cells."""
        return float(np.sqrt(self.rates.mean() * np.mean(self.rates**-2.0)))

    @property
    def corrected(self) -> Corrected:
        """The same for every ε and n."""
        return _corrected(tuple(self.rates.tolist()), tuple(self.variances.tolist()))

    @property
    def sampling(self) -> np.ndarray:
        """Variance of the entries from sampling, times the number of rows; half on the diagonal.

        Of many columns: a missing cell adds the same variance ω/d to the part of a row in every
        direction, where ω is the mean of 1/q - 1.
        """
        if self.corrected.sampling is not None:
            return self.corrected.sampling
        added = float(np.mean(1 / self.rates - 1)) / len(self.rates)
        phi = spherical_eigenvalues(self.variances)
        return np.asarray(self.growth**2 * (self.moments + added * (phi[:, None] + phi) + added**2))

    def drawn(
        self, exact: np.ndarray, noise_sd: float, normal: Callable[..., np.ndarray]
    ) -> np.ndarray:
        """Matrices with everything but sampling; `exact` are those without gaps."""
        stack, d = len(exact), len(self.rates)
        known = self.corrected
        which = np.arange(stack) % len(known.bases)
        left = known.means - self.growth * np.diag(spherical_eigenvalues(self.variances))
        basis, left = known.bases[which], left[which]
        back = basis.transpose(0, 2, 1)
        total = np.trace(exact, axis1=1, axis2=2)[:, None, None]
        own = basis @ (self.growth * exact + total * left) @ back
        off = self.rate_error / self.rates * normal((stack, d))
        factors = 1 - off[:, :, None] - off[:, None, :]
        factors[:, np.arange(d), np.arange(d)] = 1 - off
        square = np.triu(normal((stack, d, d)))
        noise = square + np.triu(square, k=1).transpose(0, 2, 1)
        seen = own * factors + entry_sd(noise_sd, self.rates, d) * noise
        return np.asarray(back @ seen @ basis)


@lru_cache(maxsize=16)
def _corrected(rates: tuple[float, ...], variances: tuple[float, ...]) -> Corrected:
    q, lam = np.array(rates), np.array(variances)
    d, generator = len(q), generator_for(_SEED)
    phi, few = spherical_eigenvalues(lam), d <= FEW
    bases = np.linalg.qr(generator.standard_normal((_BASES[few], d, d)))[0]
    means = np.broadcast_to(np.diag(phi) / q.mean(), bases.shape)
    if not few:
        return Corrected(bases, means, None)
    rows = int(np.clip(_WORK // d**2, *_ROWS))
    found = [_of_basis(basis, q, lam, phi, rows, generator) for basis in bases]
    left, spread = (np.array(part) for part in zip(*found, strict=True))
    return Corrected(bases, left, spread.mean(axis=0) * (1 - 0.5 * np.eye(d)))


def _of_basis(
    basis: np.ndarray, q: np.ndarray, lam: np.ndarray, phi: np.ndarray, rows: int, generator: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the corrected matrix, and variances of one row's, for one basis of directions."""
    unit = directions(generator.standard_normal((rows, len(q))) * np.sqrt(lam))[0]
    own = unit @ basis.T
    mean = basis.T @ mean_over_patterns(own, q) @ basis
    # The matrix of the whole rows is off by as much, and its mean is known.
    mean = mean - np.trace(mean) * (unit.T @ unit / rows - np.diag(phi))
    return mean, _spread(own, generator.random(own.shape) < q, q, basis)


def _spread(unit: np.ndarray, seen: np.ndarray, q: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Variance of the entries of one row's corrected matrix, rates of the rows themselves."""
    sign = directions(np.where(seen, unit, 0.0))[0]
    mean = corrected(sign.T @ sign / len(sign), q)
    total, squares = np.zeros_like(mean), np.zeros_like(mean)
    for part in _parts(len(sign), len(q)):
        each = sign[part, :, None] * sign[part, None, :] / divisors(q)
        share = seen[part] / q
        both = share[:, :, None] + share[:, None, :]
        both[:, np.arange(len(q)), np.arange(len(q))] = share
        turned = basis.T @ (each - mean * both) @ basis
        total += turned.sum(axis=0)
        squares += (turned**2).sum(axis=0)
    return np.asarray(squares / len(sign) - (total / len(sign)) ** 2)


def _parts(rows: int, d: int) -> Iterator[slice]:
    size = max(1, 2_000_000 // d**2)
    return (slice(start, start + size) for start in range(0, rows, size))
