"""
A score map instead of a scatter plot
=====================================

A simulation: 6,000 made-up people from three regions. The scatter plot of their scores would show
every one of them; the map shows noisy counts. Data and noise are seeded, so nobody is protected
here.
"""

import matplotlib.pyplot as plt
import numpy as np

from gdppca import DPPCA
from gdppca.plots import score_heatmap, score_points
from gdppca.releases import score_map

# %%
# The table
# ---------
# Twelve columns. The regions differ in a plane; a third of the south lives in a cluster of its own.

n, d = 6000, 12
regions = ["north", "west", "south"]
rng = np.random.default_rng(4)
region = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
plane = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
middle = np.array([[-3.0, 1.0], [2.5, 2.5], [1.0, -3.5]])[region]
middle[(region == 2) & (rng.random(n) < 0.35)] = 7.0, -2.5
X = 0.7 * rng.normal(size=(n, d)) + (middle + rng.normal(size=(n, 2))) @ plane

pca = DPPCA(n_components=2, epsilon=1.0, delta=1e-6, random_state=1).fit(X)

# %%
# What may not be shown, and what may
# -----------------------------------
# On the left every point is a person. In the middle are noisy counts in a frame that was found
# privately, on the right made-up points that follow those counts.

shown = score_map(X, pca, epsilon=1.0, delta=1e-6, random_state=2)
print(shown)

figure, panels = plt.subplots(
    1, 3, figsize=(13, 4.4), sharex=True, sharey=True, layout="constrained"
)
panels[0].scatter(*pca.transform(X).T, s=2, color="#6E6E6E", lw=0)
score_heatmap(shown, panels[1])
score_points(shown, panels[2], random_state=0)
for axes, title in zip(panels, ("rows: not private", "private map", "made-up points"), strict=True):
    axes.set_title(title)

# %%
# By region
# ---------
# The names of the regions are public and declared. One person is in one cell of one region, so
# three maps need no more noise than one.

by_region = score_map(
    X,
    pca,
    groups=np.array(regions)[region],
    categories=regions,
    epsilon=1.0,
    delta=1e-6,
    random_state=3,
)
figure, panels = plt.subplots(
    1, 3, figsize=(13, 4.4), sharex=True, sharey=True, layout="constrained"
)
for k, axes in enumerate(panels):
    cells = score_heatmap(by_region, axes, group=k, highest=by_region.counts.max())
figure.colorbar(cells, ax=panels, label="rows in a cell, with noise", shrink=0.8, pad=0.02)

# %%
# ``score_figure(by_region)`` draws the same with its guarantee as a caption, for publication.

# %%
# How near is it?
# ---------------
# Total variation between the private map and the exact one in the same bins, for several budgets.
# `estimate` takes out the negative counts and keeps the total.

for epsilon in (0.2, 0.5, 1.0, 2.0):
    private = score_map(X, pca, bins=20, epsilon=epsilon, random_state=5)
    frame = (private.x_edges[[0, -1]], private.y_edges[[0, -1]])
    exact = score_map(X, pca, bins=20, frame=frame, epsilon=float("inf"))
    distance = 0.5 * np.abs(private.estimate() - exact.counts).sum() / n
    print(f"epsilon = {epsilon}: noise sd {private.noise_sd:4.1f} rows, distance {distance:.3f}")
