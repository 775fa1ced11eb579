"""
How sure are the loadings?
==========================

The law of the noise is public, so a release says itself how far its directions may be from those
without noise. A simulation: data and noise are seeded, so nobody is protected here.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from gdppca import DPPCA
from gdppca.plots import biplot, loadings
from gdppca.releases import release_intervals

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#6E6E6E"  # Okabe and Ito

# %%
# A table
# -------
# Two groups of measurements that go together, and two that do not, with heavy tails.

n = 1500
rng = np.random.default_rng(4)
heart, blood = rng.normal(size=(2, n, 1))
X = rng.normal(size=(n, 8))
X[:, :3] += heart * [2.0, 1.5, -1.0]
X[:, 3:6] += blood * [1.5, -1.2, 1.0]
X /= np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)

private = DPPCA(n_components=2, epsilon=0.5, delta=1e-6, random_state=3).fit(X)
exact = DPPCA(n_components=2, epsilon=math.inf, location=private.mean_).fit(X)
print(private.guarantee_)

# %%
# Loadings with intervals
# -----------------------
# From the release alone. On the left, where the loadings of the same rows without noise may be; on
# the right, where those of the population may be.

figure, panels = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained", sharex=True)
loadings(private.release_, panels[0], level=0.9)
loadings(private.release_, panels[1], level=0.9, sampling=True)

# %%
# Were they right?
# ----------------
# Here the fit without noise is known. About nine in ten of its loadings are inside.

found = release_intervals(private.release_, level=0.9)
sides = np.sign(np.sum(exact.components_ * private.components_, axis=1))[:, None]
true = sides * exact.components_
inside = (found.lower <= true) & (true <= found.upper)
print(f"{inside.sum()} of {inside.size} loadings are inside their intervals")

figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
columns = np.arange(1, 9)
for k, axes in enumerate(panels):
    axes.axhline(0, color=GREY, lw=0.8)
    axes.vlines(columns, found.lower[k], found.upper[k], color=ORANGE, lw=7, alpha=0.4)
    axes.plot(columns, private.components_[k], "_", color=ORANGE, ms=12, mew=2, label="released")
    axes.plot(columns, true[k], "o", color=BLUE, ms=4, label="without noise")
    axes.set(title=f"Component {k + 1}", xlabel="column", xticks=columns)
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("loading")
panels[1].legend(frameon=False)

# %%
# As arrows
# ---------
# The ellipse around each tip is its region.

figure, axes = plt.subplots(figsize=(5.5, 5.5), layout="constrained")
biplot(private.release_, axes)

# %%
# A smaller budget
# ----------------
# With ε = 0.1 and half of the rows nothing stands above the noise, and the picture says so: arrows
# are dashed and have no region.

weak = DPPCA(n_components=2, epsilon=0.1, delta=1e-6, random_state=3).fit(X[:750])
figure, axes = plt.subplots(figsize=(5.5, 5.5), layout="constrained")
biplot(weak.release_, axes)
plt.show()
