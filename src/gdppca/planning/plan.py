"""Plan before you spend: what accuracy a budget will buy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca._words import counted
from gdppca.design import Parameters
from gdppca.planning.case import Case, named_location, named_scale
from gdppca.planning.prediction import expected_count
from gdppca.planning.promise import Promise, number_of_columns
from gdppca.planning.sparse import checked_sparsity
from gdppca.planning.spectrum import Spectrum, as_spectrum
from gdppca.planning.words import (
    OF_FAR_ROWS,
    WAYS,
    rounded_up,
    shares_in_words,
    told_angle,
    told_count,
    told_promise,
    told_sparsity,
)
from gdppca.privacy import Event
from gdppca.tables.wishes import Wishes

_EPSILONS = (1e-3, 1e3)  # where a needed ε is looked for
_ROWS = (2, 10**9)
_NO_ERROR, _PRECISION = 1e-9, 1e-3  # of an answer, which is rounded up to three digits

PLAN_FIELDS = (
    "n_samples", "n_features", "n_components", "epsilon", "delta", "statistic", "spectrum",
    "sin_theta", "per_component", "noise_sd", "detectable",
)  # fmt: skip
NEWER_FIELDS = ("sign", "scales", "budget", "unit", "neighbors", "missing", "sparsity")


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    r"""What accuracy a budget is expected to buy, from public numbers alone.

    Made by `gdppca.plan`; nothing is spent.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        Numbers of rows (or persons), columns and directions.
    epsilon, delta : float
        The budget.
    location : None, "public", "private" or "auto"
        How the rows will be compared, as asked for.
    centre : None, "public" or "private"
        What that comes to: None compares pairs of rows.
    spectrum : Spectrum
        The variances that were taken for known.
    sin_theta : float
        Expected sine of the largest angle between the released and the true directions.
    per_component : array of shape (m,)
        Expected sine of the angle of each direction to its own true one.
    noise_sd : float
        σ of the packed noise that the matrix will get. Where a private centre or radius is still to
        be found it is expected, and with a private radius in the units of the spectrum.
    detectable : int
        Number of components expected to stand above the noise.
    events : tuple of Event
        What the fit and the releases with it will draw, the draws of the scales as one and those
        of a private centre as one that is expected.
    case : Case
        Everything that was asked for.

    Examples
    --------
    >>> from gdppca.planning import plan
    >>> ahead = plan(2000, 25, epsilon=0.5, delta=1e-5, spectrum="spiked:10,5")
    >>> ahead
    Plan(2 directions of 25 columns from 2000 rows, epsilon = 0.5, delta = 1e-05, private centre:
         sin Theta about 0.21, 2 components above the noise)
    """

    n_samples: int
    n_features: int
    n_components: int
    epsilon: float
    delta: float
    location: str | None
    centre: str | None
    spectrum: Spectrum
    sin_theta: float
    per_component: np.ndarray
    noise_sd: float
    detectable: int
    events: tuple[Event, ...]
    case: Case

    def __repr__(self) -> str:
        return (
            f"Plan({counted(self.n_components, 'direction')} of {self.n_features} columns from "
            f"{self.n_samples} {self.who}, epsilon = {self.epsilon:g}, delta = {self.delta:g}, "
            f"{self.way}: sin Theta about {self.sin_theta:.2f}, "
            f"{counted(self.detectable, 'component')} above the noise)"
        )

    @property
    def way(self) -> str:
        """What rows are compared with: "pairs of rows", "private centre" or "public centre"."""
        return WAYS[self.centre]

    @property
    def who(self) -> str:
        """What is counted: "rows" or "persons"."""
        return self.case.promise.who

    @property
    def unit(self) -> str:
        """Who is protected: "row" or "person"."""
        return str(self.case.promise.protected.unit)

    @property
    def neighbors(self) -> str:
        """Against what: "replace-one" or "add-remove"."""
        return str(self.case.promise.protected.neighbors)

    @property
    def missing(self) -> float:
        """Mean share of missing cells that is expected."""
        return self.case.promise.missing

    @property
    def sparsity(self) -> int | None:
        """About how many columns have a part in each component; None where all may."""
        return self.case.sparsity

    @property
    def scales(self) -> str:
        """What columns are divided by: "none", "private" or "public"."""
        if self.case.scale_share:
            return "private"
        return "none" if self.case.design.start.scale is None else "public"

    @property
    def doubtful(self) -> bool:
        """Whether a private centre is sought that rows far from the origin might not find."""
        return self.case.doubtful

    @property
    def doubts(self) -> tuple[str, ...]:
        """Steps whose noise may win, in the words of the warnings that the fit will give."""
        return tuple(self.case.doubts)

    @property
    def budget(self) -> str:
        """Which step takes which share of the budget, in words."""
        return shares_in_words(self.case)

    def required(self, target: float, of: str = "epsilon") -> float | int:
        """Smallest ε, or number of rows, that is expected to reach an error.

        Parameters
        ----------
        target : float
            The error sin Θ to reach, between 0 and 1.
        of : "epsilon" or "n_samples", default "epsilon"
            What may change; everything else stays.

        Returns
        -------
        float or int
            Rounded up to three digits.

        Raises
        ------
        ParameterError
            Where no ε is large enough: so many rows do not allow it even without noise. More rows
            always do, unless the components have equal variances.

        Examples
        --------
        >>> from gdppca.planning import plan
        >>> ahead = plan(2000, 10, epsilon=0.5, delta=1e-5, spectrum="spiked:10,5")
        >>> 0.1 < ahead.required(0.2) < 0.4
        True
        >>> 1000 < ahead.required(0.1, of="n_samples") < 3000
        True
        """
        target = _validate.fraction(target=target)
        of = _validate.one_of(("epsilon", "n_samples"), of=of)
        if not self.case.separated:
            raise ParameterError(
                f"No {of} reaches `target`: component {self.n_components} has no more variance "
                "than the next one. Choose another `n_components` or `spectrum`."
            )
        if of == "n_samples":
            return int(self._smallest(of, target, _ROWS))
        # Without noise "auto" compares pairs, and a centre may do better.
        floor = min(self._error(epsilon=end) for end in (math.inf, _EPSILONS[1]))
        if floor >= target:
            raise ParameterError(
                f"`target` must be above {floor:.2g}, the error of {self.n_samples} {self.who} "
                f"without any noise, got {target:g}. No epsilon is enough; ask for {self.who}: "
                "of='n_samples'."
            )
        return self._smallest(of, target, _EPSILONS)

    def curve(self, epsilons: Sequence[float] | np.ndarray) -> np.ndarray:
        """Expected sin Θ for each of several ε, everything else as planned.

        Parameters
        ----------
        epsilons : sequence of float
            Budgets.

        Returns
        -------
        array
            One error per ε.

        Examples
        --------
        >>> from gdppca.planning import plan
        >>> ahead = plan(2000, 10, epsilon=0.5, delta=1e-5, spectrum="spiked:10,5")
        >>> errors = ahead.curve([0.25, 0.5, 1.0])
        >>> bool(errors[0] > errors[1] > errors[2])
        True
        """
        return np.array(
            [self._error(epsilon=_validate.budget(epsilon=epsilon)) for epsilon in epsilons]
        )

    def compare(self) -> dict[str, Plan]:
        """The same plan for each way to compare rows.

        Returns
        -------
        dict of Plan
            "pairs of rows", which needs no centre; "private centre", which buys one from the same
            budget; "public centre", for who has one. A way that the other parameters do not allow
            is left out.

        Examples
        --------
        >>> from gdppca.planning import plan
        >>> ahead = plan(2000, 25, epsilon=0.5, delta=1e-5, spectrum="spiked:10,5")
        >>> [(way, round(other.sin_theta, 1)) for way, other in ahead.compare().items()]
        [('pairs of rows', 0.4), ('private centre', 0.2), ('public centre', 0.2)]
        """
        ways = {}
        for location, words in WAYS.items():
            with suppress(ParameterError):  # such as pairs of one kind and a private centre
                ways[words] = _planned(self.case.changed(location=location))
        return ways

    def to_dict(self) -> dict[str, Any]:
        """Plain form, for a release or another program."""
        plain = {
            "epsilon": "infinity" if math.isinf(self.epsilon) else self.epsilon,
            "statistic": self.way,
            "spectrum": self.spectrum.words,
            "per_component": self.per_component.tolist(),
            "sign": self.case.sign_name,
            "sparsity": "dense" if self.sparsity is None else self.sparsity,
        }
        fields = (*PLAN_FIELDS, *NEWER_FIELDS)
        return {name: plain[name] if name in plain else getattr(self, name) for name in fields}

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it comes to, in plain words."""
        return (
            told_count(self.detectable, self.n_components),
            told_angle(self.case, self.sin_theta),
            *self.doubts,
            *([OF_FAR_ROWS] if self.doubtful else []),
            *told_promise(self.case.promise),
            f"This is for {self.spectrum.words}{told_sparsity(self.sparsity)}.",
        )

    def _error(self, **changes: Any) -> float:
        return self.case.changed(**changes).angles().sin_theta

    def _smallest(self, of: str, target: float, ends: tuple[float, float]) -> float:
        """Smallest value whose error is within the target; the error falls as it grows."""

        def excess(logarithm: float) -> float:
            value, error = math.exp(logarithm), 1.0
            with suppress(ParameterError):  # a fit that is refused finds no direction
                error = self._error(**{of: math.ceil(value) if of == "n_samples" else value})
            return math.log(max(error, _NO_ERROR) / target)

        low, high = (math.log(end) for end in ends)
        if excess(high) > 0:
            raise ParameterError(f"`target` would need {of} above {ends[1]:g}, got {target:g}.")
        if excess(low) <= 0:
            return ends[0]
        return rounded_up(math.exp(brentq(excess, low, high, xtol=_PRECISION) + _PRECISION))


