"""Tables that differ in one row or in all rows of one person, and noise that is drawn alike.

Under replace-one both tables have as many rows or persons, so an order or a key that was drawn for
one of them can be drawn for the other as it is. Under add-remove one of them has one more, and
`Coupled` says what is drawn alike then: every one of its rules maps uniform draws to uniform draws.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from gdppca.noise import OrderKeys, Repeated
from gdppca.privacy import Neighbors, Protected, Unit
from gdppca.tables.memory import MemoryTable
from gdppca.tables.persons import persons_of, weight_shares

LARGEST_WEIGHT = 2.0


@dataclass(frozen=True)
class World:
    """What may be the case of a table."""

    unit: Unit = Unit.ROW
    neighbors: Neighbors = Neighbors.REPLACE_ONE
    gaps: bool = False
    weighted: bool = False

    @property
    def protected(self):
        return Protected(self.unit, self.neighbors)

    @property
    def replaces(self):
        return self.neighbors is Neighbors.REPLACE_ONE

    @property
    def of_persons(self):
        return self.unit is Unit.PERSON


def _worlds():
    for unit in Unit:
        for gaps in (False, True):
            for weighted in (False, True):
                for neighbors in Neighbors:
                    words = [str(unit), *["gaps"] * gaps, *["weights"] * weighted, str(neighbors)]
                    yield ", ".join(words), World(unit, neighbors, gaps, weighted)


WORLDS = dict(_worlds())


@dataclass(frozen=True, eq=False)
class Plain:
    """A table as a user has it: rows, whose they are, and what they weigh."""

    values: np.ndarray
    ids: np.ndarray  # whole numbers; of single rows, their order
    weights: np.ndarray

    def without(self, who):
        """The same without a row or person."""
        kept = self.ids != who
        return Plain(self.values[kept], self.ids[kept], self.weights[kept])

    def with_(self, who, rows, weights, rng):
        """The same with rows of somebody: a single row at its place, several here and there."""
        rows = np.atleast_2d(np.asarray(rows, dtype=float))
        places = np.sort(rng.integers(0, len(self.ids) + 1, size=len(rows)))
        if len(rows) == 1:  # a single row has the place of its id
            places = [np.searchsorted(self.ids, who)] if self._is_sorted else places
        return Plain(
            np.insert(self.values, places, rows, axis=0),
            np.insert(self.ids, places, who),
            np.insert(self.weights, places, weights),
        )

    @property
    def _is_sorted(self):
        return bool((np.diff(self.ids) > 0).all())

    @property
    def number(self):
        """Rows, or persons."""
        return len(np.unique(self.ids))

    def open(self, world, noise):
        """A table in memory."""
        n = len(self.ids)
        return MemoryTable(
            self.values,
            None,
            noise,
            persons=persons_of(self.ids, n, noise.keys()) if world.of_persons else None,
            shares=weight_shares(self.weights, LARGEST_WEIGHT, n) if world.weighted else None,
            gaps=world.gaps,
        )


def some_table(world, number, d, seed):
    """Heavy tails, ties, and what the world allows: many rows of some, gaps, odd weights."""
    rng = np.random.default_rng(seed)
    each = np.ones(number, dtype=int)
    if world.of_persons:
        each = np.minimum(rng.geometric(0.3, size=number), 9)
        each[[1, number // 2]] = 300, 41
    ids = np.repeat(2 * np.arange(number), each)  # odd ones are for those who come
    if world.of_persons:
        rng.shuffle(ids)
    values = rng.standard_t(2, size=(len(ids), d)) + 0.3
    values[:, 1] = np.round(values[:, 1])
    if world.gaps:
        values[rng.random(values.shape) < 0.3] = np.nan
        values[::11] = np.nan
        if seed % 2:
            values[:, 0] = np.nan
    weights = rng.choice([0.0, 1e-300, 0.3, 1.0, LARGEST_WEIGHT, 1e300], size=len(ids))
    return Plain(values, ids, weights)


def coupled_order(order, place, more):
    """A random order of one row more or less that makes the same pairs but for one.

    Rows are paired by `halved_differences`: the i-th of the first half with the i-th of the second,
    an odd last one left out. Old rows keep their names but for the shift by the one at `place`.

    *More, from even to odd.* The one that comes takes the place of somebody, who is left out: all
    other pairs stay. (Or it is left out itself, and no pair moves.) *More, from odd to even.* It is
    paired with whoever was left out. *Less* is the way back. Given a uniform order before, and a
    uniform place in the first case, the order after is uniform over pairings.
    """
    if more < 0:
        return _with_one_less(order, place)
    old = order + (order >= place)
    n, half = len(old), len(old) // 2
    if n % 2 == 0:
        if n == 0:
            return np.array([place])
        return np.concatenate([[place], old[1:], old[:1]])
    return np.concatenate([old[:half], old[2 * half :], old[half : 2 * half], [place]])


def _with_one_less(order, place):
    n, half = len(order), len(order) // 2
    pairs = np.stack([order[:half], order[half : 2 * half]])
    left_out = order[2 * half :]
    if n % 2:
        pairs = np.where(pairs == place, left_out, pairs)
        left_out = left_out[:0]
    else:
        own = (pairs == place).any(axis=0)
        left_out = pairs[:, own][pairs[:, own] != place]
        pairs = pairs[:, ~own]
    kept = np.concatenate([*pairs, left_out])
    return kept - (kept > place)


@dataclass(frozen=True)
class CoupledKeys:
    """Keys that tell the noise where, in their order, the person is who comes or leaves."""

    keys: OrderKeys
    noise: "Coupled"

    def range(self, n, part=0):
        """Everybody keeps the word that they had: they are independent and alike."""
        place, more = self.noise.place, self.noise.more
        if more < 0:
            return np.delete(self.keys.range(n + 1, part), place)
        if more == 0:
            return self.keys.range(n, part)
        *others, new = self.keys.range(n, part)
        return np.insert(np.array(others, dtype=np.uint64), place, new)

    def named(self, names):
        if self.noise.who is None:
            self.noise.who = 2 * self.noise.place
            others = self.keys.named(np.setdiff1d(names, [self.noise.who]))
            own = self.keys.named(np.array([self.noise.who]))
            self.noise.place = int((others[:, 0] < own[0, 0]).sum())
        return self.keys.named(names)


@dataclass(eq=False, repr=False)
class Coupled(Repeated):
    """What was drawn once drawn again on a table with one row or person more, or less."""

    place: int = 0  # among rows, or among persons in the order of their ids, then of their keys
    more: int = 0
    who: int | None = None  # the id of a person
    orders: list = field(default_factory=list)

    def permutation(self, n):
        before = super().permutation(n)
        if len(before) == n:
            return before
        assert n == len(before) + self.more
        after = coupled_order(before, self.place, self.more)
        assert np.array_equal(np.sort(after), np.arange(n))
        self.orders.append(after)
        return after

    def keys(self):
        return CoupledKeys(super().keys(), self)


@dataclass(frozen=True, eq=False)
class Counted:
    """A table whose number of rows is secret, and was counted: what `run` gives to steps."""

    table: MemoryTable
    number: float

    @property
    def n_samples(self):
        return self.table.n_samples

    @property
    def codes(self):
        return self.table.codes

    def sample(self, size):
        return replace(self.table.sample(size), number=self.number)

    def total(self, recipe):
        return self.table.total(recipe)
