"""Many real runs on the worst pair, and what follows from them."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca.auditing.experiment import Experiment
from gdppca.auditing.release_audit import audit_release
from gdppca.auditing.result import AuditResult
from gdppca.auditing.worst_pairs import experiment_for
from gdppca.kernels import Progress, silent
from gdppca.noise.bits import generator_for
from gdppca.releases import Release


def audit(
    estimator: Any,
    *,
    runs: int | None = None,
    confidence: float = 0.9999,
    progress: Progress = silent,
) -> AuditResult:
    r"""Attack a promise of privacy: run the real pipeline on the worst tables and count.

    Parameters
    ----------
    estimator : estimator, Release or Experiment
        An estimator of this package, whose parameters are audited with secure noise; a release of
        `DPPCA`, whose design is rebuilt from what it says and audited; or an `Experiment` of your
        own.
    runs : None or int, default None
        Number of runs. A coin decides on which of two neighbouring tables each one is made. None
        takes what an `Experiment` asks for: 30,000 where a run takes a millisecond or two, fewer
        where it draws much. The draws of a release are made again on few whole runs: 200,000
        times, or what there is time for in two minutes.
    confidence : float, default 0.9999
        Probability that the bounds hold; one minus it is the rate of false alarms.
    progress : callable, optional
        Called with the number of runs done and in all.

    Returns
    -------
    AuditResult
        Lower bounds on μ and ε, whether the claim is refuted, and a figure; of a release a
        `ReleaseAudit`.

    Notes
    -----
    **Privacy.** Nothing is spent: the rows are made up, and a ledger is left alone.

    A μ-GDP mechanism lets nobody guess the coin wrong less often than :math:`\Phi(-\mu/2)`. The
    number of wrong guesses is binomial, so Clopper and Pearson bound the rate exactly, whatever
    the law of the scores. With 30,000 runs the bound lies about 0.3 below a tight ε = 4, below
    3.4 once in 20,000 audits or less often, and noise that is too small by :math:`\sqrt2` is
    found out practically always.

    Examples
    --------
    >>> from gdppca import DPPCA
    >>> from gdppca.auditing import audit
    >>> audit(DPPCA(n_components=1, epsilon=4.0), runs=500, confidence=0.999999).refuted
    False
    """
    if runs is not None:
        runs = _validate.count(runs=runs, at_least=2)
    confidence = _validate.fraction(confidence=confidence)
    if isinstance(estimator, Release):
        with _in_silence():
            return audit_release(estimator, runs, confidence, progress)
    with _in_silence():
        experiment = estimator if isinstance(estimator, Experiment) else experiment_for(estimator)
        runs = experiment.runs if runs is None else runs
        coins = generator_for(None).integers(2, size=runs)
        scores = np.empty(runs)
        for k, coin in enumerate(coins):
            scores[k] = experiment.score(experiment.run(experiment.tables[coin]))
            progress(k + 1, runs)
    return AuditResult(
        method=experiment.name,
        claim=experiment.claim,
        confidence=confidence,
        scores=(scores[coins == 0], scores[coins == 1]),
    )


@contextmanager
def _in_silence() -> Iterator[None]:
    """No warning of few rows, which are wanted here, and no note of spends that are none."""
    log = logging.getLogger("gdppca")
    before, log.disabled = log.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.disabled = before
