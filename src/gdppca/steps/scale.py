r"""Private robust scales of columns, without bounds from the user.

A scale is the bound s at which the mean of clipped squares :math:`\min(y^2/(ks)^2, 1)` is what it
is for a normal column of standard deviation s, with k = 1.5 (Huber's second proposal). y is the
distance to a released centre, or :math:`(x_i - x_j)/\sqrt2` over disjoint random pairs. No bounds
are needed, a few bad rows move it little, and nothing jumps where a column takes few values. First
noisy counts by octave find the size of each column, then noisy means of clipped squares the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gdppca.linalg import LARGEST, SQRT2
from gdppca.noise.bits import Rng
from gdppca.noise.gaussian import add_gaussian, calibrated_sigma
from gdppca.privacy import Event, GaussianEvent, NonPrivateEvent
from gdppca.steps.clipped_squares import gaussian_ratio, square_sums

PURPOSE = "scale"

_OCTAVES = 128  # sizes from 2**-128 to 2**128 are told apart
# Noise of the counts by octave, as a share of the pairs: needed to find the size of a column; and
# wanted to find that of a rare yes, up to a small share of the budget.
_NEEDED_SD, _WANTED_SD, _WANTED_SHARE = 0.08, 0.012, 0.18
_OCTAVE_SHARES = (0.05, 0.5)  # least and most that they take
_LAG = 0.4  # share of an error that a step leaves where tails are heavy, 1 - 0.255/0.425, and
# therefore of each step's budget that the one before it gets
_MOST_STEPS = 8
_REACH = 1.5  # k: where squares are clipped, in standard deviations
_TIED_REACH = (2.0, 1.4)  # at first and last where a column takes few values, plus
_DIFFERING_REACH = 0.8  # times the share of values that differ
_SLOPE = 0.425  # of their mean in log s, normal; Cauchy 0.255
_STRETCH = 1.12  # of a step, between what normal and heavy tails ask for
_TAILS = 1.35  # error over the noise of the last step: 1.15 for normal tails, 1.45 for Cauchy
_SAMPLING_SD = 0.83  # of log s of a normal column, times the root of the number of sizes
_PAIRING_SD = 0.65  # the part of it that other random pairs of the same rows would change
_LONGEST_CHANGE = math.log(2.5)  # of the logarithm in a step
_NORMAL_MEDIAN = 0.6744897501960817  # of |x|
_START = 0.4  # error of the logarithm after the counts by octave, at most about
_NOISELESS_STEPS = 60
_SURE = 3.2  # standard deviations of noise that a share of zeros must exceed
_SURE_OF_A_SIZE = 4.6  # and the fullest of some 250 bins and pairs of bins, in every column
_FEWEST_TIES = 0.05  # share of equal values from which a column is taken as discrete
_LOST = 0.08  # noise of a count by octave beyond which the size of a column may be lost
_POOR = 0.5  # expected error of a logarithm at which a scale says next to nothing


@dataclass(frozen=True, kw_only=True)
class NoisyScale:
    """Private scales of the columns, coarse ones until refined, and what is drawn for them."""

    scale: np.ndarray
    error: np.ndarray  # sd of the logarithm that the noise gives; inf where no size was found
    ties: np.ndarray  # sure share of equal values
    mu: float
    refining: tuple[float, ...]  # shares of the steps to come
    events: tuple[Event, ...]  # of those too

    @property
    def found(self) -> np.ndarray:
        """Which columns vary enough to be measured; the others keep the scale 1."""
        return np.isfinite(self.error)

    def refined(self, X: np.ndarray, center: np.ndarray | None, rng: Rng) -> NoisyScale:
        """Better scales, from distances to a released centre, or from pairs where there is none.

        A row is in one distance or in one pair, so it moves one term per column by one; there are
        twice as many distances as pairs, so a centre halves the noise. Columns with ties need
        pairs: no centre keeps their ties.
        """
        paired = np.full(X.shape[1], True) if center is None else self.ties > 0
        sizes = _Sizes.of(X, center, paired, rng)
        # Halves, as they are summed: of pairs √2 times as large, and of those that differ.
        unit = 0.5 * np.where(paired, SQRT2 / np.sqrt(1 - self.ties), 1.0)
        spread, error = self._followed(sizes, self.scale * unit, rng)
        error = np.hypot(error, np.where(paired, _PAIRING_SD / np.sqrt(sizes.numbers), 0.0))
        error = np.where(self.found, error, np.inf)
        scale = np.where(np.isfinite(error), spread / unit, 1.0)
        return replace(self, scale=scale, error=error, refining=())

    def _followed(
        self, sizes: _Sizes, spread: np.ndarray, rng: Rng
    ) -> tuple[np.ndarray, np.ndarray]:
        """Standard deviation of the sizes that are not zero, and the error of its logarithm.

        A step is believed as far as it is surer than the counts by octave were.
        """
        error = np.full(len(spread), _START)
        for step, share in enumerate(self.refining, start=1):
            reach = self._reach(last=step == len(self.refining))
            change, noise = self._measured(sizes, spread, reach, self.mu * math.sqrt(share), rng)
            gain = _START**2 / (_START**2 + noise**2)
            spread = spread * np.exp(gain * change)
            error = _TAILS * noise * np.sqrt(gain)
        # A last step as long as can be has not arrived: the size was noise.
        arrived = np.abs(change) < _LONGEST_CHANGE
        return spread, np.where(arrived, error, np.inf)

    def _reach(self, *, last: bool) -> np.ndarray:
        """Where squares are clipped, in standard deviations of what is not zero."""
        tied = _TIED_REACH[last] + _DIFFERING_REACH * (1 - self.ties)
        return np.where(self.ties > 0, tied, _REACH)

    def _measured(
        self, sizes: _Sizes, spread: np.ndarray, reach: np.ndarray, mu: float, rng: Rng
    ) -> tuple[np.ndarray, np.ndarray]:
        """How much larger the logarithm of the spread seems, and the noise of that."""
        tied, differing = self.ties > 0, 1 - self.ties
        bounds = np.clip(reach * spread, np.finfo(float).tiny, LARGEST)
        noisy, sigma = _noised(sizes.clipped_squares(bounds), math.sqrt(len(spread)), mu, rng)
        # What is less than its own noise is no smaller than that.
        shares = np.minimum(np.maximum(noisy, sigma) / (sizes.numbers * differing), 1.0)
        # The mean square itself where a column takes few values: right for a yes or no.
        ratio = reach * np.where(tied, np.sqrt(shares), gaussian_ratio(shares))
        slope = differing * np.where(tied, 2 / reach**2, _SLOPE)
        with np.errstate(divide="ignore"):
            change = np.log(ratio) * np.where(tied, 1.0, _STRETCH)
        longest = _LONGEST_CHANGE
        return np.clip(change, -longest, longest), sigma / (sizes.numbers * slope)


@dataclass(frozen=True)
class _Sizes:
    """What is measured of each column: halves of differences in pairs, or of distances."""

    paired: np.ndarray  # which columns are measured in pairs
    differences: np.ndarray
    distances: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, center: np.ndarray | None, paired: np.ndarray, rng: Rng) -> _Sizes:
        differences = _differences(X[:, paired], rng) if paired.any() else np.empty((0, 0))
        if center is None:
            return cls(paired, differences, np.empty((0, 0)))
        apart = np.abs(0.5 * X[:, ~paired] - 0.5 * center[~paired])
        return cls(paired, differences, apart)

    @property
    def numbers(self) -> np.ndarray:
        """How many sizes there are per column."""
        return np.where(self.paired, len(self.differences), len(self.distances))

    def clipped_squares(self, bounds: np.ndarray) -> np.ndarray:
        sums = np.empty(len(bounds))
        for columns, sizes in ((self.paired, self.differences), (~self.paired, self.distances)):
            if columns.any():
                sums[columns] = square_sums(sizes, bounds[columns])
        return sums


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
    **Privacy.** Gaussian events, as many as public numbers say, replace-one, n public. One row is
    in one pair, so in each of d columns it moves two counts by one, :math:`\sqrt{2d}` in all, then
    in each step one clipped square per column, :math:`\sqrt d`. Counts are whole numbers and
    squares whole multiples of 2⁻²⁴: their sums are exact (docs/proofs/scale.md).

    Columns with many ties, such as a yes or no: where a sure share z of the differences is
    zero, the others are measured, and their scale counts times :math:`\sqrt{1 - z}`.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.noise.bits import seeded_rng
    >>> from gdppca.steps.scale import private_scale
    >>> X = np.random.default_rng(0).normal(scale=[1e6, 1.0, 1e-3], size=(50_000, 3))
    >>> (private_scale(X, 0.3, seeded_rng(1)).scale / [1e6, 1.0, 1e-3]).round(1)
    array([1., 1., 1.])
    """
    return coarse_scale(X, mu, rng).refined(X, None, rng)


