"""Everything that is audited, by name: a new piece is one line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gdppca.auditing import real_tables, steps
from gdppca.auditing.real_tables import experiment_of
from gdppca.estimators import DPPCA, NSGGD, SGPCA, AnalyzeGauss, SignCovariancePCA


def _of(cls: Callable[..., Any], **parameters: Any) -> Callable[[float, float], Any]:
    return lambda epsilon, delta: cls(1, epsilon=epsilon, delta=delta, **parameters)


_ORIGIN = np.zeros(2)
_ORIGIN.flags.writeable = False

METHODS: dict[str, Callable[[float, float], Any]] = {
    "dppca": _of(DPPCA),
    "dppca-blocks": _of(DPPCA, pairs=4),
    "dppca-halves": _of(DPPCA, pairs="halves"),
    "dppca-paper": _of(DPPCA, calibration="paper"),
    "dppca-centre": _of(DPPCA, location=_ORIGIN),
    "dppca-private-centre": _of(DPPCA, location="private"),
    "dppca-private-scale": _of(DPPCA, scale="private", location=None),
    "dppca-private-radius": _of(DPPCA, sign="winsor", radius="quantile", location=_ORIGIN),
    "dppca-winsor": _of(DPPCA, sign="winsor", radius=3.0),
    "dppca-trimmed": _of(DPPCA, sign="trimmed", radius=3.0),
    "dppca-ball": _of(DPPCA, sign="ball", radius=3.0),
    "dppca-quad": _of(DPPCA, sign="quad", radius=3.0),
    "dppca-shell": _of(DPPCA, sign="shell", radius=3.0),
    "dppca-lr": _of(DPPCA, sign="lr", radius=3.0),
    "dppca-persons": experiment_of(real_tables.persons),
    "dppca-persons-centre": experiment_of(real_tables.few_persons, location=_ORIGIN),
    "dppca-persons-pairs": experiment_of(real_tables.few_persons, location=None),
    "dppca-add-remove": experiment_of(real_tables.present_or_not, neighbors="add-remove"),
    "dppca-add-remove-persons": experiment_of(
        real_tables.person_present_or_not, neighbors="add-remove"
    ),
    "dppca-missing": experiment_of(real_tables.this_cell_or_that, missing="rates"),
    "dppca-weights": experiment_of(real_tables.heavy_row, location=_ORIGIN),
    "analyze-gauss": _of(AnalyzeGauss, norm=3.0, center=_ORIGIN),
    "analyze-gauss-printed": _of(AnalyzeGauss),
    "sgpca": _of(SGPCA, eigenvalues=(90.0, 1.0)),
    "nsggd": _of(NSGGD, noise="accounted"),
    "sign-covariance": _of(SignCovariancePCA, location=_ORIGIN),
    "sign-covariance-private-centre": _of(SignCovariancePCA),
    "nsggd-step": steps.descent_experiment,
    "long-noise": steps.long_noise_experiment,
    "centre": steps.centre_experiment,
    "centre-octaves": steps.octaves_experiment,
    "second-stage": steps.second_stage_experiment,
    "winsorized-mean": steps.winsorized_mean_experiment,
    "scale": steps.scale_experiment,
    "variances": steps.variances_experiment,
    "quantile": steps.quantile_experiment,
    "quantile-unbounded": partial(steps.quantile_experiment, method="unbounded"),
    "score-map": steps.counts_experiment,
    "score-map-groups": partial(steps.counts_experiment, groups=True),
    "score-map-sparse": partial(steps.counts_experiment, kind="sparse"),
    "score-map-gaussian": partial(steps.counts_experiment, noise="gaussian"),
}
