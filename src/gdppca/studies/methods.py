"""The methods that the studies compare.

The paper's have the names of its legends: "sph" and "wins" are its own method, the pair statistic
with the noise that it states. Beside them stand the pair statistic with tight noise, the same sign
around a public centre, and what `DPPCA` does if nothing is asked for. Each takes a table and its
setting and returns directions as rows. Noise is seeded: studies are simulations. Everything goes
through the front door of the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gdppca.estimators import DPPCA, NSGGD, SGPCA, AnalyzeGauss, SignCovariancePCA
from gdppca.privacy.accounting import gaussian_epsilon

Setting = dict[str, Any]
Method = Callable[[np.ndarray, Setting, int], np.ndarray]

DEFAULT = "default (private centre where it pays)"
TIGHT = "pairs with tight noise"
CENTRED = "public centre with tight noise"
DEFAULT_ZCDP = "default for zCDP (private centre where it pays)"
TIGHT_ZCDP = "pairs with tight noise for zCDP"
NO_PRIVACY = "no privacy (covariance)"
BEYOND = (DEFAULT, TIGHT, CENTRED, DEFAULT_ZCDP, TIGHT_ZCDP)  # what the paper does not have


def _fit(estimator: Any = DPPCA, budget: str = "epsilon", **parameters: Any) -> Method:
    """An estimator at the budget of the setting; a parameter may be a rule (table, setting)."""

    def directions(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
        given = {name: setting[name] for name in (budget, "delta")}
        given |= {k: v(X, setting) if callable(v) else v for k, v in parameters.items()}
        components: np.ndarray = estimator(2, random_state=seed, **given).fit(X).components_
        return components

    return directions


def _pairs(**parameters: Any) -> Method:
    """Pairs of rows, all if none are named, with the noise that the paper states."""
    return _fit(**{"location": None, "calibration": "paper", "pairs": "all"} | parameters)


def _winsor(radius: Any, **parameters: Any) -> Method:
    return _pairs(sign="winsor", radius=radius, **parameters)


def _without_noise(method: Method) -> Method:
    return lambda X, setting, seed: method(X, setting | {"epsilon": math.inf}, seed)


def oracle_eigenvalues(setting: Setting) -> np.ndarray:
    """Population eigenvalues that SGPCA is given."""
    if setting["kind"] == "laplace":
        return 2 * np.array([100.0, 36.0, 1.0, 1.0, 1.0])
    if setting["kind"].startswith("gamma"):
        spike = 1 + 2 * (2.0 if setting["kind"] == "gamma scale" else 0.5)
        return np.array([spike, spike, 1.0, 1.0, 1.0])
    return np.array([10.0, 5.0] + [1.0] * (setting["d"] - 2))


def _exact_quantile(X: np.ndarray, q: float) -> float:
    """Quantile of the lengths of the paired differences, which is not private."""
    half = len(X) // 2
    lengths = np.linalg.norm(X[half : 2 * half] - X[:half], axis=1) / math.sqrt(2)
    return float(np.quantile(lengths, q))


def _zcdp(method: Method, noise: float) -> Method:
    """A method at a zCDP budget: `noise` is 2 for the paper's sensitivity, √2 for the tight one."""

    def fit(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
        multiplier = noise / math.sqrt(2) / math.sqrt(2 * setting["rho"])
        epsilon = gaussian_epsilon(multiplier, setting["delta"])
        return method(X, setting | {"epsilon": epsilon}, seed)

    return fit


def _gsscm(sign: str, location: str = "pmwm-published") -> Method:
    return _fit(SignCovariancePCA, "rho", sign=sign, location=location, noise="printed")


def _covariance(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
    centred = X - X.mean(axis=0)
    return np.linalg.eigh(centred.T @ centred)[1][:, :-3:-1].T


_TIGHT = _fit(location=None)
_PAPER: dict[str, Method] = {
    "sph": _pairs(),
    "wins": _winsor("sqrt_d"),
    "AG": _fit(AnalyzeGauss),
    "SGPCA": _fit(SGPCA, eigenvalues=lambda X, setting: oracle_eigenvalues(setting)),
    "NSGGD": _fit(NSGGD),
}

METHODS: dict[str, Method] = {
    **_PAPER,
    **{f"{name}, exact": _without_noise(method) for name, method in _PAPER.items()},
    DEFAULT: _fit(),
    TIGHT: _TIGHT,
    CENTRED: _fit(location=lambda X, setting: np.zeros(X.shape[1])),
    "all pairs": _without_noise(_fit(location=None, pairs="all")),
    "halves": _without_noise(_fit(location=None, pairs="halves")),
    "blocks of 64": _without_noise(_fit(location=None, pairs=64)),
    "g-DPPCA sph": _zcdp(_fit(location=None, pairs="all"), 2),
    "g-DPPCA wins": _zcdp(_fit(location=None, sign="winsor", radius="sqrt_d", pairs="all"), 2),
    "GSSCM sph": _gsscm("spherical"),
    "GSSCM wins": _gsscm("winsor"),
    "GSSCM sph, our mean": _gsscm("spherical", "pmwm"),
    DEFAULT_ZCDP: _zcdp(_fit(), math.sqrt(2)),
    TIGHT_ZCDP: _zcdp(_TIGHT, math.sqrt(2)),
    "sph, blocks of 64": _pairs(pairs=64),
    "wins, blocks of 64": _winsor("sqrt_d", pairs=64),
    NO_PRIVACY: _covariance,
    "r = 1": _winsor(1.0),
    "r = √d": _winsor(lambda X, setting: math.sqrt(X.shape[1])),
    "r = d": _winsor(lambda X, setting: float(X.shape[1])),
}
for _k in (1, 2, 3):
    METHODS[f"exact Q{_k}"] = _winsor(lambda X, setting, q=_k / 4: _exact_quantile(X, q))
    METHODS[f"private Q{_k}"] = _winsor("quantile", quantile=_k / 4)
for _c in (0.25, 0.5, 1.0, 1.5, 2.0):
    METHODS[f"c = {_c:g}"] = _winsor(lambda X, setting, c=_c: c * math.sqrt(X.shape[1]))
