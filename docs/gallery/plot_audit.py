"""
Audit a promise
===============

Does the code keep what the proof says? An attacker who knows everything but one row guesses between
two neighbouring tables, from real releases. No row of anybody is needed and nothing is spent.
"""

import matplotlib.pyplot as plt
import numpy as np

from gdppca import DPPCA
from gdppca.auditing import METHODS, audit, experiment_for
from gdppca.plots.audit import score_distributions, trade_off

# %%
# The worst pair
# --------------
# All rows lie at one point but one, which lies in this direction or in that: no replaced row moves
# the matrix further.

pca = DPPCA(n_components=1, epsilon=4.0, delta=1e-5)
experiment = experiment_for(pca)
print(experiment.tables[0][:2], experiment.tables[1][:2], sep="\n\n")

# %%
# The audit
# ---------
# Three thousand fits with secure noise, each on one of the tables by the toss of a coin. More
# fits bring the lower bound nearer to the claim. The thin line is what was seen, chance included;
# the thick one allows for chance, and would have to enter the shade to refute the claim.

found = audit(pca, runs=3000)
print(*found.sentences, sep="\n")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
score_distributions(*found.scores, left)
trade_off(*found.scores, found.curves, right)

# %%
# A release of one's own
# ----------------------
# A release says how it was made, so its own design can be attacked at its own ε. Whole runs are
# overheard, and the noise of their draws is drawn again and again. The band is what the attacker
# reaches; it narrows with the number of guesses.

X = np.random.default_rng(0).normal(size=(2000, 6)) * [5, 3, 1, 1, 1, 1]
release = DPPCA(n_components=2, epsilon=1.0).fit(X).release_
found = audit(release, runs=20_000)
print(*found.sentences, sep="\n")

found.figure()

# %%
# A promise that is not kept
# --------------------------
# A published baseline divides the rows by their own largest norm, so one row moves everything.
# It asks for the same ε, and its audit refutes that at once; its guarantee says "none".

printed = audit(METHODS["analyze-gauss-printed"](4.0, 1e-5), runs=1000)
print(*printed.sentences, sep="\n")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
score_distributions(*printed.scores, left)
trade_off(*printed.scores, printed.curves, right)
plt.show()
