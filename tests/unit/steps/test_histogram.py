"""Noisy counts, their threshold, and the private frame."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdppca import ParameterError
from gdppca.noise import FreshNoise, Overheard, noise_for, seeded_noise
from gdppca.noise.bits import seeded_bits
from gdppca.privacy import Guarantee, PureEvent
from gdppca.steps import histogram
from gdppca.steps.histogram import (
    automatic_bins,
    axis_budget,
    cell_counts,
    exact_interval,
    histogram_noise,
    laplace_sd,
    private_counts,
    private_interval,
    shown_probability,
    sparse_threshold,
)

any_float = st.floats(allow_nan=False, allow_infinity=False, width=64)


# --- Noise ----------------------------------------------------------------------------------------


def laplace_law(step, reach=400):
    """Support and probabilities of the discrete Laplace, by its definition."""
    z = np.arange(-reach, reach + 1)
    weight = np.exp(-step * np.abs(z))
    return z, weight / weight.sum()


@pytest.mark.parametrize("step", [0.1, 0.5, 2.0])
def test_standard_deviation_is_that_of_the_law(step):
    z, probability = laplace_law(step)
    assert laplace_sd(step) == pytest.approx(math.sqrt(probability @ z**2))


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 7.0, 60.0])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("beside", [(), (0.2, 0.1), (0.03,) * 4])
def test_epsilon_is_spent_and_never_exceeded(epsilon, kind, beside):
    steps = tuple(epsilon * share for share in beside)
    noise = histogram_noise(epsilon=epsilon, delta=1e-6, kind=kind, noise="laplace", beside=steps)
    frame = tuple(PureEvent(purpose="frame", epsilon=step) for step in steps)
    spent = Guarantee(events=frame + noise.events, delta=1e-6).epsilon
    assert epsilon * (1 - 3e-3) - 1e-4 <= spent <= epsilon


def test_gaussian_beside_a_frame_spends_epsilon_exactly():
    noise = histogram_noise(epsilon=1.0, delta=1e-6, noise="gaussian", beside=(0.03,) * 4)
    frame = (PureEvent(purpose="frame", epsilon=0.03),) * 4
    spent = Guarantee(events=frame + noise.events, delta=1e-6).epsilon
    assert 1 - 1e-6 <= spent <= 1
    [event] = noise.events
    assert noise.noise_sd == pytest.approx(event.noise_multiplier * math.sqrt(2), rel=1e-8)


@pytest.mark.parametrize(
    ("epsilon", "delta", "law"),
    [(1.0, 1e-6, "laplace"), (0.1, 1e-9, "laplace"), (10.0, 1e-6, "laplace"), (1, 0.2, "gaussian")],
)
def test_the_smaller_noise_is_taken(epsilon, delta, law):
    both = [
        histogram_noise(epsilon=epsilon, delta=delta, noise=noise)
        for noise in ("laplace", "gaussian")
    ]
    chosen = histogram_noise(epsilon=epsilon, delta=delta)
    assert chosen.law == law
    assert chosen.noise_sd == min(noise.noise_sd for noise in both)


def test_sparse_gaussian_and_an_overspent_budget_are_refused():
    with pytest.raises(ParameterError, match="sparse"):
        histogram_noise(epsilon=1.0, delta=1e-6, kind="sparse", noise="gaussian")
    with pytest.raises(ParameterError, match="nothing is left"):
        histogram_noise(epsilon=1.0, delta=1e-6, noise="laplace", beside=(0.5, 0.5))


# --- The threshold --------------------------------------------------------------------------------


def shown_law(count, step, threshold, reach=60):
    """Law of what a sparse map shows of one cell: 0, or a number from the threshold on."""
    law = np.zeros(reach + 1)
    if count == 0:
        law[0] = 1.0
        return law
    z, probability = laplace_law(step)
    values = np.clip(count + z, 0, reach)
    np.add.at(law, np.where(values >= threshold, values, 0), probability)
    return law


def delta_at(first, second, epsilon):
    return np.maximum(first - math.exp(epsilon) * second, 0).sum()


@pytest.mark.parametrize(("step", "delta"), [(0.5, 0.05), (1.0, 0.01), (0.3, 0.2), (2.0, 1e-4)])
def test_two_moved_cells_stay_within_epsilon_and_delta(step, delta):
    threshold = sparse_threshold(step, delta)
    worst = {}
    for left, entered in itertools.product(range(1, 8), range(8)):
        before = np.outer(shown_law(left, step, threshold), shown_law(entered, step, threshold))
        after = np.outer(
            shown_law(left - 1, step, threshold), shown_law(entered + 1, step, threshold)
        )
        for way in ((before, after), (after, before)):
            worst[left, entered] = max(delta_at(*way, 2 * step), worst.get((left, entered), 0))
    tau = shown_probability(step, threshold)
    assert max(worst.values()) == pytest.approx(tau, rel=1e-6)
    assert max(worst.values()) <= delta
    assert worst[2, 1] < 1e-12  # where no cell is emptied or filled, epsilon alone suffices


@pytest.mark.parametrize(("step", "delta"), [(0.5, 5e-7), (0.05, 1e-9), (3.0, 1e-3), (0.4, 0.4)])
def test_threshold_is_the_smallest_that_delta_pays(step, delta):
    threshold = sparse_threshold(step, delta)
    z, probability = laplace_law(step, reach=2000)
    assert probability[1 + z >= threshold].sum() == pytest.approx(
        shown_probability(step, threshold), rel=1e-9
    )
    assert shown_probability(step, threshold) <= delta
    assert threshold == 1 or shown_probability(step, threshold - 1) > delta


# --- Counts ---------------------------------------------------------------------------------------

EDGES = np.linspace(-1, 1, 4), np.linspace(0, 2, 3)


@given(
    st.lists(st.tuples(any_float, any_float, st.integers(-1, 1)), min_size=1, max_size=6),
    st.tuples(any_float, any_float, st.integers(-1, 1)),
)
def test_replacing_a_row_moves_one_count_down_and_one_up(rows, other):
    def counts(table):
        scores = np.array([row[:2] for row in table])
        return cell_counts(scores, np.array([row[2] for row in table]), *EDGES, groups=2)

    moved = counts([other, *rows[1:]]) - counts(rows)
    assert np.abs(moved).sum() <= 2
    assert moved.max() <= 1
    assert counts(rows).sum() == sum(row[2] >= 0 for row in rows)


def test_bins_hold_their_lower_edge_and_the_frame_is_closed():
    scores = np.array([[-1, 0], [1, 2], [-1 / 3, 1], [np.nextafter(1, 2), 1], [0, -1e300]])
    counts = cell_counts(scores, np.zeros(5, dtype=int), *EDGES, groups=1)
    assert counts[:6].reshape(3, 2).tolist() == [[1, 0], [0, 1], [0, 1]]
    assert counts[6] == 2  # outside


@pytest.mark.parametrize("random_state", [0, None], ids=["seeded", "secure"])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_noise_has_the_stated_spread(random_state, law):
    noise = histogram_noise(epsilon=1.0, delta=1e-6, noise=law)
    drawn = private_counts(np.full(20_000, 7), noise, noise_for(random_state))
    assert drawn.dtype == np.int64
    sd = noise.noise_sd
    assert abs(drawn.mean() - 7) < 6 * sd / math.sqrt(20_000)
    assert drawn.std() == pytest.approx(sd, rel=0.06)


def test_sparse_counts_show_no_empty_cell_and_nothing_below_the_threshold():
    noise = histogram_noise(epsilon=1.0, delta=1e-2, kind="sparse")
    counts = np.repeat([0, 1, 40], 20_000)
    drawn = private_counts(counts, noise, seeded_noise(0))
    assert not drawn[:20_000].any()
    assert ((drawn == 0) | (drawn >= noise.threshold)).all()
    shown = np.count_nonzero(drawn[20_000:40_000]) / 20_000
    tau = noise.events[-1].delta
    assert shown == pytest.approx(tau, abs=5 * math.sqrt(tau / 20_000))
    assert np.count_nonzero(drawn[40_000:]) == 20_000


# --- Bins -----------------------------------------------------------------------------------------


def test_bins_follow_rows_and_noise():
    assert [automatic_bins(n, 3.0) for n in (100, 5000, 10**9)] == [6, 22, 100]
    assert automatic_bins(5000, 30.0) < automatic_bins(5000, 3.0) < automatic_bins(5000, 0.0)


# --- The frame ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FixedChoice(FreshNoise):
    """Noise whose choices are fixed, so that neighbours stay together."""

    choice: int

    def argmax(self, scores, epsilon):
        return self.choice


def scores_seen(values, budget, choice):
    """The scores that reach the noise, each of which says that one row moves it by at most one."""
    heard = Overheard(FixedChoice(seeded_bits(0), choice))
    private_interval(values, budget, heard)
    assert {draw.kind for draw in heard.draws} == {"argmax"}
    assert {draw.sensitivity for draw in heard.draws} == {1.0}
    return [draw.exact for draw in heard.draws]


@given(
    st.lists(any_float, min_size=2, max_size=8),
    any_float,
    st.sampled_from([0.5, 100.0]),
    st.integers(0, 2900),
)
def test_one_value_moves_no_score_by_more_than_one(values, other, epsilon, choice):
    budget = histogram.AxisBudget(center=epsilon, width=epsilon)
    first, second = (
        scores_seen(np.array(table), budget, choice) for table in (values, [other, *values[1:]])
    )
    assert len(first) == (3 if len(values) * epsilon >= histogram._FINE_NEED else 2)
    for before, after in zip(first, second, strict=True):
        np.testing.assert_array_less(np.abs(before - after), 1 + 1e-9)


def frames(n, center, scale, *, known_center=False, times=40):
    """Shares of Gaussian rows in private frames, and the frames' widths over the right one."""
    budget = axis_budget(n, 1.0, known_center=known_center)
    covered, width = [], []
    for seed in range(times):
        values = scale * (np.random.default_rng(seed).normal(size=n) + center)
        low, high = private_interval(values, budget, seeded_noise(seed))
        covered.append(np.mean((low <= values) & (values <= high)))
        width.append((high - low) / (2 * 3.09 * scale))
    return np.array(covered), np.array(width)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("center", [0.0, -12.0, 1234.5, 1e6])
