"""Everything that is audited, by name: a new piece is one line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gdppca.auditing.experiment import Claim, Experiment, claim_of
from gdppca.estimators import DPPCA, NSGGD, SGPCA, AnalyzeGauss, SignCovariancePCA
from gdppca.privacy import PureEvent
from gdppca.releases import score_map
from gdppca.releases.quantile import private_quantile

_GAP = 2.0**10
_FRAME = ((-1.0, 1.0), (-1.0, 1.0))


def quantile_experiment(epsilon: float, delta: float, method: str = "grid") -> Experiment:
    """Does a private median fall left or right of a gap?

    The replaced value moves the scores on both sides of the gap in opposite directions, which is
    the worst that one value can do.
    """
    values = np.array([1.0, _GAP, _GAP**2])
    tables = (np.repeat(values, [6, 6, 8]), np.repeat(values, [7, 6, 7]))
    return Experiment(
        name=f"private quantile, {method}",
        tables=tables,
        run=lambda table: private_quantile(table, 0.5, epsilon, method=method, nonnegative=True),
        score=lambda released: 1.0 if released >= _GAP else -1.0,
        claim=Claim(events=(PureEvent(purpose="quantile", epsilon=epsilon),), delta=delta),
    )


def counts_experiment(epsilon: float, delta: float, groups: bool = False) -> Experiment:
    """Does a row sit in the lower left cell of a score map or in the upper right one?

    That both noisy counts lean the right way is the event with the largest ratio of
    probabilities. With groups the row changes its group too.
    """
    origin = np.zeros((4, 2))
    release = DPPCA(2, random_state=0, location=np.zeros(2)).fit(origin).release_
    corners = ((0.5, 0.5), (-0.5, -0.5))
    tables = tuple(
        (np.stack([corner @ release.components, *np.full((3, 2), 100.0)]), [own, "a", "a", "b"])
        for corner, own in zip(corners, "ab", strict=True)
    )

    def run(table: Any) -> Any:
        labels = {"groups": table[1], "categories": ["a", "b"]} if groups else {}
        return score_map(
            table[0], release, bins=2, frame=_FRAME, epsilon=epsilon, delta=delta, **labels
        )

    def score(shown: Any) -> float:
        own, other = shown.counts[0, 1, 1], shown.counts[-1, 0, 0]
        return 1.0 if own >= 1 and other <= 0 else -1.0

    return Experiment(
        name="score map" + ", groups" * groups,
        tables=(tables[0], tables[1]),
        run=run,
        score=score,
        claim=claim_of(run(tables[0]).guarantee, epsilon),
    )


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
    "dppca-private-scale": _dppca(scale="private"),
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
    "quantile": quantile_experiment,
    "quantile-unbounded": partial(quantile_experiment, method="unbounded"),
    "score-map": counts_experiment,
    "score-map-groups": partial(counts_experiment, groups=True),
}