def plan(
    n_samples: int,
    n_features: int | None = None,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    spectrum: Any = None,
    n_components: int = 2,
    sign: Any = "spherical",
    radius: Any = None,
    quantile: Any = None,
    quantile_share: float = 0.05,
    pairs: Any = "auto",
    calibration: str = "tight",
    location: Any = "auto",
    scale: Any = None,
    scale_share: float = 0.2,
    variances: float = 0.0,
    score_map: float = 0.0,
    unit: str | None = None,
    neighbors: str = "replace-one",
    missing: Any = "refuse",
    sparsity: int | None = None,
    description: Any = None,
    stages: str = "one",
) -> Plan:
    r"""Predict the accuracy of `DPPCA` before any budget is spent.

    The same parameters give the plan of the fit that they give.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the table; with ``unit="person"`` the number of persons. A description tells the
        number of columns, those of categories' levels included.
    epsilon, delta : float, default 1.0 and 1e-6
        The budget.
    spectrum : None, array of shape (d,), str, path or Release, default None
        What is known about the variances along the components: all of them, up to a factor;
        "spiked:10,5" for two leading ones above a rest of 1; or an earlier release or its file.
        None takes each component twice as large as the next and the last five times the rest:
        10, 5, 1, …, 1 for two components. With scales it is about the columns divided by them. For
        a sign with a public radius it is in the units that the radius has.
    n_components, sign, radius, quantile, quantile_share, pairs, calibration, scale_share, stages
        As for `DPPCA`.
    location, scale
        As for `DPPCA`; "public" stands for a public centre or public scales that need not be named.
    variances, score_map : float, default 0
        Shares of the budget, as for `DPPCA.fit_release`.
    unit : None, "row" or "person", default None
        Who is protected; None is "row", or "person" where the description names the column of
        persons. A person counts as one row here; several rows do a little better.
    neighbors : "replace-one" or "add-remove", default "replace-one"
        As for `DPPCA`. With "add-remove" the number of rows is secret, and `n_samples` a guess.
    missing : "refuse", "rates", float or array of shape (d,), default "refuse"
        As for `DPPCA`; or the share of cells that are expected to be missing, or one for each
        column, for a fit with ``missing="rates"``.
    sparsity : None or int, default None
        About how many columns have a part in each component, the same ones in all: there shrunken
        loadings are nearer. None: all columns have, and shrinking gains nothing.
    description : Description, str or path, optional
        As for `DPPCA.fit`: what is typical and how far columns spread saves budget.

    Returns
    -------
    Plan
        Expected errors, noise, and what it would take to do better.

    Notes
    -----
    **Privacy.** Nothing is spent: no row is seen. An earlier release is post-processed.
    Noise and events come from the code that the fit runs. How long the search for a private centre
    takes, how large a private radius is, when a second stage begins: these are expected values.

    An elliptical law is taken for granted; for other signs than the spherical one a Gaussian law.
    Then the law of the noisy matrix is known, and the angles are averaged over a fixed set of draws
    from it: see `gdppca.planning.prediction`. With the spherical sign tails hardly matter. Cells
    are missing completely at random. Contamination is not foreseen. Rows are all in memory;
    `DPPCA.fit_stream` looks for centre, scales and radius in a sample of at most 131,072 rows.

    Examples
    --------
    >>> from gdppca.planning import plan
    >>> ahead = plan(2000, 25, epsilon=0.5, delta=1e-5, spectrum="spiked:10,5")
    >>> round(ahead.sin_theta, 1), ahead.detectable
    (0.2, 2)
    >>> plan(5000, 10, scale="private", location=None).budget
    'Of the budget (μ²), the scales take 20 % and the matrix gets 80 %.'
    >>> plan(2000, 10, location="public", missing=0.4).sin_theta > 0.1
    True
    """
    table = Wishes(description=description).settled().description
    d = number_of_columns(n_features, table)
    m = _validate.count(n_components=n_components)
    if m > d:
        raise ParameterError(f"`n_components` must be at most the {d} columns, got {m}.")
    promise = Promise.of(unit, neighbors, missing, d, table)
    asked = Parameters(
        n_components=m,
        epsilon=_validate.budget(epsilon=epsilon),
        delta=_validate.fraction(delta=delta),
        sign=sign,
        radius=radius,
        quantile=quantile,
        quantile_share=quantile_share,
        location=named_location(location, d),
        pairs=pairs,
        scale=named_scale(scale),
        scale_share=scale_share,
        calibration=calibration,
        neighbors=str(promise.protected.neighbors),
        missing="refuse" if promise.rates is None else "rates",
        stages=stages,
    )
    case = Case(
        n_samples=_validate.count(n_samples=n_samples, at_least=2),
        n_features=d,
        asked=asked,
        variances=variances,
        score_map=score_map,
        spectrum=as_spectrum(spectrum, d, m),
        promise=promise,
        sparsity=checked_sparsity(sparsity, d),
    )
    return _planned(case)


def _planned(case: Case) -> Plan:
    law, angles, asked = case.released_law(), case.angles(), case.asked
    return Plan(
        case=case,
        n_samples=case.n_samples,
        n_features=case.n_features,
        centre=case.centre,
        spectrum=case.spectrum,
        events=case.events,
        n_components=asked.n_components,
        epsilon=asked.epsilon,
        delta=asked.delta,
        location=asked.location,
        detectable=expected_count(law, case.n_samples),
        sin_theta=angles.sin_theta,
        per_component=angles.per_component,
        noise_sd=law.noise_sd,
    )
