"""The noisy matrix in increments, and what lies across its components where that tells more.

More of the matrix makes every one of its d(d + 1)/2 numbers better. Once its leading directions
are known about, m(d - m) numbers are enough: those that tell how the rows lie across them. The
matrix is drawn in increments, and after each it says by itself whether the rest is better spent so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gdppca.kernels import Cross, OneSample
from gdppca.linalg import packed_length
from gdppca.noise import Noise, calibrated_sigma, noised
from gdppca.privacy import Event, GaussianEvent
from gdppca.steps.base import Rows, State, gaussian_event
from gdppca.steps.centre_budget import centre_bias
from gdppca.steps.scatter import PURPOSE as SCATTER
from gdppca.steps.scatter import Scatter, ScatterNoise, noisy_matrix
from gdppca.theory import shrunken_loadings
from gdppca.theory.leading import Known, Leading
from gdppca.theory.second_stage import CrossNumbers, Noises, Refined, Wanted, wanted_cross
from gdppca.theory.uneven import Gaps

PURPOSE = "cross"
LEAST_COLUMNS = 50  # with fewer nothing is gained
INCREMENTS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)  # of μ², spent on the matrix
MARGIN = 0.95  # of the matrix's expected error, that the expected one must be below


@dataclass(frozen=True, kw_only=True)
class StagedScatter(Scatter):
    r"""The noisy matrix in increments, then a cross part where the matrix itself asks for one.

    **Privacy.** Gaussian events only: the same matrix several times, `Moves.scatter`, then maybe
    the mean of clipped parts, `Moves.cross`. Which of them are drawn, and across which directions,
    depends on what was released before; together they take what the matrix alone would have
    (docs/proofs/second-stage.md).
    """

    increments: tuple[float, ...] = INCREMENTS
    margin: float = MARGIN

    def draw(self, table: Rows, state: State, noise: Noise) -> State:
        """The noisy matrix of all rows, and what lies across its components."""
        whole = self.level(state)
        if not isinstance(whole.event, GaussianEvent) or not isinstance(state.scheme, OneSample):
            return super().draw(table, state, noise)
        K_hat = self.mean(table, state.recipe(self.public.n_features))  # not private
        matrix = _Increments(K_hat, whole, noise)
        for share in self.increments:
            matrix.draw_up_to(share)
            look = self._look(matrix, state)
            wanted = self._wanted(look, matrix) if share < 1 else None
            if wanted is None:
                continue
            if share * look.shrunk > wanted.expected:
                return self._crossed(table, look, matrix, wanted, noise)
            matrix.draw_up_to(1.0)  # shrinking takes hold of its loadings, and tells more
            look = self._look(matrix, state)
            break
        return look.finished(matrix.events)

    def _look(self, matrix: _Increments, state: State) -> _Look:
        """What the matrix tells so far; post-processing."""
        state, ratio = self.counted(state, matrix.mean, matrix.noise_sd)
        K_tilde, noise_sd = matrix.mean * ratio, matrix.noise_sd * ratio
        n, seen, d = self.public.n_samples, self.public.n_seen, self.public.n_features
        number = n if state.estimate is None else state.estimate
        bias = centre_bias(state.events, seen if seen < n else number, d, self.public.moves)
        known = Known(noise_sd, number, bias, Gaps.of(None, None, d))
        kept = partial(self.kept, state, noise_sd)
        leading, plain = Leading.of(K_tilde, kept, known)
        return _Look(state, K_tilde, ratio, known, leading, plain)

    def _wanted(self, look: _Look, matrix: _Increments) -> Wanted | None:
        """What to look across, where it is time for it."""
        leading, moves = look.leading, self.public.moves
        d, m = self.public.n_features, leading.m
        if not 0 < m == len(look.plain) < d:
            return None
        bound = moves.cross(1.0, self.public.n_samples, d, m) * look.ratio / leading.scale
        sd = look.known.noise_sd / leading.scale * math.sqrt(matrix.share)
        whole = Noises(matrix=sd, cross=matrix.multiplier * bound)
        later = tuple(share for share in self.increments if matrix.share < share < 1)
        return wanted_cross(leading, matrix.share, later, whole, self.margin)

    def _crossed(
        self, table: Rows, look: _Look, matrix: _Increments, wanted: Wanted, noise: Noise
    ) -> State:
        """All that is left for what lies across the components."""
        cross = Cross(np.ascontiguousarray(look.plain), wanted.factors, wanted.clip)
        state, d, n = look.finished(matrix.events), self.public.n_features, self.public.n_samples
        exact = self.mean(table, replace(state.recipe(d), cross=cross))  # not private
        bound = self.public.moves.cross(cross.clip, n, d, len(cross.factors))
        multiplier = matrix.multiplier / math.sqrt(1 - matrix.share)
        noisy = noised(exact, multiplier, bound, noise)
        numbers = CrossNumbers(
            directions=cross.directions,
            factors=cross.factors,
            clip=cross.clip,
            values=noisy.values * look.ratio,
            noise_sd=noisy.sd * look.ratio,
        )
        together = Refined.by(look.leading, numbers).plain.T
        event = gaussian_event(PURPOSE, multiplier)
        return state.with_(cross=numbers, components=together, events=(event,))


@dataclass(frozen=True, eq=False, repr=False)
class _Look:
    """What a matrix with so much noise tells; nothing but draws is in it."""

    state: State
    matrix: np.ndarray
    ratio: float  # by which means were multiplied, once a secret number was known better
    known: Known
    leading: Leading
    plain: np.ndarray  # leading eigenvectors, as many as are wanted

    @property
    def shrunk(self) -> float:
        """Expected squared sine of its directions once their loadings are shrunk; 1 if plain."""
        known, m = self.known, len(self.plain)
        bias = known.centre_bias
        found = shrunken_loadings(self.matrix, known.noise_sd, known.n_samples, m, centre_bias=bias)
        return 1.0 if found.kind == "plain" else found.subspace_angle**2

    def finished(self, events: tuple[Event, ...]) -> State:
        """The state with this matrix."""
        sd, m = self.known.noise_sd, len(self.plain)
        return self.state.with_matrix(self.matrix, sd, m, *events)


class _Increments:
    """One matrix with more and more of its noise averaged out."""

    def __init__(self, exact: np.ndarray, whole: ScatterNoise, noise: Noise) -> None:
        assert isinstance(whole.event, GaussianEvent)
        self._exact, self._whole, self._noise = exact, whole, noise
        self.multiplier = whole.event.noise_multiplier  # if all were spent at once
        self._sum, self._variance = np.zeros_like(exact), 0.0
        self.share = 0.0
        self.events: tuple[Event, ...] = ()

    def draw_up_to(self, share: float) -> None:
        """One more increment, in noise that leaves the average what one draw would be."""
        part = share - self.share
        multiplier = self.multiplier / math.sqrt(part)
        bound, length = self._whole.sensitivity, packed_length(len(self._exact))
        level = ScatterNoise(
            noise_sd=calibrated_sigma(multiplier, bound, length),
            sensitivity=bound,
            event=gaussian_event(SCATTER, multiplier),
        )
        self._sum += part * noisy_matrix(self._exact, level, self._noise)
        self._variance += (part * level.noise_sd) ** 2
        self.share = share
        self.events = (*self.events, level.event)

    @property
    def mean(self) -> np.ndarray:
        """The average by precision."""
        return self._sum / self.share

    @property
    def noise_sd(self) -> float:
        """Of its packed noise."""
        return math.sqrt(self._variance) / self.share
