"""The only door to random bits.

Secure bits serve releases: they come from the operating system. Bits of a seed serve simulations
and tests: whoever knows the seed can subtract the noise, so every result made with it is marked
`seeded` and carries no guarantee.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np

from gdppca import _validate


class Bits(Protocol):
    """What noise may ask of a source of random bits."""

    @property
    def seed(self) -> int | None:
        """The known seed; None where the bits are secret."""

    def permutation(self, n: int) -> np.ndarray:
        """Uniformly random order of n rows."""

    def words(self, n: int) -> np.ndarray:
        """Independent uniform words of 64 bits."""

    def generator(self) -> np.random.Generator:
        """A numpy generator, for what is not noise on data or is marked as a simulation."""


class SecureBits:
    """Bits from the operating system."""

    seed = None

    def permutation(self, n: int) -> np.ndarray:
        """Sort n secret 64-bit keys; a tie has probability below n²/2⁶⁵ and costs no privacy."""
        return np.argsort(self.words(n))

    def words(self, n: int) -> np.ndarray:
        """Secret words of 64 bits; read-only."""
        return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)

    def generator(self) -> np.random.Generator:
        """Fresh generator with 256 secret bits of seed."""
        return np.random.default_rng(int.from_bytes(os.urandom(32), "little"))


def secret_bytes(n: int) -> bytes:
    """Random bytes that nothing is drawn with: a ledger's key, and what hides a hash."""
    return os.urandom(n)


class SeededBits:
    """Reproducible bits: a simulation, never a protection."""

    def __init__(self, seed: int, *stream: int) -> None:
        self.seed = seed
        self._generator = np.random.default_rng([seed, *stream] if stream else seed)

    def permutation(self, n: int) -> np.ndarray:
        """Reproducible order of n rows."""
        return self._generator.permutation(n)

    def words(self, n: int) -> np.ndarray:
        """Reproducible words of 64 bits."""
        return self._generator.integers(2**64, size=n, dtype=np.uint64)

    def generator(self) -> np.random.Generator:
        """The generator itself; each use moves it on."""
        return self._generator


def secure_bits() -> SecureBits:
    """Source for real releases."""
    return SecureBits()


def seeded_bits(seed: int, *stream: int) -> SeededBits:
    """Source for simulations and tests; streams of one seed are independent."""
    return SeededBits(_validate.count(random_state=seed, at_least=0), *stream)


def generator_for(random_state: int | None) -> np.random.Generator:
    """A numpy generator for made-up data: fresh for None, reproducible for a seed."""
    return (secure_bits() if random_state is None else seeded_bits(random_state)).generator()
