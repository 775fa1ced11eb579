"""Secret words of names: the published hash, and texts however they lie in memory."""

import numpy as np
import pytest

from gdppca.noise import OrderKeys, Texts, random_places
from gdppca.noise.siphash import hash_numbers, hash_texts

KEY = np.frombuffer(bytes(range(16)), dtype=np.uint64)
KEYS = OrderKeys(b"secret")
WORD = 2**64 - 1


def turned(x, b):
    return (x << b | x >> (64 - b)) & WORD


def rounds(v, times):
    for _ in range(times):
        a, b, c, d = v
        a, c = (a + b) & WORD, (c + d) & WORD
        b, d, a = turned(b, 13) ^ a, turned(d, 16) ^ c, turned(a, 32)
        c, a = (c + b) & WORD, (a + d) & WORD
        v = a, turned(b, 17) ^ c, turned(c, 32), turned(d, 21) ^ a
    return v


def siphash(message, key):
    """The hash as its authors write it down, on whole numbers of Python."""
    k0, k1 = (int.from_bytes(key[s : s + 8], "little") for s in (0, 8))
    v = (
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D ^ 0xEE,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    )
    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) % 256])
    for start in range(0, len(padded), 8):
        m = int.from_bytes(padded[start : start + 8], "little")
        a, b, c, d = rounds((*v[:3], v[3] ^ m), 2)
        v = a ^ m, b, c, d
    v = rounds((v[0], v[1], v[2] ^ 0xEE, v[3]), 4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v = rounds((v[0], v[1] ^ 0xDD, v[2], v[3]), 4)
    return np.array([first, v[0] ^ v[1] ^ v[2] ^ v[3]], dtype=np.uint64)


def words(messages):
    places = np.cumsum([0, *map(len, messages)])
    data = np.frombuffer(b"".join(messages) + b" ", dtype=np.uint8)
    found = np.empty((len(messages), 2), dtype=np.uint64)
    hash_texts(data, places[:-1], places[1:], KEY, found)
    return found


@pytest.mark.parametrize(
    ("message", "published"),
    [(b"", "a3817f04ba25a8e66df67214c7550293"), (b"\0", "da87c1d86b99af44347659119b22fc45")],
)
def test_the_hash_is_the_published_one(message, published):
    assert words([message]).tobytes().hex() == published


def test_the_hash_is_that_of_its_authors_at_every_length():
    messages = [bytes(range(33, 33 + n)) * times for n in range(70) for times in (1, 5)]
    np.testing.assert_array_equal(
        words(messages), [siphash(message, KEY.tobytes()) for message in messages]
    )


def test_numbers_are_their_eight_bytes():
    numbers = np.array([0, 1, -1, 2**63 - 1, -(2**63)])
    found = np.empty((len(numbers), 2), dtype=np.uint64)
    hash_numbers(numbers, KEY, found)
    np.testing.assert_array_equal(
        found, [siphash(number.tobytes(), KEY.tobytes()) for number in numbers]
    )


def test_blanks_around_a_name_do_not_count():
    found = KEYS.named(Texts.of(["x", " x", "x\t", "\t x \t", "x x", "", "  "]))
    assert [np.flatnonzero((found == each).all(axis=1))[0] for each in found] == [
        *(0, 0, 0, 0),
        *(4, 5, 5),
    ]


@pytest.mark.parametrize(
    "texts", [[], [""], ["", ""], ["a", "", "é", "\ud800"], ["a\0b", "a", "b"], ["\0"]]
)
def test_texts_lie_one_after_the_other(texts):
    found = Texts.of(texts)
    assert len(found) == len(texts)
    for text, start, stop in zip(texts, found.starts, found.stops, strict=True):
        assert found.data[start:stop].tobytes() == text.encode("utf-8", "surrogatepass")
    np.testing.assert_array_equal(KEYS.named(found[1:]), KEYS.named(found)[1:])


def test_other_secrets_give_other_words():
    names = Texts.of(["a", "b"])
    assert not (KEYS.named(names) == OrderKeys(b"another").named(names)).any()


@pytest.mark.parametrize(("n", "size"), [(1, 1), (2, 1), (7, 7), (1000, 37), (1025, 600), (5, 0)])
def test_random_places_are_as_many_as_asked_for(n, size):
    places = random_places(OrderKeys(b"secret"), n, size)
    assert len(places) == size
    assert len(np.unique(places)) == size
    assert ((places >= 0) & (places < n)).all()


def test_every_pair_of_places_is_as_likely_as_any_other():
    n, turns = 6, 6000
    found = np.zeros((n, n))
    for turn in range(turns):
        i, j = random_places(OrderKeys(turn.to_bytes(8, "little")), n, 2)
        found[i, j] += 1
    pairs = found[np.triu_indices(n, 1)]
    expected = turns / len(pairs)
    assert pairs.sum() == turns
    assert ((pairs - expected) ** 2 / expected).sum() < 60  # fourteen degrees: one in ten million
