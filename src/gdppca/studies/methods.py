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
from dataclasses import dataclass
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
BEYOND = (DEFAULT, TIGHT, CENTRED, DEFAULT_ZCDP, TIGHT_ZCDP)  # what the paper does not have


@dataclass(frozen=True)
class _Fit:
    """A DPPCA with fixed parameters, at the budget of the setting."""

    parameters: dict[str, Any]
    private: bool = True

    def __call__(self, X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
        epsilon = setting["epsilon"] if self.private else math.inf
        parameters = {"location": None, **self.parameters}  # the paper compares pairs
        pca = DPPCA(2, epsilon=epsilon, delta=setting["delta"], random_state=seed, **parameters)
        return pca.fit(X).components_


def _default(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
    budget = {"epsilon": setting["epsilon"], "delta": setting["delta"]}
    return DPPCA(2, **budget, random_state=seed).fit(X).components_


def _winsor(radius: Any) -> dict[str, Any]:
    return {"sign": "winsor", "radius": radius, "calibration": "paper", "pairs": "all"}


def _analyze_gauss(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
    pca = AnalyzeGauss(2, epsilon=setting["epsilon"], delta=setting["delta"], random_state=seed)
    return pca.fit(X).components_


def _sgpca(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
    pca = SGPCA(
        2,
        epsilon=setting["epsilon"],
        delta=setting["delta"],
        eigenvalues=oracle_eigenvalues(setting),
        random_state=seed,
    )
    return pca.fit(X).components_


def oracle_eigenvalues(setting: Setting) -> np.ndarray:
    """Population eigenvalues that SGPCA is given."""
    if setting["kind"] == "laplace":
        return 2 * np.array([100.0, 36.0, 1.0, 1.0, 1.0])
    if setting["kind"].startswith("gamma"):
        spike = 1 + 2 * (2.0 if setting["kind"] == "gamma scale" else 0.5)
        return np.array([spike, spike, 1.0, 1.0, 1.0])
    return np.array([10.0, 5.0] + [1.0] * (setting["d"] - 2))


def _nsggd(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
    pca = NSGGD(2, epsilon=setting["epsilon"], delta=setting["delta"], random_state=seed)
    return pca.fit(X).components_


def _exact(method: Method) -> Method:
    def without_noise(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
        return method(X, setting | {"epsilon": math.inf}, seed)

    return without_noise


def _exact_quantile(q: float) -> Method:
    """Winsorisation at the exact quantile of the paired differences, which is not private."""

    def fit(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
        half = len(X) // 2
        lengths = np.linalg.norm(X[half : 2 * half] - X[:half], axis=1) / math.sqrt(2)
        return _Fit(_winsor(float(np.quantile(lengths, q))))(X, setting, seed)

    return fit


def _private_quantile(q: float) -> Method:
    return _Fit(_winsor("quantile") | {"quantile": q})


def _fixed_radius(rule: Callable[[int], float]) -> Method:
    def fit(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
        return _Fit(_winsor(rule(X.shape[1])))(X, setting, seed)

    return fit


def _root_of_columns(c: float) -> Method:
    return _fixed_radius(lambda d: c * math.sqrt(d))


def _zcdp(method: Method, noise: float) -> Method:
    """A method at a zCDP budget: `noise` is 2 for the paper's sensitivity, √2 for the tight one."""

    def fit(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
        multiplier = noise / math.sqrt(2) / math.sqrt(2 * setting["rho"])
        epsilon = gaussian_epsilon(multiplier, setting["delta"])
        return method(X, setting | {"epsilon": epsilon}, seed)

    return fit


def _gsscm(sign: str, location: str = "pmwm-published") -> Method:
    def fit(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
        pca = SignCovariancePCA(
            2,
            rho=setting["rho"],
            delta=setting["delta"],
            sign=sign,
            location=location,
            noise="printed",
            random_state=seed,
        )
        return pca.fit(X).components_

    return fit


def _centred(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
    return _Fit({"location": np.zeros(X.shape[1])})(X, setting, seed)


def _covariance(X: np.ndarray, setting: Setting, seed: int) -> np.ndarray:
    centred = X - X.mean(axis=0)
    return np.linalg.eigh(centred.T @ centred)[1][:, :-3:-1].T


_SPH = _Fit({"calibration": "paper", "pairs": "all"})
_WINS = _Fit(_winsor("sqrt_d"))

METHODS: dict[str, Method] = {
    "sph": _SPH,
    "wins": _WINS,
    "AG": _analyze_gauss,
    "SGPCA": _sgpca,
    "NSGGD": _nsggd,
    DEFAULT: _default,
    TIGHT: _Fit({}),
    CENTRED: _centred,
    "sph, exact": _exact(_SPH),
    "wins, exact": _exact(_WINS),
    "AG, exact": _exact(_analyze_gauss),
    "SGPCA, exact": _exact(_sgpca),
    "NSGGD, exact": _exact(_nsggd),
    "all pairs": _Fit({"pairs": "all"}, private=False),
    "halves": _Fit({"pairs": "halves"}, private=False),
    "blocks of 64": _Fit({"pairs": 64}, private=False),
    "g-DPPCA sph": _zcdp(_Fit({"pairs": "all"}), 2),
    "g-DPPCA wins": _zcdp(_Fit({"sign": "winsor", "radius": "sqrt_d", "pairs": "all"}), 2),
    "GSSCM sph": _gsscm("spherical"),
    "GSSCM wins": _gsscm("winsor"),
    "GSSCM sph, our mean": _gsscm("spherical", "pmwm"),
    DEFAULT_ZCDP: _zcdp(_default, math.sqrt(2)),
    TIGHT_ZCDP: _zcdp(_Fit({}), math.sqrt(2)),
    "covariance": _covariance,
    "r = 1": _fixed_radius(lambda d: 1.0),
    "r = √d": _fixed_radius(math.sqrt),
    "r = d": _fixed_radius(float),
    **{f"exact Q{k}": _exact_quantile(k / 4) for k in (1, 2, 3)},
    **{f"private Q{k}": _private_quantile(k / 4) for k in (1, 2, 3)},
    **{f"c = {c:g}": _root_of_columns(c) for c in (0.25, 0.5, 1.0, 1.5, 2.0)},
}
