"""A file that is sorted by a column is as good as one that is not, and memory stays bounded."""

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from simulate import spiked

from gdppca import DPPCA, sin_theta

pytestmark = pytest.mark.slow

RUNS = 40


def errors(table, truth, **how):
    """sin Θ of seeded runs."""
    fits = (
        DPPCA(2, epsilon=1.0, pairs=64, location=None, random_state=seed).fit_stream(table, **how)
        for seed in range(RUNS)
    )
    return np.array([sin_theta(pca.components_, truth) for pca in fits])


def test_sorted_file_costs_no_accuracy():
    X, truth = spiked("gaussian", 4000, 6, seed=1)
    table = pa.table({f"c{k}": column for k, column in enumerate(X.T)})
    shuffled, by_first = errors(table, truth), errors(table.sort_by("c0"), truth)
    spread = np.sqrt((shuffled.var(ddof=1) + by_first.var(ddof=1)) / RUNS)
    assert abs(shuffled.mean() - by_first.mean()) < 4 * spread
    # Without the shuffle the first direction is gone: blocks hold rows that are alike in it.
    taken = errors(table.sort_by("c0"), truth, assume_shuffled=True)
    assert taken.mean() > by_first.mean() + 10 * spread


_FIT = """
import resource, sys
from gdppca import DPPCA
parameters = {"pairs": 64, "location": None} if sys.argv[2] == "pairs" else {}
pca = DPPCA(2, delta=1e-9, **parameters).fit_stream(sys.argv[1])
print(pca.n_samples_, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.parametrize("way", ["pairs", "centre"])
def test_memory_does_not_grow_with_the_file(way, tmp_path):
    """Half a gigabyte of rows, 200 MB for DuckDB; as many again would need no more."""
    rng = np.random.default_rng(0)
    names = [f"c{k}" for k in range(16)]
    with parquet.ParquetWriter(
        tmp_path / "t.parquet", pa.schema([(name, pa.float64()) for name in names])
    ) as out:
        for _ in range(40):
            X = rng.normal(size=(100_000, 16))
            out.write_table(pa.table(dict(zip(names, X.T, strict=True))))
    done = subprocess.run(
        [sys.executable, "-c", _FIT, str(tmp_path / "t.parquet"), way],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"GDPPCA_MEMORY": "200MB"},
    )
    rows, peak = done.stdout.split()
    assert int(rows) == 4_000_000
    assert float(peak) < 0.9  # GB, of which Python and its libraries take a third