def coarse_scale(X: np.ndarray, mu: float, rng: Rng) -> NoisyScale:
    """Scales to within a factor of about two, to be refined; events and μ are those of both."""
    shares = step_shares(len(X), X.shape[1], mu)
    middle, ties, found = _octaves(_differences(X, rng), mu * math.sqrt(shares[0]), rng)
    scale = np.where(found, middle * 2 / (SQRT2 * _NORMAL_MEDIAN) * np.sqrt(1 - ties), 1.0)
    exact = math.isinf(mu)
    events: tuple[Event, ...] = tuple(
        GaussianEvent(purpose=PURPOSE, noise_multiplier=1 / (mu * math.sqrt(part)))
        for part in (() if exact else shares)
    )
    return NoisyScale(
        scale=scale,
        error=np.where(found, _START, np.inf),
        ties=ties,
        mu=mu,
        refining=shares[1:],
        events=events or (NonPrivateEvent(purpose=PURPOSE),),
    )


def _differences(X: np.ndarray, rng: Rng) -> np.ndarray:
    """Half of |x - y| in disjoint random pairs; a half is a float where the whole is not."""
    order, half = rng.permutation(len(X)), len(X) // 2
    return np.abs(0.5 * X[order[:half]] - 0.5 * X[order[half : 2 * half]])


