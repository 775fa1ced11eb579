"""Draws that are made again on either table."""

import numpy as np
import pytest
from scipy.stats import norm

from gdppca.auditing.repeats import Path
from gdppca.noise import secure_noise

SD, LENGTH, RUNS, STEP = 2.0, 40, 4000, 2.0


def mechanism(table, noise):
    """Gaussian draws, the second around what the first decides, whole numbers, and a small one."""
    first = noise.gaussian(np.full(LENGTH, float(table)), SD, sensitivity=1.0)
    noise.gaussian(np.array([first[0] * 1e-3, float(table)]), SD, sensitivity=1.0)
    noise.laplace(np.array([3, table, 5]), STEP)
    return noise.gaussian(np.array([float(table)]), 10.0, sensitivity=1.0)


@pytest.fixture(scope="module")
def path():
    return Path.of(mechanism, (1, 0), coin=1)


def test_path_holds_what_either_table_adds_noise_to(path):
    assert path.alike
    [(a, b), (c, d), (e, f), _] = path.pairs
    assert (a.exact == 1).all()
    assert (b.exact == 0).all()
    assert c.exact[0] == d.exact[0] != 0.0  # given the same draw before
    assert (e.exact[1], f.exact[1]) == (1, 0)
    assert path.largest_move == pytest.approx(np.sqrt(LENGTH))
    assert path.mu == pytest.approx(np.sqrt((LENGTH + 1) / SD**2 + 0.01))


def test_scores_have_the_law_of_log_likelihood_ratios(path):
    """Normal of mean ±μ²/2 and variance μ², beside a bounded part of whole numbers."""
    coins = np.arange(RUNS) % 2
    scores = path.scores(coins, secure_noise())
    mu, whole = path.mu, STEP**-2
    for coin, side in ((0, 1), (1, -1)):
        own = scores[coins == coin]
        error = norm.isf(1e-6) * np.sqrt((mu**2 + whole) / len(own))
        assert abs(own.mean() - side * mu**2 / 2) < whole + error
        assert own.std() == pytest.approx(mu, rel=0.12)


def test_noise_is_asked_for_vectors_of_the_same_length_and_size(path):
    asked = []

    class Listening:
        def gaussian(self, exact, sd, *, sensitivity):
            asked.append((exact.size, sd, sensitivity))
            return exact

        def laplace(self, exact, scale):
            asked.append((exact.size, scale))
            return exact

    coins = np.array([0, 1, 0])
    scores = path.scores(coins, Listening())
    assert set(asked) == {(LENGTH, SD, 1.0), (2, SD, 1.0), (3, STEP)}
    # A vector whose entries all tell holds one repetition; where few do, it holds several. The last
    # draw tells less than a hundredth, and is left out.
    assert [size for size, *_ in asked].count(LENGTH) == 3
    assert [size for size, *_ in asked].count(2) == 2
    assert [size for size, *_ in asked].count(3) == 1
    expected = (LENGTH + 1) / SD**2 / 2 + 1 / STEP
    np.testing.assert_allclose(scores, np.where(coins == 0, 1, -1) * expected)


def test_tables_that_ask_for_different_noise_are_told_apart_for_certain():
    def telling(table, noise):
        return noise.gaussian(np.zeros(2), 1.0 + table, sensitivity=1.0)

    path = Path.of(telling, (1, 0), coin=0)
    assert not path.alike
    assert (np.sign(path.scores(np.array([0, 1, 1]), secure_noise())) == [1, -1, -1]).all()


def test_tables_that_are_alike_tell_nothing():
    path = Path.of(mechanism, (0, 0), coin=0)
    np.testing.assert_array_equal(path.scores(np.array([0, 1]), secure_noise()), 0.0)
    assert (path.mu, path.largest_move) == (0.0, 0.0)
