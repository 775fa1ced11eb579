"""Speed of the kernels as ratios, interleaved in one run: `make bench`.

The limit of all pairs is the time numpy takes for the two matrix products that the identity needs,
distances by a Gram matrix and weights times rows, strip by strip: over the full square of pairs,
and, stricter, over each pair once.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.decomposition import PCA

from gdppca import PairSum, kendall_tau
from gdppca.kernels import sign_covariance

_TILE = 2000


def best_times(*jobs: Callable[[], object], rounds: int = 5) -> list[float]:
    """Shortest time of each job over rounds in which they take turns."""
    times = [[] for _ in jobs]
    for job in jobs:
        job()
    for _ in range(rounds):
        for job, seen in zip(jobs, times, strict=True):
            start = time.perf_counter()
            job()
            seen.append(time.perf_counter() - start)
    return [min(seen) for seen in times]


def two_products(X: np.ndarray, once: bool = False) -> None:
    """Gram matrix and weights times rows, strip by strip; `once` leaves out the earlier rows."""
    weights = np.ones((min(_TILE, len(X)), len(X)))
    for start in range(0, len(X), _TILE):
        strip, others = X[start : start + _TILE], X[start if once else 0 :]
        strip @ others.T
        weights[: len(strip), : len(others)] @ others


def all_pairs(rng: np.random.Generator) -> Table:
    """All pairs against the two products."""
    table = Table(title="All pairs")
    for heading in ("rows", "d", "ours, s", "of the full square", "of each pair once"):
        table.add_column(heading, justify="right")
    for n, d in ((10_000, 5), (10_000, 25), (10_000, 100), (10_000, 400), (30_000, 100)):
        X = rng.normal(size=(n, d))
        ours, full, half = best_times(
            lambda X=X: kendall_tau(X),
            lambda X=X: two_products(X),
            lambda X=X: two_products(X, once=True),
            rounds=3,
        )
        ratios = (f"{ours / limit:.2f} ×" for limit in (full, half))
        table.add_row(f"{n:,}", str(d), f"{ours:.3f}", *ratios)
    return table


def blocks(rng: np.random.Generator) -> Table:
    """Blocks and one sample against scikit-learn's covariance PCA."""
    table = Table(title="1,000,000 rows against PCA(svd_solver='covariance_eigh')")
    headings = ("d", "PCA, s", "blocks of 64", "blocks of 128", "one sample")
    for heading in headings:
        table.add_column(heading, justify="right")
    for d in (10, 50, 100):
        X = rng.normal(size=(1_000_000, d))
        pca, *ours = best_times(
            lambda X=X: PCA(2, svd_solver="covariance_eigh").fit(X),
            lambda X=X: PairSum(pairs=64).update(X).mean(),
            lambda X=X: PairSum(pairs=128).update(X).mean(),
            lambda X=X, d=d: sign_covariance(X, np.zeros(d)),
            rounds=3,
        )
        table.add_row(str(d), f"{pca:.3f}", *(f"{each / pca:.2f} ×" for each in ours))
    return table


def growth(rng: np.random.Generator) -> Table:
    """Ten times the rows should take ten times the time: an exponent of one."""
    table = Table(title="Blocks of 64, d = 20")
    for heading in ("rows", "seconds", "exponent"):
        table.add_column(heading, justify="right")
    X = rng.normal(size=(10_000_000, 20))
    before = None
    for n in (100_000, 1_000_000, 10_000_000):
        [seconds] = best_times(lambda n=n: PairSum(pairs=64).update(X[:n]).mean(), rounds=3)
        exponent = f"{np.log10(seconds / before):.3f}" if before else ""
        table.add_row(f"{n:,}", f"{seconds:.3f}", exponent)
        before = seconds
    return table


if __name__ == "__main__":
    console, generator = Console(), np.random.default_rng(0)
    for measure in (all_pairs, blocks, growth):
        console.print(measure(generator))
