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

import numpy as np

from gdppca.linalg import directions
from gdppca.noise.bits import generator_for
from gdppca.theory import spherical_eigenvalues
from gdppca.theory.patterns import FEW, mean_over_patterns
from gdppca.theory.rates import corrected, divisors, entry_sd

_SEED = 20_251_014  # of a simulation without data; any number would do
_BASES = 10
_ROWS = (200, 4000)
_WORK = 2_500_000  # rows times columns²


@dataclass(frozen=True, eq=False)
class Corrected:
    """What the correction makes of the spherical sign, over random bases of the directions."""

    bases: np.ndarray  # directions as columns, (bases, d, d)
    means: np.ndarray  # of the matrix, in the basis of the directions
    sampling: np.ndarray  # variance of its entries, times the number of rows; half on the diagonal


@dataclass(frozen=True, kw_only=True, eq=False)
class GapLaw:
    """Rates that are expected and their errors, and the variances behind the matrix."""

    rates: np.ndarray
    rate_error: np.ndarray
    variances: np.ndarray

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

    def drawn(
        self, exact: np.ndarray, noise_sd: float, normal: Callable[..., np.ndarray]
    ) -> np.ndarray:
        """Matrices with everything but sampling; `exact` are those without gaps."""
        stack, d = len(exact), len(self.rates)
        known, which = self.corrected, np.arange(stack) % _BASES
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
    phi = spherical_eigenvalues(lam)
    rows = int(np.clip(_WORK // d**2, *_ROWS))
    bases = np.linalg.qr(generator.standard_normal((_BASES, d, d)))[0]
    means, spread = [], []
    for basis in bases:
        unit = directions(generator.standard_normal((rows, d)) * np.sqrt(lam))[0]
        own = unit @ basis.T
        if d > FEW or (q == 1).all():
            means.append(np.diag(phi) / q.mean())
        else:
            turned = basis.T @ mean_over_patterns(own, q) @ basis
            share = np.trace(turned)  # of the matrix of whole rows, whose mean is known
            means.append(turned - share * (unit.T @ unit / rows - np.diag(phi)))
        seen = generator.random(own.shape) < q
        spread.append(_spread(own, seen, q, basis))
    sampling = np.mean(spread, axis=0)
    return Corrected(bases, np.array(means), sampling * (1 - 0.5 * np.eye(d)))


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
