"""Secret orders of rows that are read in parts, and secret words for persons."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_GROUP = 1024  # keys that one call of the hash gives
_MIXER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False, repr=False)  # holds cells
class Texts:
    """Texts one after the other in memory, as bytes between places."""

    data: np.ndarray
    starts: np.ndarray
    stops: np.ndarray

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Texts of Python."""
        together = "\0".join(texts).encode("utf-8", "surrogatepass")
        data = np.frombuffer(together, dtype=np.uint8)
        ends = np.append(np.flatnonzero(data == 0), len(data))
        if not texts:
            ends = ends[:0]
        if len(ends) == len(texts):
            return cls(data, np.append(0, ends + 1)[: len(texts)], ends)
        each = [text.encode("utf-8", "surrogatepass") for text in texts]  # one holds a zero
        places = np.cumsum([0, *map(len, each)])
        return cls(np.frombuffer(b"".join(each), dtype=np.uint8), places[:-1], places[1:])

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, some: slice) -> Texts:
        """Some of them, which follow each other."""
        return Texts(self.data, self.starts[some], self.stops[some])


@dataclass(frozen=True, repr=False)
class OrderKeys:
    """Secret keys whose order is the order of the rows; the same key for a row that is read again.

    A keyed hash (SHAKE-256 of a secret and a row's place) and not a generator that is drawn from:
    a file that is read twice and a task that a cluster repeats meet the same order. A tie has
    probability below n²/2⁶⁵ and costs no privacy.
    """

    secret: bytes

    def of(self, places: np.ndarray, part: int = 0) -> np.ndarray:
        """Keys of the rows at these places of a part."""
        groups, member = np.divmod(np.asarray(places, dtype=np.int64), _GROUP)
        found, position = np.unique(groups, return_inverse=True)
        table = np.stack([self._group(int(group), part) for group in found])
        return table[position, member]

    def _group(self, group: int, part: int) -> np.ndarray:
        place = part.to_bytes(8, "little") + group.to_bytes(8, "little")
        digest = hashlib.shake_256(self.secret + place).digest(8 * _GROUP)
        return np.frombuffer(digest, dtype=np.uint64)

    def range(self, n: int, part: int = 0) -> np.ndarray:
        """Keys of the first n rows of a part."""
        return self.of(np.arange(n), part) if n else np.empty(0, dtype=np.uint64)

    def named(self, names: Texts | np.ndarray) -> np.ndarray:
        """Two words of 64 bits for every name: a key, and what tells apart two of one key.

        Names are texts, without spaces and tabs around them, or whole numbers. Those that differ
        share 128 bits of a keyed hash with a probability that no δ is as small as
        (docs/proofs/persons.md).
        """
        from gdppca.noise.siphash import hash_numbers, hash_texts  # compiled where it is used

        words = np.empty((len(names), 2), dtype=np.uint64)
        if isinstance(names, Texts):
            hash_texts(names.data, names.starts, names.stops, self._key_of_names, words)
        else:
            hash_numbers(names, self._key_of_names, words)
        return words

    @cached_property
    def _key_of_names(self) -> np.ndarray:
        digest = hashlib.blake2b(self.secret, digest_size=16, person=b"names of persons").digest()
        return np.frombuffer(digest, dtype=np.uint64)


def random_places(keys: OrderKeys, n: int, size: int) -> np.ndarray:
    """So many distinct places of n, every set of them as likely as any other; in ascending order.

    Words are drawn until so many places are found. The leading bits of a word are a place where
    they are below n, so that none is more likely than another.
    """
    shift = np.uint64(64 - max(n - 1, 1).bit_length())
    chosen, lacking, turn = np.zeros(n, dtype=bool), size, 0
    while lacking:
        places = keys.range(lacking, turn) >> shift  # never more than are lacking
        places = places[places < n]
        new = np.unique(places[~chosen[places]])
        chosen[new] = True
        lacking, turn = lacking - len(new), turn + 1
    return np.flatnonzero(chosen)


def _mixed(words: np.ndarray) -> np.ndarray:
    """Numbers that look random, of others; one to one."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def lots(keys: np.ndarray, places: np.ndarray) -> np.ndarray:
    """By which rows are chosen: of their person's key and of their place among its rows."""
    return _mixed(keys + _MIXER * (places.astype(np.uint64) + np.uint64(1)))
