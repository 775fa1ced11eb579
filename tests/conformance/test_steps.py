"""What every private step must do. A new step is one line in `steps_of`."""

import importlib
import inspect
import math
import pkgutil
from dataclasses import dataclass, fields, is_dataclass, replace

import numpy as np
import pytest
from neighbours import WORLDS, Counted, Coupled, World, coupled_order, some_table

from gdppca import steps
from gdppca.design.run import drawn
from gdppca.kernels import AllPairs, Blocks, Halves, OneSample
from gdppca.noise import Overheard, secure_noise, seeded_noise
from gdppca.privacy import GaussianEvent, PureEvent
from gdppca.signs import as_sign
from gdppca.steps.base import Public, State
from gdppca.steps.centre import Centre
from gdppca.steps.count import Count
from gdppca.steps.descent import Descent
from gdppca.steps.printed import PrintedCovariance
from gdppca.steps.projection import Projection
from gdppca.steps.quantile import Quantile
from gdppca.steps.radius import Radius
from gdppca.steps.rates import Rates
from gdppca.steps.refine import Refinement
from gdppca.steps.scale import CoarseScale, Scale
from gdppca.steps.scatter import MatrixBudget, Scatter, matrix_budget
from gdppca.steps.score_map import MapCounts
from gdppca.steps.staged import StagedScatter
from gdppca.steps.variances import Variances
from gdppca.steps.winsorized_mean import PublishedWinsorizedMean, WinsorizedMean

N, D = 240, 3
PUBLIC = Public.of(N, D)
SPHERICAL = as_sign("spherical")
MU = 0.8


def public_of(world):
    return Public.of(N, D, protected=world.protected, gaps=world.gaps, weighted=world.weighted)


def states_of(world):
    """What steps find released: nothing, a centre and scales, and more and more after them."""
    more = {} if world.replaces else {"number": N + 0.25, "number_sd": 3.0}
    if world.gaps:
        more["rates"] = np.array([0.4, 0.7, 0.9])
    known = State(
        sign=SPHERICAL,
        scheme=OneSample(),
        location=np.full(D, 0.25),
        scale=np.array([1.0, 2.0, 0.5]),
        **more,
    )
    ties = np.array([0.0, 0.3, 0.0])
    every, guessed = np.full(D, True), np.array([False, False, True])
    coarse = CoarseScale(scale=np.ones(D), found=every, ties=ties, guessed=guessed)
    return {
        "nothing": State(**more),
        "pairs": State(sign=SPHERICAL, scheme=AllPairs(), **more),
        "known": known,
        "coarse": replace(known, scale=np.ones(D), coarse=coarse),
        "directions": replace(
            known,
            components=np.eye(D)[:2],
            eigenvalues=np.array([0.5, 0.3, 0.2]),
            scatter=np.diag([0.5, 0.3, 0.2]),
        ),
    }


def scatter(public, state, budget):
    first = budget.level(state.sign, state.scheme, N, D, moves=public.moves)
    return Scatter(public=public, n_components=2, first=first, budget=budget)


def staged(public, state):
    """Two increments, then what lies across the components, whatever is expected of it."""
    budget = MatrixBudget(mu=1000 * MU)  # so that components stand above the noise
    first = budget.level(state.sign, state.scheme, N, D, moves=public.moves)
    return StagedScatter(
        public=public,
        n_components=2,
        first=first,
        budget=budget,
        increments=(0.2, 0.5, 1.0),
        margin=math.inf,
    )


def shown(public, **wish):
    return MapCounts(public=public, epsilon=1.0, delta=1e-6, known_center=False, **wish)


def radius(public, *, public_center):
    return Radius(
        public=public, sign="winsor", quantile=0.5, epsilon=0.5, public_center=public_center
    )


