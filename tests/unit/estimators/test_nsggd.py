"""NSGGD: a long noisy descent, with the printed noise and with noise that protects."""

import math
import subprocess
import sys
import time

import numpy as np
import pytest
from simulate import mean_loss, spiked

from gdppca import DataError, ParameterError, Release
from gdppca.estimators import NSGGD
from gdppca.linalg import directions
from gdppca.privacy import ApproximateEvent, GaussianEvent
from gdppca.steps.descent import printed_sigma, steps_multiplier


@pytest.fixture
def X():
    return spiked("gaussian", 200, 5, 0)[0]


def polar(A):
    U, _, W = np.linalg.svd(A, full_matrices=False)
    return U @ W


def naive_descent(Z, V, n_steps, step, sigma, batch_size, generator):
    """Algorithm 3 in plain numpy, drawing in the order of the compiled loop."""
    n = len(Z)
    for _ in range(n_steps):
        batch = [Z[int(n * generator.random())] for _ in range(batch_size)]
        generator.random()  # the loop looks one pair ahead
        Q = np.eye(len(V)) - V @ V.T
        gradient = sum(np.outer(Q @ z, z @ V) / np.linalg.norm(Q @ z) for z in batch) / batch_size
        noise = sigma * np.array([generator.standard_normal() for _ in range(V.size)])
        V = polar(V + step * (gradient + noise.reshape(V.shape)))
    return V


@pytest.mark.parametrize(
    ("step", "sigma", "m", "batch_size"),
    [(1e-4, 0.1, 2, 1), (1e-2, 0.5, 2, 3), (-1e-2, 0.5, 3, 2), (0.5, 3.0, 1, 2), (5.0, 3.0, 2, 1)],
)
def test_compiled_loop_is_the_algorithm(rng, step, sigma, m, batch_size):
    from gdppca.steps.descent_loop import descend

    Z = directions(rng.normal(size=(20, 6)) * [4, 2, 1, 1, 1, 1])[0]
    start = polar(rng.normal(size=(6, m)))
    V = start.copy()
    descend(Z, V, 100, step, sigma, batch_size, False, np.random.default_rng(1))
    expected = naive_descent(Z, start, 100, step, sigma, batch_size, np.random.default_rng(1))
    np.testing.assert_allclose(V, expected, atol=1e-8)
    np.testing.assert_allclose(V.T @ V, np.eye(m), atol=1e-11)


def test_poisson_batches_hold_each_pair_with_its_share():
    """With orthogonal pairs, one step shows which of them were drawn."""
    from gdppca.steps.descent_loop import descend

    n, runs, batch_size = 40, 4000, 4
    Z = np.zeros((n, n + 1))
    Z[:, 0] = Z[np.arange(n), np.arange(1, n + 1)] = math.sqrt(0.5)
    generator = np.random.default_rng(2)
    drawn = np.zeros((runs, n), dtype=bool)
    for run in range(runs):
        V = np.eye(n + 1)[:, :1].copy()
        descend(Z, V, 1, 0.1, 0.0, batch_size, True, generator)
        drawn[run] = V[1:, 0] > 1e-6
    assert np.abs(drawn.mean(axis=0) - 0.1).max() < 5 * math.sqrt(0.09 / runs)
    assert drawn.sum(axis=1).var() == pytest.approx(n * 0.09, rel=0.1)
    together = (drawn[:, :-1] & drawn[:, 1:]).mean()
    assert together == pytest.approx(0.01, abs=0.001)


def test_a_pair_inside_the_span_adds_nothing():
    from gdppca.steps.descent_loop import descend

    V = np.eye(4)[:, :2].copy()
    descend(np.eye(4)[:1].copy(), V, 10, 0.1, 0.0, 1, False, np.random.default_rng(0))
    np.testing.assert_array_equal(V, np.eye(4)[:, :2])


def test_descent_lowers_the_sum_of_distances_and_the_printed_sign_raises_it(X):
    def loss(**parameters):
        pca = NSGGD(2, epsilon=math.inf, learning_rate=1e-3, random_state=0, **parameters).fit(X)
        outside = X - X @ pca.components_.T @ pca.components_
        return np.linalg.norm(outside, axis=1).sum()

    assert loss() < loss(descend=False)


def test_defaults_are_those_of_the_paper(X):
    pca = NSGGD(2, epsilon=0.5, delta=1e-5, random_state=0).fit(X)
    assert (pca.n_iterations_, pca.batch_size_, pca.learning_rate_) == (40000, 1, 1 / 40000)
    expected = math.sqrt(2 * 40000 * math.log(2e5)) / (100**2 * 0.25)
    assert pca.noise_sd_ == pytest.approx(expected, rel=1e-12)
    assert printed_sigma(0.25, 5e-6, 1, 100, 40000) == pytest.approx(expected, rel=1e-12)
    same = NSGGD(2, epsilon=0.5, delta=1e-5, learning_rate="paper", random_state=0).fit(X)
    np.testing.assert_array_equal(pca.components_, same.components_)


