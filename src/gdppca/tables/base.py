"""What an engine is: rows that live elsewhere, in a random order, summed where they are.

An engine counts its rows, hands out a random sample of them, and merges the sums of its parts.
Nothing here is private: an engine gives exact numbers to the release that adds the noise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Protocol, Self

import numpy as np

from gdppca.kernels import PairSum, Progress, SignSum
from gdppca.linalg import LARGEST
from gdppca.noise.bits import Rng
from gdppca.signs import Sign

Sums = PairSum | SignSum

LARGEST_SAMPLE = 2**17  # rows
_SAMPLE_ENTRIES = 2**24  # numbers: 128 MB
_GROUP = 1024  # keys that one call of the hash gives


@dataclass(frozen=True)
class Recipe:
    """How rows become a sum; plain data that travels to workers.

    With a centre, rows are compared with it, and their order does not matter. Without one they
    are compared in pairs inside blocks.
    """

    sign: Sign
    n_features: int
    block_size: int
    center: np.ndarray | None = None
    scale: np.ndarray | None = None

    @property
    def ordered(self) -> bool:
        """Whether the sum depends on the order of the rows."""
        return self.center is None

    def empty(self) -> Sums:
        """The sum of no rows."""
        if self.center is not None:
            return SignSum(self.sign, self.center)
        return PairSum(self.sign, self.n_features, pairs=self.block_size)

    def add(self, sums: Sums, rows: np.ndarray) -> Sums:
        """Add rows, in the order in which they come."""
        return sums.update(divided(rows, self.scale))

    def of(self, rows: np.ndarray) -> Sums:
        """The sum of some rows."""
        return self.add(self.empty(), rows)


def divided(values: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Values over the scales; what leaves the range of floats stays at its end."""
    if scale is None:
        return values
    with np.errstate(over="ignore"):
        return np.clip(values / scale, -LARGEST, LARGEST)


def merged(recipe: Recipe, parts: Iterable[Sums]) -> Sums:
    """One sum of all parts, in their order."""
    return reduce(lambda total, part: total.merge(part), parts, recipe.empty())


class Engine(Protocol):
    """Rows that live elsewhere. A context: leaving it removes whatever was written on the way.

    An engine is opened with secret `OrderKeys`, or with None where its rows are taken in the order
    in which they come.
    """

    names: tuple[str, ...] | None
    n_features: int
    n_samples: int

    def sample(self, size: int) -> np.ndarray:
        """About so many random rows, in random order; all where there are no more."""

    def total(self, recipe: Recipe, progress: Progress) -> Sums:
        """The sum over all rows: in blocks of the random order where the recipe asks for it.

        `progress` is called with rows done and rows in all.
        """

    def __enter__(self) -> Self:
        """Find the rows and count them."""

    def __exit__(self, *ended: object) -> None:
        """Leave nothing behind."""


@dataclass(frozen=True, repr=False)
class OrderKeys:
    """Secret keys whose order is the order of the rows; the same key for a row that is read again.

    A keyed hash (SHAKE-256 of a secret and a row's place) and not a generator that is drawn from:
    a file that is read twice and a task that a cluster repeats meet the same order. A tie has
    probability below n²/2⁶⁵ and costs no privacy.
    """

    secret: bytes

    @classmethod
    def drawn(cls, rng: Rng) -> OrderKeys:
        """Keys with 256 random bits of their own."""
        return cls(rng.words(4).tobytes())

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


# On a cluster samples have keys of their own: a partition may be read in another order the next
# time, and whoever gets a low key then must not depend on who had one before.
SAMPLE_PARTS = 2**32


def sample_size(n_features: int) -> int:
    """Rows that fit into memory beside everything else."""
    return min(LARGEST_SAMPLE, max(2, _SAMPLE_ENTRIES // n_features))


def key_threshold(size: int, n_samples: int) -> int:
    """Rows whose keys lie below it are the sample: each one with probability size/n."""
    return 2**64 - 1 if n_samples <= size else (2**64 * size) // n_samples
