r"""Leading components of a noisy matrix, and the noise of each of their loadings.

The released matrix is :math:`K + Z`: eigenvalues :math:`\theta_k + b` above a flat bulk b, and
noise whose entries have known variances. An eigenvector then shows the loading of column j as
:math:`v_{jk}` and Gaussian noise of variance about

.. math:: S_{jk} = \frac{s_{jk}^2}{\theta_k^2} \Bigl(1 - \sum_{l \le r} v_{jl}^2\Bigr)
    + \sum_{m < l \le r} \frac{s_{kl}^2}{(\theta_k - \theta_l)^2} v_{jl}^2,

with :math:`s_{jk}^2` the variance of the noise in entry j of :math:`(K + Z) v_k`. It has two parts:
what privacy added, and what the sampling of the rows did, :math:`b(\theta_k + b)/n` for the sign of
an elliptical law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from gdppca.linalg import Spectrum
from gdppca.theory.noise_floor import components_above_noise
from gdppca.theory.rates import corrected, entry_sd, even_noise, mean_noise
from gdppca.theory.uneven import Gaps

_LEAST_LEFT = 0.05  # of a column's own noise, beside components that take all of it
_MOST_MIXED = 100.0  # a component of nearly the same size adds no more than so much
_LEAST_VARIANCE = 1e-14  # of a loading: below rounding nothing is to be told
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Known:
    """All that is publicly known of the noise of a matrix."""

    noise_sd: float
    n_samples: float
    centre_bias: float
    gaps: Gaps

    def over(self, scale: float) -> Known:
        """The same of a matrix that was divided by a number."""
        return Known(self.noise_sd / scale, self.n_samples, self.centre_bias, self.gaps)

    def above(self, values: np.ndarray) -> int:
        """How many eigenvalues stand above it."""
        gaps = self.gaps
        return components_above_noise(
            values, self.noise_sd, self.n_samples, self.centre_bias, gaps.rates, gaps.errors
        )


@dataclass(frozen=True, eq=False)
class Leading:
    """The m leading components that stand above the noise, among r that are told apart."""

    matrix: np.ndarray  # corrected for missing cells, of a size of about one
    vectors: np.ndarray  # (d, r)
    values: np.ndarray  # (d,)
    m: int
    known: Known
    scale: float = 1.0  # by which the released matrix was divided

    @classmethod
    def of(
        cls, scatter: np.ndarray, wanted: int | Callable[[np.ndarray], int], known: Known
    ) -> tuple[Self, np.ndarray]:
        """Of a released matrix, with its plain leading eigenvectors as rows.

        Eigenvalues may decide how many are wanted.
        """
        matrix = corrected(scatter, known.gaps.rates)
        spectrum = Spectrum(matrix)
        m = wanted(spectrum.values) if callable(wanted) else wanted
        plain = spectrum.leading(m).T
        scale, above = _power_of_two(matrix), known.above(spectrum.values)
        values, known = spectrum.values / scale, known.over(scale)
        found = cls(matrix / scale, np.empty((len(matrix), 0)), values, m, known)
        m = found._standing(above)
        r = min(max(above, m), len(values) - 1)
        return cls(matrix / scale, spectrum.leading(r), values, m, known, scale), plain

    def _standing(self, above: int) -> int:
        """How many of the wanted eigenvalues lie outside what noise fills around the others."""
        d = len(self.values)
        r = min(max(above, self.m), d - 1)
        rates = self.known.gaps.rates
        reach = even_noise(self.known.noise_sd, rates, d) * np.sqrt(2 * (d - r))
        inside = self.values[: min(self.m, d - 1)] - self.values[r:].mean() < reach
        return int(np.argmax(inside)) if inside.any() else len(inside)

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.values)

    @property
    def r(self) -> int:
        """How many components are told apart from the bulk."""
        return self.vectors.shape[1]

    @property
    def plain(self) -> np.ndarray:
        """The plain eigenvectors as columns, (d, m)."""
        return self.vectors[:, : self.m]

    @property
    def bulk(self) -> float:
        """Mean of the eigenvalues that are not told apart."""
        return float(self.values[self.r :].mean())

    @cached_property
    def spikes(self) -> np.ndarray:
        r"""θ of each component, freed from what noise adds: it shows as θ + s²(d - r)/θ, (r,)."""
        seen = self.values[: self.r] - self.bulk
        spread = mean_noise(self.known.noise_sd, self.known.gaps.rates, self.d)
        spread *= np.sqrt(2 * (self.d - self.r))  # its square is 4 s² (d - r)
        root = np.sqrt(np.maximum(seen - spread, 0.0) * np.maximum(seen + spread, 0.0))
        return np.maximum(0.5 * (seen + root), _TINY**0.25)

    @property
    def sizes(self) -> np.ndarray:
        """Eigenvalues θ + b without noise, (r,)."""
        return np.maximum(self.spikes + self.bulk, 0.0)

    @cached_property
    def entry_variances(self) -> np.ndarray:
        """Of the privacy noise's entries, (d, d); 1 × 1 where all off the diagonal are equal."""
        sd, rates = self.known.noise_sd, self.known.gaps.rates
        if rates is None:
            return np.full((1, 1), 0.5 * sd**2)
        entries = entry_sd(sd, rates, self.d) ** 2
        return np.asarray(entries - 0.5 * np.diag(np.diag(entries)))

    @cached_property
    def private(self) -> np.ndarray:
        """Variances of what privacy adds to entries of K v, by the matrix and by a centre."""
        entries = self.entry_variances
        shape = (self.d, self.m)
        own = np.full(shape, entries[0, 0]) if len(entries) == 1 else entries @ self.plain**2
        return own + self._centre**2

    @property
    def _centre(self) -> float:
        """What the error of a private centre adds to an entry."""
        return self.known.centre_bias * max(float(self.values.sum()), 0.0) / self.d

    @cached_property
    def sampled(self) -> np.ndarray:
        """Variances of what sampling adds to them; more where cells are missing."""
        each = max(self.bulk, 0.0) * self.sizes[: self.m] / self.known.n_samples
        rates = self.known.gaps.rates
        if rates is None:
            return np.tile(each, (self.d, 1))
        return np.outer(1 / rates, each * (self.plain.T**2 @ (1 / rates)))

    @cached_property
    def from_sampling(self) -> np.ndarray:
        """Share of the noise of each loading that is sampling, (d, m)."""
        return self.sampled / np.maximum(self.private + self.sampled, _TINY)

    @cached_property
    def variances(self) -> np.ndarray:
        """Of the noise of each loading of the eigenvectors, (d, m)."""
        return self._of_noise((self.vectors**2).sum(axis=1))

    @cached_property
    def message_variances(self) -> np.ndarray:
        """The same of loadings that are seen through the matrix once more, (d, m)."""
        return self._of_noise((self.vectors[:, self.m :] ** 2).sum(axis=1))

    def _of_noise(self, free: np.ndarray) -> np.ndarray:
        """Variances of loadings where such parts of the columns are free of the noise beside."""
        total, theta = self.private + self.sampled, self.spikes[: self.m]
        own = np.maximum(1 - free, _LEAST_LEFT)[:, None]
        noise = own + self.vectors[:, self.m :] ** 2 @ self._mixing(total.mean(axis=0))
        return np.maximum(noise * total / theta**2, _LEAST_VARIANCE)

    def _mixing(self, usual: np.ndarray) -> np.ndarray:
        """How much more than a column's own noise the components beyond m add, (r - m, m)."""
        theta, beyond = self.spikes[: self.m], self.spikes[self.m :, None]
        cross = self.between()[self.m :, : self.m]
        gap = np.maximum(theta - beyond, np.sqrt(2 * cross))
        ratio = theta**2 * cross / np.maximum(usual, _TINY)
        return np.minimum(ratio / np.maximum(gap, _TINY**0.25) ** 2, _MOST_MIXED)

    def between(self, *, sampling: bool = True) -> np.ndarray:
        """Variances of the noise between two components, (r, r)."""
        entries = np.full((self.r, self.r), float(self.private.mean()))
        if not sampling:
            return entries
        return entries + np.outer(self.sizes, self.sizes) / self.known.n_samples


def _power_of_two(matrix: np.ndarray) -> float:
    """About the size of the largest entry; dividing by it changes no bit."""
    largest = float(np.abs(matrix).max(initial=0.0))
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest > 0 else 1.0