def steps_of(world):
    """What each is made of, and what it finds released when its turn comes."""
    public, found = public_of(world), states_of(world)
    tight = matrix_budget(1.0, 1e-6, "tight")
    variances = {"public": public, "epsilon": 1.0, "delta": 1e-6, "n_components": 2}
    every = {
        "scale": (Scale(public=public, mu=MU, share=0.2, delta=1e-6), found["nothing"]),
        "refinement": (Refinement(public=public, mu=MU), found["coarse"]),
        "centre": (Centre(public=public, mu=MU, cautious=False, needed=True), found["pairs"]),
        "centre, walk on a sample": (
            Centre(public=public, mu=1000 * MU, cautious=False, needed=True, fewest_walked=50),
            found["pairs"],
        ),
        "centre, scaled": (
            Centre(public=public, mu=MU, cautious=True),
            replace(found["pairs"], scale=found["known"].scale),
        ),
        "radius, centred": (radius(public, public_center=True), found["known"]),
        "scatter": (scatter(public, found["known"], MatrixBudget(mu=MU)), found["known"]),
        "scatter, winsor": (
            scatter(public, replace(found["known"], sign=as_sign("winsor", 3.0)), tight),
            replace(found["known"], sign=as_sign("winsor", 3.0)),
        ),
        **_staged_of(world, public, found),
        "map": (shown(public), found["directions"]),
        "map, gaussian": (shown(public, law="gaussian", bins=5), found["directions"]),
        "map, sparse": (
            shown(public, kind="sparse", spans=((-3.0, 3.0), (-3.0, 3.0))),
            found["directions"],
        ),
        "variances": (Variances(**variances), found["directions"]),
        "variances, clipped": (Variances(**variances, method="clipped"), found["directions"]),
    }
    if not world.replaces:
        every["count"] = (Count(public=public, mu=MU), replace(found["nothing"], number=None))
    if world.gaps:
        every["rates"] = (Rates(public=public, mu=MU), replace(found["nothing"], rates=None))
    return every if public.centred else every | _of_whole_rows(public, found, tight)


def _staged_of(world, public, found):
    """A second stage, which tables with gaps have not: columns of very different sizes."""
    known = replace(found["known"], scale=np.array([1.0, 0.2, 0.02]))
    return {} if world.gaps else {"staged": (staged(public, known), known)}


def _of_whole_rows(public, found, tight):
    """What only tables without gaps, weights and secret sizes are asked."""
    pairs = found["pairs"]
    return {
        "refinement, pairs": (
            Refinement(public=public, mu=MU),
            replace(found["coarse"], location=None),
        ),
        "radius": (radius(public, public_center=False), pairs),
        "scatter, pairs": (scatter(public, pairs, tight), pairs),
        "scatter, blocks": (
            scatter(public, replace(pairs, scheme=Blocks(7)), tight),
            replace(pairs, scheme=Blocks(7)),
        ),
        "scatter, halves": (
            scatter(public, replace(pairs, scheme=Halves()), tight),
            replace(pairs, scheme=Halves()),
        ),
        "scatter, paper": (scatter(public, pairs, matrix_budget(1.0, 1e-6, "paper")), pairs),
        "quantile": (Quantile(public=public, q=0.3, epsilon=1.0), State()),
        "quantile, unbounded": (
            Quantile(public=public, q=0.3, epsilon=1.0, method="unbounded"),
            State(),
        ),
        "winsorised mean": (WinsorizedMean(public=public, zcdp_rho=0.3), pairs),
    }