def test_frame_fits_at_any_scale_and_centre(scale, center):
    covered, width = frames(5000, center, scale, times=12)
    assert np.quantile(covered, 0.1) > 0.95
    assert np.quantile(width, 0.9) < 1.6


def test_few_rows_get_a_frame_too():
    covered, width = frames(200, 0.0, 1.0)
    assert np.median(covered) > 0.95
    assert 0.7 < np.median(width) < 1.5
    covered, width = frames(1000, 12.0, 1.0)
    assert np.median(covered) > 0.95
    assert 0.7 < np.median(width) < 1.5


def test_a_known_centre_is_kept_and_costs_nothing():
    budget = axis_budget(5000, 1.0, known_center=True)
    assert budget.steps == (budget.width,)
    low, high = private_interval(
        np.random.default_rng(0).normal(size=5000), budget, seeded_noise(0)
    )
    assert low == -high


def test_frame_takes_a_small_part_where_there_are_many_rows():
    spent = [2 * sum(axis_budget(n, 1.0, known_center=False).steps) for n in (10, 5000, 10**6)]
    assert spent[0] == pytest.approx(0.48)
    assert spent[1] < 0.17
    assert spent[2] == pytest.approx(0.08)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(50),
        np.full(50, -7.25),
        np.full(50, 1.7e308),
        np.array([-1.7e308, 1.7e308] * 25),
        np.full(50, 5e-324),
        np.array([0.0] * 49 + [1e300]),
    ],
    ids=["zero", "equal", "huge", "both ends", "smallest", "one far"],
)
def test_any_values_give_a_frame_with_rising_edges(values):
    for epsilon in (0.01, 1.0, 100.0):
        for known_center in (True, False):
            budget = axis_budget(len(values), epsilon, known_center=known_center)
            low, high = private_interval(values, budget, seeded_noise(1))
            assert (np.diff(np.linspace(low, high, 1001)) > 0).all()
    low, high = exact_interval(values, known_center=False)
    assert (np.diff(np.linspace(low, high, 1001)) > 0).all()
