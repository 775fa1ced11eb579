r"""Private robust scales of columns, without bounds from the user.

The scale of a column is the median of :math:`|x_i - x_j|/\sqrt2` over disjoint random pairs, in
the units of a standard deviation: no centre is needed, and a few bad rows move it little. First
noisy counts by octave find its size in every column at once, then a few Newton steps on noisy
counts of what lies below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gdppca.linalg import SQRT2
from gdppca.mechanisms.gaussian import add_gaussian, calibrated_sigma
from gdppca.privacy import Event, GaussianEvent, NonPrivateEvent
from gdppca.randomness import Rng

PURPOSE = "scale"

_OCTAVES = 128  # sizes from 2**-128 to 2**128 are told apart
_OCTAVE_SD = 0.05  # wanted noise of the counts by octave, as a share of the pairs
_OCTAVE_SHARES = (0.1, 0.5)  # least and most that they take
_FIRST_STEPS = (0.1, 0.1)  # shares of the Newton steps before the last, which takes the rest
_SLOPE = 0.38  # of the distribution in the logarithm of |x|; normal 0.43, Cauchy 0.32
_LONGEST_STEP = math.log(4.0)
_NORMAL_MEDIAN = 0.6744897501960817  # of |x|
_NOISELESS_STEPS = 60
_SURE = 4.0  # standard deviations of noise that a share of zeros must exceed


@dataclass(frozen=True, kw_only=True)
class NoisyScale:
    """Private scales of the columns, and what was drawn for them."""

    scale: np.ndarray
    events: tuple[Event, ...]


def private_scale(X: np.ndarray, mu: float, rng: Rng) -> NoisyScale:
    r"""Release a robust scale of each column; a normal column's is its standard deviation.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite numbers, at least two rows.
    mu : float
        μ of Gaussian differential privacy, all of it for the scales; infinity draws no noise.
    rng : Rng
        Source of bits.

    Returns
    -------
    NoisyScale
        Scales > 0. A column that hardly varies keeps the scale 1.

    Notes
    -----
    **Privacy.** Four Gaussian events, replace-one, n public. One row is in one pair, so in each
    of d columns it moves two counts by one, :math:`\sqrt{2d}` in all, then one count per column,
    :math:`\sqrt d`. Counts are whole numbers and therefore exact (docs/proofs/scale.md).

    Columns with many ties, such as a yes or no: where a sure share z of the differences is
    zero, the median of the others counts, times :math:`\sqrt{1 - z}`.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.randomness import seeded_rng
    >>> from gdppca.releases.scale import private_scale
    >>> X = np.random.default_rng(0).normal(scale=[1e6, 1.0, 1e-3], size=(50_000, 3))
    >>> (private_scale(X, 0.3, seeded_rng(1)).scale / [1e6, 1.0, 1e-3]).round(1)
    array([1., 1., 1.])
    """
    order, half = rng.permutation(len(X)), len(X) // 2
    # Halves first: the difference of two floats near the largest one is still a float.
    sizes = np.abs(0.5 * X[order[:half]] - 0.5 * X[order[half : 2 * half]])
    counter = _Counter(half, mu, rng)
    octave_share = _octave_share(half, X.shape[1], mu)
    middle, ties = _octaves(sizes, counter, octave_share)
    target = ties + 0.5 * (1 - ties)
    steps = (*_FIRST_STEPS, 1 - octave_share - sum(_FIRST_STEPS))
    for share in steps if math.isfinite(mu) else (1.0,) * _NOISELESS_STEPS:
        below = counter.noisy((sizes <= middle).sum(axis=0), math.sqrt(sizes.shape[1]), share)[0]
        step = (target - below) / (_SLOPE * np.maximum(1 - ties, 1e-9))
        middle = middle * np.exp(np.clip(step, -_LONGEST_STEP, _LONGEST_STEP))
    scale = middle * (SQRT2 / _NORMAL_MEDIAN) * np.sqrt(1 - ties)
    return NoisyScale(scale=np.where(ties < 1, scale, 1.0), events=counter.events)


def scale_is_doubtful(n_samples: int, n_features: int, mu: float) -> bool:
    """Whether noise may win over the counts by octave; from public numbers."""
    return _octave_share(n_samples // 2, n_features, mu, most=1.0) >= 1.0


def _octave_share(pairs: int, n_features: int, mu: float, most: float = _OCTAVE_SHARES[1]) -> float:
    """Share of μ² that brings the counts by octave to the wanted noise, within limits."""
    wanted = 2 * n_features / (pairs * mu * _OCTAVE_SD) ** 2
    return min(max(wanted, _OCTAVE_SHARES[0]), most)


class _Counter:
    """Noisy shares of pairs, and what was drawn."""

    def __init__(self, pairs: int, mu: float, rng: Rng) -> None:
        self._pairs, self._mu, self._rng = pairs, mu, rng
        self.events: tuple[Event, ...] = ()

    def noisy(
        self, counts: np.ndarray, sensitivity: float, share: float
    ) -> tuple[np.ndarray, float]:
        """Shares of the pairs with noise, and its standard deviation."""
        if math.isinf(self._mu):
            self.events = (NonPrivateEvent(purpose=PURPOSE),)
            return counts / self._pairs, 0.0
        multiplier = 1 / (self._mu * math.sqrt(share))
        sigma = calibrated_sigma(multiplier, sensitivity, counts.size)
        self.events += (GaussianEvent(purpose=PURPOSE, noise_multiplier=multiplier),)
        noisy = add_gaussian(counts.astype(float), sigma, self._rng)
        return noisy / self._pairs, sigma / self._pairs


def _octaves(sizes: np.ndarray, counter: _Counter, share: float) -> tuple[np.ndarray, np.ndarray]:
    """A size near the median of each column's non-zero entries, and the sure share of zeros.

    Bins of two octaves; the fullest two neighbours win. The first bin holds the zeros.
    """
    d = sizes.shape[1]
    bins = _OCTAVES + 2
    index = (np.clip(np.frexp(sizes)[1], -_OCTAVES, _OCTAVES) + _OCTAVES) // 2 + 1
    index = np.where(sizes == 0, 0, index)
    counts = np.stack([np.bincount(index[:, k], minlength=bins) for k in range(d)])
    shares, sd = counter.noisy(counts, math.sqrt(2 * d), share)
    fullest = np.argmax(shares[:, 1:-1] + shares[:, 2:], axis=1)
    middle = np.ldexp(1.0, 2 * fullest - _OCTAVES + 1)
    zeros = np.clip(shares[:, 0], 0.0, 1.0)
    ties = np.where(zeros > _SURE * sd, zeros, 0.0)
    return middle, np.where(1 - ties > _SURE * sd, ties, 1.0)
