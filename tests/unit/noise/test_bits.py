"""The one door to random bits."""

import numpy as np
import pytest

from gdppca import ParameterError
from gdppca.noise import Overheard, Repeated, noise_for, secure_noise, seeded_noise
from gdppca.noise.bits import secure_bits, seeded_bits


def test_secure_source_is_not_seeded_and_does_not_repeat():
    first, second = secure_noise(), noise_for(None)
    assert not first.seeded
    assert not np.array_equal(first.permutation(1000), second.permutation(1000))
    assert first.generator().random() != second.generator().random()


def test_seeded_source_repeats_and_says_so():
    first, second = seeded_noise(3), noise_for(3)
    assert first.seeded
    np.testing.assert_array_equal(first.permutation(1000), second.permutation(1000))
    assert first.generator().random() == second.generator().random()


@pytest.mark.parametrize("rng", [secure_bits(), seeded_bits(0)])
def test_permutation_holds_every_row_once(rng):
    np.testing.assert_array_equal(np.sort(rng.permutation(777)), np.arange(777))


@pytest.mark.parametrize("rng", [secure_bits(), seeded_bits(0)])
def test_permutation_is_uniform_over_the_orders_of_three(rng):
    orders, counts = np.unique(
        [rng.permutation(3) for _ in range(6000)], axis=0, return_counts=True
    )
    assert len(orders) == 6
    assert np.abs(counts - 1000).max() < 200  # more than six standard deviations


@pytest.mark.parametrize("rng", [secure_bits(), seeded_bits(0)])
def test_words_are_fair_in_every_bit_and_do_not_repeat(rng):
    words = rng.words(10_000)
    assert words.shape == (10_000,)
    assert words.dtype == np.uint64
    assert len(np.unique(words)) == 10_000
    bits = np.unpackbits(words.view(np.uint8)).reshape(10_000, 64)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 7 * 0.5 / np.sqrt(10_000)


def test_seeded_words_repeat_and_secret_ones_do_not():
    np.testing.assert_array_equal(seeded_bits(3).words(9), seeded_bits(3).words(9))
    assert not (secure_bits().words(9) == secure_bits().words(9)).any()


@pytest.mark.parametrize("bad", [-1, 1.5, "x", True])
def test_bad_seed_is_refused(bad):
    with pytest.raises(ParameterError, match="random_state"):
        noise_for(bad)


def test_noise_of_somebody_else_is_no_promise():
    class Silent:
        """Has all that noise must have, and adds none."""

        seeded = False

        def gaussian(self, exact, sd, *, sensitivity):
            return exact

        laplace = argmax = permutation = keys = generator = stream = gaussian

    with pytest.raises(ParameterError, match=r"noise of `gdppca.noise`"):
        noise_for(Silent())
    assert Overheard(Silent()).seeded
    again = Repeated([])
    with pytest.raises(AttributeError):
        again.seeded = False
