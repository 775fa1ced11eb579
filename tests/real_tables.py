"""Simulated tables as people have them: visits, gaps, units, categories; and what is true there."""

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
import pyarrow as pa

from gdppca import Description
from gdppca.tables.description import Column

LEVELS = (2, 2, 3, 5, 8)  # of the categories
_LOADS = 1.2 * np.array([[1, 0], [0.8, 0], [0.7, 0.3], [0, 0.7], [0, 0.6], [0.2, 0]])


@dataclass(frozen=True)
class Spiked:
    """Gaussian rows of variances 10, 5, 1, … along random directions, far from the origin."""

    rng: np.random.Generator
    rows: np.ndarray  # around zero
    directions: np.ndarray  # all, as rows
    centre: np.ndarray

    @classmethod
    def of(cls, n, d, seed):
        """So many rows and columns; 5 to 20 standard deviations from the origin."""
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
        rows = (rng.standard_normal((n, d)) * np.sqrt(_values(d))) @ Q.T
        spread = np.sqrt(Q**2 @ _values(d))
        centre = rng.uniform(5, 20, d) * spread * np.sign(rng.standard_normal(d))
        return cls(rng, rows, Q.T, centre)

    @property
    def d(self):
        return self.rows.shape[1]

    @property
    def truth(self):
        return self.directions[:2]

    @property
    def spread(self):
        """Standard deviations of the columns."""
        return np.sqrt((self.directions**2).T @ _values(self.d))

    @cached_property
    def unit(self):
        """Units of the columns, from 1 to 1000."""
        return 10.0 ** self.rng.uniform(0, 3, self.d)

    @property
    def in_units(self):
        """Columns of one standard deviation, far from zero, in their units."""
        return (self.rows + self.centre) / self.spread * self.unit

    @cached_property
    def scaled_truth(self):
        """Directions of the columns over their standard deviations."""
        more = np.random.default_rng(self.d).standard_normal((50_000, self.d))
        signs = (more * np.sqrt(_values(self.d))) @ self.directions / self.spread
        signs /= np.linalg.norm(signs, axis=1, keepdims=True)
        return np.linalg.eigh(signs.T @ signs)[1][:, ::-1][:, :2].T

    def with_gaps(self, rows, missing):
        """Without a share of the cells; None is 0 to 60 % from the first column to the last."""
        rate = np.linspace(0.001, 0.6, self.d) if missing is None else missing
        return np.where(self.rng.random(rows.shape) < rate, np.nan, rows)

    def typical(self, off):
        """A guess of the centre, off by up to so many standard deviations."""
        return self.centre + self.rng.uniform(-off, off, self.d) * self.spread

    def in_units_guessed(self, off, factor):
        """The table in its units, and a description with guesses off by so much at most."""
        typical = self.typical(off) / self.spread * self.unit
        spread = self.unit * factor ** self.rng.uniform(-1, 1, self.d)
        return {"X": frame(self.in_units), "description": guessed(typical, spread)}


def _values(d):
    return np.array([10.0, 5.0, *np.ones(d - 2)])


def frame(X):
    """A table whose columns have names."""
    return pa.table({f"x{j}": column for j, column in enumerate(X.T)})


def guessed(typical=None, spread=None):
    """A description that says what is typical and how far columns spread."""
    d = len(spread if typical is None else typical)
    typical, spread = ([None] * d if each is None else each for each in (typical, spread))
    return Description(
        columns=tuple(Column(name=f"x{j}", typical=typical[j], spread=spread[j]) for j in range(d))
    )


def visits(n_persons, seed, d=7):
    """Rows, whose they are, and directions: 1 to 16 visits each, a person's own part and noise."""
    rng = np.random.default_rng(seed)
    size = np.sqrt([6.0, 3.0, *np.full(d - 2, 0.7)])
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    ids = np.repeat(np.arange(n_persons), rng.integers(1, 17, n_persons))
    own, noise = (rng.standard_normal((k, d)) * size @ Q.T for k in (n_persons, len(ids)))
    rows = np.sqrt(0.6) * own[ids] + np.sqrt(0.4) * noise
    return rows + rng.uniform(5, 20, d) * np.sqrt(Q**2 @ size**2), ids, Q.T[:2]


def one_each(ids, seed):
    """Places of one random row of every person."""
    order = np.random.default_rng(seed).permutation(len(ids))
    return order[np.unique(ids[order], return_index=True)[1]]


@dataclass(frozen=True)
class Mixed:
    """Six numbers of size one and five categories that follow two factors."""

    factors: np.ndarray
    numbers: np.ndarray
    codes: list

    @classmethod
    def of(cls, n, seed):
        """So many rows."""
        rng = np.random.default_rng(seed)
        F = rng.standard_normal((n, 2))
        numbers = F @ _LOADS.T + rng.standard_normal((n, 6))
        codes = []
        for v, levels in enumerate(LEVELS):
            load = [1.2, 0.0] if v % 2 == 0 else [0.0, 1.0]
            shares = np.linspace(1, 3, levels) / np.linspace(1, 3, levels).sum()
            law = NormalDist(0.0, float(np.sqrt(1 + np.dot(load, load))))
            cuts = [law.inv_cdf(float(p)) for p in np.cumsum(shares)[:-1]]
            codes.append(np.searchsorted(cuts, F @ load + rng.standard_normal(n)))
        return cls(F, numbers / np.sqrt((_LOADS**2).sum(axis=1) + 1), codes)

    @property
    def indicators(self):
        """All columns as numbers."""
        blocks = [np.eye(levels)[code] for code, levels in zip(self.codes, LEVELS, strict=True)]
        return np.concatenate([self.numbers, *blocks], axis=1)

    @property
    def described(self):
        """The table with its labels, and its description."""
        labels = {f"c{v}": [f"l{k}" for k in code] for v, code in enumerate(self.codes)}
        columns = [Column(name=f"x{j}", typical=0.0, spread=1.0) for j in range(6)]
        for v, levels in enumerate(LEVELS):
            named = tuple(f"l{k}" for k in range(levels))
            columns.append(Column(name=f"c{v}", type="category", levels=named))
        table = pa.table({f"x{j}": column for j, column in enumerate(self.numbers.T)} | labels)
        return {"X": table, "description": Description(columns=tuple(columns))}

    def followed(self, scores):
        """The smaller correlation of two scores with the two factors."""
        a, b = (np.linalg.qr(x - x.mean(axis=0))[0] for x in (scores, self.factors))
        return np.linalg.svd(a.T @ b, compute_uv=False)[-1]
