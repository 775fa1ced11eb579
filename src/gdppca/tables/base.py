"""What a table is: rows wherever they are, in a random order, summed where they are.

A table knows how many rows it has, hands out a random sample of them, and sums up the rest.
Nothing here is private: a table gives exact numbers to the steps that add the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from importlib import import_module
from itertools import accumulate
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from gdppca._errors import (
    DataError,
    GdppcaError,
    MissingExtraError,
    ParameterError,
    StateError,
)
from gdppca.kernels import Blocks, Cross, CrossSum, PairSum, Progress, Scheme, SignSum, silent
from gdppca.kernels.schemes import DEFAULT_BLOCK
from gdppca.kernels.sums import finite_matrix
from gdppca.linalg import LARGEST
from gdppca.noise import OrderKeys, random_places
from gdppca.privacy import Unit
from gdppca.signs import Sign
from gdppca.tables.description import Description
from gdppca.tables.wishes import Wishes

Sums = PairSum | SignSum
Result = TypeVar("Result")

LARGEST_SAMPLE = 2**17  # rows
_SAMPLE_ENTRIES = 2**24  # numbers: 128 MB
_SURE = 8.0  # standard deviations that a count is not below, but for once in 10¹⁵
# On a cluster samples have keys of their own: a partition may be read in another order the next
# time, and whoever gets a low key then must not depend on who had one before.
SAMPLE_PARTS = 2**32


class Supply(Enum):
    """How the rows come."""

    TABLE = "table"  # all at once, in memory
    PARTS = "parts"  # from files or a cluster, in a secret order
    UNSHUFFLED = "unshuffled"  # from files or a cluster, in the order that they have
    BATCHES = "batches"  # one batch after the other, from the user


@dataclass(frozen=True)
class Recipe:
    """How rows become a sum; plain data that travels to workers.

    With a centre, rows are compared with it, and their order does not matter. Without one they
    are compared in pairs: those of the scheme in memory, those inside blocks elsewhere. With
    directions as well, the sum is of how rows lie across those.
    """

    sign: Sign
    n_features: int
    scheme: Scheme
    center: np.ndarray | None = None
    scale: np.ndarray | None = None
    cross: Cross | None = None

    @property
    def ordered(self) -> bool:
        """Whether the sum depends on the order of the rows."""
        return self.center is None and self.scheme.ordered

    def empty(self) -> Sums:
        """The sum of no rows."""
        if self.center is not None and self.cross is not None:
            return CrossSum(self.center, self.cross)
        if self.center is not None:
            return SignSum(self.sign, self.center)
        size = self.scheme.size if isinstance(self.scheme, Blocks) else DEFAULT_BLOCK
        return PairSum(self.sign, self.n_features, pairs=size)

    def add(self, sums: Sums, rows: np.ndarray, parts: np.ndarray | None = None) -> Sums:
        """Add rows, in the order in which they come; parts say how much each counts."""
        rows = self.compared(rows)
        if isinstance(sums, SignSum):
            return sums.add_rows(finite_matrix(rows), parts=parts)
        assert parts is None  # pairs are of whole rows, one of each person
        return sums.update(rows)

    def of(self, rows: np.ndarray, parts: np.ndarray | None = None) -> Sums:
        """The sum of some rows."""
        return self.add(self.empty(), rows, parts)

    def compared(self, rows: np.ndarray) -> np.ndarray:
        """Rows in the units of their scales; a missing cell stands at the centre."""
        return filled(divided(rows, self.scale), self.center)


def divided(values: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Values over the scales; what leaves the range of floats stays at its end."""
    if scale is None:
        return values
    with np.errstate(over="ignore"):
        return np.clip(values / scale, -LARGEST, LARGEST)


