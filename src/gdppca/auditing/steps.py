"""Attacks on single steps: noise, quantiles, counts, scales, walks to a centre, descent.

Each gets the whole budget here, on the tables that are worst for it. A pipeline shares a budget
among such steps by exact composition, so a step that is right here is right there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq

from gdppca.auditing.draws import overheard_experiment
from gdppca.auditing.experiment import Claim, Experiment, claim_of, gaussian_claim
from gdppca.design.run import drawn
from gdppca.estimators import DPPCA, NSGGD
from gdppca.kernels import OneSample
from gdppca.noise import Noise, calibrated_sigma, secure_noise
from gdppca.privacy import GaussianEvent, PureEvent
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.releases import private_quantile, private_variances, private_winsorized_mean, score_map
from gdppca.signs import Spherical
from gdppca.steps.base import Public, State
from gdppca.steps.centre import private_spatial_median
from gdppca.steps.centre_budget import centre_budget
from gdppca.steps.descent import descended
from gdppca.steps.quantile import ladder, quantile_grid
from gdppca.steps.refine import Refinement
from gdppca.steps.scale import Scale, step_shares
from gdppca.steps.scatter import MatrixBudget
from gdppca.steps.staged import StagedScatter
from gdppca.tables.memory import MemoryTable

_RUNS_OF_QUANTILES = 8000
_FRAME = ((-1.0, 1.0), (-1.0, 1.0))
_LONG = 2**13 + 1  # entries
_PAIRS, _TINY = 4, 1e-6


# --- Noise ----------------------------------------------------------------------------------------


def long_noise_experiment(epsilon: float, delta: float) -> Experiment:
    """Gaussian noise on a vector that is too long for OpenDP, moved a little in every entry."""
    step = np.full(_LONG, 1 / math.sqrt(_LONG))
    sigma = calibrated_sigma(gaussian_multiplier(epsilon, delta), 1.0, _LONG)
    return Experiment(
        name="noise of a long vector",
        tables=(0.5 * step, -0.5 * step),
        run=lambda values: secure_noise().gaussian(values, sigma, sensitivity=1.0),
        score=lambda noisy: float(step @ noisy),
        claim=gaussian_claim(epsilon, delta, "long vector"),
    )


# --- Quantiles ------------------------------------------------------------------------------------


def quantile_experiment(epsilon: float, delta: float, method: str = "grid") -> Experiment:
    """Is the one answer given that the replaced value favours as much as a value can?

    The attacker guesses only where it is: then the first table is e^ε times as likely.
    """
    worst = {"grid": _two_candidates, "unbounded": _few_rungs}[method]
    tables, q, favoured = worst(max(20, math.ceil(80 / epsilon)))
    return Experiment(
        name=f"private quantile, {method}",
        tables=tables,
        run=lambda table: private_quantile(table, q, epsilon, method=method, nonnegative=True),
        score=lambda released: 1.0 if released == favoured else 0.0,
        claim=Claim(events=(PureEvent(purpose="quantile", epsilon=epsilon),), delta=delta),
        runs=_RUNS_OF_QUANTILES,
    )


Worst = tuple[tuple[np.ndarray, np.ndarray], float, float]


def _two_candidates(n: int) -> Worst:
    """Two candidates of the grid are good answers; the replaced value moves their scores apart.

    On the second table the lower one is better by nearly 2, on the first they are about equal.
    """
    candidates = quantile_grid(nonnegative=True)[0]
    k = int(np.searchsorted(candidates, 2.0**50))  # where the prior is flat
    below, between, above = (
        math.sqrt(candidates[i] * candidates[i + 1]) for i in (k - 1, k, k + 1)
    )
    half = n // 2
    first = np.repeat([below, between, above], [half - 1, 2, half - 1])
    second = np.repeat([below, between, above], [half, 2, half - 2])
    return (first, second), (half + 0.1) / n, float(candidates[k + 1])


def _few_rungs(n: int) -> Worst:
    """A climb stops on the fourth rung of the ladder, if nothing lies below it.

    The target is half a value. On the second table one value lies below the first rung, where the
    climb stops then, unless the noise of target and count both say otherwise.
    """
    rungs = ladder()
    early, late = 0.5 * (rungs[2] + rungs[3]), 0.5 * (rungs[3] + rungs[4])
    first, second = np.full((2, n), late)
    first[0], second[0] = early, 0.0
    return (first, second), 0.5 / n, float(rungs[3])


# --- Counts ---------------------------------------------------------------------------------------


def counts_experiment(
    epsilon: float,
    delta: float,
    *,
    groups: bool = False,
    kind: str = "dense",
    noise: str = "laplace",
) -> Experiment:
    """Does a row sit in the lower left cell of a score map or in the upper right one?

    Laplace noise has the largest ratio of probabilities where both noisy counts lean the same
    way; else the attacker holds back. Gaussian noise is overheard before counts are rounded. Both
    cells hold rows beside, so that a sparse map shows them. With groups the row changes its group
    too.
    """
    release = DPPCA(2, random_state=0, location=np.zeros(2)).fit(np.zeros((4, 2))).release_
    corners = np.array([[0.5, 0.5], [-0.5, -0.5]]) @ release.components
    beside, labels = np.repeat(corners, 50, axis=0), ["a"] * 50 + ["b"] * 50
    first, second = (
        (np.vstack([corner, beside]), [own, *labels])
        for corner, own in zip(corners, "ab", strict=True)
    )
    asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "kind": kind, "noise": noise}

    def mechanism(table: Any, source: Noise | None = None) -> Any:
        rows, own = table
        named = {"groups": own, "categories": ["a", "b"]} if groups else {}
        return score_map(rows, release, bins=2, frame=_FRAME, random_state=source, **asked, **named)

    def score(shown: Any) -> float:
        own, other = shown.counts[0, 1, 1] - 50.5, shown.counts[-1, 0, 0] - 50.5
        return float(np.sign(own) - np.sign(other))

    name = ", ".join(["score map", kind, noise, *["groups"] * groups])
    if noise == "gaussian":
        claim = gaussian_claim(epsilon, delta, name)
        return overheard_experiment(name, (first, second), mechanism, claim)
    claim = claim_of(mechanism(first).guarantee, epsilon)
    return Experiment(name=name, tables=(first, second), run=mechanism, score=score, claim=claim)


# --- Centre, scales and variances -----------------------------------------------------------------


def centre_experiment(epsilon: float, delta: float) -> Experiment:
    """The whole walk to a private centre, with everything that it draws.

    Rows on all sides make the walk short and always alike: counts by octave, a first look, two
    near home and two to polish. The replaced row lies far out to the right, or near the centre and
    to its left: that moves every draw by its whole sensitivity.
    """
    claim = gaussian_claim(epsilon, delta)
    around = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    sides = np.tile(around, (math.ceil(100 / claim.mu), 1))
    first, second = sides.copy(), sides.copy()
    first[0], second[0] = [1e9, 0.0], [-0.15, 0.0]

    def spent(whole: float) -> float:
        budget = centre_budget(len(sides), 2, whole)
        return whole**2 * (budget.first + budget.far + 2 * budget.near + budget.polish)

    log_mu = brentq(lambda tried: math.log(spent(math.exp(tried)) / claim.mu**2), -7.0, 14.0)
    return overheard_experiment(
        "private centre",
        (first, second),
        lambda table, noise: private_spatial_median(table, math.exp(log_mu), noise),
        claim,
        draws=6,
    )


def octaves_experiment(epsilon: float, delta: float) -> Experiment:
    """The counts by octave alone that a walk to a private centre begins with."""
    claim = gaussian_claim(epsilon, delta)
    first, second = np.ones((2, round(15.7 / claim.mu), 1))  # where the counts take 2 % of μ²
    first[0], second[0] = 1e9, 1e-9
    whole = claim.mu / math.sqrt(0.02)
    share = centre_budget(len(first), 1, whole).first
    return overheard_experiment(
        "private centre, octaves",
        (first, second),
        lambda table, noise: private_spatial_median(table, whole, noise, longest_walk=share),
        claim,
        draws=1,
    )


def scale_experiment(epsilon: float, delta: float) -> Experiment:
    """Private scales of two columns: the row differs from all others in one, or in the other."""
    claim = gaussian_claim(epsilon, delta)
    first, second = np.zeros((2, 8, 2))
    first[0, 0] = second[0, 1] = 1e100
    return overheard_experiment(
        "private scale",
        (first, second),
        lambda table, noise: private_scale(table, claim.mu, noise),
        claim,
        draws=len(step_shares(len(first), 2, claim.mu)),
    )


def private_scale(X: np.ndarray, mu: float, noise: Noise) -> State:
    """Private scales of columns, all of μ for them and no centre."""
    public = Public.of(*X.shape)
    steps = (
        Scale(public=public, mu=mu, share=1.0, delta=1e-6),
        Refinement(public=public, mu=mu),
    )
    return drawn(steps, MemoryTable(X, None, noise), noise, State())


def winsorized_mean_experiment(epsilon: float, delta: float) -> Experiment:
    """A private winsorised mean: the row lies above all bounds or below."""
    claim = gaussian_claim(epsilon, delta)
    first, second = np.zeros((2, 8, 1))
    first[0], second[0] = 1e30, -1e30
    return overheard_experiment(
        "winsorised mean",
        (first, second),
        lambda table, noise: private_winsorized_mean(table, 0.5 * claim.mu**2, noise),
        claim,
        draws=17,
    )


def variances_experiment(epsilon: float, delta: float) -> Experiment:
    """Private variances of two components: the row has huge scores on both, or none."""
    first, second = np.zeros((2, 8, 2))
    release = DPPCA(2, random_state=0, location=np.zeros(2)).fit(second).release_
    first[0] = 1e30 * release.components.sum(axis=0)
    return overheard_experiment(
        "private variances",
        (first, second),
        lambda table, noise: private_variances(table, release, epsilon, delta, random_state=noise),
        gaussian_claim(epsilon, delta),
        draws=11,
    )


# --- Second stage ---------------------------------------------------------------------------------


def second_stage_experiment(epsilon: float, delta: float) -> Experiment:
    """An increment of a matrix, and all that is left for what lies across its components.

    Most rows lie along the first axis, some along the second. One lies halfway between the second
    and the third, on this side or on that: its outer products are at a right angle, and its parts
    across the directions are opposite and clipped, so both draws move by their whole sensitivity.
    """
    claim = gaussian_claim(epsilon, delta)
    number = math.ceil(400 / claim.mu)
    axes = np.vstack([np.eye(3), -np.eye(3)])
    rows = np.repeat(axes, np.tile([5 * number, 2 * number, number], 2), axis=0)
    first, second = rows.copy(), rows.copy()
    first[0], second[0] = [0.0, 1.0, 1.0], [0.0, 1.0, -1.0]
    budget, public = MatrixBudget(mu=claim.mu), Public.of(*rows.shape)
    start = State(sign=Spherical(), scheme=OneSample(), location=np.zeros(3))
    staged = StagedScatter(
        public=public,
        n_components=2,
        first=budget.level(start.sign, start.scheme, *rows.shape),
        budget=budget,
        increments=(0.3, 1.0),
        margin=math.inf,  # the second stage, whatever is expected of it
    )
    return overheard_experiment(
        "second stage",
        (first, second),
        lambda table, noise: staged.draw(MemoryTable(table, None, noise), start, noise),
        claim,
        draws=2,
    )


# --- Descent --------------------------------------------------------------------------------------


def descent_experiment(epsilon: float, delta: float) -> Experiment:
    """One step of noisy descent with all pairs, from a direction that the attacker knows.

    One pair leans a little to this side of the direction or to that, so its gradient has length
    one and turns round; the others have none. A tiny step shows the noisy gradient in the digits
    of the new direction.
    """
    pca = NSGGD(
        1,
        epsilon=2 * epsilon,  # half of it is for the start
        delta=2 * delta,
        noise="accounted",
        n_iterations=1,
        batch_size=_PAIRS,
        learning_rate=_TINY,
    )
    first, second = np.tile([1.0, 0.0], (2, _PAIRS, 1))
    first[0, 1], second[0, 1] = _TINY, -_TINY
    start = np.array([[1.0], [0.0]])
    descent = pca.descent(Public.of(2 * _PAIRS, 2))

    def run(pairs: np.ndarray) -> np.ndarray:
        return descended(pairs, start, descent, secure_noise())

    # A replaced pair moves the sum of the gradients by two.
    multiplier = descent.sigma * _PAIRS / 2
    step = GaussianEvent(purpose="descent", noise_multiplier=multiplier)
    return Experiment(
        name="step of descent",
        tables=(first, second),
        run=run,
        score=lambda direction: float(direction[1, 0]),
        claim=Claim(events=(step,), delta=delta),
    )