def _noised(sums: np.ndarray, sensitivity: float, mu: float, rng: Rng) -> tuple[np.ndarray, float]:
    """Sums with noise, and its standard deviation."""
    if math.isinf(mu):
        return sums, 0.0
    sigma = calibrated_sigma(1 / mu, sensitivity, sums.size)
    return add_gaussian(sums, sigma, rng), sigma


def step_shares(n_samples: int, n_features: int, mu: float) -> tuple[float, ...]:
    """Shares of μ² of the counts by octave and of the steps after them.

    There are as many steps as bring the error of the start below the noise of the last one.
    """
    if math.isinf(mu):
        return (1.0,) * (1 + _NOISELESS_STEPS)
    noise = _octave_noise(n_samples, n_features, mu, 1.0)
    wanted = min((noise / _WANTED_SD) ** 2, _WANTED_SHARE)
    least, most = _OCTAVE_SHARES
    octaves = min(max((noise / _NEEDED_SD) ** 2, wanted, least), most)
    left = 1 - octaves
    noise = _step_noise(n_samples, n_features, mu * math.sqrt((1 - _LAG) * left))
    steps = math.ceil(math.log(noise / (2 * _START)) / math.log(_LAG))
    weights = [_LAG**k for k in reversed(range(min(max(steps, 2), _MOST_STEPS)))]
    return (octaves, *(left * weight / sum(weights) for weight in weights))


