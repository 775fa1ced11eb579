"""A second stage against one: a panel of settings, whole fits.

    python bench/second_stage.py simulated [--runs 20] [--first 0] [--only TEXT]
    python bench/second_stage.py real [--runs 20]
    python bench/second_stage.py coverage [--runs 20]

Every fit is one of ``DPPCA`` as a user makes it, with a private centre where rows are simulated, 5
off the origin in every column. Errors are sines of the largest angle: to the law's directions; of
real tables, to those of the same rows without noise, around a known centre. Every command prints a
table in Markdown.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from loadings import directions

from gdppca import DPPCA, sin_theta

DELTA = 1e-5
HEAD = "| setting | one | auto | ratio | two stages in | CPU time |\n|---|---|---|---|---|---|"


@dataclass(frozen=True)
class Setting:
    """A law, a shape of its directions, and a budget."""

    d: int
    n: int
    epsilon: float
    variances: tuple[float, ...] = (10.0, 5.0)
    law: str = "Gaussian"
    shape: str = "dense"
    how: dict = field(default_factory=dict)

    @property
    def name(self) -> str:
        asked = "".join(f", {word}" for word in self.how.values())
        many = "" if self.variances == (10.0, 5.0) else f", variances {self.variances}"
        return (
            f"{self.shape}, {self.law}, d={self.d}, n={self.n:,}, ε={self.epsilon:g}{many}{asked}"
        )

    def table(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows 5 off the origin in every column, and their directions."""
        m = len(self.variances)
        V = directions(self.shape, self.d, m, rng)
        X = rng.standard_normal((self.n, self.d))
        X += (X @ V * (np.sqrt(self.variances) - 1)) @ V.T
        if self.law == "t1":
            X /= np.abs(rng.standard_normal((self.n, 1)))
        if self.law.startswith("contaminated"):
            bad = int(float(self.law.split()[1]) * self.n)
            away = rng.standard_normal(self.d)
            away -= V @ (V.T @ away)
            X[:bad] = 25 * away / np.linalg.norm(away)
            X[:bad] += 0.05 * rng.standard_normal((bad, self.d))
        return X + 5, V.T


FIVE = (12.0, 10.0, 8.0, 6.0, 5.0)
AGAINST = {"neighbors": "add-remove"}
SHRUNK = {"loadings": "shrunk"}
SETTINGS = (
    Setting(400, 50_000, 1.0),
    Setting(400, 50_000, 1.0, how=AGAINST),
    Setting(100, 20_000, 0.5),
    Setting(100, 20_000, 0.5, law="t1"),
    Setting(100, 20_000, 0.5, how=AGAINST),
    Setting(100, 10_000, 1.0, FIVE),
    Setting(100, 10_000, 1.0, (10.0, 8.0, 6.0, 5.0, 4.0), law="t1"),
    Setting(50, 5000, 0.5),
    Setting(60, 10_000, 0.5, (10.0,)),
    Setting(60, 5000, 1.0, (20.0, 3.0), law="t1"),
    Setting(80, 20_000, 0.5, (6.0, 5.0, 4.0)),
    Setting(150, 10_000, 1.0, (10.0, 5.0, 4.0)),
    Setting(200, 30_000, 1.0, law="t1"),
    Setting(200, 20_000, 4.0),
    Setting(300, 20_000, 1.0, (30.0, 10.0)),
    Setting(100, 20_000, 0.5, (20.0, 10.0), law="contaminated 0.05"),
    Setting(60, 10_000, 0.5, (20.0, 10.0), law="contaminated 0.05"),
    Setting(100, 20_000, 0.5, law="contaminated 0.02"),
    Setting(200, 30_000, 1.0, (20.0, 10.0), law="contaminated 0.03"),
    Setting(100, 20_000, 0.5, how=SHRUNK),
    Setting(100, 20_000, 0.5, shape="half", how=SHRUNK),
    Setting(100, 20_000, 0.5, shape="half"),
    Setting(100, 20_000, 0.5, shape="blocks", how=SHRUNK),
    Setting(100, 20_000, 0.5, shape="power law", how=SHRUNK),
    Setting(100, 20_000, 0.5, shape="sparse", how=SHRUNK),
    Setting(100, 20_000, 0.5, shape="sparse"),
    Setting(200, 30_000, 1.0, law="t1", shape="half", how=SHRUNK),
    Setting(40, 5000, 0.5),
)


@dataclass
class Found:
    """Errors of one setting."""

    name: str
    errors: dict[str, list[float]] = field(default_factory=lambda: {"one": [], "auto": []})
    seconds: dict[str, float] = field(default_factory=lambda: {"one": 0.0, "auto": 0.0})
    staged: int = 0

    def fit(self, error: Callable[[DPPCA], float], X: np.ndarray, seed: int, **how) -> None:
        """Both fits of a table."""
        for stages, errors in self.errors.items():
            asked = {"loadings": "plain", "delta": DELTA, "random_state": seed, **how}
            pca = DPPCA(stages=stages, **asked)
            before = time.process_time()
            pca.fit(X)
            self.seconds[stages] += time.process_time() - before
            errors.append(error(pca))
        self.staged += pca.release_.second_stage is not None

    @property
    def row(self) -> str:
        one, auto = (np.mean(errors) for errors in self.errors.values())
        runs, (once, twice) = len(self.errors["one"]), self.seconds.values()
        return (
            f"| {self.name} | {one:.3f} | {auto:.3f} | {auto / one:.2f} "
            f"| {self.staged / runs:.0%} | {twice / once:.1f} |"
        )


