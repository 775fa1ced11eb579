"""Spread and certainty of released directions: private variances, and intervals for loadings."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import norm

from gdppca import _validate
from gdppca._errors import ParameterError, ReleaseError
from gdppca.ledgers import enter
from gdppca.linalg import LARGEST, SQRT2, directions
from gdppca.noise.bits import Rng, rng_for
from gdppca.noise.gaussian import add_gaussian, calibrated_sigma
from gdppca.privacy import Event, GaussianEvent, Guarantee, NonPrivateEvent
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.privacy.assumptions import counted
from gdppca.releases.release import Release
from gdppca.releases.rows import Pay, ledger_of, release_of, rows_of
from gdppca.steps.clipped_squares import gaussian_ratio, square_sums
from gdppca.theory import LoadingIntervals, loading_intervals

METHODS = ("huber", "winsorized", "clipped")

_OCTAVES, _FINE = 7, 3  # halvings over the powers of two from 2⁻⁶⁴ to 2⁶⁴, then inside one of them
_LEVELS = _OCTAVES + _FINE
_BOUNDS_SHARE = 0.4  # of μ²; the sums get the rest
_REACH = {"huber": 1.345, "clipped": 3.0}  # bound in standard deviations, found from the median
_MEDIAN = float(norm.ppf(0.75))  # median of |Z|
_TRIM = (0.1, 0.4)  # smallest and largest share of scores beyond the bound of "winsorized"


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
    """

    variances: np.ndarray
    noise_sd: np.ndarray
    method: str
    guarantee: Guarantee = field(repr=False)


