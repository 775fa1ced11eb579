"""What every private step must do. A new step is one line in STEPS."""

import importlib
import inspect
import math
import pkgutil
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from gdppca import steps
from gdppca.design.run import drawn
from gdppca.kernels import AllPairs, OneSample
from gdppca.noise import Overheard, Repeated, secure_noise, seeded_noise
from gdppca.privacy import GaussianEvent, PureEvent
from gdppca.signs import as_sign
from gdppca.steps.base import Public, State
from gdppca.steps.centre import Centre
from gdppca.steps.descent import Descent
from gdppca.steps.printed import PrintedCovariance
from gdppca.steps.projection import Projection
from gdppca.steps.quantile import Quantile
from gdppca.steps.radius import Radius
from gdppca.steps.refine import Refinement
from gdppca.steps.scale import CoarseScale, Scale
from gdppca.steps.scatter import MatrixBudget, Scatter, matrix_budget
from gdppca.steps.score_map import MapCounts
from gdppca.steps.variances import Variances
from gdppca.steps.winsorized_mean import PublishedWinsorizedMean, WinsorizedMean
from gdppca.tables.memory import MemoryTable

N, D = 240, 3
PUBLIC = Public.of(N, D)
SPHERICAL = as_sign("spherical")
KNOWN = State(
    sign=SPHERICAL, scheme=OneSample(), location=np.full(D, 0.25), scale=np.array([1.0, 2.0, 0.5])
)
PAIRS = State(sign=SPHERICAL, scheme=AllPairs())
COARSE = replace(
    KNOWN,
    scale=np.ones(D),
    coarse=CoarseScale(scale=np.ones(D), found=np.full(D, True), ties=np.array([0.0, 0.3, 0.0])),
)
DIRECTIONS = replace(KNOWN, components=np.eye(D)[:2])
MU = 0.8


def scatter(state, budget):
    first = budget.level(state.sign, state.scheme, N, D)
    return Scatter(public=PUBLIC, n_components=2, first=first, budget=budget)


def shown(**wish):
    return MapCounts(public=PUBLIC, epsilon=1.0, delta=1e-6, known_center=False, **wish)


STEPS = {  # what each is made of, and what it finds released when its turn comes
    "scale": (Scale(public=PUBLIC, mu=MU, share=0.2, delta=1e-6), State()),
    "refinement": (Refinement(public=PUBLIC, mu=MU), COARSE),
    "refinement, pairs": (Refinement(public=PUBLIC, mu=MU), replace(COARSE, location=None)),
    "centre": (Centre(public=PUBLIC, mu=MU, cautious=False), PAIRS),
    "centre, scaled": (
        Centre(public=PUBLIC, mu=MU, cautious=True),
        replace(PAIRS, scale=KNOWN.scale),
    ),
    "radius": (
        Radius(public=PUBLIC, sign="winsor", quantile=0.5, epsilon=0.5, public_center=False),
        PAIRS,
    ),
    "radius, centred": (
        Radius(public=PUBLIC, sign="winsor", quantile=0.5, epsilon=0.5, public_center=True),
        KNOWN,
    ),
    "scatter": (scatter(KNOWN, MatrixBudget(mu=MU)), KNOWN),
    "scatter, pairs": (scatter(PAIRS, matrix_budget(1.0, 1e-6, "tight")), PAIRS),
    "scatter, paper": (scatter(PAIRS, matrix_budget(1.0, 1e-6, "paper")), PAIRS),
    "variances": (Variances(public=PUBLIC, epsilon=1.0, delta=1e-6, n_components=2), DIRECTIONS),
    "variances, clipped": (
        Variances(public=PUBLIC, epsilon=1.0, delta=1e-6, n_components=2, method="clipped"),
        DIRECTIONS,
    ),
    "map": (shown(), DIRECTIONS),
    "map, gaussian": (shown(law="gaussian", bins=5), DIRECTIONS),
    "map, sparse": (shown(kind="sparse", spans=((-3.0, 3.0), (-3.0, 3.0))), DIRECTIONS),
    "quantile": (Quantile(public=PUBLIC, q=0.3, epsilon=1.0), State()),
    "quantile, unbounded": (
        Quantile(public=PUBLIC, q=0.3, epsilon=1.0, method="unbounded"),
        State(),
    ),
    "winsorised mean": (WinsorizedMean(public=PUBLIC, zcdp_rho=0.3), PAIRS),
}
NOT_PRIVATE = {  # methods of others: what they state does not hold for every row
    "printed": (PrintedCovariance(public=PUBLIC, epsilon=1.0, delta=1e-6, n_components=2), State()),
    "published mean": (PublishedWinsorizedMean(public=PUBLIC, zcdp_rho=0.3), State()),
    "projection": (
        Projection(public=PUBLIC, epsilon=1.0, delta=1e-6, n_components=2, sensitivity=0.1),
        State(),
    ),
}
# Its noise is drawn by compiled code from a generator, which nobody overhears: audited as a whole.
UNHEARD = {
    "descent": (
        Descent(
            public=PUBLIC,
            epsilon=1.0,
            delta=1e-6,
            n_components=2,
            n_steps=20,
            batch_size=5,
            step=0.1,
            accounted=True,
        ),
        State(),
    )
}
ALL = STEPS | NOT_PRIVATE | UNHEARD
ROWS = [
    [0.0] * D,
    [1.7e308, -1.7e308, 1.7e308],
    [5e-324, 0.0, -5e-324],
    [1e9, 1e-9, 1.0],
    [-2.0, 0.25, 7.0],
]


