"""Mean sin Θ of pairs, private and public centre: the table of docs/guide/centre-and-scale.md.

Seeded simulations of the paper's spiked tables, centre 20 standard deviations from the origin in
every column, (ε, δ) = (0.5, 1e-5).
"""

import sys
import warnings
from pathlib import Path

import numpy as np

from gdppca import DPPCA, sin_theta

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from simulate import spiked

KINDS = ("gaussian", "t1", "contaminated")
ROWS = (500, 1000, 2000, 5000, 20_000, 50_000)
COLUMNS = (5, 10, 25, 100)
AWAY = 20.0


def errors(kind, n, d, seed):
    """sin Θ of pairs, private, auto and public on one table."""
    X, V = spiked(kind, n, d, seed)
    center = AWAY * np.sqrt(1 + 9 * V[0] ** 2 + 4 * V[1] ** 2)
    return [
        sin_theta(
            DPPCA(2, epsilon=0.5, delta=1e-5, location=location, random_state=seed)
            .fit(X + center)
            .components_,
            V,
        )
        for location in (None, "private", "auto", center)
    ]


def main():
    """Print a Markdown table."""
    warnings.simplefilter("ignore")
    print("| | rows | " + " | ".join(f"d = {d}" for d in COLUMNS) + " |")
    print("|---|---|" + "---|" * len(COLUMNS))
    for kind in KINDS:
        for n in ROWS:
            runs = 30 if n <= 2000 else 10 if n <= 5000 else 4
            cells = []
            for d in COLUMNS:
                mean = np.mean([errors(kind, n, d, seed) for seed in range(runs)], axis=0)
                cells.append(" / ".join(f"{value:.3f}" for value in mean))
            print(f"| {kind} | {n:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