def test_printed_noise_promises_nothing_and_says_why(X):
    guarantee = NSGGD(2, n_iterations=100).fit(X).guarantee_
    assert guarantee.status == "none"
    assert math.isinf(guarantee.epsilon)
    assert "too small" in str(guarantee)


def test_accounted_noise_promises_what_was_asked(X):
    pca = NSGGD(2, epsilon=1.0, delta=1e-5, n_iterations=500, noise="accounted").fit(X)
    guarantee = pca.guarantee_
    assert guarantee.status == "proven"
    assert [type(event) for event in guarantee.events] == [GaussianEvent, ApproximateEvent]
    assert guarantee.epsilon <= 1.0
    assert guarantee.epsilon == pytest.approx(1.0, rel=1e-6)
    assert any("not cryptographic" in str(words) for words in guarantee.assumptions)


def test_steps_are_calibrated_for_two_moves_of_one_pair():
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant

    multiplier = steps_multiplier(0.25, 5e-6, 1e-3, 4_000_000)
    accountant = RdpAccountant()
    accountant.compose(PoissonSampledDpEvent(1e-3, GaussianDpEvent(multiplier)), 4_000_000)
    one_move = accountant.get_epsilon(5e-6 / (1 + math.exp(0.125)))
    assert 0.124 < one_move <= 0.125


def test_exact_form_starts_at_the_covariance_and_promises_nothing(X):
    pca = NSGGD(2, epsilon=math.inf, random_state=0).fit(X)
    assert pca.noise_sd_ == 0
    assert pca.guarantee_.status == "none"
    assert "infinite" in pca.guarantee_.reason


def test_release_has_directions_but_no_matrix(X, tmp_path):
    pca = NSGGD(2, n_iterations=100, noise="accounted").fit(X)
    assert pca.release_.scatter is None
    assert not hasattr(pca, "noise_floor_")
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(2), atol=1e-12)
    pca.release_.save(tmp_path / "r.json")
    assert Release.load(tmp_path / "r.json").guarantee == pca.guarantee_


def test_seeds_reproduce_and_secure_fits_differ(X):
    def components(seed):
        return NSGGD(2, n_iterations=50, random_state=seed).fit(X).components_

    np.testing.assert_array_equal(components(5), components(5))
    assert not np.array_equal(components(None), components(None))


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"n_iterations": 0}, "n_iterations"),
        ({"batch_size": 0}, "batch_size"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"learning_rate": "fast"}, "learning_rate"),
        ({"learning_rate": 1e9}, "learning_rate"),
        ({"noise": "none"}, "noise"),
        ({"n_components": 6}, "n_components"),
    ],
)
def test_bad_parameters_are_named(parameters, word, X):
    with pytest.raises(ParameterError, match=word):
        NSGGD(**{"n_iterations": 10, **parameters}).fit(X)


@pytest.mark.parametrize("noise", ["printed", "accounted"])
def test_strange_tables_have_a_defined_result(noise):
    with pytest.raises(DataError, match="4 rows"):
        NSGGD(1).fit(np.ones((3, 2)))
    for X in (np.ones((7, 3)), np.array([[1.7e308, 0], [-1.7e308, 5e-324]] * 4)):
        pca = NSGGD(1, n_iterations=50, noise=noise).fit(X)
        assert np.isfinite(pca.components_).all()


def test_whole_table_as_one_batch(X):
    pca = NSGGD(2, batch_size=10**6, n_iterations=20, noise="accounted").fit(X)
    assert pca.batch_size_ == 100


def test_import_loads_no_numba():
    code = "import sys, gdppca.estimators; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_four_million_steps_take_less_than_a_minute():
    X, _ = spiked("gaussian", 2000, 25, 0)
    NSGGD(2, n_iterations=10, random_state=0).fit(X)  # compiles
    start = time.process_time()  # on one core
    NSGGD(2, epsilon=0.5, delta=1e-5, random_state=0).fit(X)
    assert time.process_time() - start < 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "d", "expected"),
    [("gaussian", 5, 0.617), ("t1", 5, 0.514), ("contaminated", 5, 0.673), ("gaussian", 10, 0.847)],
)
def test_mean_loss_is_that_of_the_trial_run(kind, d, expected):
    loss = mean_loss(NSGGD, kind, 2000, d, runs=40)
    # Single losses spread by 0.3: three standard errors of the difference of two runs.
    assert loss == pytest.approx(expected, abs=0.15)