def each(listed):
    return pytest.mark.parametrize(("step", "start"), listed.values(), ids=listed)


def table(seed, noise, row=None):
    rows = np.random.default_rng(seed).standard_t(2, size=(N, D)) + 0.3
    rows[:, 1] = np.round(rows[:, 1])  # ties
    if row is not None:
        rows[N // 3] = row
    return MemoryTable(rows, None, noise)


@np.errstate(all="ignore")
def heard(step, start, seed=0, row=None, noise=None):
    ear = Overheard(noise or secure_noise())
    return drawn([step], table(seed, ear, row), ear, start), ear.draws


@np.errstate(all="ignore")
def repeated(step, start, draws, seed=0, row=None):
    again = Repeated(draws)
    return drawn([step], table(seed, again, row), again, start), again.draws


def test_every_step_is_listed():
    found = set()
    for module in pkgutil.iter_modules(steps.__path__):
        for kind in vars(importlib.import_module(f"gdppca.steps.{module.name}")).values():
            if inspect.isclass(kind) and is_dataclass(kind) and hasattr(kind, "draw"):
                found.add(kind)
    assert found == {type(step) for step, _ in ALL.values()}


@each(ALL)
def test_it_is_frozen_and_made_of_public_numbers(step, start):
    with pytest.raises(AttributeError):
        step.public = None
    for field in fields(step):
        assert not isinstance(getattr(step, field.name), np.ndarray)
    assert step.events  # known although there is no table
    assert isinstance(step.needs_sample, bool)
    assert "**Privacy.**" in type(step).__doc__ or type(step) is PublishedWinsorizedMean


@each(STEPS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_row_moves_no_draw_by_more_than_it_says(step, start, seed, row):
    _, draws = heard(step, start, seed)
    _, others = repeated(step, start, draws, seed, row)
    assert [draw.kind for draw in others] == [draw.kind for draw in draws]
    for draw, other in zip(draws, others, strict=True):
        if draw.exact is not None:
            assert (draw.scale, draw.sensitivity) == (other.scale, other.sensitivity)
            assert draw.moved_by(other.exact) <= 1 + 1e-9


def test_a_bound_that_is_too_small_would_be_noticed():
    step, start = STEPS["scatter"]
    small = replace(step, first=replace(step.first, sensitivity=step.first.sensitivity / 1.5))
    _, draws = heard(small, start, row=[1e9, 0.0, 0.0])
    _, others = repeated(small, start, draws, row=[0.0, 1e9, 0.0])
    assert max(d.moved_by(o.exact) for d, o in zip(draws, others, strict=True)) > 1.2


@each(STEPS)
def test_what_was_drawn_is_what_is_counted(step, start):
    """As many Gaussian draws as events, none with less noise; choices and counts within theirs."""
    state, draws = heard(step, start)
    events = state.events[len(start.events) :]
    gaussian = [event for event in events if isinstance(event, GaussianEvent)]
    with_noise = [draw for draw in draws if draw.kind == "gaussian"]
    for draw, event in zip(with_noise, gaussian, strict=True):
        assert draw.scale >= event.noise_multiplier * draw.sensitivity * (1 - 1e-12)
    pure = sum(event.epsilon for event in events if isinstance(event, PureEvent))
    chosen = sum(draw.scale for draw in draws if draw.kind == "argmax")
    # Two numbers of a histogram move, and one target and one answer of a climb.
    counted = {"map": 2.0, "quantile, unbounded": 1.0}
    laplace = {1 / draw.scale for draw in draws if draw.kind == "laplace"}
    if laplace:
        factor = counted["map"] if isinstance(step, MapCounts) else counted["quantile, unbounded"]
        assert chosen + factor * max(laplace) <= pure * (1 + 1e-9)
    else:
        assert chosen <= pure * (1 + 1e-9)
    assert {draw.kind for draw in draws} <= {"gaussian", "laplace", "argmax", "permutation"}


@each(STEPS)
def test_it_draws_no_more_than_it_announced(step, start):
    state, _ = heard(step, start)

    def spent(events):
        gaussian = sum(e.noise_multiplier**-2 for e in events if isinstance(e, GaussianEvent))
        return gaussian, sum(e.epsilon for e in events if isinstance(e, PureEvent))

    told, drew = spent(step.events), spent(state.events[len(start.events) :])
    assert all(b <= a * (1 + 1e-9) for a, b in zip(told, drew, strict=True))


def arrays_of(value):
    """Everything that a state holds, as plain numbers."""
    if is_dataclass(value):
        return [each for f in fields(value) for each in arrays_of(getattr(value, f.name))]
    if isinstance(value, tuple | list):
        return [each for part in value for each in arrays_of(part)]
    return [np.asarray(value)] if isinstance(value, np.ndarray | float | int) else []


@each({name: pair for name, pair in (STEPS | NOT_PRIVATE).items() if name != "map, sparse"})
def test_nothing_is_in_the_state_that_was_not_drawn(step, start):
    """Another table with the same draws gives the same state, bit for bit.

    A sparse map shows which cells hold a row, above a threshold: that is what its δ pays for.
    """
    state, draws = heard(step, start, seed=1)
    other, again = repeated(step, start, draws, seed=2)
    assert len(again) == len(draws)
    for one, two in zip(arrays_of(state), arrays_of(other), strict=True):
        np.testing.assert_array_equal(one, two)
    assert state.events == other.events


class Extreme:
    """Noise that is forty standard deviations large, or the least likely choice."""

    seeded = True

    def __init__(self, sign):
        self._sign, self._fresh = sign, seeded_noise(0)

    def gaussian(self, exact, sd, *, sensitivity):
        return exact + self._sign * 40 * sd * np.where(np.arange(exact.size) % 2, 1, -1).reshape(
            exact.shape
        )

    def laplace(self, exact, scale):
        return exact + np.int64(self._sign * math.ceil(40 * scale))

    def argmax(self, scores, epsilon):
        return 0 if self._sign < 0 else len(scores) - 1

    def permutation(self, n):
        return self._fresh.permutation(n)

    def generator(self):
        return self._fresh.generator()

    def keys(self):
        return self._fresh.keys()

    def stream(self, part):
        return self


@each(ALL)
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("row", [None, *ROWS[:3]], ids=str)
def test_nothing_fails_after_a_draw(step, start, sign, row):
    state, _ = heard(step, start, row=row, noise=Extreme(sign))
    for numbers in arrays_of(replace(state, scale_error=None)):
        assert np.isfinite(numbers).all()


@each(ALL)
def test_seeds_reproduce_it(step, start):
    one, _ = heard(step, start, noise=seeded_noise(3))
    two, _ = heard(step, start, noise=seeded_noise(3))
    for first, second in zip(arrays_of(one), arrays_of(two), strict=True):
        np.testing.assert_array_equal(first, second)