def simulated(runs: int, first: int, only: str) -> Iterator[Found]:
    for setting in SETTINGS:
        if only not in setting.name:
            continue
        found, m = Found(setting.name), len(setting.variances)
        for seed in range(first, first + runs):
            X, truth = setting.table(np.random.default_rng(seed))
            how = {"n_components": m, "epsilon": setting.epsilon, **setting.how}
            found.fit(lambda pca, V=truth: sin_theta(pca.components_, V), X, seed, **how)
        yield found


def real_tables() -> Iterator[tuple[str, np.ndarray]]:
    """Wide tables that scikit-learn comes with: patches of photographs, digits, products."""
    from sklearn import datasets as real
    from sklearn.feature_extraction.image import extract_patches_2d
    from sklearn.preprocessing import PolynomialFeatures

    china = real.load_sample_image("china.jpg").astype(float).mean(axis=2)
    flower = real.load_sample_image("flower.jpg").astype(float)

    def patches(image: np.ndarray, size: int, number: int) -> np.ndarray:
        return extract_patches_2d(image, (size, size), max_patches=number, random_state=0)

    yield "china, 8 × 8", patches(china, 8, 20_000).reshape(20_000, -1)
    yield "china, differences", np.diff(patches(china, 12, 30_000), axis=2).reshape(30_000, -1)
    yield "flower, 6 × 6 × 3", patches(flower, 6, 20_000).reshape(20_000, -1)
    digits = real.load_digits().data
    yield "digits", digits
    yield "digits, ten times", np.tile(digits, (10, 1))
    for name, times in (("wine", 100), ("breast_cancer", 30), ("diabetes", 40)):
        X = getattr(real, f"load_{name}")().data
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        products = PolynomialFeatures(2, include_bias=False).fit_transform(X)[:, :150]
        yield f"{name}, products, {times} times", np.tile(products, (times, 1))


def real(runs: int, first: int) -> Iterator[Found]:
    for name, X in real_tables():
        X = X[:, X.std(axis=0) > 0]
        X = (X - np.median(X, axis=0)) / X.std(axis=0)
        n, d = X.shape
        how = {"location": np.zeros(d)}
        U = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
        V = np.linalg.eigh(U.T @ U / n)[1][:, ::-1].T
        for m, epsilon in ((1, 0.2), (1, 1.0), (2, 0.2), (2, 0.5), (2, 1.0), (3, 0.3), (5, 4.0)):
            found = Found(f"{name}, d={d}, n={n:,}, ε={epsilon:g}, m={m}")
            for seed in range(first, first + runs):
                fit = {"n_components": m, "epsilon": epsilon, **how}
                found.fit(lambda pca, V=V[:m]: sin_theta(pca.components_, V), X, seed, **fit)
            yield found


def coverage(runs: int, first: int) -> Iterator[str]:
    """How often 90 % intervals hold the loadings of the same rows around the true centre."""
    for setting in SETTINGS[:8]:
        inside, staged = [], 0
        for seed in range(first, first + runs):
            X, _ = setting.table(np.random.default_rng(seed))
            m = len(setting.variances)
            how = {"n_components": m, "epsilon": setting.epsilon, **setting.how}
            asked = {"loadings": "plain", "delta": DELTA, "random_state": seed, **how}
            pca = DPPCA(stages="auto", **asked).fit(X)
            if pca.release_.second_stage is None:
                continue
            staged += 1
            U = X - 5
            U /= np.linalg.norm(U, axis=1, keepdims=True)
            V = np.linalg.eigh(U.T @ U)[1][:, ::-1].T[:m]
            V *= np.sign(np.einsum("kd,kd->k", V, pca.components_))[:, None]
            lower, upper = pca.loading_intervals(0.9)
            inside.append(np.mean((lower <= V) & (upper >= V), axis=1))
        told = " / ".join(f"{share:.2f}" for share in np.mean(inside, axis=0)) if inside else ""
        yield f"| {setting.name} | {told} | {staged} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("simulated", "real", "coverage"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.what == "coverage":
        print("| setting | inside, by component | fits |\n|---|---|---|")
        for row in coverage(asked.runs, asked.first):
            print(row, flush=True)
        return
    print(HEAD)
    own = real(asked.runs, asked.first)
    if asked.what == "simulated":
        own = simulated(asked.runs, asked.first, asked.only)
    for found in own:
        print(found.row, flush=True)


if __name__ == "__main__":
    main()
