r"""Private robust scales of columns, refined.

A scale is the bound s at which the mean of clipped squares :math:`\min(y^2/(ks)^2, 1)` is what it
is for a normal column of standard deviation s, with k = 1.5 (Huber's second proposal). y is the
distance to a released centre, or :math:`(x_i - x_j)/\sqrt2` over disjoint random pairs. No bounds
are needed, a few bad rows move it little, and nothing jumps where a column takes few values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gdppca.linalg import LARGEST, SQRT2
from gdppca.noise import Noise, noised
from gdppca.privacy import Event
from gdppca.sensitivity import REPLACING, Moves
from gdppca.steps.base import Rows, State, gaussian_event
from gdppca.steps.clipped_squares import gaussian_ratio, gaussian_slope, square_sums
from gdppca.steps.pairing import halved_differences
from gdppca.steps.scale import (
    GUESS,
    LAG,
    PURPOSE,
    SLOPE,
    START,
    CoarseScale,
    OfColumns,
    known_sizes,
    step_noise,
    step_shares,
)
from gdppca.tables.base import Sample

_REACH = 1.5  # k: where squares are clipped, in standard deviations
_TIED_REACH = (2.0, 1.4)  # at first and last where a column takes few values, plus
_DIFFERING_REACH = 0.8  # times the share of values that differ
_STRETCH = 1.12  # of a step, between what normal and heavy tails ask for
_TAILS = 1.35  # error over the noise of the last step: 1.15 for normal tails, 1.45 for Cauchy
_SAMPLING_SD = 0.83  # of log s of a normal column, times the root of the number of sizes
_PAIRING_SD = 0.65  # the part of it that other random pairs of the same rows would change
_LONGEST_CHANGE = math.log(2.5)  # of the logarithm in a step
_LONGEST_FROM_GUESS = math.log(4)  # which may be off by any factor, as by one of the unit
_USUAL_GUESS = math.log(2) / math.sqrt(3)  # its error where it is right within a factor of two
_GUESS_TAILS = 1.25  # error over that of normal tails: 1.0 for them, 1.5 for Cauchy
_ARRIVED = 0.9  # share of an error that a step takes away, between normal and heavy tails
_SOME_DOUBT = 1e-9  # of what is known without noise


@dataclass(frozen=True, kw_only=True)
class Refinement(OfColumns):
    r"""Better scales, from distances to a released centre, or from pairs where there is none.

    **Privacy.** Gaussian events, as many as public numbers say. A row is in one distance or in one
    pair, so in each step it moves one clipped square per column by one, `Moves.bounded_sums`;
    squares are whole multiples of 2⁻²⁴, so that their sums are exact (docs/proofs/scale.md).
    Distances of one person share a weight of one; one random row of each person is in a pair.

    There are twice as many distances as pairs, so a centre halves the noise. Columns with many
    ties, such as a yes or no, need pairs: no centre keeps their ties. Where a sure share z of the
    differences is zero, the others are measured, and their scale counts times
    :math:`\sqrt{1 - z}`.
    """

    @property
    def events(self) -> tuple[Event, ...]:
        """One for each step; without noise, that of the coarse scales says it."""
        if math.isinf(self.mu):
            return () if self.columns.unknown else (gaussian_event(PURPOSE, 0.0),)
        return tuple(gaussian_event(PURPOSE, multiplier) for multiplier in self.multipliers[1:])

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """Refined scales and their errors; public ones stay, and have none."""
        d, columns = self.public.n_features, list(self.columns.columns)
        coarse = state.coarse or known_sizes(state, d)
        scale, error = coarse.scale.copy(), np.zeros(d)
        scale[columns], error[columns] = refined(
            _only(table.sample(self.public.n_seen), columns),
            coarse.only(columns),
            None if state.location is None else state.location[columns],
            self.multipliers[1:],
            noise,
            self.public.moves,
            rates=None if state.rates is None else state.rates[columns],
        )
        return state.with_(scale=scale, scale_error=error, coarse=None, events=self.events)


def _only(sample: Sample, columns: list[int]) -> Sample:
    """Some columns of a sample."""
    return replace(sample, values=sample.values[:, columns])


def refined(
    rows: np.ndarray | Sample,
    coarse: CoarseScale,
    center: np.ndarray | None,
    multipliers: list[float],
    noise: Noise,
    moves: Moves = REPLACING,
    *,
    rates: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Scales > 0 and the errors of their logarithms; infinite where no size was found."""
    sample = Sample.of(rows)
    paired = np.full(len(coarse.ties), True) if center is None else coarse.ties > 0
    sizes = _Sizes.of(sample, center, paired, noise, rates)
    # Halves, as they are summed: of pairs √2 times as large, and of those that differ.
    unit = 0.5 * np.where(paired, SQRT2 / np.sqrt(1 - coarse.ties), 1.0)
    spread, error = _followed(sizes, coarse, coarse.scale * unit, multipliers, noise, moves)
    error = np.hypot(error, np.where(paired, _PAIRING_SD / np.sqrt(sizes.numbers), 0.0))
    error = np.where(coarse.found, error, np.inf)
    return np.where(np.isfinite(error), spread / unit, 1.0), error


