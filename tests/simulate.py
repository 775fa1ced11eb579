"""The paper's simulated tables: two spikes (10, 5, 1, …)."""

import numpy as np


def spiked(kind, n, d, seed):
    """Rows and true directions; kind is "gaussian", "t1" or "contaminated"."""
    rng = np.random.default_rng(seed)
    v1, v2, outlying = np.zeros((3, d))
    v1[:4] = 0.5
    v2[:4] = 0.5, -0.5, 0.5, -0.5
    outlying[[1, 3]] = np.sqrt(0.5), -np.sqrt(0.5)
    noise = rng.normal(size=(n, d))
    # Σ = I + 9 v1 v1' + 4 v2 v2'
    X = noise + (np.sqrt(10) - 1) * np.outer(noise @ v1, v1)
    X += (np.sqrt(5) - 1) * np.outer(noise @ v2, v2)
    if kind == "t1":
        X /= np.abs(rng.normal(size=(n, 1)))
    if kind == "contaminated":
        bad = rng.random(n) < 0.05
        X[bad] = 25 * outlying + 0.05 * rng.normal(size=(bad.sum(), d))
    return X, np.stack([v1, v2])
