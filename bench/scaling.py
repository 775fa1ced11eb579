"""Time and memory against rows and columns, ours beside others: `make bench`.

Every size runs in a process of its own, in which all methods take turns; the best of some rounds
counts. Memory is how far the largest resident size rises above that with the table alone, in a
process for each method. Other private libraries run in environments of their own, where they
install. Everything measured goes to docs/scaling/, with pictures and a table of ratios.

    python bench/scaling.py            # all of it, some twenty minutes on a quiet machine
                                       # a busy one is refused: kept figures stay as they are
    python bench/scaling.py --quick    # small sizes only
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

HERE = Path(__file__).parent
STORE = HERE.parent / "docs" / "scaling"
PEERS = {"diffprivlib": ["diffprivlib", "scikit-learn<1.6"], "opendp": ["opendp[scikit-learn]"]}
BLOCK = 64
ROUNDS = 4
PATIENCE = 40  # seconds that a peer may take, its start included
LARGEST = 2e8  # numbers in a table: 1.6 GB
BUSY = 0.5  # load of others per core, above which kept figures stay as they are

# Rows at 20 columns, columns at 20,000 rows, and the sizes that people ask about.
ALONG_ROWS = [(n, 20) for n in (10**3, 10**4, 10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7)]
ALONG_COLUMNS = [(20_000, d) for d in (5, 10, 25, 50, 100, 200, 500, 1000)]
ASKED_FOR = [(10**6, 10), (10**6, 50), (10**6, 100), (30_000, 100)]
ALL_PAIRS = {(10**3, 20), (10**4, 20), (30_000, 100), (20_000, 25), (20_000, 100)}
LOOPED = {(10**3, 20), (10**4, 20), (20_000, 25)}
WEIGHED = {(10**k, 20) for k in (4, 5, 6, 7)} | {(20_000, d) for d in (5, 50, 200, 1000)}
STREAMED = [10**6, 4 * 10**6, 2 * 10**7]
PEER_SIZES = {(10**k, 20) for k in (3, 4, 5, 6)} | {(20_000, d) for d in (5, 100)}


# --- What is timed --------------------------------------------------------------------------------


def methods(X: np.ndarray) -> dict[str, Callable[[], object]]:
    """Everything that fits a table of this size in this environment."""
    from sklearn.decomposition import PCA

    from gdppca import DPPCA, PairSum, kendall_tau

    n, d = X.shape
    few = {"delta": 1e-9, "epsilon": 1.0}
    found: dict[str, Callable[[], object]] = {
        "PCA": lambda: PCA(2, svd_solver="covariance_eigh").fit(X),
        "blocks": lambda: PairSum(pairs=BLOCK).update(X).mean(),
        "products of blocks": lambda: products_of_blocks(X),
        "fit, blocks": lambda: DPPCA(2, pairs=BLOCK, location=None, **few).fit(X),
        "fit, centre": lambda: DPPCA(2, **few).fit(X),
    }
    if (n, d) in ALL_PAIRS:
        found["all pairs"] = lambda: kendall_tau(X)
        found["two products"] = lambda: two_products(X)
    return found


def two_products(X: np.ndarray, tile: int = 2000) -> None:
    """The limit of all pairs: a Gram matrix and weights times rows, each pair of tiles once."""
    for start in range(0, len(X), tile):
        strip, rest = X[start : start + tile], X[start:]
        gram = strip @ rest.T
        gram @ rest


def products_of_blocks(X: np.ndarray, rows: int = 128 * BLOCK) -> None:
    """The limit of blocks: the same two inside each block, and the sum of outer products."""
    for start in range(0, len(X) - len(X) % BLOCK, rows):
        part = X[start : start + rows]
        blocks = part[: len(part) - len(part) % BLOCK].reshape(-1, BLOCK, X.shape[1])
        gram = blocks @ blocks.transpose(0, 2, 1)
        weighted = gram @ blocks
        blocks.reshape(-1, X.shape[1]).T @ weighted.reshape(-1, X.shape[1])


def double_loop(X: np.ndarray, rows: int = 300) -> float:
    """Seconds that a plain double loop over pairs would take, from its first rows."""
    few = X[:rows]
    started = time.perf_counter()
    total = np.zeros((X.shape[1], X.shape[1]))
    for i in range(len(few)):
        for j in range(i):
            t = few[i] - few[j]
            length = np.linalg.norm(t)
            if length > 0:
                total += np.outer(t / length, t / length)
    per_pair = (time.perf_counter() - started) / (len(few) * (len(few) - 1) / 2)
    return per_pair * len(X) * (len(X) - 1) / 2


def timed(n: int, d: int) -> dict[str, float]:
    """Best seconds of every method; they take turns."""
    X = np.random.default_rng(0).normal(size=(n, d))
    jobs = methods(X)
    best = dict.fromkeys(jobs, np.inf)
    for job in jobs.values():
        job()  # compiles, and warms the caches
    rounds = ROUNDS if n * d < 5e7 else 3
    for _ in range(rounds):
        for name, job in jobs.items():
            started = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - started)
    if (n, d) in LOOPED:
        best["double loop"] = double_loop(X)
    return best


def grown(name: str, n: int, d: int) -> float:
    """Megabytes that a method needs beside its table."""
    methods(np.random.default_rng(0).normal(size=(2000, 5)))[name]()  # compiles
    X = np.random.default_rng(0).normal(size=(n, d))
    Path("/proc/self/clear_refs").write_text("5")  # the peak is that of now
    before = _resident("VmHWM")
    methods(X)[name]()
    return _resident("VmHWM") - before


def _resident(field: str) -> float:
    """Megabytes that Linux counts for this process."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[field].split()[0]) / 1024


