"""The paper's experiments, E1a to E12: what is drawn, what is compared, what is shown.

The default estimator is in every one but two: E12 fits nothing, and E1b is about pairs without
noise, where there is no budget for a centre and the default is "all pairs" itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca import theory
from gdppca.datasets import make_contaminated, make_elliptical, make_gamma, make_laplace
from gdppca.datasets.generators import Sample
from gdppca.linalg import sin_theta
from gdppca.studies.methods import (
    CENTRED,
    DEFAULT,
    DEFAULT_ZCDP,
    METHODS,
    TIGHT,
    TIGHT_ZCDP,
    Setting,
)

COMMON = {"epsilon": 0.5, "delta": 1e-5}
_ALL = ("sph", "wins", "AG", "SGPCA", "NSGGD", DEFAULT, TIGHT, CENTRED)


@dataclass(frozen=True)
class Study:
    """One experiment.

    `settings` lists the tables to draw, for the quick form and the full one; `runs` how often
    each; `methods` what is fitted to each table; `x`, `panels` and `rows` how the figure is
    arranged.
    """

    name: str
    title: str
    figure: str
    settings: Callable[[bool], list[Setting]]
    methods: tuple[str, ...]
    x: str
    panels: str
    rows: str | None = None
    runs: tuple[int, int] = (6, 100)
    loss: str = "sin Θ"
    run: Callable[[Study, Setting, int], list[dict[str, Any]]] | None = None

    def task(self, setting: Setting, seed: int) -> list[dict[str, Any]]:
        """Results of all methods on one table."""
        run = losses if self.run is None else self.run
        return run(self, setting, seed)


def grid(**choices: Iterable[Any]) -> list[Setting]:
    """Every combination, with the common budget where none is given."""
    names = list(choices)
    return [
        COMMON | dict(zip(names, values, strict=True))
        for values in itertools.product(*choices.values())
    ]


def draw(setting: Setting, seed: int) -> Sample:
    """The table of a setting."""
    kind, n, d = setting["kind"], setting["n"], setting["d"]
    if kind == "contaminated":
        knobs = {k: setting[k] for k in ("fraction", "shift") if k in setting}
        return make_contaminated(n, d, **knobs, random_state=seed)
    if kind == "laplace":
        return make_laplace(n, random_state=seed)
    if kind.startswith("gamma"):
        return make_gamma(n, reading=kind.split()[1], random_state=seed)
    law = "gaussian" if kind == "gaussian" else ("t", 1)
    return make_elliptical(n, d, law=law, random_state=seed)


_LOSSES = {"sin Θ": sin_theta, "‖VV' - UU'‖": theory.projector_distance}


def losses(study: Study, setting: Setting, seed: int) -> list[dict[str, Any]]:
    """Loss of every method on one table."""
    X, V = draw(setting, seed)
    return [
        {"method": name, "value": _LOSSES[study.loss](METHODS[name](X, setting, seed), V)}
        for name in study.methods
    ]


def _radius_quantiles(study: Study, setting: Setting, seed: int) -> list[dict[str, Any]]:
    """E12: quantiles of R/√d for t₁ by simulation, and exactly."""
    d, draws = setting["d"], setting["draws"]
    R = np.empty(draws)
    for start in range(0, draws, 10_000):
        size = min(10_000, draws - start)
        Z = make_elliptical(
            2 * size,
            d,
            law=("t", 1),
            spikes=(),
            components=np.empty((0, d)),
            random_state=seed + start,
        ).X
        R[start : start + size] = np.linalg.norm(Z[:size] - Z[size:], axis=1) / np.sqrt(2 * d)
    levels = np.arange(1, 10) / 10
    simulated = [
        {"method": f"q = {q:.1f}", "value": float(np.quantile(R, q)), "source": "simulated"}
        for q in levels
    ]
    exact = [
        {
            "method": f"q = {q:.1f}",
            "value": float(theory.pair_radius_quantile(q, d, ("t", 1)) / np.sqrt(d)),
            "source": "exact",
        }
        for q in levels
    ]
    return simulated + exact


def _europe(study: Study, setting: Setting, seed: int) -> list[dict[str, Any]]:
    """E6: angle to the non-private directions on the Europe data."""
    from gdppca.datasets import load_europe

    X = load_europe(setting["data"]).X
    exact = METHODS["covariance"](X, setting, seed)
    return [
        {"method": name, "value": sin_theta(METHODS[name](X, setting, seed), exact)}
        for name in study.methods
    ]


def _by_rows(kind: str) -> Callable[[bool], list[Setting]]:
    def settings(quick: bool) -> list[Setting]:
        sizes = (250, 1000, 2000) if quick else (250, 500, 750, 1000, 1500, 2000)
        return grid(kind=[kind], d=(5, 10, 25), n=sizes)

    return settings


def _zcdp_settings(quick: bool) -> list[Setting]:
    sizes = (250, 1500) if quick else (250, 500, 1000, 1500)
    settings = grid(kind=("gaussian", "t1"), rho=(0.1, 0.5), d=(10, 25), n=sizes)
    return [s | {"case": f"{s['kind']}, ρ = {s['rho']:g}"} for s in settings]


def _pair_settings(quick: bool) -> list[Setting]:
    sizes = (250, 1000, 2000) if quick else (250, 500, 750, 1000, 1500, 2000)
    return grid(kind=["gaussian"], d=[25], n=sizes)


def _epsilon_settings(quick: bool) -> list[Setting]:
    budgets = (0.1, 0.5, 4.0) if quick else (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
    kinds = ("gaussian", "t1", "contaminated")
    return grid(kind=kinds, d=[10], n=[2000], epsilon=budgets)


def _radius_settings(quick: bool) -> list[Setting]:
    sizes = (500, 2000) if quick else (250, 500, 750, 1000, 1500, 2000)
    return grid(kind=("gaussian", "t1"), d=(10, 25) if quick else (5, 10, 25), n=sizes)


def _shift_settings(quick: bool) -> list[Setting]:
    ratios = (0.5, 1.0, 2.5, 5.0) if quick else (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
    return grid(kind=["contaminated"], d=[10], n=[1000], shift=[10 * ratio for ratio in ratios])


def _fraction_settings(quick: bool) -> list[Setting]:
    fractions = (0.025, 0.075, 0.15) if quick else (0.025, 0.05, 0.075, 0.1, 0.125, 0.15)
    return grid(kind=["contaminated"], d=[10], n=[2000], fraction=fractions)


def _other_settings(quick: bool) -> list[Setting]:
    sizes = (250, 1500) if quick else (250, 500, 750, 1000, 1500)
    return grid(kind=("laplace", "gamma scale", "gamma rate"), d=[5], n=sizes)


def _dimension_settings(quick: bool) -> list[Setting]:
    dimensions = (25, 100, 200) if quick else tuple(range(25, 201, 25))
    return grid(kind=["t1"], d=dimensions, draws=[20_000 if quick else 100_000])


def _europe_settings(quick: bool) -> list[Setting]:
    return [{"kind": "europe", "epsilon": 2.0, "delta": 1e-4}]


_RADII = ("r = 1", "r = √d", "r = d")
_EXACT_Q = tuple(f"exact Q{k}" for k in (1, 2, 3))
_PRIVATE_Q = tuple(f"private Q{k}" for k in (1, 2, 3))

STUDIES = {
    study.name: study
    for study in (
        Study(
            "E1a", "GSSCM around a private mean against g-DPPCA", "1(a), B.1", _zcdp_settings,
            ("g-DPPCA sph", "g-DPPCA wins", "GSSCM sph", "GSSCM wins", "GSSCM sph, our mean",
             DEFAULT_ZCDP, TIGHT_ZCDP),
            x="n", panels="d", rows="case", runs=(5, 25), loss="‖VV' - UU'‖",
        ),
        Study(
            "E1b", "All pairs against paired halves, without noise", "1(b)", _pair_settings,
            ("all pairs", "halves", "blocks of 64"), x="n", panels="d", loss="‖VV' - UU'‖",
        ),
        Study("E2", "Gaussian", "2", _by_rows("gaussian"), _ALL, x="n", panels="d"),
        Study("E3", "Multivariate Cauchy, t₁", "3", _by_rows("t1"), _ALL, x="n", panels="d"),
        Study(
            "E4", "5 % contaminated Gaussian", "4", _by_rows("contaminated"), _ALL,
            x="n", panels="d",
        ),
        Study(
            "E5", "Loss against ε", "5", _epsilon_settings,
            (*_ALL, "sph, exact", "wins, exact", "AG, exact", "SGPCA, exact", "NSGGD, exact"),
            x="epsilon", panels="kind", runs=(4, 100),
        ),
        Study(
            "E6", "Europe map", "6", _europe_settings, ("sph", "NSGGD", DEFAULT, TIGHT, CENTRED),
            x="epsilon", panels="kind", runs=(8, 50), run=_europe,
        ),
        Study(
            "E7", "Winsorisation radius: fixed, exact and private quantiles", "B.2, B.3",
            _radius_settings, (*_RADII, *_EXACT_Q, *_PRIVATE_Q, DEFAULT, TIGHT),
            x="n", panels="d", rows="kind",
        ),
        Study(
            "E8", "Winsorisation radius r = c√d", "B.4", _radius_settings,
            (*(f"c = {c:g}" for c in (0.25, 0.5, 1, 1.5, 2)), DEFAULT, TIGHT),
            x="n", panels="d", rows="kind",
        ),
        Study(
            "E9", "How far the bad rows lie", "B.5(a)", _shift_settings, _ALL,
            x="shift", panels="d",
        ),
        Study(
            "E10", "How many bad rows", "B.5(b)", _fraction_settings, _ALL,
            x="fraction", panels="d",
        ),
        Study(
            "E11", "Laplace and Gamma", "B.6", _other_settings, _ALL, x="n", panels="kind",
        ),
        Study(
            "E12", "Quantiles of R/√d for t₁", "C.1", _dimension_settings,
            tuple(f"q = {k / 10:.1f}" for k in range(1, 10)),
            x="d", panels="kind", runs=(1, 1), loss="quantile of R/√d", run=_radius_quantiles,
        ),
    )
}  # fmt: skip