def _step_noise(sizes: int, n_features: int, mu: float) -> float:
    """Noise of the logarithm of a scale after one step."""
    return math.sqrt(n_features) / (sizes * mu * _SLOPE)


def _octave_noise(n_samples: int, n_features: int, mu: float, share: float) -> float:
    """Noise of a count by octave, as a share of the pairs."""
    return math.sqrt(2 * n_features / share) / ((n_samples // 2) * mu)


def _octaves(sizes: np.ndarray, mu: float, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per column: median of the sizes that are not zero, sure share of zeros, whether it varies.

    Bins of two octaves, the first one for zeros; the difference of a yes and a no, or of two whole
    numbers, lies in the middle of its bin.
    """
    n, d = sizes.shape
    bins = _OCTAVES + 4
    index = (np.clip(np.frexp(sizes)[1], -_OCTAVES, _OCTAVES) + _OCTAVES + 1) // 2 + 2
    index = np.where(sizes == 0, 0, index)
    counts = np.stack([np.bincount(index[:, k], minlength=bins) for k in range(d)])
    noisy, sigma = _noised(counts.astype(float), math.sqrt(2 * d), mu, rng)
    shares, sd = noisy / n, sigma / n
    # One bin or two together, whichever stands out more from the noise.
    heights = np.maximum((shares[:, 2:-2] + shares[:, 3:-1]) / SQRT2, shares[:, 2:-2])
    fullest = np.argmax(heights, axis=1)
    found = heights.max(axis=1) > _SURE_OF_A_SIZE * sd
    around = np.stack([shares[np.arange(d), fullest + k] for k in range(1, 5)], axis=1)
    around = np.where(around > 3 * sd, around, 0.0)  # noise alone is no size
    zeros = np.where(shares[:, 0] > max(_SURE * sd, _FEWEST_TIES), shares[:, 0], 0.0)
    ties = np.clip(zeros, 0.0, 1 - 0.5 * np.clip(heights.max(axis=1), 1e-9, 1.0))
    return np.exp2(2 * (fullest + _median_bin(around)) - _OCTAVES - 4), ties * found, found


def _median_bin(shares: np.ndarray) -> np.ndarray:
    """Where, in bins from the first, the middle of each row's shares lies."""
    edges = np.cumsum(np.maximum(shares, 0.0), axis=1)
    half = 0.5 * edges[:, -1:]
    k = np.minimum((edges < half).sum(axis=1), shares.shape[1] - 1)
    own = np.take_along_axis(np.maximum(shares, 0.0), k[:, None], axis=1)[:, 0]
    below = np.take_along_axis(edges, k[:, None], axis=1)[:, 0] - own
    return k + np.where(own > 0, (half[:, 0] - below) / np.where(own > 0, own, 1.0), 0.5)


def expected_scale_error(n_samples: int, n_features: int, mu: float, *, centred: bool) -> float:
    """Expected standard deviation of the logarithm of a scale, from public numbers.

    Noise and sampling together; sampling alone for an infinite μ.
    """
    sizes = n_samples if centred else n_samples // 2
    sampling = _SAMPLING_SD / math.sqrt(sizes)
    if math.isinf(mu):
        return sampling
    last = step_shares(n_samples, n_features, mu)[-1]
    noise = _step_noise(sizes, n_features, mu * math.sqrt(last))
    return math.hypot(_TAILS * noise / math.hypot(1.0, noise / _START), sampling)


def lacking_room(n_samples: int, n_features: int, mu: float) -> float:
    """How many times the rows, or the μ, private scales would take; 1 where they have enough."""
    if math.isinf(mu):
        return 1.0
    octaves = _octave_noise(n_samples, n_features, mu, _OCTAVE_SHARES[1]) / _LOST
    last = mu * math.sqrt((1 - _OCTAVE_SHARES[1]) / (1 + _LAG))
    return max(octaves, _step_noise(n_samples // 2, n_features, last) / _POOR, 1.0)
