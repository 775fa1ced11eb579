"""The counts behind a private map of scores: a frame, then whole numbers with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.linalg import LARGEST
from gdppca.noise import Noise
from gdppca.privacy import Event, NonPrivateEvent, PureEvent
from gdppca.steps import histogram
from gdppca.steps.base import Public, Rows, State
from gdppca.steps.histogram import FRAME_PURPOSE, PURPOSE, AxisBudget, HistogramNoise
from gdppca.steps.likely import Likely
from gdppca.tables.base import divided

Span = tuple[float, float]
_USUAL_ROWS = 2000  # for which shares are made where the number of rows is secret


@dataclass(frozen=True, eq=False)
class DrawnMap:
    """Edges of the bins, noisy counts (groups, bins along x, bins along y), and those outside."""

    x_edges: np.ndarray
    y_edges: np.ndarray
    counts: np.ndarray
    outside: np.ndarray


@dataclass(frozen=True, kw_only=True)
class MapCounts:
    """Counts of the rows' scores on two released components, in a private frame.

    **Privacy.** (ε, δ): two pure events per axis for the frame (one where a centre is known),
    scores that move by `sensitivity.ONE_RANK`; then a pure event for each cell that moves or a
    Gaussian one for the counts, `Moves.cells`: one row leaves one cell and enters another, over all
    groups together (docs/proofs/histogram.md). Of each person one random row is counted. Where rows
    have weights a secret coin says whether a row is counted (docs/proofs/persons.md, Theorem 5);
    the frame is that of all rows.
    """

    public: Public
    epsilon: float
    delta: float
    axes: tuple[int, int] = (0, 1)
    known_center: bool
    spans: tuple[Span, Span] | None = None  # a frame that costs nothing
    bins: Any = "auto"
    names: tuple[str, ...] | None = None  # of groups, which are public
    kind: str = "dense"
    law: str = "auto"
    joint: bool = False  # a part of a release with others, whose noise is independent of theirs
    needs_sample = True

    def __post_init__(self) -> None:
        """Refuse what cannot be met, from public numbers."""
        _ = self.shape

    @property
    def groups(self) -> int:
        """How many tables of counts there are."""
        return 1 if self.names is None else len(self.names)

    @cached_property
    def axis(self) -> AxisBudget | None:
        """Budget of an axis of a private frame."""
        if self.spans is not None or math.isinf(_validate.budget(epsilon=self.epsilon)):
            return None
        # What is drawn must be known beforehand, and a secret number of rows is not.
        n = self.public.n_seen if self.public.moves.replaces else _USUAL_ROWS
        return histogram.axis_budget(n, self.epsilon, known_center=self.known_center)

    @cached_property
    def level(self) -> HistogramNoise:
        """Noise of every count."""
        return histogram.histogram_noise(
            epsilon=self.epsilon,
            delta=self.delta,
            kind=self.kind,
            noise=self.law,
            beside=() if self.axis is None else self.axis.steps * 2,
            moves=self.public.moves,
        )

    @property
    def events(self) -> tuple[Event, ...]:
        """What is drawn, in order."""
        steps: tuple[Event, ...] = ()
        if self.axis is not None:
            steps = tuple(PureEvent(purpose=FRAME_PURPOSE, epsilon=e) for e in self.axis.steps) * 2
        elif self.spans is None:
            steps = (NonPrivateEvent(purpose=FRAME_PURPOSE),)
        return steps + self.level.events

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Groups, bins along x and bins along y; too many cells are refused."""
        across, up = self._bins()
        cells = self.groups * (across * up + 1)
        if cells > histogram.MOST_CELLS:
            raise ParameterError(
                f"`bins` must make at most {histogram.MOST_CELLS} cells over all groups, got "
                f"{cells}. Take fewer bins or groups."
            )
        return self.groups, across, up

    def _bins(self) -> tuple[int, int]:
        if isinstance(self.bins, str):
            _validate.one_of(("auto",), bins=self.bins)
            rows = self.public.n_seen / self.groups
            return (histogram.automatic_bins(rows, self.level.noise_sd, self.groups),) * 2
        if np.ndim(self.bins) == 0:
            return (_validate.count(bins=self.bins),) * 2
        if np.shape(self.bins) == (2,):
            across, up = self.bins
            return _validate.count(bins=across), _validate.count(bins=up)
        raise ParameterError("`bins` must be 'auto', a whole number or two of them.")

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """A map of the components that are known."""
        noise = noise.stream(PURPOSE) if self.joint else noise
        sample = table.sample(self.public.n_seen)
        scores = self._scores(sample.single, state)  # not private
        x_edges, y_edges = (
            np.linspace(*self._span(scores[:, k], k, sample.number, noise), size + 1)
            for k, size in enumerate(self.shape[1:])
        )
        codes = np.zeros(len(scores), dtype=np.int64)
        if table.codes is not None:
            codes = table.codes if sample.one_each is None else table.codes[sample.one_each]
        assert (sample.tossed is not None) == self.public.weighted
        if sample.tossed is not None:
            codes = np.where(sample.tossed, codes, -1)
        exact = histogram.cell_counts(scores, codes, x_edges, y_edges, self.groups)  # not private
        noisy = histogram.private_counts(exact, self.level, noise, self.public.moves)
        inside = math.prod(self.shape)
        counts = noisy[:inside].reshape(self.shape)
        shown = DrawnMap(x_edges, y_edges, counts, noisy[inside:])
        return state.with_(score_map=shown, events=self.events)

    def _span(self, values: np.ndarray, axis: int, number: float, noise: Noise) -> Span:
        if self.spans is not None:
            return self.spans[axis]
        if self.axis is None:
            return histogram.exact_interval(values, known_center=self.known_center)
        return histogram.private_interval(values, self.axis, noise, number)

    def _scores(self, rows: np.ndarray, state: State) -> np.ndarray:
        """Scores on two components, each from its own row alone; never NaN.

        What leaves the range of floats stays at its end, and a missing cell is where it is likely
        to be by those that are there.
        """
        with np.errstate(over="ignore", under="ignore"):
            if state.rates is not None:
                return Likely.of(state).scores(rows, state)[:, list(self.axes)]
            if state.location is not None:
                rows = np.clip(rows - state.location, -LARGEST, LARGEST)
            rows = divided(rows, state.scale)
            # Every row is scaled by its own power of two, so that no sum overflows.
            _, exponent = np.frexp(np.max(np.abs(rows), axis=1))
            # einsum and not a matrix product: a row's bits are its own, however many others are.
            directions = state.components[list(self.axes)]
            scores = np.einsum("nd,md->nm", np.ldexp(rows, -exponent[:, None]), directions)
            return np.clip(np.ldexp(scores, exponent[:, None]), -LARGEST, LARGEST)
