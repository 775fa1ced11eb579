"""The matrix in increments, and what lies across its components."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

from gdppca import DPPCA, datasets, sin_theta
from gdppca.design import Parameters, design_of
from gdppca.kernels import OneSample
from gdppca.linalg import vecd
from gdppca.noise import Overheard, seeded_noise
from gdppca.privacy.accounting import gdp_mu
from gdppca.steps.base import Public
from gdppca.steps.scatter import Scatter
from gdppca.steps.staged import INCREMENTS, LEAST_COLUMNS, StagedScatter
from gdppca.tables.base import Supply
from gdppca.tables.memory import MemoryTable

N, D = 20_000, 80


def dense(n=N, d=D, variances=(10.0, 5.0), seed=0):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((d, len(variances))))[0]
    X = rng.standard_normal((n, d))
    return X + (X @ V * (np.sqrt(variances) - 1)) @ V.T + 5, V.T


@pytest.fixture(scope="module")
def table():
    return dense()


@pytest.fixture(scope="module")
def staged(table):
    return DPPCA(epsilon=0.4, delta=1e-5, random_state=1, stages="auto").fit(table[0])


def fitted(X, **asked):
    return DPPCA(
        **{"epsilon": 0.4, "delta": 1e-5, "random_state": 1, "stages": "auto", **asked}
    ).fit(X)


def test_it_tells_more_than_one_stage(table, staged):
    X, V = table
    one = fitted(X, stages="one")
    assert staged.release_.second_stage is not None
    assert sin_theta(staged.components_, V) < 0.85 * sin_theta(one.components_, V)


def test_what_is_drawn_adds_up_to_the_budget(staged):
    assert staged.guarantee_.nominal_epsilon == pytest.approx(0.4, rel=1e-8)
    assert staged.guarantee_.nominal_epsilon <= 0.4
    purposes = [event.purpose for event in staged.guarantee_.events]
    assert purposes[-2:] == ["scatter", "cross"]


def test_the_debit_is_that_of_one_stage():
    public = Public.of(N, D)
    one, auto = (design_of(Parameters(stages=stages), public) for stages in ("one", "auto"))
    assert one.debit == auto.debit
    assert auto.step(StagedScatter).events == one.step(Scatter).events


@pytest.mark.parametrize(
    ("asked", "public", "supply"),
    [
        ({}, Public.of(N, LEAST_COLUMNS - 1), Supply.TABLE),
        ({"n_components": "auto"}, Public.of(N, D), Supply.TABLE),
        ({"sign": "winsor"}, Public.of(N, D), Supply.TABLE),
        ({"calibration": "paper"}, Public.of(N, D), Supply.TABLE),
        ({"missing": "rates"}, Public.of(N, D, gaps=True), Supply.TABLE),
        ({}, Public.of(N, D, Supply.BATCHES), Supply.BATCHES),
        ({"stages": "one"}, Public.of(N, D), Supply.TABLE),
    ],
)
def test_where_it_is_not_known_to_pay_there_is_one_stage(asked, public, supply):
    design = design_of(Parameters(**{"stages": "auto", **asked}), public, supply)
    assert type(design.step(Scatter)) is Scatter


def test_fits_of_few_columns_draw_the_same_numbers_with_both():
    X, _ = dense(2000, LEAST_COLUMNS - 1)
    one, auto = (fitted(X, stages=stages) for stages in ("one", "auto"))
    np.testing.assert_array_equal(one.scatter_, auto.scatter_)
    np.testing.assert_array_equal(one.components_, auto.components_)


def test_pairs_and_no_noise_have_one_stage():
    X, _ = dense(500)
    for asked in ({"location": None}, {"epsilon": math.inf}):
        events = fitted(X, **asked).guarantee_.events
        assert len(events) == 1


def test_a_word_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"`stages` must be one of 'one', 'auto'"):
        fitted(np.zeros((9, 60)), stages="two")


# --- Increments -----------------------------------------------------------------------------------


def step_of(public, start, mu=0.5, **more):
    known = design_of(Parameters(stages="auto", location=np.zeros(D)), public).step(StagedScatter)
    budget = replace(known.budget, mu=mu)
    first = budget.level(start.sign, start.scheme, public.n_samples, D, moves=public.moves)
    return replace(known, first=first, budget=budget, **more)


def drawn(X, seed, **more):
    public = Public.of(*X.shape)
    start = design_of(Parameters(location=np.zeros(D)), public).start
    noise = Overheard(seeded_noise(seed))
    step = step_of(public, start, **more)
    return step, step.draw(MemoryTable(X, None, noise), start, noise), noise.draws


def test_all_increments_together_have_the_law_of_one_draw():
    X = np.random.default_rng(3).standard_normal((300, D))
    exact = None
    for seed in range(2):
        step, state, draws = drawn(X, seed, margin=0.0)
        assert len(draws) == len(state.events) == len(INCREMENTS)
        assert state.noise_sd == pytest.approx(step.first.noise_sd, rel=1e-6)
        assert gdp_mu(state.events) == pytest.approx(0.5, rel=1e-9)
        exact = draws[0].exact
        z = (vecd(state.scatter) - exact) / state.noise_sd
        assert kstest(z, "norm").pvalue > 1e-3
        assert kstest(z / 0.7, "norm").pvalue < 1e-6
        for draw in draws:
            np.testing.assert_array_equal(draw.exact, exact)


def test_what_is_left_goes_across_and_no_more(table):
    X = table[0][:5000] - 5
    _, state, draws = drawn(X, 0, mu=0.3)
    *matrix, cross = state.events
    assert (cross.purpose, draws[-1].exact.shape) == ("cross", (D, 2))
    share = sum(event.noise_multiplier**-2 for event in matrix) / 0.3**2
    assert any(share == pytest.approx(each) for each in INCREMENTS[:-1])
    assert gdp_mu(state.events) == pytest.approx(0.3, rel=1e-9)
    assert draws[-1].scale >= cross.noise_multiplier * draws[-1].sensitivity
    assert isinstance(state.scheme, OneSample)


def test_where_shrinking_takes_hold_all_goes_to_the_matrix():
    X = datasets.make_elliptical(N, D, random_state=0).X  # four loadings are not zero
    pca = fitted(X + 5, loadings="shrunk")
    assert pca.release_.loadings.shrunk
    assert pca.release_.second_stage is None
    scatter = [event for event in pca.guarantee_.events if event.purpose == "scatter"]
    assert 1 < len(scatter) < len(INCREMENTS)  # the rest of it at once


def test_a_component_beyond_keeps_it_at_one_stage():
    X, _ = dense(variances=(10.0, 8.0, 6.0))
    assert fitted(X, n_components=2).release_.second_stage is None
    assert fitted(X, n_components=3).release_.second_stage is not None


# --- Kinds of tables ------------------------------------------------------------------------------


def test_a_secret_number_of_rows(table):
    X, V = table
    pca = fitted(X, neighbors="add-remove")
    assert pca.release_.second_stage is not None
    assert sin_theta(pca.components_, V) < 0.1


def test_persons_with_weights(table):
    X, V = table
    rows = np.vstack([X, X[:3000]])
    who = np.concatenate([np.arange(N), np.arange(3000)])
    how = {"persons": who, "weights": np.full(len(rows), 1.5), "largest_weight": 2.0}
    pca = DPPCA(epsilon=0.6, delta=1e-5, random_state=1, stages="auto").fit(rows, **how)
    assert pca.release_.second_stage is not None
    assert sin_theta(pca.components_, V) < 0.12


def test_files_are_read_once_more(table, tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    X, V = table
    names = [f"c{k}" for k in range(D)]
    parquet.write_table(pa.table(dict(zip(names, X.T, strict=True))), tmp_path / "rows.parquet")
    asked = {"epsilon": 0.4, "delta": 1e-5, "random_state": 1, "stages": "auto"}
    pca = DPPCA(**asked).fit_stream(tmp_path / "rows.parquet")
    assert pca.release_.second_stage is not None
    assert sin_theta(pca.components_, V) < 0.12
