"""The only door to random bits.

`secure_rng` serves releases: its bits come from the operating system. `seeded_rng` serves
simulations and tests: whoever knows the seed can subtract the noise, so every result made with it
is marked `seeded` and carries no guarantee.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np

from gdppca import _validate


class Rng(Protocol):
    """What the rest of the package may ask of a source of random bits."""

    seeded: bool

    def permutation(self, n: int) -> np.ndarray:
        """Uniformly random order of n rows."""

    def words(self, n: int) -> np.ndarray:
        """Independent uniform words of 64 bits."""

    def generator(self) -> np.random.Generator:
        """A numpy generator, for what is not noise on data or is marked as a simulation."""


class SecureRng:
    """Bits from the operating system."""

    seeded = False

    def permutation(self, n: int) -> np.ndarray:
        """Sort n secret 64-bit keys; a tie has probability below n²/2⁶⁵ and costs no privacy."""
        return np.argsort(self.words(n))

    def words(self, n: int) -> np.ndarray:
        """Secret words of 64 bits; read-only."""
        return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)

    def generator(self) -> np.random.Generator:
        """Fresh generator with 256 secret bits of seed."""
        return np.random.default_rng(int.from_bytes(os.urandom(32), "little"))


class SeededRng:
    """Reproducible bits: a simulation, never a protection."""

    seeded = True

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def permutation(self, n: int) -> np.ndarray:
        """Reproducible order of n rows."""
        return self._generator.permutation(n)

    def words(self, n: int) -> np.ndarray:
        """Reproducible words of 64 bits."""
        return self._generator.integers(2**64, size=n, dtype=np.uint64)

    def generator(self) -> np.random.Generator:
        """The generator itself; each use moves it on."""
        return self._generator


def secure_rng() -> SecureRng:
    """Source for real releases."""
    return SecureRng()


def seeded_rng(seed: int) -> SeededRng:
    """Source for simulations and tests."""
    return SeededRng(_validate.count(random_state=seed, at_least=0))


def rng_for(random_state: int | None) -> SecureRng | SeededRng:
    """Secure source for None, simulation for a seed."""
    return secure_rng() if random_state is None else seeded_rng(random_state)
