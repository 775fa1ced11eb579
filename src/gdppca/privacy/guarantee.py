"""The promise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from gdppca import _validate
from gdppca._errors import ParameterError, ReleaseError
from gdppca._words import rounded_up
from gdppca.privacy import accounting, assumptions, spending
from gdppca.privacy.assumptions import Assumption
from gdppca.privacy.events import (
    Event,
    GaussianEvent,
    NonPrivateEvent,
    PureEvent,
    event_from_dict,
    event_to_dict,
)

_TOLERANCE = 1e-6  # relative, of a stated number
_EXACT_BEFORE = 12  # pure steps beside Gaussian ones that earlier versions composed exactly


class Neighbors(StrEnum):
    """Which two tables must look alike."""

    REPLACE_ONE = "replace-one"
    ADD_REMOVE = "add-remove"


class Unit(StrEnum):
    """Who is told from whom: a row, or a person with all of hers."""

    ROW = "row"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Protected:
    """Who is told from whom, and which two tables must look alike."""

    unit: Unit = Unit.ROW
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    @property
    def tells_rows(self) -> bool:
        """Whether the number of rows is public; where a person may have several it never is."""
        return self == Protected()


class Status(StrEnum):
    """How firmly the promise stands."""

    PROVEN = "proven"
    HIGH_PROBABILITY = "high-probability"
    NONE = "none"


_WORDS = ("status", "reason", "neighbors", "unit")
_COMPUTED = ("epsilon", "gdp_mu", "zcdp_rho")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What was promised, to whom, and on which assumptions.

    Parameters
    ----------
    events : tuple of Event
        What was drawn, in order.
    delta : float
        The δ at which `epsilon` is quoted.
    neighbors : Neighbors
        Which two tables look alike: one row replaced by any other, or added or removed.
    assumptions : tuple of Assumption
        What must be true outside the mathematics; sentences are taken too.
    seeded : bool
        The noise came from a known seed: a simulation that protects nobody.
    status : Status
        How firmly the method's promise stands, given secret noise: "proven", "high-probability"
        or "none". Whether anybody is protected is `protects`.
    reason : str
        Why the status is not "proven".
    unit : Unit
        Whether the promise is about one row or about all rows of one person.

    Notes
    -----
    Data only: the numbers are computed by `gdppca.privacy.spending`. ``a + b`` composes.

    Examples
    --------
    >>> from gdppca import Guarantee
    >>> from gdppca.privacy import GaussianEvent
    >>> step = GaussianEvent(purpose="scatter", noise_multiplier=3.731)
    >>> once = Guarantee(events=(step,), delta=1e-5)
    >>> round(once.epsilon, 2), round((once + once).epsilon, 2)
    (1.0, 1.47)
    """

    events: tuple[Event, ...]
    delta: float
    neighbors: Neighbors = Neighbors.REPLACE_ONE
    assumptions: tuple[Assumption, ...] = ()
    seeded: bool = False
    status: Status = Status.PROVEN
    reason: str = ""
    unit: Unit = Unit.ROW

    def __post_init__(self) -> None:
        """Check δ, freeze the sequences, and take words for the types they stand for."""
        _validate.fraction(delta=self.delta)
        object.__setattr__(self, "events", tuple(self.events))
        object.__setattr__(self, "assumptions", tuple(map(assumptions.known, self.assumptions)))
        for name, kind in (("neighbors", Neighbors), ("unit", Unit), ("status", Status)):
            object.__setattr__(self, name, kind(getattr(self, name)))
        if any(isinstance(event, NonPrivateEvent) for event in self.events):
            object.__setattr__(self, "status", Status.NONE)
            object.__setattr__(self, "reason", self.reason or "a number left without any noise")

    @property
    def protects(self) -> bool:
        """Whether anybody is protected at all."""
        promised = not self.seeded and self.status is not Status.NONE
        return promised and math.isfinite(self.nominal_epsilon)

    @property
    def epsilon(self) -> float:
        """ε at δ; infinite for a seeded simulation and where nothing is promised."""
        return self.nominal_epsilon if self.protects else math.inf

    @property
    def nominal_epsilon(self) -> float:
        """ε at δ that the same noise would give from a secret source; for simulations."""
        return spending.epsilon_at(self.events, self.delta)

    @property
    def gdp_mu(self) -> float:
        """μ of Gaussian differential privacy."""
        return accounting.gdp_mu(self.events) if self.protects else math.inf

    @property
    def zcdp_rho(self) -> float:
        """ρ of zero-concentrated differential privacy."""
        return accounting.zcdp_rho(self.events) if self.protects else math.inf

    def odds_factor(self, chance: float | None = None) -> float:
        r"""Largest factor by which the odds of a guess about one row rise, but for a chance.

        Parameters
        ----------
        chance : float or None
            Probability, over the noise, with which the factor may be exceeded; δ if None. With 0
            it is never exceeded, which only pure steps give.

        Returns
        -------
        float
            At least 1; infinite where nobody is protected, and where a step that is known only as
            (ε, δ) uses up the chance.

        Notes
        -----
        It holds for somebody who knows all other rows and anything else, and whose guess is made
        before the release is seen (docs/proofs/odds.md). For Gaussian noise it is larger than
        :math:`e^\varepsilon`, which the odds pass far more often than with probability δ.

        Examples
        --------
        >>> from gdppca import Guarantee
        >>> from gdppca.privacy import GaussianEvent
        >>> promise = Guarantee(events=(GaussianEvent(purpose="scatter", noise_multiplier=4.2247),),
        ...                     delta=1e-6)
        >>> round(promise.epsilon, 3)
        1.0
        >>> round(promise.odds_factor(), 2), round(promise.odds_factor(0.05), 2)
        (3.31, 1.67)
        """
        chance = self.delta if chance is None else chance
        if chance != 0:
            _validate.fraction(chance=chance)
        return spending.odds_factor(self.events, float(chance)) if self.protects else math.inf

    def __add__(self, other: Guarantee) -> Guarantee:
        """Promise about both results together; ε is quoted at the larger δ."""
        return replace(weakest(self, other), events=self.events + other.events)

    def __radd__(self, other: object) -> Guarantee:
        """Let ``sum`` start from its zero."""
        return self if other == 0 else NotImplemented

    def __str__(self) -> str:
        if self.seeded and self.status is not Status.NONE:
            return (
                "no protection: a simulation with a known seed "
                f"(noise as for epsilon = {rounded_up(self.nominal_epsilon, 4)}, "
                f"delta = {self.delta:.4g})"
            )
        if not self.protects or math.isinf(self.epsilon):
            return f"no protection: {self.reason or 'nothing was noised'}"
        proven = self.status is Status.PROVEN
        whole = " of whole persons" if self.unit is Unit.PERSON else ""
        return (
            f"(epsilon = {rounded_up(self.epsilon, 4)}, delta = {rounded_up(self.delta, 4)})"
            f"-differential privacy{whole}, {self.neighbors} neighbours"
            f"{'' if proven else f' with high probability only: {self.reason}'}"
        )

    def _repr_html_(self) -> str:
        """The promise in plain words, for notebooks."""
        from gdppca.privacy.words import as_card

        return as_card(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain form; infinite numbers are written as the word "infinity"."""
        words = {name: str(getattr(self, name)) for name in _WORDS}
        numbers = {name: _plain(getattr(self, name)) for name in (*_COMPUTED, "delta")}
        return {
            **words,
            **numbers,
            "seeded": self.seeded,
            "assumptions": assumptions.to_plain(self.assumptions),
            "events": [event_to_dict(event) for event in self.events],
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Guarantee:
        """Read what `to_dict` wrote, and check its ε against its events."""
        guarantee = cls(
            events=tuple(map(event_from_dict, plain["events"])),
            assumptions=assumptions.from_plain(plain["assumptions"]),
            **{name: plain[name] for name in (*_WORDS, "delta", "seeded") if name in plain},
        )
        for name in _COMPUTED:
            stated, least = float(plain[name]), getattr(guarantee, name)
            most = max(least, _largest_stated(guarantee)) if name == "epsilon" else least
            if not least * (1 - _TOLERANCE) <= stated <= most * (1 + _TOLERANCE):
                raise ReleaseError(
                    f"The stated `{name}` does not follow from the listed events. "
                    "The guarantee was edited; ask its owner for the original."
                )
        return guarantee


def weakest(*guarantees: Guarantee) -> Guarantee:
    """The one that stands least firmly, at the largest δ and on what all of them assume."""
    _require_alike(guarantees)
    return replace(
        max(guarantees, key=lambda guarantee: list(Status).index(guarantee.status)),
        delta=max(guarantee.delta for guarantee in guarantees),
        assumptions=assumptions.together(*(guarantee.assumptions for guarantee in guarantees)),
        seeded=any(guarantee.seeded for guarantee in guarantees),
    )


def _require_alike(guarantees: Sequence[Guarantee]) -> None:
    """Refuse to put promises together that are about different neighbours or units."""
    for words, name in (("neighbours", "neighbors"), ("units", "unit")):
        different = dict.fromkeys(getattr(guarantee, name) for guarantee in guarantees)
        if len(different) > 1:
            raise ParameterError(
                f"Guarantees about different {words} do not compose: {' and '.join(different)}."
            )


def _largest_stated(guarantee: Guarantee) -> float:
    """Largest ε that a file may state; earlier versions rounded it up beside many pure steps.

    They did so where pure steps stood alone or were more than twelve, never beyond plain addition.
    What is read is recomputed in any case.
    """
    events = guarantee.events
    pure = sum(isinstance(event, PureEvent) for event in events)
    gaussian = any(isinstance(event, GaussianEvent) for event in events)
    rounded = pure > (_EXACT_BEFORE if gaussian else 1)
    return spending.Spending().plus(events).added(guarantee.delta) if rounded else 0.0


def _plain(number: float) -> float | str:
    return "infinity" if math.isinf(number) else number
