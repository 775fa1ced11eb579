r"""A private spatial median that needs no bounds on the data.

The spatial median minimises the mean distance to the rows. Its gradient is a mean of unit vectors,
so one row moves it by at most 2/n whatever the data. Far away it points home and is about one
long; near home it is the offset over the typical distance. So one kind of look at the data, with
Gaussian noise, serves for both: the mean unit vector, and one bounded number that tells how the
distances compare with the last idea of them. A walk of cheap looks brings any start near; two
dearer ones polish. How many looks are needed depends on the data, so their number is chosen on
the way: Gaussian steps compose to a fixed μ² however they are chosen (docs/proofs/centre.md), and
what the walk does not spend is left for the matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from gdppca.kernels import OneSample
from gdppca.kernels.directions import direction_sum
from gdppca.kernels.weights import counted, exact_sums
from gdppca.linalg import LARGEST
from gdppca.noise import Noise, Noised, noised
from gdppca.privacy import Event, GaussianEvent, NonPrivateEvent
from gdppca.sensitivity import REPLACING, Moves
from gdppca.steps.base import Public, Rows, State, gaussian_event
from gdppca.steps.octaves import OCTAVES, octave_of
from gdppca.tables.base import Sample, divided, filled

PURPOSE = "centre"

_HISTOGRAM_SD = (0.08, 0.10)  # noise of a bin of the first histogram, as a share of the rows
_HISTOGRAM_SHARE = 0.02  # of the budget, where the noise may rise for it
_DIRECTION_SD = {True: 0.6, False: 0.5}  # length of a look's noise, far and near
_DISTANCE_SD = (0.12, 0.17)  # noise of a look's number
_LOOK_SHARE = 0.04  # of the budget, where that noise may rise for it
_NEAR = 0.35  # gradient below which a walk may end
_LOOKS_NEAR = 2  # at least, before a walk ends: one may be small by chance
_FAR = 0.7  # gradient above which rows are about equally far
_STEADY = 1.3  # a walk ends once the typical distance changes by less than this factor
_LARGEST_POLISH = 0.25
LONGEST_WALK = 0.4  # share of the budget
LARGEST_SHARE = LONGEST_WALK + _LARGEST_POLISH  # that a centre ever takes
_MOST_LOOKS = 100  # where each costs next to nothing
_LEAST_SHARE = 0.002  # of the budget for a look, where less would do
_USUAL_WALK = 0.33  # share of the budget that a walk may be expected to take
_USUAL_DISTANCE = 40.0  # a walk is reckoned to shorten the distance by this factor
_USUAL_NEAR = 3  # looks near home
_PROBE = 0.17  # share that may be lost on a walk that is given up: a tenth more noise
_NOISELESS_POLISHES = 200


@dataclass(frozen=True, kw_only=True)
class CentreBudget:
    """Shares of μ² that a private centre takes, from public numbers alone."""

    first: float
    far: float
    near: float
    polish: float
    far_looks: float  # expected
    relative_error: float

    @property
    def share(self) -> float:
        """What a centre some tens of standard deviations away is expected to take."""
        return self.first + self.rest(0, far=True) + self.polish

    @property
    def worthwhile(self) -> bool:
        """Whether a first look costs little, and a short walk fits into the limit."""
        probe = self.first + self.far
        return probe <= _PROBE and probe + _USUAL_NEAR * self.near <= LONGEST_WALK

    def rest(self, looks: int, *, far: bool) -> float:
        """What the rest of a walk is expected to take after so many looks."""
        if not far:
            return self.near
        return max(self.far_looks - looks, 1.0) * self.far + _USUAL_NEAR * self.near


def centre_budget(
    n_samples: float, n_features: int, mu: float, moves: Moves = REPLACING
) -> CentreBudget:
    """What a private centre costs and how good it gets.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the table.
    mu : float
        μ of Gaussian differential privacy that centre and matrix have together.
    moves : Moves
        How far one row or person moves a look.

    Returns
    -------
    CentreBudget
        Shares, and the expected error of each coordinate over the typical distance.
    """
    if math.isinf(mu):
        return CentreBudget(
            first=0.0, far=0.0, near=0.0, polish=0.0, far_looks=1.0, relative_error=0.0
        )
    room = (n_samples * mu) ** 2
    sides = moves.sides  # as long as one row's part, or twice
    look = 2 * sides**2 / room  # squared sensitivity of a look, which has length √2
    distance = look / _noise(look, _LOOK_SHARE, _DISTANCE_SD) ** 2
    near, far = (
        max(look * n_features / _DIRECTION_SD[way] ** 2, distance, _LEAST_SHARE)
        for way in (False, True)
    )
    counts = sides / room
    # A share s of the polish costs s/2 in noise and leaves a bias of order d/(room s).
    polish = min(_LARGEST_POLISH, (sides**2 * n_features / room) ** (1 / 3))
    # Noise of squared length η² leaves η²/(1 + η²) of the squared distance.
    shortened = 0.5 * math.log1p(far / (look * n_features))
    return CentreBudget(
        first=counts / _noise(counts, _HISTOGRAM_SHARE, _HISTOGRAM_SD) ** 2,
        far=far,
        near=near,
        polish=polish,
        far_looks=math.log(_USUAL_DISTANCE) / shortened,
        relative_error=sides / math.sqrt(room * polish),
    )


def _noise(squared_sensitivity: float, share: float, limits: tuple[float, float]) -> float:
    """Noise that costs the given share, within limits."""
    return min(max(math.sqrt(squared_sensitivity / share), limits[0]), limits[1])


def centre_bias(
    events: Iterable[Event],
    n_samples: float,
    n_features: int,
    moves: Moves = REPLACING,
    rates: np.ndarray | None = None,
) -> float:
    """About how much the error of a private centre adds to an eigenvalue of the sign covariance.

    It adds the outer product of the error over the typical distance; the error is that of the
    two polishing looks, the last events of the centre. Zero where there is no private centre.
    """
    polish = [
        event.noise_multiplier
        for event in events
        if event.purpose == PURPOSE and isinstance(event, GaussianEvent)
    ][-2:]
    if len(polish) < 2:
        return 0.0
    look, gradient = 2 * moves.sides**2, moves.sides**2  # squared sensitivities
    precision = n_samples**2 * (1 / (look * polish[0] ** 2) + 1 / (gradient * polish[1] ** 2))
    growth = 1.0  # where cells are missing a coordinate is seen less often, and nearer
    if rates is not None:
        growth = float(np.mean(rates) * np.mean(rates**-2.0))
    return growth * n_features / precision


@dataclass(frozen=True, kw_only=True)
class Centre:
    r"""A private centre: the spatial median, by a walk of noisy looks from the origin.

    **Privacy.** Gaussian events only: counts of rows by distance (`Moves.octave_counts`), then
    looks of d + 1 numbers, a unit vector and a number in [-1, 1] per row (`Moves.looks`), then
    unit vectors alone (`Moves.directions`). Rows of one person share a weight of one.
    Their number depends on what was released before; together they take `LARGEST_SHARE` of μ² at
    most, and what they leave is the matrix's (docs/proofs/centre.md).
    """

    public: Public
    mu: float  # of centre and matrix together
    cautious: bool  # gives up early where the walk is not expected to pay
    needed: bool = False  # where there is no way without one, the place that was reached will do
    needs_sample = True

    @property
    def budget(self) -> CentreBudget:
        """What a centre takes and how good it gets."""
        public = self.public
        return centre_budget(public.n_seen, public.n_features, self.mu, public.moves)

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
        found = private_spatial_median(
            replace(sample, values=divided(sample.values, scale)),
            self.mu,
            noise,
            cautious=self.cautious,
            moves=self.public.moves,
            start=None if state.typical is None else divided(state.typical, scale),
            rates=state.rates,
        )
        if not found.arrived and not self.needed:
            return state.with_(events=found.events)
        with np.errstate(over="ignore"):
            location = np.clip(found.center * (1.0 if scale is None else scale), -LARGEST, LARGEST)
        return state.with_(location=location, scheme=OneSample(), events=found.events)


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
    walk = _Walk(Sample.of(X), mu, noise, moves, start, rates)
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
        sample: Sample,
        mu: float,
        noise: Noise,
        moves: Moves,
        start: np.ndarray | None,
        rates: np.ndarray | None,
    ) -> None:
        self._X, self._parts, self._n = sample.values, sample.parts, sample.number
        self._mu, self._noise, self._moves = mu, noise, moves
        self._d = self._X.shape[1]
        self._rates = rates
        self.budget = centre_budget(self._n, self._d, mu, moves)
        self.center = np.zeros(self._d) if start is None else start.astype(float)
        self._distance = 1.0
        self._far = True
        self._looks_near = 0
        self.arrived = False
        self._multipliers: list[float] = []

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
        return direction_sum(filled(self._X, self.center), self.center, self._parts)

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
        total, lengths = self._directions()
        ratio = exact_sums(_compared(lengths, self._distance, far=far), self._parts)
        bound = self._moves.looks(self._d)
        looked, sd = self._noisy_mean(np.append(total, ratio), bound, share)
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
