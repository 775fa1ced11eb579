"""An audit of one release: its own design, attacked on tables of its own shape."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from gdppca._version import __version__
from gdppca.auditing import bounds
from gdppca.auditing.experiment import Claim
from gdppca.auditing.real_tables import Given
from gdppca.auditing.rebuilding import rebuilt
from gdppca.auditing.release_pairs import worst_pair
from gdppca.auditing.repeats import Path
from gdppca.auditing.result import AuditResult
from gdppca.design import Design, run
from gdppca.kernels import Progress
from gdppca.noise import Noise, secure_noise
from gdppca.noise.bits import generator_for
from gdppca.privacy import Unit
from gdppca.releases import Release
from gdppca.steps.base import State
from gdppca.tables.open import open_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RUNS = (5000, 200_000)  # unless told otherwise: the fewest and the most
_SECONDS = 100.0  # that they may take
_AT_ONCE = 500
_PATHS = (2, 40)  # whole runs of the pipeline, the fewest and the most
_SECONDS_OF_PATHS = 30.0
_FACTORS = (1e-6, 1e3)  # next to nothing is told, and everything
_CURVES = ("rates", "claimed", "bound", "band")
_CURVE_EPSILONS = 121
_EXACT_SLACK = 1e-9  # relative, of a sensitivity that floats computed


@dataclass(frozen=True, kw_only=True)
class ReleaseAudit(AuditResult):
    """What an audit of a release found.

    Parameters
    ----------
    method, claim, confidence, scores
        As for `AuditResult`.
    checksum : str
        Of the release.
    made_by : str
        Version of this package that made the release; `attacked_version` is the one under attack.
    unit, neighbors : str
        Who is told from whom, and which two tables look alike.
    table : pair of ints
        Rows or persons, and columns, of the tables that were attacked.
    paths : int
        Whole runs of the pipeline, each of whose draws were made again.
    pair_mu : float
        μ of the Gaussian draws by how far the two tables move them, had the noise its size.
    largest_move : float
        How far any draw moved, in shares of the sensitivity that its noise is made for.
    seeded : bool
        Whether the release came from a known seed; what is attacked has secret noise.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.auditing import audit
    >>> X = np.random.default_rng(0).normal(size=(1000, 4))
    >>> found = audit(DPPCA(2, epsilon=1.0).fit(X).release_, runs=2000, confidence=0.999999)
    >>> found.refuted, found.epsilon_lower <= found.claimed_epsilon
    (False, True)
    >>> 0 <= found.epsilon_reachable <= found.claimed_epsilon
    True
    """

    checksum: str
    made_by: str
    unit: str
    neighbors: str
    table: tuple[int, int]
    paths: int
    pair_mu: float
    largest_move: float
    seeded: bool = False
    attacked_version: str = __version__

    @cached_property
    def _errors(self) -> int:
        """Wrong guesses; where nothing was told the second table is guessed."""
        return self.wrong + int(np.sum(self.scores[0] == 0))

    @property
    def _alarm(self) -> float:
        return 1 - self.confidence

    @property
    def refuted(self) -> bool:
        """Whether fewer guesses were wrong than the claim allows, with the stated confidence."""
        return bounds.rate_at_most(self._errors, self.runs, self._alarm) < self.claim.least_wrong()

    def factor(self, rate: float) -> float:
        """By how much the noise would have to be smaller than claimed for so few wrong guesses."""
        low, high = _FACTORS
        if rate >= self.claim.least_wrong(low):
            return 0.0
        if rate <= self.claim.least_wrong(high):
            return high
        return float(brentq(lambda tried: self.claim.least_wrong(tried) - rate, low, high))

    @cached_property
    def factors(self) -> tuple[float, float]:
        """The same, between what so many wrong guesses allow with the stated confidence."""
        runs, wrong = self.runs, self._errors
        most = bounds.rate_at_most(wrong, runs, self._alarm)
        fewest = 1 - bounds.rate_at_most(runs - wrong, runs, self._alarm)
        return self.factor(most), self.factor(fewest)

    @property
    def epsilon_lower(self) -> float:
        """ε at δ of the same draws with the most noise that so few wrong guesses allow.

        The rate of wrong guesses is bounded whatever the law of the scores; that all noise is too
        small by one factor is what turns it into an ε.
        """
        return self._epsilon(self.factors[0])

    @property
    def epsilon_seen(self) -> float:
        """Upper end of the band: what this attack reaches is not above, with the confidence."""
        return self._epsilon(self.factors[1])

    @property
    def epsilon_reachable(self) -> float:
        """Lower bound that a release without any slack would have got with as many runs."""
        return self._epsilon(self.factor(self._rate_without_slack))

    @property
    def mu_reachable(self) -> float:
        """The same as μ of Gaussian differential privacy."""
        return float(max(0.0, 2 * norm.isf(self._rate_without_slack)))

    @property
    def _rate_without_slack(self) -> float:
        """Bound on the rate of wrong guesses where there are as few as the claim allows."""
        fewest = round(self.runs * self.claim.least_wrong())
        return bounds.rate_at_most(fewest, self.runs, self._alarm)

    def _epsilon(self, factor: float) -> float:
        return self.claim.epsilon_with(factor) if factor > 0 else 0.0

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result in plain words."""
        n, d = self.table
        those = "persons" if self.unit == Unit.PERSON else "rows"
        right = 1 - self._errors / self.runs
        promises = "The release promises"
        if self.seeded:
            promises = "The release has a known seed and protects nobody; secret noise promises"
        told = [
            f"{promises} epsilon = {self.claimed_epsilon:.4g} at delta = {self.delta:.4g}, "
            f"{self.neighbors} neighbours.",
            f"Its design was run {self.paths} times on two neighbouring tables of {n} {those} and "
            f"{d} columns, and the noise of its draws was drawn {self.runs} times.",
            f"An attacker who is given every draw guessed the table in {right:.2%}: epsilon is at "
            f"least {self.epsilon_lower:.3g} with confidence {self.confidence:g}. A mechanism "
            f"without any slack would reach {self.epsilon_reachable:.3g} in as many runs.",
            self._verdict,
        ]
        if self.largest_move > 1 + _EXACT_SLACK:
            told.insert(
                -1,
                f"A draw moved by {self.largest_move:.3g} times the sensitivity that its noise is "
                "made for.",
            )
        if self.made_by != self.attacked_version:
            told.insert(
                1,
                f"It was made by version {self.made_by}; what was attacked is version "
                f"{self.attacked_version}.",
            )
        return tuple(told)

    @property
    def _verdict(self) -> str:
        if not self.refuted:
            return "The claim is not refuted."
        return (
            f"The claim is refuted: the noise is at most {1 / self.factors[0]:.2g} of what it "
            "says it is."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, without the scores; what a report may carry."""
        return {
            **super().to_dict(),
            "checksum": self.checksum,
            "made_by": self.made_by,
            "attacked_version": self.attacked_version,
            "unit": self.unit,
            "neighbors": self.neighbors,
            "table": list(self.table),
            "paths": self.paths,
            "seeded": self.seeded,
            "epsilon_seen": self.epsilon_seen,
            "epsilon_reachable": self.epsilon_reachable,
            "noise_factors": list(self.factors),
            "pair_mu": self.pair_mu,
            "largest_move": self.largest_move,
            "sentences": list(self.sentences),
            "curves": {
                name: curve.tolist() for name, curve in zip(_CURVES, self.band_curves, strict=True)
            },
        }

    def figure(self) -> Figure:
        """As for `AuditResult`, with the band that the attack's true curve lies in."""
        from gdppca.plots.audit import audit_figure

        *curves, band = self.band_curves
        said = " ".join(self.sentences)
        return audit_figure(*self.scores, (curves[0], curves[1], curves[2]), said, band=band)

    @property
    def curves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As for `AuditResult`; every curve is that of the claim's draws, with less noise."""
        rates, claimed, bound, _ = self.band_curves
        return rates, claimed, bound

    @cached_property
    def band_curves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """False-positive rates, what the claim allows, the bound, and the other end of its band."""
        rates = np.linspace(0.0, 1.0, bounds.CURVE_POINTS)
        claimed, bound, band = (self._curve(rates, factor) for factor in (1.0, *self.factors))
        return rates, claimed, bound, band

    def _curve(self, rates: np.ndarray, factor: float) -> np.ndarray:
        """Least false negatives of the claim's draws with noise over `factor`."""
        if self.claim.is_gaussian:
            return bounds.gaussian_curve(rates, factor * self.claimed_mu)
        if factor == 0:
            return 1 - rates
        most = max(1.0, 2 * self.claim.epsilon_with(factor))
        return np.max(
            [
                bounds.epsilon_curve(rates, epsilon, self.claim.delta_at(epsilon, factor))
                for epsilon in np.linspace(0.0, most, _CURVE_EPSILONS)
            ],
            axis=0,
        )


def audit_release(
    release: Release, runs: int | None, confidence: float, progress: Progress
) -> ReleaseAudit:
    """Attack the design of a release; as `audit`, which checks what is asked."""
    design = rebuilt(release)
    paths = _paths(design, worst_pair(design))
    noise = secure_noise()
    runs = _affordable(paths[0], noise) if runs is None else runs
    coins = generator_for(None).integers(2, size=runs)
    scores, done = [], 0
    for path, part in zip(paths, np.array_split(coins, len(paths)), strict=True):
        for some in np.array_split(part, math.ceil(len(part) / _AT_ONCE) or 1):
            scores.append(path.scores(some, noise))
            done += len(some)
            progress(done, runs)
    found = np.concatenate(scores)
    events, delta = release.guarantee.events, release.guarantee.delta
    return ReleaseAudit(
        method=release.method,
        claim=Claim(events=events, delta=delta, status=release.guarantee.status),
        confidence=confidence,
        scores=(found[coins == 0], found[coins == 1]),
        checksum=release.checksum,
        made_by=release.library_version,
        unit=str(release.unit),
        neighbors=str(release.neighbors),
        table=(design.public.n_samples, design.public.n_features),
        paths=len(paths),
        pair_mu=float(np.mean([path.mu for path in paths])),
        largest_move=max(path.largest_move for path in paths),
        seeded=release.guarantee.seeded,
    )


def _paths(design: Design, tables: tuple[Given, Given]) -> list[Path]:
    """Whole runs on either table in turn, as many as there is time for."""

    def mechanism(table: Given, noise: Noise) -> State:
        with open_table(table.rows, noise, **table.said) as opened:
            return run(design, opened, noise)

    paths: list[Path] = []
    fewest, most = _PATHS
    started = math.inf
    while len(paths) < most:
        if len(paths) >= fewest and time.perf_counter() - started > _SECONDS_OF_PATHS:
            break
        paths.append(Path.of(mechanism, tables, coin=len(paths) % 2))
        started = min(started, time.perf_counter())  # the first one compiles besides
    return paths


def _affordable(path: Path, noise: Noise) -> int:
    """Runs that there is time for; by the clock alone, so that the bounds hold."""
    started = time.perf_counter()
    path.scores(np.zeros(_AT_ONCE, dtype=int), noise)
    each = (time.perf_counter() - started) / _AT_ONCE
    return max(_RUNS[0], min(_RUNS[1], round(_SECONDS / each)))
