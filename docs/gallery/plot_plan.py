"""
Plan before you spend
=====================

How accurate will the directions be, and which budget is enough? Both follow from public numbers:
the shape of the table, the budget, and an idea of the variances. No row is needed.
"""

import matplotlib.pyplot as plt
import numpy as np

from gdppca import DPPCA, sin_theta
from gdppca.planning import plan
from gdppca.plots.curve import error_curve

# %%
# The plan
# --------
# Two thousand rows of 25 columns, with variances 10 and 5 along two directions and 1 along the
# others. The rows are compared in pairs, as in the paper.

ahead = plan(2000, 25, epsilon=0.5, delta=1e-6, spectrum="spiked:10,5", location=None)
print(*ahead.sentences, sep="\n")
print(f"epsilon = {ahead.required(0.2):g} would bring sin Θ to 0.2;")
print(f"so would {ahead.required(0.2, of='n_samples')} rows at epsilon = {ahead.epsilon:g}.")

# %%
# What a budget buys
# ------------------
# Comparing pairs of rows needs no centre. A private centre takes a part of the budget and halves
# the noise of the rest: it pays above a certain budget, and below it is not found.

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
error_curve(ahead, axes, target=0.2)

# %%
# Does it come true?
# ------------------
# A simulation with seeded noise, which protects nobody: twelve tables with Cauchy tails for each
# of five budgets, compared in pairs. The dots are single fits, the circles their means, and the
# line is the plan.


def heavy_rows(seed):
    """Rows from a multivariate t law with one degree of freedom."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(2000, 25)) * np.sqrt(ahead.spectrum.variances)
    return rows / np.abs(rng.normal(size=(2000, 1)))


true = np.eye(25)[:2]
budgets = [0.25, 0.5, 1.0, 2.0, 4.0]
seen = np.array(
    [
        [
            sin_theta(
                DPPCA(2, epsilon=epsilon, location=None, random_state=seed)
                .fit(heavy_rows(seed))
                .components_,
                true,
            )
            for seed in range(12)
        ]
        for epsilon in budgets
    ]
)

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
line = np.geomspace(0.2, 5.0, 15)
axes.plot(line, ahead.curve(line), color="#0072B2", lw=2, label="planned")
axes.plot(np.repeat(budgets, 12), seen.ravel(), ".", color="#6E6E6E", ms=4, label="one fit")
axes.plot(
    budgets, seen.mean(axis=1), "o", color="#D55E00", ms=9, mfc="none", mew=2, label="mean of 12"
)
axes.set_xscale("log")
axes.set_xticks(budgets, [f"{epsilon:g}" for epsilon in budgets])
axes.set_xticks([], minor=True)
axes.set(xlabel="privacy ε", ylabel="sin Θ", ylim=(0, 1.03), title="Planned and seen")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
