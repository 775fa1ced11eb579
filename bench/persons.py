"""What persons cost: whole fits of 10,000,000 rows with ids and without, in turns.

CPU time counts, user and system, and the ratio to the fits without persons right before and after:
other work on the machine moves both. One process for files, one for tables in memory.

    python bench/persons.py FOLDER             # writes 3 GB there, and leaves it for the next time
    python bench/persons.py FOLDER --rows 1000000 --rounds 1
"""

from __future__ import annotations

import argparse
import statistics
import time
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from gdppca import DPPCA

FEATURES = [f"c{k}" for k in range(20)]
AT_ONCE = 10**6


def ids_of(kind: str, codes: np.ndarray) -> pl.Series:
    """Ids of persons by their numbers."""
    if kind == "whole numbers":
        return pl.Series(codes)
    found = np.unique(codes)
    texts = (
        [f"P{code:07d}" for code in found]
        if kind == "short texts"
        else [str(uuid.uuid5(uuid.NAMESPACE_OID, str(code))) for code in found]
    )
    return pl.Series(texts)[np.searchsorted(found, codes)]


CASES = {
    f"{kind}, {persons:,} in {rows:,}": (kind, persons / rows)
    for rows, persons in ((10**7, 1_500_000), (10**7, 5_000_000))
    for kind in ("whole numbers", "short texts", "UUIDs")
    if kind != "UUIDs" or persons < 5_000_000
}


def codes_of(share: float, rows: int) -> np.ndarray:
    """Whose each row is: anybody's, in no order."""
    return np.random.default_rng(1).integers(0, int(share * rows), size=rows)


def written(folder: Path, rows: int) -> Path:
    """A Parquet file with every kind of ids beside the same numbers."""
    path = folder / f"persons-{rows}.parquet"
    if not path.exists():
        rng = np.random.default_rng(0)
        frame = pl.DataFrame({name: rng.normal(size=rows) for name in FEATURES})
        ids = {case: ids_of(kind, codes_of(share, rows)) for case, (kind, share) in CASES.items()}
        frame.with_columns(**ids).write_parquet(path, row_group_size=122_880)
    return path


def seconds(job: Callable[[], object]) -> float:
    """CPU time of a job."""
    started = time.process_time()
    job()
    return time.process_time() - started


def ratios(jobs: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """CPU time of each job over that of the one without persons before and after it."""
    found: dict[str, list[float]] = {name: [] for name in jobs if name}
    before = seconds(jobs[""])
    for _ in range(rounds):
        for name, job in ((name, job) for name, job in jobs.items() if name):
            own, after = seconds(job), seconds(jobs[""])
            found[name].append(own / (0.5 * (before + after)))
            before = after
    return found


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--in-memory", action="store_true")
    wish = parser.parse_args()
    warnings.simplefilter("ignore")
    pca = DPPCA(2, delta=1e-9)
    few = np.random.default_rng(0).normal(size=(5000, 3))
    pca.fit(few, persons=np.arange(5000))  # compiles
    pca.fit(few, persons=[str(k) for k in range(5000)])
    file = written(wish.folder, wish.rows)
    if wish.in_memory:
        X = pl.read_parquet(file, columns=FEATURES).to_numpy()
        ids = {case: pl.read_parquet(file, columns=[case])[case] for case in CASES}
        jobs = {"": lambda: pca.fit(X)} | {
            case: lambda own=own: pca.fit(X, persons=own) for case, own in ids.items()
        }
    else:
        jobs = {"": lambda: pca.fit_stream(file, columns=FEATURES)} | {
            case: lambda case=case: pca.fit_stream(file, columns=FEATURES, persons=case)
            for case in CASES
        }
    table = Table("ids", "CPU time over that without persons", "least", "most")
    for name, each in ratios(jobs, wish.rounds).items():
        table.add_row(name, *(f"{f(each):.2f}" for f in (statistics.median, min, max)))
    Console().print(table)


if __name__ == "__main__":
    main()
