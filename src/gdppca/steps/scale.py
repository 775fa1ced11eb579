r"""Private robust scales of columns, without bounds from the user: their sizes, coarsely.

Noisy counts by octave of the differences in random pairs find the size of each column to within a
factor of about two, and the share of values that are equal. `gdppca.steps.refine` does the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gdppca._words import rounded_up
from gdppca.kernels.weights import counted
from gdppca.linalg import SQRT2
from gdppca.noise import Noise, noised
from gdppca.privacy import Event
from gdppca.privacy.accounting import gaussian_epsilon
from gdppca.sensitivity import REPLACING, Moves
from gdppca.steps.base import Public, Rows, State, gaussian_event
from gdppca.steps.octaves import OCTAVES, octave_of
from gdppca.steps.pairing import halved_differences

PURPOSE = "scale"

START = 0.4  # error of the logarithm after the counts by octave, at most about
GUESS = 0.8  # and of a public guess, about: one that is off by four is believed to be possible
# Noise of the counts by octave, as a share of the pairs: needed to find the size of a column; and
# wanted to find that of a rare yes, up to a small share of the budget.
_NEEDED_SD, _WANTED_SD, _WANTED_SHARE = 0.08, 0.012, 0.18
_OCTAVE_SHARES = (0.05, 0.5)  # least and most that they take
LAG = 0.4  # share of an error that a step leaves where tails are heavy, 1 - 0.255/0.425, and
# therefore of each step's budget that the one before it gets
_MOST_STEPS = 8
SLOPE = 0.425  # of the mean of clipped squares in log s, normal; Cauchy 0.255
_NORMAL_MEDIAN = 0.6744897501960817  # of |x|
_NOISELESS_STEPS = 60
_SURE = 3.2  # standard deviations of noise that a share of zeros must exceed
_SURE_OF_A_SIZE = 4.6  # and the fullest of some 250 bins and pairs of bins, in every column
_WHOLE_PAIRS = 0.25  # share of pairs without a missing cell where half of the cells are missing
_FEWEST_TIES = 0.05  # share of equal values from which a column is taken as discrete
_LOST = 0.08  # noise of a count by octave beyond which the size of a column may be lost
_POOR = 0.5  # expected error of a logarithm at which a scale says next to nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseScale:
    """Sizes of the columns to within a factor of about two, and their sure shares of ties."""

    scale: np.ndarray
    found: np.ndarray  # which columns vary enough to be measured; the others keep the scale 1
    ties: np.ndarray  # sure share of equal values
    guessed: np.ndarray | None = None  # which are public guesses, for which nothing was drawn

    @property
    def is_guess(self) -> np.ndarray:
        """Of every column, whether its size is a public guess."""
        return np.full(len(self.scale), False) if self.guessed is None else self.guessed

    def with_(self, columns: list[int], other: CoarseScale) -> CoarseScale:
        """The same with others in the place of some columns."""
        mixed = {name: values.copy() for name, values in self._columns.items()}
        for name, values in mixed.items():
            values[columns] = other._columns[name]
        return CoarseScale(**mixed)

    def only(self, columns: list[int]) -> CoarseScale:
        """Some of the columns."""
        return CoarseScale(**{name: values[columns] for name, values in self._columns.items()})

    @property
    def _columns(self) -> dict[str, np.ndarray]:
        same = {name: getattr(self, name) for name in ("scale", "found", "ties")}
        return same | {"guessed": self.is_guess}


@dataclass(frozen=True, kw_only=True)
class OfColumns:
    """What the two steps of private scales share: a budget, and the columns that it is for."""

    public: Public
    mu: float  # of coarse scales and of their refinement together
    sized: Sized | None = None  # all columns where it is left out
    needs_sample = True

    @property
    def columns(self) -> Sized:
        """Which columns get scales."""
        return self.sized or Sized.all(self.public.n_features)

    @property
    def multipliers(self) -> list[float]:
        """Noise over sensitivity of the counts by octave and of every step; none of no counts."""
        shares = self.columns.shares(self.public, self.mu)
        return [1 / (self.mu * math.sqrt(share)) if share else 0.0 for share in shares]


@dataclass(frozen=True, kw_only=True)
class Scale(OfColumns):
    r"""The size of every column, to within a factor of about two.

    **Privacy.** One Gaussian event, replace-one, n public: a row is in one pair, so in each of d
    columns it moves two counts by one, `Moves.octave_counts` (docs/proofs/scale.md). Of a person,
    one random row is in a pair.
    """

    share: float  # of μ² of the whole fit that both steps take, for the words of a refusal
    delta: float

    @property
    def events(self) -> tuple[Event, ...]:
        """Counts by octave."""
        return (gaussian_event(PURPOSE, self.multipliers[0]),)

    @property
    def lost(self) -> str | None:
        """Why noise would win over the scales, and what would do; None where it would not."""
        n, d = self.public.n_seen, len(self.columns.unknown)
        times = lacking_room(n, d, self.mu, whole=whole_pairs(self.public))
        if times <= 1:
            return None
        whole = self.mu / math.sqrt(self.share)
        enough = gaussian_epsilon(1 / (whole * times), self.delta)
        those = self.public.those
        return (
            f"`scale='private'` needs more than {n} {those} at this budget: noise would win over "
            f"the scales of {d} columns. About {rounded_up(n * times, 2)} {those} would do, or "
            f"`epsilon` = {rounded_up(enough, 2)}, or a larger `scale_share`, or public "
            "`scale=[...]`, or a `spread` for the columns in a description."
        )

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """Coarse scales; those that are known, or guessed, stay."""
        sample, columns = table.sample(self.public.n_seen), list(self.columns.unknown)
        rates = None if state.rates is None else state.rates[columns]
        found = coarse_scale(
            sample.single[:, columns],
            self.multipliers[0],
            noise,
            self.public.moves,
            pairs=sample.number // 2,
            rates=rates,
        )
        coarse = known_sizes(state, self.public.n_features).with_(columns, found)  # others stay
        return state.with_(scale=coarse.scale, coarse=coarse, events=self.events)


def coarse_scale(
    X: np.ndarray,
    multiplier: float,
    noise: Noise,
    moves: Moves = REPLACING,
    *,
    pairs: float | None = None,
    rates: np.ndarray | None = None,
) -> CoarseScale:
    """Draw the counts by octave, and read sizes and ties from them.

    `pairs` is how many there are, or about so many; of those, the squares of `rates` are whole.
    """
    sizes = np.abs(halved_differences(X, noise))
    pairs = len(sizes) if pairs is None else pairs
    whole = pairs if rates is None else pairs * rates[:, None] ** 2
    middle, ties, found = _octaves(sizes, multiplier, noise, moves, whole)
    scale = np.where(found, middle * 2 / (SQRT2 * _NORMAL_MEDIAN) * np.sqrt(1 - ties), 1.0)
    return CoarseScale(scale=scale, found=found, ties=ties)


def known_sizes(state: State, n_features: int) -> CoarseScale:
    """What is publicly known of the sizes: scales for good, or guesses to start from; else 1."""
    fixed, spread = state.fixed, state.spread
    scale = np.ones(n_features)
    for known in (spread, fixed):
        scale = scale if known is None else np.where(np.isnan(known), scale, known)
    every = np.full(n_features, True)
    return CoarseScale(scale=scale, found=every, ties=np.zeros(n_features), guessed=every.copy())


@dataclass(frozen=True)
class Sized:
    """Which columns get private scales, and of which of them nothing is known beforehand."""

    columns: tuple[int, ...]
    unknown: tuple[int, ...]

    @classmethod
    def all(cls, n_features: int) -> Sized:
        """Every column, of none of which anything is known."""
        return cls(tuple(range(n_features)), tuple(range(n_features)))

    @classmethod
    def of(cls, state: State, n_features: int) -> Sized:
        """Those without a public scale; nothing is known of those without a public guess."""
        free = np.full(n_features, True) if state.fixed is None else np.isnan(state.fixed)
        new = free if state.spread is None else free & np.isnan(state.spread)
        return cls(*(tuple(np.flatnonzero(some).tolist()) for some in (free, new)))

    def shares(self, public: Public, mu: float) -> tuple[float, ...]:
        """Shares of μ² of the counts by octave and of the steps after them."""
        whole = whole_pairs(public)
        return step_shares(public.n_seen, len(self.columns), mu, len(self.unknown), whole=whole)


def whole_pairs(public: Public) -> float:
    """Share of the pairs that have no missing cell in a column, as far as is known beforehand."""
    return _WHOLE_PAIRS if public.gaps else 1.0


def step_shares(
    n_samples: float,
    n_features: int,
    mu: float,
    unknown: int | None = None,
    *,
    whole: float = 1.0,
) -> tuple[float, ...]:
    """Shares of μ² of the counts by octave and of the steps after them.

    There are as many steps as bring the error of the start below the noise of the last one. Where
    no column is unknown there are no counts, and their share is zero.
    """
    if math.isinf(mu):
        return (1.0,) * (1 + _NOISELESS_STEPS)
    unknown = n_features if unknown is None else unknown
    noise = _octave_noise(n_samples, unknown, mu, 1.0)
    wanted = min((noise / _WANTED_SD) ** 2, _WANTED_SHARE)
    least, most = _OCTAVE_SHARES
    needed = (noise / whole / _NEEDED_SD) ** 2
    octaves = min(max(needed, wanted, least), most) if unknown else 0.0
    left = 1 - octaves
    noise = step_noise(n_samples, n_features, mu * math.sqrt((1 - LAG) * left))
    steps = math.ceil(math.log(noise / (2 * START)) / math.log(LAG))
    weights = [LAG**k for k in reversed(range(min(max(steps, 2), _MOST_STEPS)))]
    return (octaves, *(left * weight / sum(weights) for weight in weights))


def step_noise(sizes: float, n_features: int, mu: float) -> float:
    """Noise of the logarithm of a scale after one step."""
    return math.sqrt(n_features) / (sizes * mu * SLOPE)


def _octave_noise(n_samples: float, n_features: int, mu: float, share: float) -> float:
    """Noise of a count by octave, as a share of the pairs."""
    return math.sqrt(2 * n_features / share) / (max(n_samples // 2, 1) * mu)


def _octaves(
    sizes: np.ndarray, multiplier: float, noise: Noise, moves: Moves, n: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per column: median of the sizes that are not zero, sure share of zeros, whether it varies.

    Bins of two octaves, the first one for zeros; the difference of a yes and a no, or of two whole
    numbers, lies in the middle of its bin. A size that is missing is in no bin.
    """
    d, bins = sizes.shape[1], OCTAVES + 4
    missing = np.isnan(sizes)
    index = (octave_of(np.where(missing, 0.0, sizes)) + OCTAVES + 1) // 2 + 2
    index = np.where(sizes == 0, 0, np.where(missing, -1, index))
    counts = np.stack([counted(index[:, k], None, bins) for k in range(d)])
    bound = moves.octave_counts(d, paired=True)
    noisy, sigma = noised(counts, multiplier, bound, noise)
    shares, sd = noisy / n, np.asarray(sigma / n)
    # One bin or two together, whichever stands out more from the noise.
    heights = np.maximum((shares[:, 2:-2] + shares[:, 3:-1]) / SQRT2, shares[:, 2:-2])
    fullest = np.argmax(heights, axis=1)
    around = np.stack([shares[np.arange(d), fullest + k] for k in range(1, 5)], axis=1)
    around = np.where(around > 3 * sd, around, 0.0)  # noise alone is no size
    sure = np.maximum(_SURE * sd.ravel(), _FEWEST_TIES)
    zeros = np.where(shares[:, 0] > sure, shares[:, 0], 0.0)
    ties = np.clip(zeros, 0.0, 1 - 0.5 * np.clip(heights.max(axis=1), 1e-9, 1.0))
    # A column with gaps has a size if it has no ties, and rather the likeliest one than none.
    certain = np.where((np.ndim(n) > 0) & (zeros == 0), _SURE, _SURE_OF_A_SIZE)
    found = heights.max(axis=1) > certain * sd.ravel()
    return np.exp2(2 * (fullest + _median_bin(around)) - OCTAVES - 4), ties * found, found


def _median_bin(shares: np.ndarray) -> np.ndarray:
    """Where, in bins from the first, the middle of each row's shares lies."""
    edges = np.cumsum(np.maximum(shares, 0.0), axis=1)
    half = 0.5 * edges[:, -1:]
    k = np.minimum((edges < half).sum(axis=1), shares.shape[1] - 1)
    own = np.take_along_axis(np.maximum(shares, 0.0), k[:, None], axis=1)[:, 0]
    below = np.take_along_axis(edges, k[:, None], axis=1)[:, 0] - own
    return k + np.where(own > 0, (half[:, 0] - below) / np.where(own > 0, own, 1.0), 0.5)


def lacking_room(n_samples: float, n_features: int, mu: float, *, whole: float = 1.0) -> float:
    """How many times the rows, or the μ, private scales would take; 1 where they have enough."""
    if math.isinf(mu):
        return 1.0
    octaves = _octave_noise(n_samples * whole, n_features, mu, _OCTAVE_SHARES[1]) / _LOST
    last = mu * math.sqrt((1 - _OCTAVE_SHARES[1]) / (1 + LAG))
    return max(octaves, step_noise(n_samples // 2, n_features, last) / _POOR, 1.0)
