"""Secret orders of rows that are read in parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

_GROUP = 1024  # keys that one call of the hash gives


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

    def named(self, names: Iterable[str]) -> np.ndarray:
        """Two words of 64 bits for every name: a key, and what tells apart two of one key.

        Names that differ share 128 bits with a probability that no δ is as small as.
        """
        digests = [
            hashlib.blake2b(
                name.encode("utf-8", "surrogatepass"), key=self.secret, digest_size=16
            ).digest()
            for name in names
        ]
        return np.frombuffer(b"".join(digests), dtype=np.uint64).reshape(-1, 2)
