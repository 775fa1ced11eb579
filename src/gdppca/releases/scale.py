r"""Private robust scales of columns, without bounds from the user.

The scale of a column is the median of :math:`|x_i - x_j|/\sqrt2` over disjoint random pairs, in
the units of a standard deviation: no centre is needed, and a few bad rows move it little. First
noisy counts by octave find its size in every column at once, then a few Newton steps on noisy
counts of what lies below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

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
    """Private scales of the columns, coarse ones until refined, and what is drawn for them."""

    scale: np.ndarray
    ties: np.ndarray  # sure share of equal values; 1 for a column that hardly varies
    mu: float
    refining: tuple[float, ...]  # shares of the steps to come
    events: tuple[Event, ...]  # of those too

    def refined(self, X: np.ndarray, center: np.ndarray | None, rng: Rng) -> NoisyScale:
        """Better scales, from distances to a released centre, or from pairs where there is none.

        A row is in one distance or in one pair, so it moves one count per column by one; there are
        twice as many distances as pairs, so a centre halves the noise. Columns with ties need
        pairs: no centre keeps their ties.
        """
        center = None if (self.ties > 0).any() else center
        sizes = _differences(X, rng) if center is None else np.abs(0.5 * X - 0.5 * center)
        # Of pairs, |x - y| is √2 times as large as |x - c|; halves as they are counted.
        unit = 0.5 * _NORMAL_MEDIAN * (SQRT2 if center is None else 1.0)
        middle = _newton(sizes, self.scale * unit, self, rng)
        return replace(self, scale=np.where(self.ties < 1, middle / unit, 1.0), refining=())


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
    return coarse_scale(X, mu, rng).refined(X, None, rng)


def coarse_scale(X: np.ndarray, mu: float, rng: Rng) -> NoisyScale:
    """Scales to within a factor of about two, to be refined; events and μ are those of both."""
    pairs, d = len(X) // 2, X.shape[1]
    share = _octave_share(pairs, d, mu)
    refining = (*_FIRST_STEPS, 1 - share - sum(_FIRST_STEPS))
    middle, ties = _octaves(_differences(X, rng), mu * math.sqrt(share), rng)
    scale = np.where(ties < 1, middle * 2 / (SQRT2 * _NORMAL_MEDIAN), 1.0)
    exact = math.isinf(mu)
    events: tuple[Event, ...] = tuple(
        GaussianEvent(purpose=PURPOSE, noise_multiplier=1 / (mu * math.sqrt(part)))
        for part in (() if exact else (share, *refining))
    )
    return NoisyScale(
        scale=scale,
        ties=ties,
        mu=mu,
        refining=(1.0,) * _NOISELESS_STEPS if exact else refining,
        events=events or (NonPrivateEvent(purpose=PURPOSE),),
    )


def _differences(X: np.ndarray, rng: Rng) -> np.ndarray:
    """Half of |x - y| in disjoint random pairs; a half is a float where the whole is not."""
    order, half = rng.permutation(len(X)), len(X) // 2
    return np.abs(0.5 * X[order[:half]] - 0.5 * X[order[half : 2 * half]])


def _newton(sizes: np.ndarray, middle: np.ndarray, known: NoisyScale, rng: Rng) -> np.ndarray:
    """Median of each column's non-zero sizes times √(1 - z), by noisy counts of what lies below."""
    spread = np.sqrt(1 - known.ties)
    middle = middle / np.where(spread > 0, spread, 1.0)
    target = known.ties + 0.5 * (1 - known.ties)
    for share in known.refining:
        counts = (sizes <= middle).sum(axis=0)
        below, _ = _noisy_share(
            counts, len(sizes), math.sqrt(len(middle)), known.mu * math.sqrt(share), rng
        )
        step = (target - below) / (_SLOPE * np.maximum(1 - known.ties, 1e-9))
        middle = middle * np.exp(np.clip(step, -_LONGEST_STEP, _LONGEST_STEP))
    return middle * spread


def _noisy_share(
    counts: np.ndarray, total: int, sensitivity: float, mu: float, rng: Rng
) -> tuple[np.ndarray, float]:
    """Counts over their total with noise, and its standard deviation."""
    if math.isinf(mu):
        return counts / total, 0.0
    sigma = calibrated_sigma(1 / mu, sensitivity, counts.size)
    return add_gaussian(counts.astype(float), sigma, rng) / total, sigma / total


def scale_is_doubtful(n_samples: int, n_features: int, mu: float) -> bool:
    """Whether noise may win over the counts by octave; from public numbers."""
    return _octave_share(n_samples // 2, n_features, mu, most=1.0) >= 1.0


def _octave_share(pairs: int, n_features: int, mu: float, most: float = _OCTAVE_SHARES[1]) -> float:
    """Share of μ² that brings the counts by octave to the wanted noise, within limits."""
    wanted = 2 * n_features / (pairs * mu * _OCTAVE_SD) ** 2
    return min(max(wanted, _OCTAVE_SHARES[0]), most)


def _octaves(sizes: np.ndarray, mu: float, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """A size near the median of each column's non-zero entries, and the sure share of zeros.

    Bins of two octaves; the fullest two neighbours win. The first bin holds the zeros.
    """
    d = sizes.shape[1]
    bins = _OCTAVES + 2
    index = (np.clip(np.frexp(sizes)[1], -_OCTAVES, _OCTAVES) + _OCTAVES) // 2 + 1
    index = np.where(sizes == 0, 0, index)
    counts = np.stack([np.bincount(index[:, k], minlength=bins) for k in range(d)])
    shares, sd = _noisy_share(counts, len(sizes), math.sqrt(2 * d), mu, rng)
    fullest = np.argmax(shares[:, 1:-1] + shares[:, 2:], axis=1)
    middle = np.ldexp(1.0, 2 * fullest - _OCTAVES + 1)
    zeros = np.clip(shares[:, 0], 0.0, 1.0)
    ties = np.where(zeros > _SURE * sd, zeros, 0.0)
    ties = np.where(1 - ties > _SURE * sd, ties, 1.0)
    return middle * np.sqrt(1 - ties), ties


def expected_scale_error(n_samples: int, n_features: int, mu: float, *, centred: bool) -> float:
    """Expected standard deviation of the logarithm of a scale; from public numbers.

    The noise of the last Newton step over its slope, and the sampling error of a median.
    """
    total = n_samples if centred else max(n_samples // 2, 1)
    last = 1 - _octave_share(max(n_samples // 2, 1), n_features, mu) - sum(_FIRST_STEPS)
    noise = math.sqrt(n_features / last) / (mu * total)
    return math.hypot(noise, 0.5 / math.sqrt(total)) / _SLOPE
