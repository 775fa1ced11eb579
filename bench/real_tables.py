"""Accuracy on tables as people have them: the tables of docs/guide/real-tables.md.

Seeded simulations at (1, 1e-6), but for add-remove at (0.5, 1e-6); some minutes in all. Mean sin Θ
of two components, if nothing else is said. `python bench/real_tables.py gaps` prints one table.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

from gdppca import DPPCA, sin_theta
from gdppca._errors import ParameterError

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from real_tables import Mixed, Spiked, frame, guessed, one_each, visits

RUNS = 60


def sine(truth, X, seed, *, epsilon=1.0, fit=None, **parameters):
    """sin Θ of a fit; none where it is refused."""
    pca = fitted(X, seed, epsilon=epsilon, fit=fit, **parameters)
    return np.nan if pca is None else sin_theta(pca.components_, truth)


def fitted(X, seed, *, epsilon=1.0, fit=None, **parameters):
    """A seeded fit; none where public numbers refuse it."""
    pca = DPPCA(2, epsilon=epsilon, delta=1e-6, random_state=seed, **parameters)
    try:
        return pca.fit(X, **(fit or {}))
    except ParameterError:
        return None


def table(heads, rows):
    """Print a Markdown table: a name and the means of several runs in every row."""
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for name, values in rows:
        cells = ["refused" if np.isnan(x) else f"{x:.3f}".lstrip("0") for x in values]
        print("| " + " | ".join([name, *cells]) + " |", flush=True)
    print()


def mean(runs, one, *case):
    """Means over seeds of what is found in a case."""
    return np.mean([one(seed, *case) for seed in range(runs)], axis=0)


def persons():
    """All visits by weight, one random visit of each person, means per person."""

    def one(seed, n, epsilon):
        X, ids, V = visits(n, seed)
        sums = np.add.reduceat(X, np.flatnonzero(np.diff(ids, prepend=-1)))  # ids are in order
        return [
            sine(V, X, seed, epsilon=epsilon, fit={"persons": ids}),
            sine(V, X[one_each(ids, seed)], seed, epsilon=epsilon),
            sine(V, sums / np.bincount(ids)[:, None], seed, epsilon=epsilon),
        ]

    cases = ((312, 2), (1000, 1), (5000, 1), (5000, 2))
    rows = (
        (f"{n:,} persons, ε = {eps}", mean(RUNS // (1 + n // 2000), one, n, eps))
        for n, eps in cases
    )
    table(["", "`persons=`", "one visit each", "mean of each"], rows)


def gaps():
    """Missing cells: at a known centre, with a private one, and beside other wishes."""

    def one(seed, d, n, missing):
        case = Spiked.of(n, d, seed)
        rows = case.with_gaps(case.rows, missing)
        rates = {"missing": "rates"}
        return [
            sine(case.truth, rows, seed, location=np.zeros(d), **rates),
            sine(case.truth, rows + case.centre, seed, **rates),
            sine(case.truth, rows + case.centre, seed, neighbors="add-remove", **rates),
            sine(case.truth, case.rows + case.centre, seed),
        ]

    cases = ((10, 2000, 0.4), (10, 20_000, 0.4), (25, 20_000, 0.4), (25, 20_000, None))
    names = {0.4: "40 %", None: "0 to 60 %"}
    rows = (
        (
            f"d = {d}, n = {n:,}, {names[q]}",
            mean(RUNS // (1 + n // 3000), one, d, n, q),
        )
        for d, n, q in cases
    )
    heads = ["", "public centre", "private centre", "add-remove", "nothing missing"]
    table(heads, rows)


def variances():
    """Variances over the true ones, without noise, by share of missing cells."""

    def one(seed, d, missing):
        case = Spiked.of(20_000, d, seed)
        rows = case.with_gaps(case.rows + case.centre, missing)
        pca = DPPCA(
            2, epsilon=np.inf, delta=1e-6, missing="rates", location="private", random_state=seed
        )
        return pca.fit_release(rows, variances=0.1).variances / [10, 5]

    rows = (
        (f"d = {d}, {missing:.0%}", mean(6, one, d, missing))
        for d in (10, 25)
        for missing in (0.0, 0.2, 0.4)
    )
    table(["", "first", "second"], rows)


def centres():
    """A typical value, off by up to so many standard deviations."""

    def one(seed, d, n):
        case = Spiked.of(n, d, seed)
        X = frame(case.rows + case.centre)
        told = [{"description": guessed(case.typical(off))} for off in (1, 3)]
        return [
            sine(case.truth, X, seed),
            *(sine(case.truth, X, seed, fit=fit) for fit in told),
            sine(case.truth, X, seed, location=case.centre),
        ]

    cases = ((10, 300), (10, 500), (25, 500), (25, 1000))
    rows = ((f"d = {d}, n = {n:,}", mean(RUNS, one, d, n)) for d, n in cases)
    table(["", "nothing said", "off by up to 1", "off by up to 3", "known"], rows)


def scales():
    """Spreads in units from 1 to 1000, guessed up to a factor."""

    def one(seed, d, n):
        case = Spiked.of(n, d, seed)
        truth, found = case.scaled_truth, []
        found.append(sine(truth, case.in_units, seed, scale="private"))
        for off, factor in ((1, 1.25), (1, 2), (3, 4)):
            told = case.in_units_guessed(off, factor)
            found.append(sine(truth, told.pop("X"), seed, scale="private", fit=told))
        public = {"scale": case.unit, "location": case.centre / case.spread * case.unit}
        return [*found, sine(truth, case.in_units, seed, **public)]

    cases = ((10, 500), (10, 1000), (25, 1000), (10, 3000), (25, 3000))
    rows = ((f"d = {d}, n = {n:,}", mean(RUNS, one, d, n)) for d, n in cases)
    table(["", "nothing said", "1.25", "2", "4, and 3 from the centre", "known"], rows)


def categories():
    """The smaller correlation of two scores with two factors; larger is better."""

    def one(seed, n):
        case = Mixed.of(n, seed)
        told = case.described
        fits = (
            (case.numbers, fitted(case.numbers, seed)),
            (case.indicators, fitted(case.indicators, seed)),
            (case.indicators, fitted(case.indicators, seed, scale="private")),
            (case.indicators, fitted(told.pop("X"), seed, fit=told)),
        )
        return [
            np.nan
            if pca is None
            else case.followed(
                rows / (1.0 if pca.scale_ is None else pca.scale_) @ pca.components_.T
            )
            for rows, pca in fits
        ]

    rows = ((f"n = {n:,}", mean(RUNS // (1 + n // 2000), one, n)) for n in (1000, 3000, 20_000))
    table(["", "numbers alone", "0 and 1", "private scales", "declared levels"], rows)


def sizes():
    """Add-remove beside replace-one, and the error of the estimated number of rows."""

    def one(seed, d, n):
        case = Spiked.of(n, d, seed)
        X = case.rows + case.centre
        both = [
            fitted(X, seed, epsilon=0.5, neighbors=neighbors)
            for neighbors in ("replace-one", "add-remove")
        ]
        return [*(sin_theta(pca.components_, case.truth) for pca in both), both[1].n_samples_ - n]

    cases = [(d, n) for d in (10, 25) for n in (1000, 2000, 5000)]
    print("| | replace-one | add-remove | error of n |\n|---|---|---|---|")
    for d, n in cases:
        found = np.array([one(seed, d, n) for seed in range(RUNS)])
        a, b, off = (*found[:, :2].mean(axis=0), np.sqrt(np.mean(found[:, 2] ** 2)))
        line = f"| d = {d}, n = {n:,} | {a:.3f} | {b:.3f} | {off:.0f} |"
        print(line.replace(" 0.", " ."), flush=True)
    print()


TABLES = (persons, gaps, variances, centres, scales, categories, sizes)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for each in TABLES:
        if len(sys.argv) == 1 or each.__name__ in sys.argv[1:]:
            print(f"{each.__doc__}\n")
            each()
