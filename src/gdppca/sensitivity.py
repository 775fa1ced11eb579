r"""How far one row or person moves each statistic, all of them, by name.

Neighbours are replace-one with n public, or add-remove with n secret. Every other bound on what
noise is calibrated for would be a second place: steps ask here. Matrices are compared in Frobenius
norm, vectors in length, scores and counts one by one. A person's rows share a weight of one, so
that all of them together lie where one row can: the bounds are the same (docs/proofs/persons.md).

For vectors with :math:`|u|, |v| \le r`,

.. math:: \|uu^\top - vv^\top\|_F^2 = |u|^4 + |v|^4 - 2 (u \cdot v)^2 \le 2 r^4,

so a row in b - 1 pairs of weight :math:`2/(n(b-1))` moves the mean by at most
:math:`2\sqrt2\, r^2/n`, whatever the pair scheme, and a row against a fixed centre by
:math:`\sqrt2\, r^2/n`. Both are attained; the paper states 4r²/n. Twice the proven rounding error
of the kernels is added, since each of two neighbouring sums may be off by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gdppca import _validate
from gdppca.kernels import (
    Halves,
    OneSample,
    Scheme,
    cross_rounding_error,
    direct_rounding_error,
    pair_rounding_error,
)
from gdppca.kernels.directions import rounded_length
from gdppca.linalg import SQRT2
from gdppca.privacy import Neighbors

CALIBRATIONS = ("tight", "paper")

_MOST_ROWS = 2**31  # whose rounding errors are counted where nobody may know how many there are

# What one row moves a rank by, and each count: for noise that is added to each of them alone.
ONE_RANK = 1.0  # docs/proofs/histogram.md


@dataclass(frozen=True)
class Moves:
    """How far one row or person moves each statistic that a step noises, for a neighbour relation.

    Replace-one is the default, and no other relation moves anything farther. Under add-remove a
    statistic is a sum: nothing leaves where something comes (docs/proofs/add-remove.md). Random
    pairs of rows stay with the bounds of replace-one: one more row makes one pair another.
    """

    neighbors: Neighbors = Neighbors.REPLACE_ONE

    @property
    def replaces(self) -> bool:
        """Whether one leaves where another comes, and the number of them is public."""
        return self.neighbors == Neighbors.REPLACE_ONE

    @property
    def sides(self) -> int:
        """How many rows or persons differ between two neighbours."""
        return 2 if self.replaces else 1

    def scatter(self, scheme: Scheme, sup_norm: float, n_samples: float, n_features: int) -> float:
        """A sign scatter as computed, rounding errors included. docs/proofs/sensitivity.md

        Under add-remove, a sum of up to 2³¹ rows over a number that is public.
        """
        if not self.replaces:
            rounding = _MOST_ROWS * rounding_share(scheme, 1, n_features)
            return sup_norm**2 * (1 + 2 * rounding) / n_samples
        n = int(n_samples)
        moved = moved_share(scheme, n)
        return sup_norm**2 * (SQRT2 * moved + 2 * rounding_share(scheme, n, n_features))

    def cross(self, clip: float, n_samples: float, n_features: int, n_components: int) -> float:
        """A mean of parts across directions, each `clip` long at most: 2c/n, or c/n.

        As computed, rounding errors included. docs/proofs/second-stage.md
        """
        rounding = cross_rounding_error(n_features, n_components)
        if not self.replaces:  # a sum of up to 2³¹ rows over a number that is public
            return clip * (1 + 2 * _MOST_ROWS * rounding) / n_samples
        return clip * (2 / int(n_samples) + 2 * rounding)

    def directions(self, n_features: int) -> float:
        """Sum of unit vectors, each coordinate rounded: at most 2, or 1. docs/proofs/centre.md"""
        return self.sides * rounded_length(1.0, n_features)

    def looks(self, n_features: int) -> float:
        """Unit vectors with a number in [-1, 1] beside each: 2√2, or √2. docs/proofs/centre.md"""
        return self.sides * rounded_length(SQRT2, n_features + 1)

    def octave_counts(
        self, n_columns: int = 1, *, paired: bool = False, weighted: bool = False
    ) -> float:
        """Counts by octave: in each column one count loses one, another gains one.

        docs/proofs/centre.md, docs/proofs/scale.md
        """
        return math.sqrt((2 if paired else self.sides) * n_columns) * _room(weighted)

    def rates(self, n_columns: int) -> float:
        """Counts of cells that are there, of each column by at most one. docs/proofs/missing.md"""
        return math.sqrt(n_columns)

    def count(self) -> float:
        """The number of rows or persons itself. docs/proofs/add-remove.md"""
        return 1.0

    def counts_below(self, n_points: int) -> float:
        """Counts of rows below so many points: each moves by one. docs/proofs/spectrum.md"""
        return math.sqrt(n_points)

    def bounded_sums(self, n_columns: int, *, weighted: bool = False) -> float:
        """Exact sums over columns of numbers in [0, 1], as clipped squares. docs/proofs/scale.md"""
        return math.sqrt(n_columns) * _room(weighted)

    @property
    def moved_cells(self) -> int:
        """Cells of a histogram whose counts move by one: a row leaves one, enters another."""
        return self.sides

    def cells(self) -> float:
        """Counts of a histogram, as a length. docs/proofs/histogram.md"""
        return math.sqrt(self.moved_cells)


def _room(weighted: bool) -> float:
    """For whole numbers of 2⁻³⁰ that add up to more than a float holds: 2²³ persons and more."""
    return 1 + 1e-6 if weighted else 1.0


REPLACING = Moves()


def scatter_sensitivity(scheme: Scheme, sup_norm: float, n_samples: int, n_features: int) -> float:
    """Of a sign scatter, replace-one."""
    return REPLACING.scatter(scheme, sup_norm, n_samples, n_features)


def paper_sensitivity(scheme: Scheme, sup_norm: float, n_samples: int) -> float:
    """The paper's bound: 4‖g‖²/n for pairs (Sec 2.2), 2‖g‖²/n around a centre (App B.1)."""
    return 2 * sup_norm**2 * moved_share(scheme, n_samples)


def moved_share(scheme: Scheme, n_samples: int) -> float:
    """Total weight of the terms that hold one given row."""
    n = _validate.count(n_samples=n_samples)
    if isinstance(scheme, OneSample):
        return 1 / n
    if isinstance(scheme, Halves):
        return 1 / (n // 2)
    return 2 / n


def rounding_share(scheme: Scheme, n_samples: int, n_features: int) -> float:
    """Proven rounding error of the kernel for this scheme, in units of ‖g‖²."""
    if isinstance(scheme, OneSample):
        return direct_rounding_error(n_features)
    return pair_rounding_error(scheme, n_samples, n_features)


# --- Of others: holds with high probability only --------------------------------------------------


def likely_projection(eigenvalues: np.ndarray, n_components: int, n_samples: int) -> float:
    r"""Δ = 4(λ_d/λ_1 + √(λ_d/λ_1)) √(d(m + log n))/n of App D.2."""
    ratio = float(eigenvalues.min() / eigenvalues.max())
    size = math.sqrt(len(eigenvalues) * (n_components + math.log(n_samples)))
    return 4 * (ratio + math.sqrt(ratio)) * size / n_samples


def printed_covariance(n_samples: int) -> float:
    """6/n of Algorithm 1, App D.1, which does not hold: the rows' own largest norm divides them."""
    return 6 / n_samples