def streamed(file: str, way: str) -> dict[str, float]:
    """Seconds and peak megabytes of a whole fit from a file."""
    from gdppca import DPPCA

    how = {"pairs": BLOCK, "location": None} if way == "blocks" else {}
    DPPCA(2, delta=1e-9, **how).fit(np.random.default_rng(0).normal(size=(5000, 3)))  # compiles
    started = time.perf_counter()
    DPPCA(2, delta=1e-9, **how).fit_stream(file)
    return {"seconds": time.perf_counter() - started, "peak": _resident("VmHWM")}


def written(folder: str, n: int, d: int = 20) -> str:
    """A Parquet file of so many rows."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"c{k}" for k in range(d)]
    path = f"{folder}/{n}.parquet"
    rng = np.random.default_rng(0)
    with parquet.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as out:
        for start in range(0, n, 10**6):
            X = rng.normal(size=(min(10**6, n - start), d))
            out.write_table(pa.table(dict(zip(names, X.T, strict=True))), row_group_size=122_880)
    return path


# --- Running it -----------------------------------------------------------------------------------


def here(*arguments: object) -> dict:
    """What this file prints in a new process."""
    command = [sys.executable, __file__, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def peer_environment(name: str) -> Path | None:
    """A Python with another library, or None where it does not install."""
    folder = HERE / ".environments" / name
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "numpy", *PEERS[name]]
        if subprocess.run(install, capture_output=True).returncode:
            return None
        (folder / "ready").touch()
    return python


def peer(python: Path | None, name: str, n: int, d: int) -> dict:
    """Seconds of another library's fit, or why there are none."""
    if python is None:
        return {"library": name, "failed": "does not install"}
    command = [python, HERE / "peers.py", name, str(n), str(d)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        return {"library": name, **json.loads(done.stdout)}
    except subprocess.TimeoutExpired:
        return {"library": name, "failed": f"more than {PATIENCE} s"}
    except json.JSONDecodeError:
        return {"library": name, "failed": "did not start"}


def measure(quick: bool) -> dict:
    """Everything, as plain data."""
    sizes = sorted({*ALONG_ROWS, *ALONG_COLUMNS, *ASKED_FOR, *ALL_PAIRS})
    sizes = [(n, d) for n, d in sizes if n * d <= (2e6 if quick else LARGEST)]
    pythons = {name: peer_environment(name) for name in PEERS}
    times, others = [], []
    for n, d in track(sizes, "time "):
        times.append({"n": n, "d": d, "seconds": here("--time", n, d)})
        if (n, d) in PEER_SIZES:
            others += [{"n": n, "d": d, **peer(pythons[name], name, n, d)} for name in PEERS]
    weighed = [
        (name, n, d)
        for n, d in sizes
        if (n, d) in WEIGHED
        for name in ("PCA", "fit, blocks", "fit, centre")
    ]
    memory = [
        {"n": n, "d": d, "method": name, "megabytes": here("--memory", name, n, d)}
        for name, n, d in track(weighed, "memory ")
    ]
    with tempfile.TemporaryDirectory() as folder:
        streams = [
            {"n": n, "d": 20, "way": way, **here("--stream", written(folder, n), way)}
            for n in track(STREAMED[: 1 if quick else None], "files ")
            for way in ("blocks", "centre")
        ]
    return {
        "times": times,
        "memory": memory,
        "streams": streams,
        "peers": others,
    }


def _machine() -> dict:
    from gdppca import __version__

    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "vectors": os.environ.get("NUMBA_CPU_NAME", "of the machine"),
        "load": load_of_others(),
        "python": platform.python_version(),
        "gdppca": __version__,
        "numpy": np.__version__,
        "block": BLOCK,
    }


def load_of_others() -> float:
    """Load per core over the last minute; to be asked before anything is measured."""
    return round(os.getloadavg()[0] / len(os.sched_getaffinity(0)), 2)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main() -> None:
    """Measure, show, store."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--time", nargs=2, type=int)
    parser.add_argument("--memory", nargs=3)
    parser.add_argument("--stream", nargs=2)
    wish = parser.parse_args()
    if wish.time:
        print(json.dumps(timed(*wish.time)))
    elif wish.memory:
        name, n, d = wish.memory
        print(json.dumps(grown(name, int(n), int(d))))
    elif wish.stream:
        print(json.dumps(streamed(*wish.stream)))
    else:
        from scaling_page import show, store

        machine = _machine()
        if machine["load"] > BUSY and not wish.quick:
            sys.exit(
                f"The machine is busy: a load of {machine['load']:g} per core, above {BUSY:g}. "
                "Kept figures stay; wait, or look at --quick."
            )
        measured = {"machine": machine, **measure(wish.quick)}
        if not wish.quick:
            store(measured, STORE)
        show(measured, Console())


if __name__ == "__main__":
    main()
