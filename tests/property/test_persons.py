"""Whole fits of tables that differ in all rows of one person: no draw moves by more than it says.

And a search: how far can one person move what the real kernels compute, and is the bound attained?
"""

import math
import warnings
from contextlib import suppress
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings, target
from hypothesis import strategies as st
from neighbours import Coupled, Plain
from sklearn.base import clone

from gdppca import DPPCA, NSGGD, SGPCA, AnalyzeGauss, SignCovariancePCA
from gdppca.kernels import OneSample, SignSum
from gdppca.kernels.directions import direction_sum
from gdppca.kernels.weights import WHOLE, counted, exact_sums, whole_parts
from gdppca.noise import AllDrawn, OrderKeys, Overheard, Repeated, secure_noise, seeded_noise
from gdppca.privacy import Neighbors
from gdppca.releases import private_quantile, private_variances, score_map
from gdppca.sensitivity import Moves
from gdppca.signs import as_sign
from gdppca.steps.centre import _compared
from gdppca.steps.clipped_squares import square_sums
from gdppca.steps.octaves import OCTAVES, octave_of
from gdppca.tables.persons import persons_of, weight_shares

D = 3
NAN = math.nan
_ODD = [0.0, -0.0, 1.0, -1.0, 0.25, 1e6, 1e-6, 1e300, 1e308, -1.7e308, 5e-324, -5e-324]
entries = st.one_of(st.sampled_from(_ODD), st.floats(allow_nan=False, allow_infinity=False))
with_gaps = st.one_of(entries, st.just(NAN))


