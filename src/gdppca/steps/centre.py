r"""A private spatial median that needs no bounds on the data.

The spatial median minimises the mean distance to the rows. Its gradient is a mean of unit vectors,
so one row moves it by at most 2/n whatever the data. Far away it points home and is about one
long; near home it is the offset over the typical distance. So one kind of look at the data, with
Gaussian noise, serves for both: the mean unit vector, and one bounded number that tells how the
distances compare with the last idea of them. A walk of cheap looks brings any start near, and of a
large table sees some random rows alone; two dearer ones at all of them polish. How many looks are
needed depends on the data, so their number is chosen on the way: Gaussian steps compose to a fixed
μ² however they are chosen (docs/proofs/centre.md), and what the walk does not spend is left for the
matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gdppca.kernels import OneSample
from gdppca.kernels.directions import direction_sum, look_sum
from gdppca.kernels.weights import counted
from gdppca.linalg import LARGEST
from gdppca.noise import Noise, Noised, noised
from gdppca.privacy import Event, GaussianEvent, NonPrivateEvent, Unit
from gdppca.sensitivity import REPLACING, Moves
from gdppca.steps.base import Public, Rows, State, gaussian_event
from gdppca.steps.centre_budget import (
    FEWEST_WALKED,
    LARGEST_SHARE,
    LONGEST_WALK,
    PURPOSE,
    CentreBudget,
    centre_budget,
    walk_size,
)
from gdppca.steps.octaves import OCTAVES, octave_of
from gdppca.tables.base import Sample, divided

_NEAR = 0.35  # gradient below which a walk may end
_LOOKS_NEAR = 2  # at least, before a walk ends: one may be small by chance
_FAR = 0.7  # gradient above which rows are about equally far
_STEADY = 1.3  # a walk ends once the typical distance changes by less than this factor
_MOST_LOOKS = 100  # where each costs next to nothing
_USUAL_WALK = 0.33  # share of the budget that a walk may be expected to take
_NOISELESS_POLISHES = 200


@dataclass(frozen=True, kw_only=True)
class Centre:
    r"""A private centre: the spatial median, by a walk of noisy looks from the origin.

    **Privacy.** Gaussian events only: counts of rows by distance (`Moves.octave_counts`), then
    looks of d + 1 numbers, a unit vector and a number in [-1, 1] per row (`Moves.looks`), then
    unit vectors alone (`Moves.directions`). Rows of one person share a weight of one.
    Of a large table all but the last two see a random sample alone, with noise for that: what one
    row moves a sum by does not depend on how many there are. Their number depends on what was
    released before; together they take `LARGEST_SHARE` of μ² at most, and what they leave is the
    matrix's (docs/proofs/centre.md).
    """

    public: Public
    mu: float  # of centre and matrix together
    cautious: bool  # gives up early where the walk is not expected to pay
    needed: bool = False  # where there is no way without one, the place that was reached will do
    fewest_walked: int = FEWEST_WALKED  # rows of a large table
    needs_sample = True

    @property
    def budget(self) -> CentreBudget:
        """What a centre takes and how good it gets."""
        public = self.public
        walked = None if self.n_walked == public.n_seen else self.n_walked
        return centre_budget(public.n_seen, public.n_features, self.mu, public.moves, walked)

    @property
    def n_walked(self) -> int:
        """How many rows the walk sees; all persons, whose rows belong together."""
        return self._walked_of(self.public.n_seen)

    def _walked_of(self, rows: int) -> int:
        public = self.public
        if public.unit is Unit.PERSON:
            return rows
        return walk_size(rows, public.n_features, self.mu, public.moves, self.fewest_walked)

    @property
    def events(self) -> tuple[Event, ...]:
        """All looks together, if the walk is as long as can be."""
        return (gaussian_event(PURPOSE, 1 / (self.mu * math.sqrt(LARGEST_SHARE))),)

    @property
    def doubt(self) -> str | None:
        """Why pairs may do better; None where a centre pays."""
        if self.cautious or self.budget.worthwhile:
            return None
        few = f"{self.public.how_many} and this budget are too little for a private centre"
        if self.needed:
            return f"{few}, and without one nothing can be compared here: expect large errors."
        return f"{few}: comparing pairs, `location=None`, is expected to be more accurate."

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """A centre of the columns; pairs are compared where the walk did not arrive."""
        sample, scale = table.sample(self.public.n_seen), state.working_scale
        sample = replace(sample, values=divided(sample.values, scale))
        found = private_spatial_median(
            sample,
            self.mu,
            noise,
            cautious=self.cautious,
            moves=self.public.moves,
            start=None if state.typical is None else divided(state.typical, scale),
            rates=state.rates,
            walked=self.walked(sample, noise),
        )
        if not found.arrived and not self.needed:
            return state.with_(events=found.events)
        with np.errstate(over="ignore"):
            location = np.clip(found.center * (1.0 if scale is None else scale), -LARGEST, LARGEST)
        return state.with_(location=location, scheme=OneSample(), events=found.events)

    def walked(self, sample: Sample, noise: Noise) -> Sample:
        """The rows that the walk sees: a secret random part, of as many as there really are."""
        size = self._walked_of(len(sample))
        return sample if size == len(sample) else sample.some(size, noise.keys())


@dataclass(frozen=True, kw_only=True)
class NoisyCentre:
    """A private centre, what was drawn for it, and whether the walk arrived."""

    center: np.ndarray
    events: tuple[Event, ...]
    arrived: bool


def private_spatial_median(
    X: np.ndarray | Sample,
    mu: float,
    noise: Noise,
    *,
    longest_walk: float = LONGEST_WALK,
    cautious: bool = False,
    moves: Moves = REPLACING,
    start: np.ndarray | None = None,
    rates: np.ndarray | None = None,
    walked: Sample | None = None,
) -> NoisyCentre:
    r"""Release a spatial median, from a start at the origin or where it is thought to be.

    Parameters
    ----------
    X : array of shape (n, d) or Sample
        Finite numbers; of a sample NaN where cells are missing, and weights.
    mu : float
        μ of Gaussian differential privacy, of which the centre takes a part; infinity draws no
        noise.
    noise : Noise
        Source of noise.
    longest_walk : float
        Share of μ² after which the walk gives up.
    cautious : bool, default False
        Give up after the first look where the rest of the walk is not expected to fit.
    moves : Moves
        How far one row or person moves a look.
    start : array of shape (d,) or None
        A public guess.
    rates : array of shape (d,) or None
        Released shares of the cells that are there.
    walked : Sample or None
        Random rows that the walk sees, where all are for the polish alone.

    Returns
    -------
    NoisyCentre
        The centre; where the walk gave up, the place that it had reached, without polish.

    Notes
    -----
    **Privacy.** Gaussian events only, replace-one, n public: counts of rows by distance (one row
    moves two by one), then looks of d + 1 numbers, a unit vector and a number in [-1, 1] per row,
    which move by at most :math:`2\sqrt2` in the sum, then unit vectors alone, by at most 2. Their
    number depends on what was released before; the events say what was drawn.

    **Design.** Fact 10: around a private centre the sign covariance needs half of the pair
    statistic's noise.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.noise import seeded_noise
    >>> from gdppca.steps.centre import private_spatial_median
    >>> X = np.random.default_rng(0).standard_t(2, size=(20_000, 3)) + [5000.0, -3.0, 0.0]
    >>> private_spatial_median(X, 0.3, seeded_noise(1)).center.round(0) + 0.0
    array([ 5.e+03, -3.e+00,  0.e+00])
    """
    whole = Sample.of(X)
    walk = _Walk(whole, whole if walked is None else walked, mu, noise, moves, start, rates)
    if walk.budget.first > longest_walk:
        return walk.result()  # nothing drawn
    walk.measure_distance()
    for looks in range(_MOST_LOOKS):
        if walk.arrived or walk.spent + walk.next_share > longest_walk:
            break
        if cautious and looks == 1 and walk.spent + walk.expected(looks) > _USUAL_WALK:
            break
        walk.step()
    if not walk.arrived:
        return walk.result()
    walk.polish()
    return walk.result()


class _Walk:
    """Where the walk is, and what it has drawn; everything it knows was released."""

    def __init__(
        self,
        whole: Sample,
        walked: Sample,
        mu: float,
        noise: Noise,
        moves: Moves,
        start: np.ndarray | None,
        rates: np.ndarray | None,
    ) -> None:
        self._whole = whole
        self._see(walked)
        self._mu, self._noise, self._moves = mu, noise, moves
        self._d = self._X.shape[1]
        self._rates = rates
        self.budget = centre_budget(whole.number, self._d, mu, moves, walked.number)
        self.center = np.zeros(self._d) if start is None else start.astype(float)
        self._distance = 1.0
        self._far = True
        self._looks_near = 0
        self.arrived = False
        self._multipliers: list[float] = []

    def _see(self, sample: Sample) -> None:
        """Look at these rows from now on."""
        self._X, self._parts, self._n = sample.values, sample.parts, sample.number

    @property
    def spent(self) -> float:
        """Share of μ² so far."""
        return sum(1 / (self._mu * multiplier) ** 2 for multiplier in self._multipliers)

    @property
    def next_share(self) -> float:
        return self.budget.far if self._far else self.budget.near

    def expected(self, looks: int) -> float:
        """Share that the rest of the walk is expected to take."""
        return self.budget.rest(looks, far=self._far)

    def result(self) -> NoisyCentre:
        events: tuple[Event, ...] = tuple(
            GaussianEvent(purpose=PURPOSE, noise_multiplier=m) for m in self._multipliers
        )
        if math.isinf(self._mu):
            events = (NonPrivateEvent(purpose=PURPOSE),)
        return NoisyCentre(
            center=self.center,
            events=events,
            arrived=self.arrived,
        )

    def _noisy_mean(self, total: np.ndarray, bound: float, share: float) -> Noised:
        """A sum over n with its noise, and the noise's sd; a row moves the sum by the bound."""
        if math.isinf(self._mu):
            return Noised(total / self._n, 0.0)
        multiplier = 1 / (self._mu * math.sqrt(share))
        self._multipliers.append(multiplier)
        noisy = noised(total, multiplier, bound, self._noise)
        return Noised(noisy.values / self._n, noisy.sd / self._n)

    def measure_distance(self) -> None:
        """Find the octave of the distances from the origin, by the fullest pair of noisy bins."""
        _, lengths = self._directions()
        counts = counted(octave_of(lengths) + OCTAVES, self._parts, 2 * OCTAVES + 1)
        bound = self._moves.octave_counts(weighted=self._parts is not None)
        share, _ = self._noisy_mean(counts, bound, self.budget.first)
        fullest = int(np.argmax(share[:-1] + share[1:]))
        self._distance = math.ldexp(1.0, fullest - OCTAVES)

    def _directions(self) -> tuple[np.ndarray, np.ndarray]:
        """Sum of the unit vectors to the rows, and distances; missing cells are at the centre."""
        return direction_sum(self._X, self.center, self._parts)

    def step(self) -> None:
        """Look, go by the gradient times the typical distance, and see whether this is home."""
        before = self._distance
        size = self._look(self.next_share, far=self._far)
        steady = 1 / _STEADY < self._distance / before < _STEADY
        self._looks_near = 0 if self._far else self._looks_near + 1
        self.arrived = self._looks_near >= _LOOKS_NEAR and size < _NEAR and steady
        self._far = size > _FAR

    def polish(self) -> None:
        """A dear look, then a Newton step by the gradient alone; to the end where noise is none."""
        self._see(self._whole)
        share = self.budget.polish / 2
        self._look(share, far=False)
        if math.isinf(self._mu):
            self._settle()
            return
        total, _ = self._directions()
        gradient, sd = self._noisy_mean(total, self._moves.directions(self._d), share)
        # The Hessian is about (1 - 1/d) over the typical distance.
        self._go(gradient, sd, self._d / max(self._d - 1, 1))

    def _settle(self) -> None:
        """Go to the spatial median itself, by steps that never overshoot (Weiszfeld 1937)."""
        for _ in range(_NOISELESS_POLISHES):
            total, lengths = self._directions()
            with np.errstate(divide="ignore", over="ignore"):
                pull = np.sum(self._weights(lengths > 0) / lengths[lengths > 0])
            if not 0 < pull < math.inf:
                break
            self.center = self.center + total / pull / self._there

    def _weights(self, some: np.ndarray) -> np.ndarray | float:
        return 1.0 if self._parts is None else np.ldexp(self._parts[some].astype(float), -30)

    @property
    def _there(self) -> np.ndarray | float:
        """Near home a column is pulled by the share of its cells that are there."""
        return 1.0 if self._rates is None or self._far else self._rates

    def _look(self, share: float, *, far: bool) -> float:
        """Draw the gradient and the typical distance together, and go; the gradient's size."""
        compared = partial(_compared, distance=self._distance, far=far)
        total = look_sum(self._X, self.center, compared, self._parts)
        looked, sd = self._noisy_mean(total, self._moves.looks(self._d), share)
        self._distance = _updated(self._distance, looked[-1], far=far)
        return self._go(looked[:-1], sd, 1.0)

    def _go(self, gradient: np.ndarray, sd: float, stretch: float) -> float:
        """Move by the gradient, shrunk by the part of it that is noise; its true size, about."""
        seen = float(np.linalg.norm(gradient))
        if seen == 0:
            return 0.0
        size = math.sqrt(max(seen**2 - self._d * sd**2, 0.0))
        shrunk = (size / seen) ** 2 / max(seen, 1.0)
        self.center = self.center + self._distance * stretch * shrunk * gradient / self._there
        return size


def _compared(lengths: np.ndarray, distance: float, *, far: bool) -> np.ndarray:
    """How distances compare with the last idea of them, between -1 and 1, one number per row.

    Far away they are about equal, and their logarithm follows a large change. Near home they
    scatter, and the mean inverse distance is what the Hessian needs.
    """
    with np.errstate(divide="ignore", over="ignore"):
        if far:
            return np.clip(0.5 * np.log2(lengths / distance), -1.0, 1.0)
        return np.minimum(distance / lengths, 2.0) - 1.0


def _updated(distance: float, compared: float, *, far: bool) -> float:
    """The typical distance that the noisy mean of `_compared` speaks for."""
    factor = 4.0 ** np.clip(compared, -1.0, 1.0) if far else 1 / np.clip(1 + compared, 0.5, 2.0)
    return float(np.clip(distance * factor, 2.0**-OCTAVES, 2.0**OCTAVES))