def private_variances(
    X: Any,
    release: Any,
    epsilon: float,
    delta: float,
    *,
    method: str = "huber",
    ledger: str | None = None,
    random_state: int | None = None,
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
    return paid_variances(
        X,
        release_of(release),
        lambda events: enter(ledger_of(release, ledger), events, seeded=random_state is not None),
        epsilon=epsilon,
        delta=delta,
        method=method,
        random_state=random_state,
    )


@np.errstate(all="ignore")  # no error or warning may depend on a cell
def paid_variances(
    X: Any,
    release: Release,
    pay: Pay,
    *,
    epsilon: float,
    delta: float,
    method: str = "huber",
    random_state: int | None = None,
) -> NoisyVariances:
    """Variances that `pay` is asked for after the last check and before the first draw."""
    _validate.one_of(METHODS, method=method)
    events = variance_events(epsilon, delta)
    X = _rows(X, release)
    n, m = len(X) // 2, len(release.components)
    count_sigma, sum_sigma = _sigma(events[0], m), _sigma(events[-1], m)
    rng = rng_for(random_state)
    warn_of_few_pairs(len(X), m, epsilon, delta)
    entered = pay(events)
    sizes = _paired_sizes(X, release, rng)  # not private
    bounds = _private_bounds(sizes, method, count_sigma, rng)
    shares = _noised(square_sums(sizes, bounds), sum_sigma, rng) / n
    variances = _variances(shares, bounds, method)
    up, down = (
        _variances(shares + move, bounds, method) for move in (sum_sigma / n, -sum_sigma / n)
    )
    return NoisyVariances(
        variances=variances,
        noise_sd=np.maximum(up - variances, variances - down),
        method=method,
        guarantee=Guarantee(
            events=events,
            delta=delta,
            assumptions=counted(release.guarantee.assumptions, entered=entered),
            seeded=rng.seeded,
        ),
    )


def variance_events(epsilon: float, delta: float) -> tuple[Event, ...]:
    """What `private_variances` draws, from its budget alone."""
    epsilon = _validate.budget(epsilon=epsilon)
    _validate.fraction(delta=delta)
    if math.isinf(epsilon):
        return (NonPrivateEvent(purpose="variances"),)
    whole = gaussian_multiplier(epsilon, delta)  # μ² = 1/whole² is what the steps share
    count = GaussianEvent(
        purpose="bounds of the variances",
        noise_multiplier=whole * math.sqrt(_LEVELS / _BOUNDS_SHARE),
    )
    sums = GaussianEvent(purpose="variances", noise_multiplier=whole / math.sqrt(1 - _BOUNDS_SHARE))
    return (count,) * _LEVELS + (sums,)


def _sigma(event: Event, m: int) -> float:
    """Noise of m numbers that one row moves by at most 1 each."""
    if not isinstance(event, GaussianEvent):
        return 0.0
    return calibrated_sigma(event.noise_multiplier, math.sqrt(m), m)


def _noised(values: np.ndarray, sigma: float, rng: Rng) -> np.ndarray:
    return add_gaussian(values, sigma, rng) if sigma > 0 else values


def _rows(X: Any, release: Release) -> np.ndarray:
    if release.guarantee.neighbors != "replace-one" or not len(release.components):
        raise ParameterError("`release` must hold components, private for replace-one neighbours.")
    return rows_of(X, release)


def doubt_of_few_pairs(n_samples: int, m: int, epsilon: float, delta: float) -> str | None:
    """Words, where the noise of a count may carry a bound away; from public numbers."""
    n = n_samples // 2
    if 4 * _sigma(variance_events(epsilon, delta)[0], m) <= _TRIM[1] * n:
        return None
    return (
        f"{n} pairs of rows are few for the variances of {m} components: they may be mere "
        "noise. More rows, more budget or fewer components help."
    )


def warn_of_few_pairs(n_samples: int, m: int, epsilon: float, delta: float) -> None:
    """Warn of such a doubt."""
    doubt = doubt_of_few_pairs(n_samples, m, epsilon, delta)
    if doubt is not None:
        warnings.warn(doubt, UserWarning, stacklevel=3)


def _paired_sizes(X: np.ndarray, release: Release, rng: Rng) -> np.ndarray:
    """|V (x_i - x_j)|/√2 for random disjoint pairs, (⌊n/2⌋, m); finite for all finite rows."""
    order, half = rng.permutation(len(X)), len(X) // 2
    if release.scale is not None:
        with np.errstate(over="ignore"):
            X = np.clip(X / release.scale, -LARGEST, LARGEST)
    # Halves first: the difference of two floats near the largest one is still a float.
    unit, length = directions(0.5 * X[order[:half]] - 0.5 * X[order[half : 2 * half]])
    # einsum and not a matrix product: each pair's bits are then its own whatever the others are.
    cosines = np.minimum(np.abs(np.einsum("nd,md->nm", unit, release.components)), 1.0)
    with np.errstate(over="ignore"):
        return np.minimum(cosines * np.minimum(SQRT2 * length, LARGEST)[:, None], LARGEST)


def _private_bounds(sizes: np.ndarray, method: str, sigma: float, rng: Rng) -> np.ndarray:
    """Where to pull the scores in, per component, by noisy bisection for a quantile."""
    n, m = sizes.shape
    quantile = 0.5
    if method == "winsorized":  # not so far out that the noise of a count could reach the end
        quantile = 1 - min(_TRIM[1], max(_TRIM[0], 4 * sigma / n))
    index = np.full(m, -(2 ** (_LEVELS - 1)))  # left end of the bracket, in steps of 2^(1/8)
    for level in reversed(range(_LEVELS)):
        middle = index + 2**level
        counts = np.count_nonzero(sizes <= _grid(middle), axis=0).astype(float)
        index = np.where(_noised(counts, sigma, rng) >= quantile * n, index, middle)
    found = _grid(index + 0.5)
    return found if method == "winsorized" else found * _REACH[method] / _MEDIAN


def _grid(index: np.ndarray) -> np.ndarray:
    return np.exp2(index / 2**_FINE)


def _variances(shares: np.ndarray, bounds: np.ndarray, method: str) -> np.ndarray:
    """Variances from the noisy means of min(y²/b², 1)."""
    shares = np.clip(shares, 0.0, 1.0)
    if method == "clipped":
        return bounds**2 * shares
    return (bounds * gaussian_ratio(shares)) ** 2


def release_intervals(
    release: Release, level: float = 0.9, *, sampling: bool = False
) -> LoadingIntervals:
    r"""Intervals for the loadings of a release, from the release alone.

    Parameters
    ----------
    release : Release
        With its noisy matrix and at least one component.
    level : float, default 0.9
        Share of the loadings that shall lie in their intervals.
    sampling : bool, default False
        False: about the directions of the same rows without noise. True: about those of the
        population; for the spherical sign only.

    Returns
    -------
    LoadingIntervals
        For the components of the release, in their order and with their signs.

    Notes
    -----
    **Privacy.** Nothing is spent: post-processing, see `gdppca.theory.loading_intervals`.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.releases import release_intervals
    >>> X = np.random.default_rng(0).normal(size=(5000, 4)) * [30, 10, 1, 1]
    >>> release = DPPCA(n_components=2, epsilon=1.0, delta=1e-6, random_state=0).fit(X).release_
    >>> release_intervals(release).angles.round(3)
    array([0.002, 0.005])
    """
    if release.scatter is None or not len(release.components):
        raise ReleaseError("The release holds no noisy matrix or no components.")
    if sampling and (release.sign is None or release.sign["name"] != "spherical"):
        raise ParameterError(
            "`sampling=True` is known for the spherical sign only: with other signs the sampling "
            "error depends on the law of the lengths too."
        )
    m = len(release.components)
    found = loading_intervals(
        release.scatter,
        release.noise_sd,
        _independent(release),
        m,
        level,
        sampling=sampling,
        centre_bias=release.centre_bias,
        scale_error=release.scale_error,
    )
    same = (np.einsum("kd,kd->k", found.components, release.components) > 0)[:, None]
    return replace(
        found,
        components=release.components,
        lower=np.where(same, found.lower, -found.upper),
        upper=np.where(same, found.upper, -found.lower),
    )


def _independent(release: Release) -> float:
    """Rows that a one-sample matrix of the same sampling error would need."""
    scheme = release.scheme or {}
    if scheme.get("name") == "halves":
        return release.n_samples / 2
    size = scheme.get("size", math.inf)
    return release.n_samples * (1 - 1 / size)