@st.composite
def lives(draw, cells=entries):
    """All rows of one person: few of any kind, each maybe many times."""
    few = draw(st.lists(st.lists(cells, min_size=D, max_size=D), min_size=1, max_size=4))
    times = draw(st.sampled_from([1, 1, 2, 7, 1000 // len(few)]))
    return np.array(few * times)


@st.composite
def tables(draw, cells=entries, persons=24):
    """Others, of one to five rows each, and two lives of the one who differs."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ids = np.repeat(2 * np.arange(persons), rng.integers(1, 6, size=persons))
    values = rng.standard_t(2, size=(len(ids), D)) * 10.0 ** draw(st.integers(-3, 3))
    values[rng.random(len(ids)) < 0.2] = 0.0
    others = Plain(values, ids, rng.uniform(0, 3, size=len(ids))).without(14)
    one, two = draw(lives(cells)), draw(lives(cells))
    if draw(st.booleans()):  # somebody else's rows, to the last bit
        two = others.values[: len(two)] if len(two) < len(others.values) else others.values
    return rng, others, one, two


def wide(kind, **parameters):
    """An estimator with so much budget that no step is refused for so few persons."""
    return kind(2, epsilon=3000.0 if kind is DPPCA else 300.0, delta=0.1, **parameters)


PIPELINES = {
    "default": (wide(DPPCA, location="private"), {}),
    "pairs": (wide(DPPCA, location=None), {}),
    "blocks": (wide(DPPCA, location=None, pairs=5), {}),
    "scales": (wide(DPPCA, location="private", scale="private", scale_share=0.5), {}),
    "scales of pairs": (wide(DPPCA, location=None, scale="private", scale_share=0.5), {}),
    "radius": (wide(DPPCA, sign="winsor", radius="quantile", location="private"), {}),
    "all": (
        wide(
            DPPCA,
            sign="winsor",
            radius="quantile",
            location="private",
            scale="private",
            scale_share=0.5,
        ),
        {"variances": 0.2, "score_map": 0.2},
    ),
}
BASELINES = {
    "analyze gauss": wide(AnalyzeGauss, norm=3.0, center=np.zeros(D)),
    "sign covariance": wide(SignCovariancePCA),
    "sgpca": wide(SGPCA, eigenvalues=(90.0, 9.0, 1.0)),
    "nsggd": wide(NSGGD, noise="accounted", n_iterations=3, batch_size=2),
}


def fitted(pca, plain, noise, more=None, **said):
    """One fit with this noise."""
    pca = clone(pca).set_params(random_state=noise)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if isinstance(pca, DPPCA):
            pca.fit_release(plain.values, persons=plain.ids, **(more or {}), **said)
        else:
            pca.fit(plain.values, persons=plain.ids, **said)
    return pca


def largest_move(draws, others):
    """How far the farthest draw moved, in shares of what it says."""
    assert [one.kind for one in draws] == [other.kind for other in others]
    farthest = 0.0
    for one, other in zip(draws, others, strict=True):
        if one.exact is not None:
            assert (one.scale, one.sensitivity) == (other.scale, other.sensitivity)
            farthest = max(farthest, one.moved_by(other.exact))
    return farthest


def replayed(pca, one, two, more=None, noise=None, again=Repeated, **said):
    """Fit one table, then the other with what was drawn."""
    ear = Overheard(noise or seeded_noise(0))
    fitted(pca, one, ear, more, **said)
    noted = again(ear.draws, stop=True)
    with suppress(AllDrawn):
        fitted(pca, two, noted, more, **said)
    return largest_move(ear.draws, noted.draws)


# --- Whole fits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("pca", "more"), PIPELINES.values(), ids=PIPELINES)
@settings(max_examples=60)
@given(drawn=tables(), seed=st.integers(0, 9))
def test_no_person_moves_a_draw_of_a_fit_by_more_than_it_says(pca, more, drawn, seed):
    rng, others, one, two = drawn
    first, second = (others.with_(14, rows, 1.0, rng) for rows in (one, two))
    moved = replayed(pca, first, second, more, seeded_noise(seed))
    target(moved)
    assert moved <= 1 + 1e-9


@settings(max_examples=60)
@given(drawn=tables(with_gaps), weighted=st.booleans(), scale=st.sampled_from([None, "private"]))
def test_nor_where_cells_are_missing_and_rows_have_weights(drawn, weighted, scale):
    rng, others, one, two = drawn
    others.values[rng.random(others.values.shape) < 0.3] = NAN
    pca = wide(DPPCA, missing="rates", scale=scale, scale_share=0.5)
    more = {} if weighted else {"variances": 0.2, "score_map": 0.2}
    sides = []
    for rows in (one, two):
        plain = others.with_(14, rows, rng.choice([0.0, 1.0, 1e300]), rng)
        own = {"weights": plain.weights, "largest_weight": 2.0} if weighted else {}
        sides.append((plain, own))
    ear = Overheard(seeded_noise(0))
    fitted(pca, sides[0][0], ear, more, **sides[0][1])
    again = Repeated(ear.draws)
    fitted(pca, sides[1][0], again, more, **sides[1][1])
    assert largest_move(ear.draws, again.draws) <= 1 + 1e-9


@settings(max_examples=60)
@given(drawn=tables(with_gaps), leaves=st.booleans(), gaps=st.booleans())
def test_nor_by_coming_or_leaving(drawn, leaves, gaps):
    rng, others, one, _ = drawn
    pca = wide(DPPCA, neighbors="add-remove", missing="rates" if gaps else "refuse")
    rows = one if gaps else np.nan_to_num(one)
    sides = others, others.with_(14, rows, 1.0, rng)
    more = {"variances": 0.2, "score_map": 0.2}

    def again(draws, stop):
        return Coupled(draws, stop=stop, place=7, more=-1 if leaves else 1)

    moved = replayed(pca, *(sides[::-1] if leaves else sides), more, again=again)
    assert moved <= 1 + 1e-9


@pytest.mark.parametrize("pca", BASELINES.values(), ids=BASELINES)
@settings(max_examples=30)
@given(drawn=tables())
def test_baselines_draw_from_one_row_of_each(pca, drawn):
    """A person of a thousand rows is one of their rows: the methods have the promises they had."""
    rng, others, one, two = drawn
    sides = [others.with_(14, rows, 1.0, rng) for rows in (one, two)]
    if not isinstance(pca, SGPCA):  # whose bound holds with high probability
        assert replayed(pca, *sides) <= 1 + 1e-9
    seen = []

    def listen(table, size):
        sample = table._sample
        seen.append(sample.single)
        return sample

    with mock.patch("gdppca.tables.memory.MemoryTable.sample", listen):
        for side in sides:
            fitted(pca, side, seeded_noise(1))
    half = len(seen) // 2
    for before, after in zip(seen[:half], seen[half:], strict=True):
        assert before.shape == after.shape
        assert ((before != after) & ~(np.isnan(before) & np.isnan(after))).any(axis=1).sum() <= 1


ALONE = {
    "quantile": lambda X, ids, release, noise: private_quantile(
        X[:, 0], 0.3, 2.0, persons=ids, random_state=noise
    ),
    "unbounded quantile": lambda X, ids, release, noise: private_quantile(
        X[:, 0], 0.3, 2.0, persons=ids, random_state=noise, method="unbounded"
    ),
    "variances": lambda X, ids, release, noise: private_variances(
        X, release, 2.0, 1e-3, persons=ids, random_state=noise
    ),
    "map": lambda X, ids, release, noise: score_map(
        X, release, epsilon=2.0, delta=1e-3, persons=ids, random_state=noise
    ),
    "sparse map": lambda X, ids, release, noise: score_map(
        X, release, epsilon=2.0, delta=1e-3, persons=ids, random_state=noise, kind="sparse"
    ),
}
KNOWN = DPPCA(2, location=np.zeros(D), random_state=0).fit(np.ones((24, D))).release_


@pytest.mark.parametrize("release_of", ALONE.values(), ids=ALONE)
@settings(max_examples=30)
@given(drawn=tables())
def test_what_is_released_on_its_own_moves_no_farther(release_of, drawn):
    rng, others, one, two = drawn
    first, second = (others.with_(14, rows, 1.0, rng) for rows in (one, two))
    ear = Overheard(seeded_noise(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release_of(first.values, first.ids, KNOWN, ear)
        again = Repeated(ear.draws, stop=True)
        with suppress(AllDrawn):
            release_of(second.values, second.ids, KNOWN, again)
    assert largest_move(ear.draws, again.draws) <= 1 + 1e-9
    for draw in ear.draws:
        assert draw.kind != "laplace" or draw.exact.dtype.kind == "i"


def whole(rows_each, share=None):
    """Weights as somebody might think: each row counts whole."""
    return np.full(np.shape(rows_each), WHOLE) if share is None else share * WHOLE


@pytest.mark.parametrize("name", ["default", "scales", "all"])
def test_rows_that_count_whole_would_be_noticed(name):
    rng = np.random.default_rng(3)
    pca, more = PIPELINES[name]
    others = Plain(rng.normal(size=(23, D)), np.delete(2 * np.arange(24), 7), np.ones(23))
    sides = [others.with_(14, [row] * 9, 1.0, rng) for row in ([1e308, 0, 0], [0, -1e308, 0])]
    assert replayed(pca, *sides, more) <= 1 + 1e-9
    with mock.patch("gdppca.tables.persons.whole_parts", whole):
        assert replayed(pca, *sides, more) > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["default", "all"])
def test_nor_with_noise_that_protects(name):
    rng = np.random.default_rng(3)
    pca, more = PIPELINES[name]
    ids = np.repeat(2 * np.arange(24), 4)
    others = Plain(rng.normal(size=(96, D)), ids, np.ones(96)).without(14)
    first = others.with_(14, np.tile([1e308, 0.0, 0.0], (1000, 1)), 1.0, rng)
    second = others.with_(14, [[0.0, -1e308, 0.0]], 1.0, rng)
    for _ in range(5):
        assert replayed(pca, first, second, more, secure_noise()) <= 1 + 1e-9


# --- Parts and picks ------------------------------------------------------------------------------


@settings(max_examples=200)
@given(
    rows=st.lists(st.integers(1, 5000), min_size=1, max_size=6),
    share=st.one_of(st.none(), st.floats(0, 1e308)),
    largest=st.floats(5e-324, 1e308),
)
@example(rows=[1], share=1.7e308, largest=5e-324)
@example(rows=[3, 7, 1000], share=1.0, largest=1.0)
def test_parts_of_a_person_never_add_up_to_more_than_one(rows, share, largest):
    ids = np.repeat(np.arange(len(rows)), rows)
    persons = persons_of(ids, len(ids), OrderKeys(b"x"))
    shares = None if share is None else weight_shares(np.full(len(ids), share), largest, len(ids))
    parts = persons.parts(shares)
    assert parts.dtype == np.int64
    assert (parts >= 0).all()
    assert (np.bincount(ids, weights=parts) <= WHOLE).all()
    if share is None:
        assert (np.bincount(ids, weights=parts) > WHOLE - np.array(rows)).all()


@settings(max_examples=100)
@given(
    rows=st.lists(st.integers(1, 50), min_size=2, max_size=30),
    other=st.integers(1, 1000),
    data=st.data(),
)
def test_what_one_person_has_changes_nobody_elses_pick(rows, other, data):
    """Nor where rows lie: what is picked is the k-th of a person's own rows."""
    who = data.draw(st.integers(0, len(rows) - 1))
    keys, rng = OrderKeys(data.draw(st.binary(min_size=1, max_size=8))), np.random.default_rng(0)
    picks = []
    for own in (rows[who], other):
        each = [*rows[:who], own, *rows[who + 1 :]]
        ids = np.repeat(np.arange(len(each)), each)
        place = np.concatenate([np.arange(n) for n in each])
        mixed = np.argsort(rng.random(len(ids)))  # somewhere else, in their own order
        mixed = mixed[np.argsort(place[mixed], kind="stable")]
        persons = persons_of(ids[mixed], len(ids), keys)
        for turn in (0, 3):
            single = persons.one_each(turn)
            whose = ids[mixed][single]
            assert (np.sort(whose) == np.arange(len(each))).all()
            assert (persons.codes[single] == np.arange(len(each))).all()
            picks.append(place[mixed][single][np.argsort(whose)])
    for one, two in ((picks[0], picks[2]), (picks[1], picks[3])):
        assert (np.delete(one, who) == np.delete(two, who)).all()


# --- A search on the real kernels -----------------------------------------------------------------


def parts_of(rows, people=1):
    return whole_parts(np.full(len(rows), len(rows), dtype=np.int64))


def scatter_part(rows, sign="spherical"):
    """What a person adds to the sum of signs around the origin, in units of ‖g‖²."""
    sign = as_sign(sign, None if sign == "spherical" else 2.0, n_features=rows.shape[1])
    total = SignSum(sign, np.zeros(rows.shape[1])).add_rows(rows, parts=parts_of(rows))
    return (total.mean(1) / sign.sup_norm**2).ravel()


def directions_part(rows):
    return direction_sum(rows, np.zeros(rows.shape[1]), parts_of(rows))[0]


@np.errstate(all="ignore")
def look_part(rows, far):
    total, lengths = direction_sum(rows, np.zeros(rows.shape[1]), parts_of(rows))
    return np.append(total, exact_sums(_compared(lengths, 1.0, far=far), parts_of(rows)))


@np.errstate(all="ignore")
def octaves_part(rows):
    lengths = direction_sum(rows, np.zeros(rows.shape[1]), parts_of(rows))[1]
    return counted(octave_of(lengths) + OCTAVES, parts_of(rows), 2 * OCTAVES + 1)


def squares_part(rows):
    return square_sums(np.abs(rows), np.full(rows.shape[1], 1.5), parts_of(rows))


BOUNDS = {  # what a person adds, and how far another may move the sum; attained by the search
    "scatter": (scatter_part, lambda m: m.scatter(OneSample(), 1.0, 1, D)),
    "scatter, winsor": (
        lambda rows: scatter_part(rows, "winsor"),
        lambda m: m.scatter(OneSample(), 1.0, 1, D),
    ),
    "directions": (directions_part, lambda m: m.directions(D)),
    "looks, far": (lambda rows: look_part(rows, True), lambda m: m.looks(D)),
    "looks, near": (lambda rows: look_part(rows, False), lambda m: m.looks(D)),
    "octaves": (octaves_part, lambda m: m.octave_counts(weighted=True)),
    "clipped squares": (squares_part, lambda m: m.bounded_sums(D, weighted=True)),
}


def climbed(moved, rng, starts=12, steps=60):
    """The farthest that a climb finds from random starts, single huge rows among them."""
    best = 0.0
    for _ in range(starts):
        sides = [_some_rows(rng) for _ in range(2)]
        value = moved(*sides)
        for _ in range(steps):
            tried = [_stirred(side, rng) for side in sides]
            found = moved(*tried)
            if found > value:
                sides, value = tried, found
        best = max(best, value)
    for far in (1e9, 1e300):  # where the bounds are attained
        for sign in (1.0, -1.0):
            first, second = np.zeros((2, 4, D))
            first[:, 0], second[:, 1] = far, far
            for other in (second, -first, -1e-9 * first / far, sign * 0.6 * first / far, 0 * first):
                best = max(best, moved(first, other))
    return best


def _some_rows(rng):
    return rng.standard_t(1, size=(rng.integers(1, 5), D)) * 10.0 ** rng.uniform(-3, 3)


def _stirred(rows, rng):
    by = rng.standard_normal(rows.shape) * 10.0 ** rng.uniform(-3, 3)
    return rows + by * (rng.random(rows.shape) < 0.5)


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("name", BOUNDS)
def test_a_climb_finds_no_person_beyond_the_bound_and_comes_close(name, neighbors):
    part, bound = BOUNDS[name]
    moves = Moves(neighbors)

    def moved(one, two):
        other = part(two) if moves.replaces else 0.0
        return float(np.linalg.norm(part(one) - other)) / bound(moves)

    best = climbed(moved, np.random.default_rng(5))
    assert best <= 1
    assert best > 0.97


@settings(max_examples=300)
@given(one=lives(), two=lives(), name=st.sampled_from(list(BOUNDS)))
def test_nor_does_any_float_lie_beyond_it(one, two, name):
    part, bound = BOUNDS[name]
    moved = np.linalg.norm(part(one) - part(two)) / bound(Moves())
    target(moved)
    assert moved <= 1
    assert np.linalg.norm(part(one)) <= bound(Moves(Neighbors.ADD_REMOVE))


@pytest.mark.parametrize("rows", [1, 3, 7, 1000, 65_537, 10**6])
def test_rounding_to_nearest_is_nowhere_in_weighted_sums(rows):
    """To nearest, a million equal rows would be longer than one: 1.0013 where all round up."""
    for d in (2, 10):
        same = np.full((rows, d), 1 / math.sqrt(d))
        parts = parts_of(same)
        length = np.linalg.norm(direction_sum(same, np.zeros(d), parts)[0])
        assert length <= 1 + 1e-12
        assert exact_sums(np.ones(rows), parts) <= 1
        assert exact_sums(np.full(rows, 0.9999), parts) <= 0.9999
        assert counted(np.zeros(rows, dtype=np.int64), parts, 1)[0] <= 1
        assert np.trace(scatter_part(same).reshape(d, d)) <= 1 + 1e-12
