"""The paper's experiments, E1a to E12: what is drawn, what is compared, what is shown.

The default estimator is in every one but two: E12 fits nothing, and E1b is about pairs without
noise, where there is no budget for a centre and the default is "all pairs" itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gdppca import datasets, theory
from gdppca.linalg import sin_theta
from gdppca.studies.methods import (
    CENTRED,
    DEFAULT,
    DEFAULT_ZCDP,
    METHODS,
    NO_PRIVACY,
    TIGHT,
    TIGHT_ZCDP,
    Setting,
)

COMMON = {"epsilon": 0.5, "delta": 1e-5}
_PAPERS = ("sph", "wins", "AG", "SGPCA", "NSGGD")
_PRIVATE = (*_PAPERS, DEFAULT, TIGHT, CENTRED)
_ALL = (*_PRIVATE, NO_PRIVACY)


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

    def compared(self, setting: Setting) -> tuple[str, ...]:
        """Methods of a setting: without noise (ε = ∞) those that draw none, else the others."""
        if not any(name.endswith(", exact") for name in self.methods):
            return self.methods
        exact = [name.endswith(", exact") or name == NO_PRIVACY for name in self.methods]
        wanted = math.isinf(setting["epsilon"])
        return tuple(m for m, e in zip(self.methods, exact, strict=True) if e == wanted)

    def task(self, setting: Setting, seed: int) -> list[dict[str, Any]]:
        """Results of all methods on one table."""
        return (self.run or losses)(self, setting, seed)


def grid(**choices: Iterable[Any]) -> list[Setting]:
    """Every combination, with the common budget where none is given."""
    cells = itertools.product(*choices.values())
    return [COMMON | dict(zip(choices, values, strict=True)) for values in cells]


def draw(setting: Setting, seed: int) -> datasets.Sample:
    """The table of a setting."""
    kind, n, d = setting["kind"], setting["n"], setting["d"]
    if kind == "contaminated":
        knobs = {k: setting[k] for k in ("fraction", "shift") if k in setting}
        return datasets.make_contaminated(n, d, **knobs, random_state=seed)
    if kind == "laplace":
        return datasets.make_laplace(n, random_state=seed)
    if kind.startswith("gamma"):
        return datasets.make_gamma(n, reading=kind.split()[1], random_state=seed)
    law = "gaussian" if kind == "gaussian" else ("t", 1)
    return datasets.make_elliptical(n, d, law=law, random_state=seed)


_LOSSES = {"sin Θ": sin_theta, "‖VV' - UU'‖": theory.projector_distance}


def losses(study: Study, setting: Setting, seed: int) -> list[dict[str, Any]]:
    """Loss of every method on one table."""
    return _compared(study, *draw(setting, seed), setting, seed)


def _compared(
    study: Study, X: np.ndarray, V: np.ndarray, setting: Setting, seed: int
) -> list[dict[str, Any]]:
    loss, methods = _LOSSES[study.loss], study.compared(setting)
    return [{"method": m, "value": loss(METHODS[m](X, setting, seed), V)} for m in methods]


def _europe(study: Study, setting: Setting, seed: int) -> list[dict[str, Any]]:
    """E6: angle to the non-private directions on the Europe data."""
    X = datasets.load_europe(setting["data"]).X
    return _compared(study, X, METHODS[NO_PRIVACY](X, setting, seed), setting, seed)


def radius_quantiles(study: Study, setting: Setting, seed: int) -> list[dict[str, Any]]:
    """E12: quantiles of R/√d for t₁ by simulation, and exactly."""
    d, draws = setting["d"], setting["draws"]
    round_law: dict[str, Any] = {"law": ("t", 1), "spikes": (), "components": np.empty((0, d))}
    R = []
    for start in range(0, draws, 10_000):
        size = min(10_000, draws - start)
        Z = datasets.make_elliptical(2 * size, d, **round_law, random_state=seed + start).X
        R.append(np.linalg.norm(Z[:size] - Z[size:], axis=1) / np.sqrt(2 * d))
    levels = np.arange(1, 10) / 10
    exact = [theory.pair_radius_quantile(q, d, ("t", 1)) / np.sqrt(d) for q in levels]
    return [
        {"method": f"q = {q:.1f}", "value": float(value), "source": source}
        for source, values in (
            ("simulated", np.quantile(np.concatenate(R), levels)),
            ("exact", exact),
        )
        for q, value in zip(levels, values, strict=True)
    ]


class _Forms(NamedTuple):
    """Values of the quick form of a study, and of the full one."""

    quick: Iterable[Any]
    full: Iterable[Any]


def _settings(**choices: Iterable[Any]) -> Callable[[bool], list[Setting]]:
    """The grid of either form."""

    def settings(quick: bool) -> list[Setting]:
        form = 0 if quick else 1
        return grid(**{k: v[form] if isinstance(v, _Forms) else v for k, v in choices.items()})

    return settings


def _zcdp_settings(quick: bool) -> list[Setting]:
    sizes = (250, 1500) if quick else (250, 500, 1000, 1500)
    settings = grid(kind=("gaussian", "t1"), rho=(0.1, 0.5), d=(10, 25), n=sizes)
    return [s | {"case": f"{s['kind']}, ρ = {s['rho']:g}"} for s in settings]


_FULL_SIZES = (250, 500, 750, 1000, 1500, 2000)
_SIZES = _Forms((250, 1000, 2000), _FULL_SIZES)
_EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, math.inf)
_LONG_SIZES = (*_FULL_SIZES, 5000, 10_000, 20_000, 50_000)
_RADIUS_SETTINGS = _settings(
    kind=("gaussian", "t1"), d=_Forms((10, 25), (5, 10, 25)), n=_Forms((500, 2000), _FULL_SIZES)
)
_RADII = ("r = 1", "r = √d", "r = d")
_QUANTILES = (*(f"exact Q{k}" for k in (1, 2, 3)), *(f"private Q{k}" for k in (1, 2, 3)))

STUDIES = {
    study.name: study
    for study in (
        Study(
            "E1a", "GSSCM around a private mean against g-DPPCA", "1(a), B.1", _zcdp_settings,
            ("g-DPPCA sph", "g-DPPCA wins", "GSSCM sph", "GSSCM wins", "GSSCM sph, our mean",
             DEFAULT_ZCDP, TIGHT_ZCDP, NO_PRIVACY),
            x="n", panels="d", rows="case", runs=(5, 25), loss="‖VV' - UU'‖",
        ),
        Study(
            "E1b", "All pairs against paired halves, without noise", "1(b)",
            _settings(kind=["gaussian"], d=[25], n=_SIZES),
            ("all pairs", "halves", "blocks of 64", NO_PRIVACY), x="n", panels="d",
            loss="‖VV' - UU'‖",
        ),
        Study(
            "E2", "Gaussian", "2", _settings(kind=["gaussian"], d=(5, 10, 25), n=_SIZES), _ALL,
            x="n", panels="d",
        ),
        Study(
            "E3", "Multivariate Cauchy, t₁", "3",
            _settings(kind=["t1"], d=(5, 10, 25), n=_SIZES), _ALL, x="n", panels="d",
        ),
        Study(
            "E4", "5 % contaminated Gaussian", "4",
            _settings(kind=["contaminated"], d=(5, 10, 25), n=_SIZES), _ALL, x="n", panels="d",
        ),
        Study(
            "E4b", "5 % contaminated Gaussian, beyond the paper's n", "4, longer",
            _settings(kind=["contaminated"], d=[25], n=_Forms((250, 2000, 10_000), _LONG_SIZES)),
            ("sph, blocks of 64", "wins, blocks of 64", "AG", "SGPCA", DEFAULT, "blocks of 64",
             NO_PRIVACY),
            x="n", panels="d", runs=(3, 50),
        ),
        Study(
            "E5", "Loss against ε", "5",
            _settings(
                kind=("gaussian", "t1", "contaminated"), d=[10], n=[2000],
                epsilon=_Forms((0.1, 0.5, 4.0, math.inf), _EPSILONS),
            ),
            (*_ALL, *(f"{name}, exact" for name in _PAPERS)),
            x="epsilon", panels="kind", runs=(4, 100),
        ),
        Study(
            "E6", "Europe map", "6",
            lambda quick: [{"kind": "europe", "epsilon": 2.0, "delta": 1e-4}],
            ("sph", "NSGGD", DEFAULT, TIGHT, CENTRED),
            x="epsilon", panels="kind", runs=(8, 50), run=_europe,
        ),
        Study(
            "E7", "Winsorisation radius: fixed, exact and private quantiles", "B.2, B.3",
            _RADIUS_SETTINGS, (*_RADII, *_QUANTILES, DEFAULT, TIGHT, NO_PRIVACY),
            x="n", panels="d", rows="kind",
        ),
        Study(
            "E8", "Winsorisation radius r = c√d", "B.4", _RADIUS_SETTINGS,
            (*(f"c = {c:g}" for c in (0.25, 0.5, 1, 1.5, 2)), DEFAULT, TIGHT, NO_PRIVACY),
            x="n", panels="d", rows="kind",
        ),
        Study(
            "E9", "How far the bad rows lie", "B.5(a)",
            _settings(
                kind=["contaminated"], d=[10], n=[1000],
                shift=_Forms((5.0, 10.0, 25.0, 50.0), [5.0 * k for k in range(1, 11)]),
            ),
            _ALL, x="shift", panels="d",
        ),
        Study(
            "E10", "How many bad rows", "B.5(b)",
            _settings(
                kind=["contaminated"], d=[10], n=[2000],
                fraction=_Forms((0.025, 0.075, 0.15), (0.025, 0.05, 0.075, 0.1, 0.125, 0.15)),
            ),
            _ALL, x="fraction", panels="d",
        ),
        Study(
            "E11", "Laplace and Gamma", "B.6",
            _settings(
                kind=("laplace", "gamma scale", "gamma rate"), d=[5],
                n=_Forms((250, 1500), (250, 500, 750, 1000, 1500)),
            ),
            _ALL, x="n", panels="kind",
        ),
        Study(
            "E12", "Quantiles of R/√d for t₁", "C.1",
            _settings(
                kind=["t1"], d=_Forms((25, 100, 200), range(25, 201, 25)),
                draws=_Forms([20_000], [100_000]),
            ),
            tuple(f"q = {k / 10:.1f}" for k in range(1, 10)),
            x="d", panels="kind", runs=(1, 1), loss="quantile of R/√d", run=radius_quantiles,
        ),
    )
}  # fmt: skip
