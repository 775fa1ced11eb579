"""Everything that is audited, by name: a new piece is one line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gdppca.auditing.steps import (
    centre_experiment,
    counts_experiment,
    descent_experiment,
    long_noise_experiment,
    octaves_experiment,
    quantile_experiment,
    scale_experiment,
    variances_experiment,
    winsorized_mean_experiment,
)
from gdppca.estimators import DPPCA, NSGGD, SGPCA, AnalyzeGauss, SignCovariancePCA


def _dppca(**parameters: Any) -> Callable[[float, float], Any]:
    return lambda epsilon, delta: DPPCA(1, epsilon=epsilon, delta=delta, **parameters)


def _other(cls: Callable[..., Any], **parameters: Any) -> Callable[[float, float], Any]:
    return lambda epsilon, delta: cls(1, epsilon=epsilon, delta=delta, **parameters)


_ORIGIN = np.zeros(2)
_ORIGIN.flags.writeable = False

METHODS: dict[str, Callable[[float, float], Any]] = {
    "dppca": _dppca(),
    "dppca-blocks": _dppca(pairs=4),
    "dppca-halves": _dppca(pairs="halves"),
    "dppca-paper": _dppca(calibration="paper"),
    "dppca-centre": _dppca(location=_ORIGIN),
    "dppca-private-centre": _dppca(location="private"),
    "dppca-private-scale": _dppca(scale="private", location=None),
    "dppca-private-radius": _dppca(sign="winsor", radius="quantile", location=_ORIGIN),
    "dppca-winsor": _dppca(sign="winsor", radius=3.0),
    "dppca-trimmed": _dppca(sign="trimmed", radius=3.0),
    "dppca-ball": _dppca(sign="ball", radius=3.0),
    "dppca-quad": _dppca(sign="quad", radius=3.0),
    "dppca-shell": _dppca(sign="shell", radius=3.0),
    "dppca-lr": _dppca(sign="lr", radius=3.0),
    "analyze-gauss": _other(AnalyzeGauss, norm=3.0, center=_ORIGIN),
    "analyze-gauss-printed": _other(AnalyzeGauss),
    "sgpca": _other(SGPCA, eigenvalues=(90.0, 1.0)),
    "nsggd": _other(NSGGD, noise="accounted"),
    "sign-covariance": _other(SignCovariancePCA, location=_ORIGIN),
    "sign-covariance-private-centre": _other(SignCovariancePCA),
    "nsggd-step": descent_experiment,
    "long-noise": long_noise_experiment,
    "centre": centre_experiment,
    "centre-octaves": octaves_experiment,
    "winsorized-mean": winsorized_mean_experiment,
    "scale": scale_experiment,
    "variances": variances_experiment,
    "quantile": quantile_experiment,
    "quantile-unbounded": partial(quantile_experiment, method="unbounded"),
    "score-map": counts_experiment,
    "score-map-groups": partial(counts_experiment, groups=True),
    "score-map-sparse": partial(counts_experiment, kind="sparse"),
    "score-map-gaussian": partial(counts_experiment, noise="gaussian"),
}
