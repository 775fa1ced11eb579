"""Private variances of released components on their own: design, debit, steps, publish."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gdppca._errors import ParameterError, PrivacyWarning
from gdppca.design import Design, run
from gdppca.ledgers import Booking, Reference
from gdppca.noise import Noise, noise_for
from gdppca.privacy import Guarantee
from gdppca.privacy.assumptions import counted
from gdppca.releases.files import checksum
from gdppca.releases.rows import ledger_of, opened_for, release_of, require_replacing, state_of
from gdppca.steps.variances import Variances


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyVariances:
    """Private variances of the scores on released components.

    Parameters
    ----------
    variances : array of shape (m,)
        One per component, not below zero, in units of the (scaled) columns squared.
    noise_sd : array of shape (m,)
        Standard deviation that the noise of the last step gives each of them, to first order.
    method : str
        How far scores were pulled in.
    guarantee : Guarantee
        The promise about the variances alone; add it to that of the release.
    entries : tuple of Reference
        The entry of a ledger that paid for them.
    """

    variances: np.ndarray
    noise_sd: np.ndarray
    method: str
    guarantee: Guarantee = field(repr=False)
    entries: tuple[Reference, ...] = ()


def private_variances(
    X: Any,
    release: Any,
    epsilon: float,
    delta: float,
    *,
    method: str = "huber",
    persons: Any = None,
    ledger: str | None = None,
    random_state: int | Noise | None = None,
) -> NoisyVariances:
    r"""Release the variance of the scores on each released component, robustly.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows of the release, finite numbers, in the original columns.
    release : Release or fitted estimator
        Its components, and its column scales if it has some.
    epsilon, delta : float
        Budget of this release alone; infinite ε draws no noise.
    method : "huber", "winsorized" or "clipped", default "huber"
        "huber" pulls scores in to 1.345 standard deviations, found from a private median, and
        "winsorized" to a private 0.9 quantile; both give the variance that a Gaussian would have.
        "clipped" pulls them in to 3 standard deviations and takes the mean square as it is.
    persons : None, sequence of n ids or str, default None
        Whose each row is, where a person may have several: one random row of each is used, and the
        promise is about persons. Or the name of the column that says so.
    ledger : None or str, default None
        Where the spend is entered before anything is drawn: "sqlite:///budget.db#patients". None
        takes that of a fitted estimator, if it has one; a Release has none.
    random_state : None or int, default None
        None draws from the secure source; a seed makes a simulation.

    Returns
    -------
    NoisyVariances
        Variances and their guarantee.

    Notes
    -----
    **Privacy.** (ε, δ), replace-one, n public. Rows are paired at random, each in one pair, so
    one row moves one of the ⌊n/2⌋ score vectors :math:`y = V(x_i - x_j)/\sqrt2`. Ten noisy counts
    per component find its bound b: each moves by at most 1, m of them by at most :math:`\sqrt m`.
    Then :math:`\sum \min(y^2/b^2, 1)`, each term rounded to 2⁻²⁴ so that the sum is exact, moves by
    at most 1 per component, :math:`\sqrt m` in all. Eleven Gaussian events that compose to exactly
    (ε, δ); docs/proofs/spectrum.md.

    No centre and no bounds are needed. Bounds are found between 2⁻⁶⁴ and 2⁶⁴ to 9 %; scores beyond
    count as if they were there.

    What is estimated where tails are heavy is the variance of the middle of the scores, as if
    they were Gaussian: it exists even where the variance does not, and bad rows move it little.
    Where more than half of the scores on a component are equal, it is zero.

    **Paper.** The remark after Prop 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.releases import private_variances
    >>> X = np.random.default_rng(0).normal(size=(5000, 4)) * [30, 10, 1, 1]
    >>> release = DPPCA(n_components=2, epsilon=1.0, delta=1e-6, random_state=0).fit(X).release_
    >>> found = private_variances(X, release, 0.5, 1e-6, random_state=0)
    >>> np.sqrt(found.variances).round(0)
    array([30., 10.])
    """
    of, noise = release_of(release), noise_for(random_state)
    require_replacing(of)
    if not len(of.components):
        raise ParameterError("`release` must hold components.")
    table, public = opened_for(X, of, noise, persons)
    m = len(of.components)
    step = Variances(public=public, epsilon=epsilon, delta=delta, n_components=m, method=method)
    design = Design.of(
        step,
        epsilon=epsilon,
        delta=delta,
        start=state_of(of),
    )
    for doubt in design.doubts:
        warnings.warn(doubt, PrivacyWarning, stacklevel=2)
    asked = {"epsilon": epsilon, "delta": delta, "method": method}
    booking = Booking(ledger_of(release, ledger), "private_variances", asked)
    found = run(design, table, noise, booking).variances
    booking.complete(checksum({"variances": found.variances.tolist()}))
    return NoisyVariances(
        variances=found.variances,
        noise_sd=found.noise_sd,
        method=method,
        guarantee=Guarantee(
            events=step.events,
            delta=delta,
            assumptions=counted(of.guarantee.assumptions, entered=booking.address is not None),
            seeded=noise.seeded,
        ),
        entries=booking.entries,
    )
