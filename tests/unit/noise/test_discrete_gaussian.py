"""Exact integers from a discrete Gaussian, although floating point does the work."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gdppca import ParameterError
from gdppca.noise import discrete_gaussian as module
from gdppca.noise.bits import secure_bits, seeded_bits
from gdppca.noise.discrete_gaussian import discrete_gaussian

LEVEL = 1e-6
SCALES = st.floats(1.0, 2.0**41, exclude_max=True) | st.sampled_from([1.0, 2.0**40, 1.5 * 2**40])


class Words:
    """A source that gives these words and no others."""

    def __init__(self, *words):
        self.left = list(words)

    def words(self, n):
        return np.array([self.left.pop(0) for _ in range(n)], dtype=np.uint64)


# --- The law --------------------------------------------------------------------------------------


def misfit(drawn, scale):
    """P-value of the drawn integers under the exact probabilities, tails put together."""
    end = int(4 * scale)
    points = np.arange(-end, end + 1)
    weights = np.exp(-(np.arange(-40 * end, 40 * end + 1) ** 2) / (2 * scale**2))
    inner = np.exp(-(points**2) / (2 * scale**2)) / weights.sum()
    outer = (1 - inner.sum()) / 2
    counts = [(drawn < -end).sum(), *(np.sum(drawn == y) for y in points), (drawn > end).sum()]
    expected = len(drawn) * np.array([outer, *inner, outer])
    return stats.chisquare(counts, expected).pvalue


@pytest.mark.parametrize("scale", [1.0, 1.37, 1.999, 2.0, 3.7, 4.0, 11.3])
def test_probabilities_are_exact_at_scales_where_every_integer_can_be_counted(scale):
    drawn = discrete_gaussian(300_000, scale, seeded_bits(7))
    assert misfit(drawn, scale) > LEVEL
    assert misfit(drawn, scale * 0.98) < LEVEL
    assert misfit(drawn, scale * 1.02) < LEVEL


@pytest.mark.parametrize("scale", [2.0, 3.7])
def test_probabilities_are_exact_where_whole_numbers_decide(scale, monkeypatch):
    monkeypatch.setattr(module, "_RELATIVE", 1.0)
    drawn = discrete_gaussian(5000, scale, seeded_bits(8))
    assert misfit(drawn, scale) > LEVEL
    assert misfit(drawn, scale * 1.15) < LEVEL


def test_probabilities_are_exact_where_many_coins_are_needed(monkeypatch):
    monkeypatch.setattr(module, "_COINS", 1)
    drawn = discrete_gaussian(8000, 2.0, seeded_bits(9))
    assert misfit(drawn, 2.0) > LEVEL
    assert misfit(drawn, 2.3) < LEVEL


@pytest.mark.parametrize("scale", [2.0**40, 1.47 * 2**40, 2.0**41 - 2**-12])
def test_moments_at_the_scales_in_use(scale):
    z = discrete_gaussian(400_000, scale, seeded_bits(1)) / scale
    error = 6 / np.sqrt(len(z))
    assert abs(z.mean()) < error
    assert abs((z**2).mean() - 1) < error * np.sqrt(2)
    assert abs((z**3).mean()) < error * np.sqrt(15)
    assert abs((z**4).mean() - 3) < error * np.sqrt(96)


def test_last_bits_are_fair():
    drawn = discrete_gaussian(100_000, 1.3 * 2**40, seeded_bits(2))
    for bit in range(30):
        assert abs(np.mean(drawn >> bit & 1) - 0.5) < 6 * 0.5 / np.sqrt(len(drawn))


def test_noise_is_the_same_for_the_same_words_only():
    first, again = (discrete_gaussian(100, 2.0**40, seeded_bits(3)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    secret, other = (discrete_gaussian(100, 2.0**40, secure_bits()) for _ in range(2))
    assert not (secret == other).any()


@pytest.mark.parametrize("size", [0, 1, 2, 63, 40_001])
def test_as_many_as_asked_for(size):
    assert discrete_gaussian(size, 2.0**40, secure_bits()).shape == (size,)


@pytest.mark.parametrize("scale", [0.0, 0.99, -3.0, 2.0**41, np.inf, np.nan])
def test_scales_that_the_words_cannot_hold_are_refused(scale):
    with pytest.raises(ParameterError, match="lattice"):
        discrete_gaussian(3, scale, secure_bits())


# --- Decisions ------------------------------------------------------------------------------------


def probability(law, tails, point):
    """p(y), in eighty digits."""
    with mpmath.workdps(80):
        scale = mpmath.mpf(law.scale)
        weight = mpmath.exp(-(mpmath.mpf(point) ** 2) / (2 * scale**2))
        return weight * mpmath.mpf(2) ** tails * law.parts / 256


@given(scale=SCALES)
def test_no_strip_has_a_probability_above_one(scale):
    law = module._law(scale)
    assert 2.0**law.bits <= scale < 2.0 ** (law.bits + 1)
    highest = max(probability(law, v, v << law.bits) for v in range(40))
    assert 0.97 < highest <= 1  # tight, too


@st.composite
def decisions(draw):
    """A proposal and the first 64 bits of U: anything, or as near to p(y) as it gets."""
    law = module._law(draw(SCALES))
    tails = draw(st.integers(0, module._COINS - 1))
    point = (tails << law.bits) + draw(st.integers(0, 2**law.bits - 1))
    p = probability(law, tails, point)
    with mpmath.workdps(80):
        near = int(mpmath.floor(p * 2**64)) + draw(
            st.integers(-(2**40), 2**40) | st.integers(-1, 1)
        )
    uniform = draw(st.just(min(max(near, 0), 2**64 - 1)) | st.integers(0, 2**64 - 1))
    return law, tails, point, uniform, p


@given(case=decisions())
def test_floating_point_decides_only_what_is_certain(case):
    law, tails, point, uniform, p = case
    keep, unsure = module._decided(
        law, np.array([tails]), np.array([point]), np.array([uniform], dtype=np.uint64)
    )
    with mpmath.workdps(80):
        low, high = mpmath.mpf(uniform) / 2**64, mpmath.mpf(uniform + 1) / 2**64
        assert not keep[0] or high <= p
        assert keep[0] or unsure[0] or low >= p
        if abs(low - p) > 2.0**-28 * p + 2.0**-52:  # doubt is rare
            assert not unsure[0]


@given(case=decisions(), more=st.integers(0, 2**64 - 1))
def test_whole_numbers_decide_as_eighty_digits_do(case, more):
    law, tails, point, uniform, p = case
    decided = module._decided_exactly(law, tails, point, uniform, Words(more, more))
    with mpmath.workdps(80):
        assert decided == (mpmath.mpf((uniform << 64) | more) / 2**128 < p)


def test_more_bits_are_drawn_as_long_as_they_decide_nothing():
    law = module._law(1.5)
    p = probability(law, 1, 3)
    with mpmath.workdps(80):
        first, rest = divmod(int(mpmath.floor(p * 2**192)), 2**128)
    for step, kept in ((-1, True), (1, False)):
        source = Words(*divmod(rest + step, 2**64))
        assert module._decided_exactly(law, 1, 3, first, source) is kept
        assert not source.left


@given(gamma=st.fractions(0, 400, max_denominator=10**9), bits=st.integers(1, 300))
def test_bounds_of_the_exponential_hold_it_tightly(gamma, bits):
    low, high = module._exponential_bounds(gamma, bits)
    with mpmath.workdps(400):
        exact = mpmath.exp(mpmath.mpf(gamma.numerator) / gamma.denominator) * 2**bits
        assert low <= exact <= high
        assert high - low <= 10**4 * exact / 2**bits


@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 13, 1000])
def test_exponential_is_far_better_than_the_margin_asks(length):
    points = np.random.default_rng(length).uniform(-290, 0, size=length)
    found = np.exp(points)
    for x, y in zip(points.tolist(), found.tolist(), strict=True):
        with mpmath.workdps(40):
            assert abs(y / mpmath.exp(x) - 1) < 2.0**-48


@pytest.mark.parametrize("scale", [1.0, 5.5, 1.2 * 2**40])
def test_the_slow_path_draws_the_same_integers(scale, monkeypatch):
    quick = discrete_gaussian(1500, scale, seeded_bits(4))
    monkeypatch.setattr(module, "_RELATIVE", 1.0)
    np.testing.assert_array_equal(discrete_gaussian(1500, scale, seeded_bits(4)), quick)


# --- Words ----------------------------------------------------------------------------------------


def test_bits_of_a_word_are_sign_coins_and_point():
    law = module._law(2.0**40)
    words = np.array([2**62 + 5, 2**61 + 7, 2**40, 2**40 - 1, 2**63 + 2**62], dtype=np.uint64)
    tails, points = module._proposed(law, words)
    assert tails.tolist() == [0, 1, 22, 23, 0]
    offsets = [5, 7, 0, 2**40 - 1, 0]
    assert points.tolist() == [(v << 40) + u for v, u in zip(tails.tolist(), offsets, strict=True)]


def test_coins_go_on_until_a_head():
    law = module._law(3.0)
    assert module._all_coins(law, 22, 50, Words()) == (22, 50)
    assert module._all_coins(law, 23, 47, Words(2**63)) == (23, 47)
    assert module._all_coins(law, 23, 47, Words(0, 0, 2**60)) == (23 + 131, 47 + 2 * 131)


def test_minus_zero_is_thrown_away():
    head, certain = 2**62, 0  # zero tails, the point zero, U = 0
    source = Words(head, head + 2**63, head + 1, certain, certain, certain)
    np.testing.assert_array_equal(module._kept(module._law(2.0), 3, source), [0, 1])


def test_signs_are_fair_and_zero_is_not_favoured():
    drawn = discrete_gaussian(200_000, 1.0, seeded_bits(5))
    assert abs(np.mean(drawn > 0) - np.mean(drawn < 0)) < 6 / np.sqrt(len(drawn))
    exact = float(1 / sum(Fraction(np.exp(-(y**2) / 2)) for y in range(-30, 31)))
    assert np.mean(drawn == 0) == pytest.approx(exact, abs=6 * 0.5 / np.sqrt(len(drawn)))
