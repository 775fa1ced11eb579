"""
E6: The Europe map (Fig 6)
============================

Genetic coordinates of 1,387 people. The data are read from the folder in ``GDPPCA_EUROPE``;
without it this page shows made-up people in made-up countries.
"""

import os
import tempfile

import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np

from gdppca import DPPCA, studies
from gdppca.plots.labels import name_points

if "GDPPCA_EUROPE" in os.environ:
    result = studies.run("E6", quick=True, out=tempfile.mkdtemp())
    picture = matplotlib.image.imread(result.folder / "figure.png")
    figure = plt.figure(figsize=(picture.shape[1] / 130, picture.shape[0] / 130))
    figure.add_axes((0, 0, 1, 1)).imshow(picture)
    figure.axes[0].axis("off")
    for verdict in result.verdicts:
        print("seen    " if verdict.holds else "NOT SEEN", verdict.sentence)
        print("         ", verdict.numbers)
else:
    # Countries differ in a plane of twenty columns, as where people live shows in their genes.
    rng = np.random.default_rng(0)
    countries = [f"country {letter}" for letter in "ABCDEFGH"]
    where = rng.normal(size=(8, 2)) * 4
    whose = rng.integers(0, 8, 1387)
    plane = np.linalg.qr(rng.normal(size=(20, 2)))[0].T
    X = (where[whose] + rng.normal(size=(1387, 2))) @ plane + 0.5 * rng.normal(size=(1387, 20))
    exact = np.linalg.eigh(np.cov(X.T))[1][:, ::-1][:, :2].T
    private = DPPCA(n_components=2, epsilon=2.0, delta=1e-4, random_state=1).fit(X).components_
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    for axes, V, title in zip(panels, (exact, private), ("no privacy", "private"), strict=True):
        V = V * np.sign(np.sum(V * exact, axis=1))[:, None]
        scores = X @ V.T
        axes.scatter(*scores.T, c=whose, cmap="tab10", s=6, lw=0)
        name_points(axes, [scores[whose == k].mean(axis=0) for k in range(8)], countries)
        axes.set(title=f"{title} (made-up people)", xlabel="component 1", ylabel="component 2")