def _followed(
    sizes: _Sizes,
    coarse: CoarseScale,
    spread: np.ndarray,
    multipliers: list[float],
    noise: Noise,
    moves: Moves,
) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviation of the sizes that are not zero, and the error of its logarithm.

    A step is believed as far as it is surer than the counts by octave were. A guess and all steps
    after it are averaged, each as far as it is sure: where tails are heavy, a step leaves a part.
    """
    doubt = np.where(coarse.is_guess, GUESS, START)
    for step, multiplier in enumerate(multipliers, start=1):
        reach = _reach(coarse.ties, last=step == len(multipliers))
        change, sd = _measured(sizes, coarse, spread, reach, multiplier, noise, moves)
        gain = doubt**2 / (doubt**2 + sd**2)
        spread = spread * np.exp(gain * change)
        error = _TAILS * sd * np.sqrt(gain)
        left = np.hypot(sd * np.sqrt(gain), LAG * gain * change) + _SOME_DOUBT
        doubt = np.where(coarse.is_guess, left, doubt)
    error = np.where(coarse.is_guess, _TAILS * left, error)
    # A last step as long as can be has not arrived: the size was noise, where nobody guessed it.
    arrived = coarse.is_guess | (np.abs(change) < _LONGEST_CHANGE)
    return spread, np.where(arrived, error, np.inf)


def _reach(ties: np.ndarray, *, last: bool) -> np.ndarray:
    """Where squares are clipped, in standard deviations of what is not zero."""
    tied = _TIED_REACH[last] + _DIFFERING_REACH * (1 - ties)
    return np.where(ties > 0, tied, _REACH)


def _measured(
    sizes: _Sizes,
    coarse: CoarseScale,
    spread: np.ndarray,
    reach: np.ndarray,
    multiplier: float,
    noise: Noise,
    moves: Moves,
) -> tuple[np.ndarray, np.ndarray]:
    """How much larger the logarithm of the spread seems, and the noise of that."""
    tied, differing = coarse.ties > 0, 1 - coarse.ties
    bounds = np.clip(reach * spread, np.finfo(float).tiny, LARGEST)
    bound = moves.bounded_sums(len(spread), weighted=sizes.parts is not None)
    noisy, sigma = noised(sizes.clipped_squares(bounds), multiplier, bound, noise)
    # What is less than its own noise is no smaller than that.
    shares = np.minimum(np.maximum(noisy, sigma) / (sizes.numbers * differing), 1.0)
    # The mean square itself where a column takes few values: right for a yes or no.
    ratio = reach * np.where(tied, np.sqrt(shares), gaussian_ratio(shares))
    slope = differing * np.where(tied, 2 / reach**2, SLOPE)
    slope = np.where(coarse.is_guess, gaussian_slope(ratio / reach), slope)  # at any distance
    with np.errstate(divide="ignore"):
        change = np.log(ratio) * np.where(tied, 1.0, _STRETCH)
    longest = np.where(coarse.is_guess, _LONGEST_FROM_GUESS, _LONGEST_CHANGE)
    return np.clip(change, -longest, longest), sigma / (sizes.numbers * slope)


@dataclass(frozen=True)
class _Sizes:
    """What is measured of each column: halves of differences in pairs, or of distances."""

    paired: np.ndarray  # which columns are measured in pairs
    numbers: np.ndarray  # how many sizes there are per column, or about so many
    differences: np.ndarray
    distances: np.ndarray
    parts: np.ndarray | None  # how much each distance counts

    @classmethod
    def of(
        cls,
        sample: Sample,
        center: np.ndarray | None,
        paired: np.ndarray,
        noise: Noise,
        rates: np.ndarray | None,
    ) -> _Sizes:
        there = 1 if rates is None else rates
        numbers = np.where(paired, sample.number // 2 * there**2, sample.number * there)
        differences = distances = np.empty((0, 0))
        if paired.any():
            differences = np.abs(halved_differences(sample.single[:, paired], noise))
        if center is not None:
            distances = np.abs(0.5 * sample.values[:, ~paired] - 0.5 * center[~paired])
        return cls(paired, numbers, differences, distances, sample.parts)

    def clipped_squares(self, bounds: np.ndarray) -> np.ndarray:
        sums = np.empty(len(bounds))
        if self.paired.any():
            sums[self.paired] = square_sums(self.differences, bounds[self.paired])
        if not self.paired.all():
            own = bounds[~self.paired]
            sums[~self.paired] = square_sums(self.distances, own, self.parts)
        return sums


def expected_scale_error(
    n_samples: float, n_features: int, mu: float, *, centred: bool, unknown: int | None = None
) -> float:
    """Expected standard deviation of the logarithm of a scale, from public numbers.

    Noise and sampling together; sampling alone for an infinite μ. Of the columns so many are
    unknown, all if it is left out, and of the others there is a guess: the error is that of all.
    """
    sizes = n_samples if centred else n_samples // 2
    sampling = _SAMPLING_SD / math.sqrt(sizes)
    if math.isinf(mu):
        return sampling
    _, *shares = step_shares(n_samples, n_features, mu, unknown)
    noises = [step_noise(sizes, n_features, mu * math.sqrt(share)) for share in shares]
    found = _TAILS * noises[-1] / math.hypot(1.0, noises[-1] / START)
    share = 1.0 if unknown is None else unknown / n_features
    whole = share * found**2 + (1 - share) * _from_guess(noises) ** 2
    return math.hypot(math.sqrt(whole), sampling)


def _from_guess(noises: list[float]) -> float:
    """Error of a logarithm after steps with such noises, from a guess that is off as usual."""
    off, doubt = _USUAL_GUESS, GUESS
    for noise in noises:
        gain = doubt**2 / (doubt**2 + noise**2)
        change = math.hypot(off, noise)
        off = math.hypot((1 - gain * _ARRIVED) * off, gain * noise)
        doubt = math.hypot(noise * math.sqrt(gain), LAG * gain * change)
    return _GUESS_TAILS * off