def filled(values: np.ndarray, center: np.ndarray | None) -> np.ndarray:
    """Rows whose missing cells stand at the centre: their difference from it is zero there."""
    if center is None:
        return values
    missing = np.isnan(values)
    return np.where(missing, center, values) if missing.any() else values


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Rows that a step looks at; a missing cell is NaN.

    Parameters
    ----------
    values : array of shape (rows, d)
        The rows.
    number : float
        How many rows or persons they stand for; an estimate where that is secret.
    parts : array of int or None
        How much each row counts, in units of 2⁻³⁰; whole without them.
    one_each : array of int or None
        One random row of every person; None where every row is one.
    keys : array of int or None
        By which they were chosen; None where all rows are there.
    tossed : array of bool or None
        Which of the single rows are counted where rows have weights: each one with the probability
        min(v, W)/W of its own, by a secret coin. None where every row is counted.
    """

    values: np.ndarray
    number: float
    parts: np.ndarray | None = None
    one_each: np.ndarray | None = None
    keys: np.ndarray | None = None
    tossed: np.ndarray | None = None

    @classmethod
    def of(cls, rows: np.ndarray | Sample) -> Sample:
        """Rows that each count whole, or a sample that is one already."""
        return rows if isinstance(rows, Sample) else cls(rows, len(rows))

    @property
    def single(self) -> np.ndarray:
        """One row of each: what steps take that need whole rows."""
        return self.values if self.one_each is None else self.values[self.one_each]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """One row of each, for a step that knows nothing of weights."""
        return np.array(self.single, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.single)

    def some(self, size: int, keys: OrderKeys) -> Sample:
        """So many of the rows, which are one person each; which ones no value decides."""
        assert self.one_each is None  # rows of a person belong together
        places = random_places(keys, len(self.values), size)
        return Sample(self.values[places], size, None if self.parts is None else self.parts[places])

    def standing_for(self, number: float, size: int, sd: float = 0.0) -> Sample:
        """About so many of a secret number that was counted: whose keys are low enough for it.

        Who is among them depends on the keys and on what was drawn, on nothing else. So all whose
        keys are as low must have been read, as few or many as there are: the count may be too small
        by its noise.
        """
        if self.keys is None:
            return replace(self, number=number)
        most = number + _SURE * sd
        kept = self.keys <= np.uint64(key_threshold(size, round(most)))
        places = np.cumsum(kept) - 1
        single = self.one_each
        return Sample(
            self.values[kept],
            min(number, size * (number / most)),
            None if self.parts is None else self.parts[kept],
            None if single is None else places[single[kept[single]]],
            self.keys[kept],
        )


def merged(recipe: Recipe, parts: Iterable[Sums]) -> Sums:
    """One sum of all parts, in their order."""
    total: Any = recipe.empty()
    for part in parts:
        part.sign = total.sign  # a user's own sign does not equal itself after a journey
        total = total.merge(part)
    return total


class Total(Protocol):
    """The sum of all rows; exact, not private."""

    @property
    def n_samples(self) -> int:
        """Rows that were summed."""

    def mean(self) -> np.ndarray:
        """The scatter matrix, or what else the recipe says."""


@runtime_checkable
class Table(Protocol):
    """Rows wherever they are. A context: leaving it removes whatever was written on the way.

    Its rows are in an order that nobody knows, or, as `supply` tells, in the one that they have.
    """

    @property
    def names(self) -> tuple[str, ...] | None:
        """Columns, where they have names."""

    @property
    def n_features(self) -> int:
        """Columns."""

    @property
    def n_samples(self) -> int:
        """Rows."""

    @property
    def supply(self) -> Supply:
        """How the rows come."""

    def sample(self, size: int) -> np.ndarray | Sample:
        """About so many random rows, in random order; all where there are no more."""

    def total(self, recipe: Recipe, progress: Progress) -> Total:
        """The sum over all rows: in a random order where the recipe asks for it.

        `progress` is called with rows done and rows in all.
        """

    def __enter__(self) -> Self:
        """Find the rows and count them."""

    def __exit__(self, *ended: object) -> None:
        """Leave nothing behind."""


class AtHand:
    """A table that is there already."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        """Nothing was opened, or what was made is gone by itself."""


@dataclass(frozen=True)
class Places:
    """Keys of rows that keep the order that they have: how many rows come before."""

    before: Sequence[int] = (0,)  # each part

    def of(self, places: np.ndarray, part: int = 0) -> np.ndarray:
        """Keys of the rows at these places of a part."""
        before = self.before[min(part % SAMPLE_PARTS, len(self.before) - 1)]
        return (before + places).astype(np.uint64)

    def range(self, n: int, part: int = 0) -> np.ndarray:
        """Keys of the first n rows of a part."""
        return self.of(np.arange(n), part)


Keys = OrderKeys | Places


class InParts(AtHand):
    """A table that is read in parts: in the order of secret keys, or as it comes without them."""

    names: tuple[str, ...] | None
    n_features: int
    n_samples: int

    def __init__(self, data: Any, keys: OrderKeys | None, asked: Wishes | None = None) -> None:
        self._data = data
        self._keys = keys
        self._asked = asked or Wishes()
        self._asked.require_names()
        if keys is None and self._asked.persons is not None:
            raise ParameterError(
                "`assume_shuffled` is for rows that are one person each. Persons with several come "
                "in a secret order of their own: leave it out."
            )

    @property
    def unit(self) -> Unit:
        """Whether a row is one of many of a person."""
        return Unit.ROW if self._asked.persons is None else Unit.PERSON

    @property
    def weighted(self) -> bool:
        """Whether rows have weights of their own."""
        return self._asked.weights is not None

    @property
    def gaps(self) -> bool:
        """Whether cells may be missing."""
        return self._asked.gaps

    @property
    def description(self) -> Description | None:
        """What is publicly known of the columns."""
        return self._asked.described

    @property
    def supply(self) -> Supply:
        """Whether the order is secret."""
        return Supply.UNSHUFFLED if self._keys is None else Supply.PARTS

    def _sampling(self, size: int, lengths: Iterable[int] = ()) -> tuple[Keys, int]:
        """Keys by which a sample is drawn, and the largest one: random rows, or the first."""
        if self._keys is None:
            return Places((0, *accumulate(lengths))), size - 1
        return self._keys, key_threshold(size, self.n_samples)

    def _checked(self, sums: Sums, rows: int, what: str) -> Total:
        """The sum of so many rows, over the number of persons where those are counted.

        Of persons whose rows are paired there is one row each.
        """
        of_persons = self.unit is Unit.PERSON
        paired = of_persons and not isinstance(sums, SignSum)
        if sums.n_samples != (self.n_samples if paired else rows):
            raise changed(what)
        if rows == 0:  # who was the last one must not show by a failure
            shape = sums.shape if isinstance(sums, SignSum) else (self.n_features,) * 2
            return Exact(np.zeros(shape), 0)
        if of_persons and isinstance(sums, SignSum):
            return Exact(sums.mean(self.n_samples), self.n_samples)
        return sums


def changed(what: str) -> DataError:
    """What to say of a table that is not what it was."""
    return DataError(f"{what} changed while it was read. Nothing was released.")


def require_package(name: str, words: str) -> None:
    """Refuse in these words to go on without a package."""
    try:
        import_module(name)
    except ImportError:
        raise MissingExtraError(words) from None


def without_its_words(
    action: Callable[[], Result],
    said: Callable[[Exception], BaseException],
    passed: tuple[type[Exception], ...] = (GdppcaError,),
) -> Result:
    """Do something that may fail with a message that quotes cells, and say something else then."""
    try:
        return action()
    except passed:
        raise
    except Exception as error:
        failure = error.with_traceback(None)
    raise said(failure)  # out here, so that the message is not even in __context__


@dataclass(frozen=True, eq=False, repr=False)  # holds exact numbers
class Exact:
    """A scatter matrix that is there already."""

    matrix: np.ndarray
    n_samples: int

    def mean(self) -> np.ndarray:
        """The scatter matrix."""
        return self.matrix


@dataclass(frozen=True, eq=False, repr=False)
class Summed(AtHand):
    """Rows of which nothing is left but their sum: batches, once all are in."""

    sums: Total
    n_features: int
    names: tuple[str, ...] | None = None
    supply: Supply = Supply.BATCHES

    @property
    def n_samples(self) -> int:
        """Rows that were summed."""
        return self.sums.n_samples

    def sample(self, size: int) -> np.ndarray:
        """None is left."""
        raise StateError("Rows that were summed up cannot be looked at again.")

    def total(self, recipe: Recipe, progress: Progress = silent) -> Total:
        """What was summed, by the recipe of the first batch."""
        if recipe.cross is not None:
            raise StateError("Rows that were summed up cannot be looked at again.")
        return self.sums


def sample_size(n_features: int) -> int:
    """Rows that fit into memory beside everything else."""
    return min(LARGEST_SAMPLE, max(2, _SAMPLE_ENTRIES // n_features))


def kept_size(n_features: int) -> int:
    """Rows that are kept of a sample once it is counted: some fewer, so that none is lacking."""
    return 9 * sample_size(n_features) // 10


def key_threshold(size: int, n_samples: int) -> int:
    """Rows whose keys lie below it are the sample: each one with probability size/n."""
    return 2**64 - 1 if n_samples <= size else (2**64 * size) // n_samples
