"""
First fit on heavy tails
========================

A simulation: 3,000 rows from a multivariate t law with one degree of freedom, which has no mean
and no variance. Both the data and the noise are seeded, so nobody is protected here.
"""

import math

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from gdppca import DPPCA, sin_theta
from gdppca.plots.scree import scree

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#6E6E6E"  # Okabe and Ito

# %%
# The table
# ---------
# Ten columns. Two directions carry more than the rest: 10 and 5, where the others have 1.

n, d = 3000, 10
rng = np.random.default_rng(1)
true = np.zeros((2, d))
true[0, :4] = 0.5
true[1, :4] = 0.5, -0.5, 0.5, -0.5
gaussian = rng.normal(size=(n, d))
gaussian += (math.sqrt(10) - 1) * np.outer(gaussian @ true[0], true[0])
gaussian += (math.sqrt(5) - 1) * np.outer(gaussian @ true[1], true[1])
X = gaussian / np.abs(rng.normal(size=(n, 1)))

# %%
# Three fits
# ----------
# With noise for ε = 1, without noise, and ordinary PCA from scikit-learn.

private = DPPCA(n_components=2, epsilon=1.0, delta=1e-6, random_state=1).fit(X)
exact = DPPCA(n_components=2, epsilon=math.inf).fit(X)
ordinary = PCA(n_components=2).fit(X)
print(private.guarantee_)

# %%
# The spectrum
# ------------
# Eigenvalues of the released matrix. The band is where the remaining components lie, if they are
# equal but for the noise. Two stand above it. All of this is post-processing and costs no budget.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
scree(private.release_, axes)
axes.set_ylim(bottom=0)

# %%
# The directions
# --------------
# Loadings of the two components. The private fit stays close to the fit without noise. Ordinary
# PCA follows a few enormous rows.


def aligned(component, reference):
    """The same direction, turned to the side of the reference."""
    return component if component @ reference >= 0 else -component


figure, panels = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
columns = np.arange(1, d + 1)
fits = [
    ("ordinary PCA", ordinary, {"marker": "x", "color": GREY, "ms": 7, "mew": 1.5}),
    ("DPPCA, no noise", exact, {"marker": "o", "color": BLUE, "ms": 10, "mfc": "none"}),
    ("DPPCA, ε = 1", private, {"marker": "o", "color": ORANGE, "ms": 5}),
]
for k, axes in enumerate(panels):
    axes.axhline(0, color=GREY, lw=0.8)
    axes.hlines(true[k], columns - 0.4, columns + 0.4, color="black", lw=1.5, label="truth")
    for name, pca, style in fits:
        angle = sin_theta(pca.components_, true)
        loadings = aligned(pca.components_[k], true[k])
        axes.plot(columns, loadings, ls="none", label=f"{name}: sin Θ = {angle:.2f}", **style)
    axes.set(title=f"Component {k + 1}", xlabel="column", xticks=columns)
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("loading")
figure.legend(
    *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
)
plt.show()
