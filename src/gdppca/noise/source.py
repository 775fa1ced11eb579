"""Noise as an object: whatever is drawn on the way to a release is asked of it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Protocol, Self, cast, runtime_checkable

import numpy as np

from gdppca._errors import ParameterError
from gdppca.noise.bits import Bits, secure_bits, seeded_bits
from gdppca.noise.gaussian import add_gaussian
from gdppca.noise.orders import OrderKeys
from gdppca.noise.selection import integer_laplace, noisy_argmax


@runtime_checkable
class Noise(Protocol):
    """All that steps may ask for: noise on exact numbers, and orders that nobody knows.

    A draw says how far one row may move what it is given; whoever listens can check it.
    """

    @property
    def seeded(self) -> bool:
        """Whether it comes from a known seed, and protects nobody."""

    def gaussian(self, exact: np.ndarray, sd: float, *, sensitivity: float) -> np.ndarray:
        """Numbers with Gaussian noise; a row moves them by at most `sensitivity` in length."""

    def laplace(self, exact: np.ndarray, scale: float) -> np.ndarray:
        """Whole numbers with discrete Laplace noise; a row moves each by at most one."""

    def argmax(self, scores: np.ndarray, epsilon: float) -> int:
        """Where a nearly largest score is, ε-private; a row moves each score by at most one."""

    def permutation(self, n: int) -> np.ndarray:
        """Uniformly random order of n rows."""

    def keys(self) -> OrderKeys:
        """Random order of rows that are read in parts, maybe more than once."""

    def generator(self) -> np.random.Generator:
        """A numpy generator, for what compiled code draws."""

    def stream(self, part: str) -> Noise:
        """Noise of another part of the same release, independent of this one."""


class Trusted:
    """Noise that says truly whether it is seeded: that of this room."""


@dataclass(frozen=True)
class FreshNoise(Trusted):
    """Noise from bits: secret ones for releases, those of a seed for simulations."""

    bits: Bits

    @property
    def seeded(self) -> bool:
        """Whether the bits are known."""
        return self.bits.seed is not None

    def gaussian(self, exact: np.ndarray, sd: float, *, sensitivity: float) -> np.ndarray:
        """Numbers with Gaussian noise."""
        return add_gaussian(exact, sd, self.bits)

    def laplace(self, exact: np.ndarray, scale: float) -> np.ndarray:
        """Whole numbers with discrete Laplace noise."""
        return exact + integer_laplace(exact.size, scale, self.bits).reshape(exact.shape)

    def argmax(self, scores: np.ndarray, epsilon: float) -> int:
        """Where a nearly largest score is."""
        return noisy_argmax(scores, epsilon, self.bits)

    def permutation(self, n: int) -> np.ndarray:
        """Uniformly random order of n rows."""
        return self.bits.permutation(n)

    def keys(self) -> OrderKeys:
        """Keys with 256 random bits of their own."""
        return OrderKeys(self.bits.words(4).tobytes())

    def generator(self) -> np.random.Generator:
        """A numpy generator."""
        return self.bits.generator()

    def stream(self, part: str) -> Self:
        """The same secret source; of a seed, a stream that the part's name and the seed fix."""
        if self.bits.seed is None:
            return self
        return type(self)(seeded_bits(self.bits.seed, zlib.crc32(part.encode())))


def secure_noise() -> FreshNoise:
    """Noise for real releases."""
    return FreshNoise(secure_bits())


def seeded_noise(seed: int) -> FreshNoise:
    """Noise for simulations and tests."""
    return FreshNoise(seeded_bits(seed))


def noise_for(random_state: int | Noise | None) -> Noise:
    """Noise of what a user gives: None is secure, a seed makes a simulation, noise is itself."""
    if random_state is None:
        return secure_noise()
    if isinstance(random_state, Trusted):
        return cast("Noise", random_state)
    if isinstance(random_state, Noise):  # a promise must not rest on what somebody else draws
        raise ParameterError("`random_state` must be None, a seed, or noise of `gdppca.noise`.")
    return seeded_noise(random_state)
