"""The paper's simulated tables: two spikes (10, 5, 1, …)."""

import numpy as np

from gdppca import sin_theta


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


def mean_loss(estimator, kind, n, d, runs, *, away=0.0, **parameters):
    """Mean sin Θ of two directions at (0.5, 1e-5); rows so many standard deviations off zero."""
    losses = []
    for seed in range(runs):
        X, V = spiked(kind, n, d, seed)
        X = X + away * np.sqrt(1 + 9 * V[0] ** 2 + 4 * V[1] ** 2)
        pca = estimator(2, epsilon=0.5, delta=1e-5, random_state=seed, **parameters)
        losses.append(sin_theta(pca.fit(X).components_, V))
    return np.mean(losses)