PLAIN = World()
STEPS = {  # every step in every kind of table that it may meet
    name if world == PLAIN else f"{name} ({words})": (world, *pair)
    for words, world in WORLDS.items()
    for name, pair in steps_of(world).items()
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
ALL = STEPS | {name: (PLAIN, *pair) for name, pair in (NOT_PRIVATE | UNHEARD).items()}
# A sparse map shows which cells hold a row, above a threshold: that is what its δ pays for.
SHOWN_AS_DRAWN = {
    name: case for name, case in ALL.items() if "sparse" not in name and name not in UNHEARD
}


# --- Neighbours -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Life:
    """Rows of one person, or a single row, and the weight of each."""

    rows: tuple
    weight: float = 1.0


ROWS = [
    [0.0] * D,
    [1.7e308, -1.7e308, 1.7e308],
    [5e-324, 0.0, -5e-324],
    [1e9, 1e-9, 1.0],
    [-2.0, 0.25, 7.0],
]
NAN = math.nan
GAPS = [[NAN] * D, [1.7e308, NAN, NAN], [NAN, 0.25, 1e-300]]
USUAL = Life(([0.1, -0.4, 0.3],))
WHO = N // 3


def lives_of(world):
    """What somebody may be like: ordinary, huge, tiny, full of gaps; of one row or of many."""
    lives = [
        Life((row,), weight) for row, weight in zip(ROWS, [2, 0, 1e300, 1.3, 0.1], strict=True)
    ]
    if world.gaps:
        lives += [Life((row,), 2.0) for row in GAPS]
    if world.of_persons:
        every = (GAPS if world.gaps else []) + ROWS
        lives += [Life(tuple(ROWS[1:2] * 1000), 1e300), Life(tuple(every * 111), 1.7)]
        lives += [Life(tuple(every[:2] + [[0.1, 0.2, 0.3]] * 3), 2.0)]
    return lives


def neighbours_of(world):
    """Before and after; None is nobody."""
    lives = lives_of(world)
    if not world.replaces:
        return [(None, life) for life in lives] + [(life, None) for life in lives[-2:]]
    far = [Life(([1e9, 0.0, 0.0],) * k, 2.0) for k in (1, 3)]
    other = Life(([0.0, 1e300, 0.0],) * (1000 if world.of_persons else 1), 1e300)
    return [*((USUAL, life) for life in lives), (far[world.of_persons], other)]


NEIGHBOURS = [
    pytest.param(*case, *pair, id=f"{name}-{k}")
    for name, case in STEPS.items()
    for k, pair in enumerate(neighbours_of(case[0]))
]


def plain_table(world, seed, life=USUAL):
    """A table, and where among its rows or persons somebody stands who differs."""
    rng, who = np.random.default_rng(seed), 2 * WHO
    others = some_table(world, N, D, seed).without(who)
    return others if life is None else others.with_(who, life.rows, life.weight, rng)


def opened(world, plain, noise, start):
    """What a step is given: where the number of rows is secret, with one that was counted."""
    table = plain.open(world, noise)
    return table if world.replaces else Counted(table, start.number or N)


@np.errstate(all="ignore")
def heard(world, step, start, seed=0, life=USUAL, noise=None):
    ear = Overheard(noise or secure_noise())
    table = opened(world, plain_table(world, seed, life), ear, start)
    return drawn([step], table, ear, start), ear.draws


@np.errstate(all="ignore")
def repeated(world, step, start, draws, seed=0, life=USUAL, more=0):
    again = Coupled(draws, place=WHO, more=more)
    table = opened(world, plain_table(world, seed, life), again, start)
    return drawn([step], table, again, start), again.draws


def each(listed):
    return pytest.mark.parametrize(("world", "step", "start"), listed.values(), ids=listed)


def require_close(draws, others):
    assert [draw.kind for draw in others] == [draw.kind for draw in draws]
    for draw, other in zip(draws, others, strict=True):
        if draw.exact is not None:
            assert (draw.scale, draw.sensitivity) == (other.scale, other.sensitivity)
            assert draw.moved_by(other.exact) <= 1 + 1e-9


# --- What holds for every step --------------------------------------------------------------------


def test_every_step_is_listed():
    found = set()
    for module in pkgutil.iter_modules(steps.__path__):
        for kind in vars(importlib.import_module(f"gdppca.steps.{module.name}")).values():
            if inspect.isclass(kind) and is_dataclass(kind) and hasattr(kind, "draw"):
                found.add(kind)
    assert found == {type(step) for _, step, _ in ALL.values()}


@each(ALL)
def test_it_is_frozen_and_made_of_public_numbers(world, step, start):
    with pytest.raises(AttributeError):
        step.public = None
    for field in fields(step):
        assert not isinstance(getattr(step, field.name), np.ndarray)
    assert step.events  # known although there is no table
    assert isinstance(step.needs_sample, bool)
    assert "**Privacy.**" in type(step).__doc__ or type(step) is PublishedWinsorizedMean


@pytest.mark.parametrize(("world", "step", "start", "before", "after"), NEIGHBOURS)
def test_nobody_moves_a_draw_by_more_than_it_says(world, step, start, before, after):
    more = (after is not None) - (before is not None)
    for seed in range(3 if world == PLAIN else 2):
        _, draws = heard(world, step, start, seed, before)
        _, others = repeated(world, step, start, draws, seed, after, more)
        require_close(draws, others)


@pytest.mark.parametrize("n", range(8))
@pytest.mark.parametrize("place", [0, 2, 5])
def test_coupled_orders_make_the_same_pairs_but_for_one(n, place):
    place = min(place, n)
    order = np.random.default_rng(n).permutation(n)
    more = coupled_order(order, place, 1)
    assert sorted(more) == list(range(n + 1))
    old = {tuple(pair) for pair in _pairs(order + (order >= place))}
    new = {tuple(pair) for pair in _pairs(more)}
    assert len(old - new) <= 1
    assert len(new - old) <= 1
    assert all(place in pair for pair in new - old)
    again = coupled_order(more, place, -1)
    assert sorted(again) == list(range(n))
    back = {tuple(pair) for pair in _pairs(again + (again >= place))}
    assert len(back - new) <= 1
    assert len(new - back) <= 1


def _pairs(order):
    half = len(order) // 2
    return np.stack([order[:half], order[half : 2 * half]], axis=1)


def test_a_bound_that_is_too_small_would_be_noticed():
    world, step, start = STEPS["scatter"]
    small = replace(step, first=replace(step.first, sensitivity=step.first.sensitivity / 1.5))
    _, draws = heard(world, small, start, life=Life(([1e9, 0.0, 0.0],)))
    _, others = repeated(world, small, start, draws, life=Life(([0.0, 1e9, 0.0],)))
    assert max(d.moved_by(o.exact) for d, o in zip(draws, others, strict=True)) > 1.2


@each(STEPS)
def test_what_was_drawn_is_what_is_counted(world, step, start):
    """As many Gaussian draws as events, none with less noise; choices and counts within theirs."""
    state, draws = heard(world, step, start)
    events = state.events[len(start.events) :]
    gaussian = [event for event in events if isinstance(event, GaussianEvent)]
    with_noise = [draw for draw in draws if draw.kind == "gaussian"]
    for draw, event in zip(with_noise, gaussian, strict=True):
        assert draw.scale >= event.noise_multiplier * draw.sensitivity * (1 - 1e-12)
    pure = sum(event.epsilon for event in events if isinstance(event, PureEvent))
    chosen = sum(draw.scale for draw in draws if draw.kind == "argmax")
    laplace = {1 / draw.scale for draw in draws if draw.kind == "laplace"}
    if laplace:
        # Two numbers of a histogram move, one of them by add-remove; one target and one answer
        # of a climb.
        moved = step.public.moves.moved_cells if isinstance(step, MapCounts) else 1
        assert chosen + moved * max(laplace) <= pure * (1 + 1e-9)
    else:
        assert chosen <= pure * (1 + 1e-9)
    sampled = isinstance(step, Centre) and step.n_walked < N  # its members are drawn secretly
    with_keys = world.of_persons or world.weighted or sampled
    kinds = {"gaussian", "laplace", "argmax", "permutation", *["keys"] * with_keys}
    assert {draw.kind for draw in draws} <= kinds


@each(STEPS)
def test_it_draws_no_more_than_it_announced(world, step, start):
    state, _ = heard(world, step, start)

    def spent(events):
        gaussian = sum(e.noise_multiplier**-2 for e in events if isinstance(e, GaussianEvent))
        return gaussian, sum(e.epsilon for e in events if isinstance(e, PureEvent))

    told, drew = spent(step.events), spent(state.events[len(start.events) :])
    assert all(b <= a * (1 + 1e-9) for a, b in zip(told, drew, strict=True))


@each(STEPS)
def test_whole_numbers_get_whole_noise(world, step, start):
    """Noise on whole numbers, and choices by ranks, are of rows that each count whole.

    Fractions of a person there would lose 1.5 ε, or 100 where they are rounded before.
    """
    for seed in range(2):
        _, draws = heard(world, step, start, seed, lives_of(world)[-1])
        for draw in draws:
            if draw.kind == "laplace":
                assert draw.exact.dtype.kind == "i"
                assert not isinstance(step, MapCounts) or draw.exact.sum() <= N


def arrays_of(value):
    """Everything that a state holds, as plain numbers."""
    if is_dataclass(value):
        return [each for f in fields(value) for each in arrays_of(getattr(value, f.name))]
    if isinstance(value, tuple | list):
        return [each for part in value for each in arrays_of(part)]
    return [np.asarray(value)] if isinstance(value, np.ndarray | float | int) else []


@each(SHOWN_AS_DRAWN)
def test_nothing_is_in_the_state_that_was_not_drawn(world, step, start):
    """Another table with the same draws gives the same state, bit for bit; of another size too."""
    state, draws = heard(world, step, start, seed=1, life=None if not world.replaces else USUAL)
    other, again = repeated(world, step, start, draws, seed=2, more=0 if world.replaces else 1)
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
def test_nothing_fails_after_a_draw(world, step, start, sign):
    lives = lives_of(world)
    for life in (USUAL, lives[0], lives[1], lives[2], lives[-1]):
        state, _ = heard(world, step, start, life=life, noise=Extreme(sign))
        require_numbers(state)


@each({name: case for name, case in STEPS.items() if not case[0].replaces})
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
@np.errstate(all="ignore")
def test_nothing_fails_where_hardly_anybody_is_left(world, step, start, sign, n):
    """Somebody may have been the last one, and an error would say so."""
    plain = some_table(world, N, D, seed=0)
    for who in range(n, N):
        plain = plain.without(2 * who)
    ear = Overheard(Extreme(sign))
    require_numbers(drawn([step], opened(world, plain, ear, start), ear, start))


def require_numbers(state):
    for numbers in arrays_of(replace(state, scale_error=None)):
        assert np.isfinite(numbers).all()


@each(ALL)
def test_seeds_reproduce_it(world, step, start):
    one, _ = heard(world, step, start, noise=seeded_noise(3))
    two, _ = heard(world, step, start, noise=seeded_noise(3))
    for first, second in zip(arrays_of(one), arrays_of(two), strict=True):
        np.testing.assert_array_equal(first, second)


@each({name: case for name, case in STEPS.items() if isinstance(case[1], StagedScatter)})
def test_a_second_stage_is_drawn_and_replayed(world, step, start):
    state, draws = heard(world, step, start)
    *scatters, last = [event.purpose for event in state.events]
    assert (set(scatters), last) == ({"scatter"}, "cross")
    assert draws[-1].exact.shape == (D, 2)
