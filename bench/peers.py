"""One fit by another library, in its own environment: prints seconds, or why there are none.

python bench/peers.py diffprivlib 1000 5
python bench/peers.py opendp 1000 5
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np


def diffprivlib(X: np.ndarray) -> Callable[[], object]:
    """Pure ε; needs a bound on the rows."""
    from diffprivlib.models import PCA

    bound = float(np.linalg.norm(X, axis=1).max())  # read off the data, as nobody should
    limits = (X.min(axis=0), X.max(axis=0))
    return lambda: PCA(2, epsilon=1.0, data_norm=bound, bounds=limits).fit(X)


def opendp(X: np.ndarray) -> Callable[[], object]:
    """Needs the number of rows and a bound on them."""
    import opendp.prelude as dp
    from opendp.extras.sklearn.decomposition import PCA

    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    bound = float(np.linalg.norm(X, axis=1).max())
    n, d = X.shape
    known = {"row_norm": bound, "n_samples": n, "n_features": d}
    return lambda: PCA(epsilon=1.0, n_components=2, **known).fit(X)


if __name__ == "__main__":
    name, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rows = np.random.default_rng(0).normal(size=(n, d))
    try:
        fit = {"diffprivlib": diffprivlib, "opendp": opendp}[name](rows)
        best = float("inf")
        for _ in range(2):  # the first loads libraries
            started = time.perf_counter()
            fit()
            best = min(best, time.perf_counter() - started)
    except Exception as error:  # whatever stops it belongs into the table
        print(json.dumps({"failed": type(error).__name__}))
    else:
        print(json.dumps({"seconds": best}))
