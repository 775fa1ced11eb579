"""Noise that is overheard, and what was drawn once drawn again.

A promise covers every noisy number, also those that are used and thrown away: the looks behind a
private centre, the counts behind a scale. Whatever is drawn is asked of a `Noise`, so whoever puts
an ear to it hears all; no step need be known by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from gdppca._errors import StateError
from gdppca.noise.orders import OrderKeys
from gdppca.noise.source import Noise, Trusted


@dataclass(frozen=True, eq=False, repr=False)  # holds exact numbers
class Draw:
    """One draw: what noise was added to, how much, for which sensitivity, and what came out.

    `kind` is "gaussian", "laplace", "argmax", or "permutation", "keys", "generator", which have no
    exact numbers. `scale` is the standard deviation of Gaussian noise, the scale of Laplace noise
    or the ε of a choice; `sensitivity` a length for Gaussian noise, else what one number moves by.
    """

    kind: str
    exact: Any
    scale: float
    sensitivity: float
    drawn: Any

    def moved_by(self, other: Any) -> float:
        """How far another table's exact numbers are from these, in shares of the sensitivity."""
        apart = np.ravel(np.asarray(self.exact, dtype=float) - other)
        largest = np.abs(apart).max(initial=0)
        if self.kind != "gaussian":
            return float(largest) / self.sensitivity
        exponent = np.frexp(largest)[1]  # squares of a tiny or a huge move leave the floats
        length = np.ldexp(np.linalg.norm(np.ldexp(apart, -exponent)), exponent)
        return float(length) / self.sensitivity


class _Heard(Trusted):
    """A noise of which every request passes one place, `_hear`."""

    def _hear(
        self, kind: str, exact: Any, scale: float, sensitivity: float, draw: Callable[[Noise], Any]
    ) -> Any:
        raise NotImplementedError

    def gaussian(self, exact: np.ndarray, sd: float, *, sensitivity: float) -> np.ndarray:
        """Numbers with Gaussian noise."""

        def draw(noise: Noise) -> np.ndarray:
            return noise.gaussian(exact, sd, sensitivity=sensitivity)

        return self._hear("gaussian", exact, sd, sensitivity, draw)

    def laplace(self, exact: np.ndarray, scale: float) -> np.ndarray:
        """Whole numbers with discrete Laplace noise."""
        return self._hear("laplace", exact, scale, 1.0, lambda noise: noise.laplace(exact, scale))

    def argmax(self, scores: np.ndarray, epsilon: float) -> int:
        """Where a nearly largest score is."""
        return self._hear(
            "argmax", scores, epsilon, 1.0, lambda noise: noise.argmax(scores, epsilon)
        )

    def permutation(self, n: int) -> np.ndarray:
        """Uniformly random order of n rows."""
        return self._hear("permutation", None, 0.0, 0.0, lambda noise: noise.permutation(n))

    def keys(self) -> OrderKeys:
        """Random order of rows that are read in parts."""
        return self._hear("keys", None, 0.0, 0.0, lambda noise: noise.keys())

    def generator(self) -> np.random.Generator:
        """A numpy generator; what is drawn from it is not heard."""
        return self._hear("generator", None, 0.0, 0.0, lambda noise: noise.generator())

    def stream(self, part: str) -> Self:
        """Heard in one list with the rest."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to be pickled with exact numbers inside."""
        raise StateError("Exact numbers are not private and are not pickled: leave the ear here.")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A clone of an estimator is heard by the same ear."""
        return self


@dataclass(eq=False, repr=False)
class Overheard(_Heard):
    """Any noise, with a list of all that was drawn from it, in order.

    Parameters
    ----------
    noise : Noise
        What draws.
    draws : list of Draw
        What was drawn so far.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.noise import Overheard, secure_noise
    >>> heard = Overheard(secure_noise())
    >>> pca = DPPCA(1, location=None, random_state=heard).fit(np.eye(8)[:, :3])
    >>> [draw.kind for draw in heard.draws], pca.guarantee_.epsilon.__round__(6)
    (['gaussian'], 1.0)
    """

    noise: Noise
    draws: list[Draw] = field(default_factory=list)

    @property
    def seeded(self) -> bool:
        """As the noise that it listens to, if that is one to be trusted."""
        return self.noise.seeded or not isinstance(self.noise, Trusted)

    def stream(self, part: str) -> Self:
        """The part's own noise, heard in one list with the rest."""
        return type(self)(self.noise.stream(part), self.draws)

    def _hear(
        self, kind: str, exact: Any, scale: float, sensitivity: float, draw: Callable[[Noise], Any]
    ) -> Any:
        drawn = draw(self.noise)
        kept = None if exact is None else np.array(exact)
        self.draws.append(Draw(kind, kept, scale, sensitivity, drawn))
        return drawn


class AllDrawn(BaseException):
    """Ends a repeated run after its last draw: what follows is post-processing."""


@dataclass(eq=False, repr=False)
class Repeated(_Heard):
    """What was drawn once, drawn again, while another table's exact numbers are noted.

    Parameters
    ----------
    drawn : sequence of Draw
        From `Overheard`.
    draws : list of Draw
        What was asked for this time: kinds, exact numbers and scales of the other table.
    stop : bool
        Whether to raise `AllDrawn` instead of giving the last draw.
    """

    drawn: Sequence[Draw]
    draws: list[Draw] = field(default_factory=list)
    stop: bool = False

    @property
    def seeded(self) -> bool:
        """What is known already protects nobody."""
        return True

    def __post_init__(self) -> None:
        self._left: Iterator[Draw] = iter(self.drawn)

    def _hear(
        self, kind: str, exact: Any, scale: float, sensitivity: float, draw: Callable[[Noise], Any]
    ) -> Any:
        before = next(self._left)
        kept = None if exact is None else np.array(exact)
        self.draws.append(Draw(kind, kept, scale, sensitivity, before.drawn))
        if self.stop and len(self.draws) == len(self.drawn):
            raise AllDrawn
        return before.drawn
