"""What was drawn from the data. An event's meaning never changes; a new meaning is a new class."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from gdppca import _validate
from gdppca._errors import ReleaseError


@dataclass(frozen=True, slots=True, kw_only=True)
class NonPrivateEvent:
    """A number that left without any protection."""

    purpose: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noisy:
    """What all noisy steps share: numbers that are checked by name."""

    purpose: str

    def __post_init__(self) -> None:
        """Check every number of the step."""
        for name in self.__slots__:  # of its own class
            check = _validate.fraction if name == "delta" else _validate.finite_positive
            check(**{name: getattr(self, name)})


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianEvent(_Noisy):
    """Gaussian noise of standard deviation `noise_multiplier` times the sensitivity.

    The sensitivity is that under the guarantee's own neighbour relation, so no accountant may
    double it again.
    """

    noise_multiplier: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PureEvent(_Noisy):
    """A step that is ε-differentially private with δ = 0, such as a private quantile."""

    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateEvent(_Noisy):
    """A step known only to be (ε, δ)-differentially private, such as a run of noisy descent."""

    epsilon: float
    delta: float


Event = GaussianEvent | PureEvent | ApproximateEvent | NonPrivateEvent

_KINDS = {
    "gaussian": GaussianEvent,
    "pure": PureEvent,
    "approximate": ApproximateEvent,
    "non-private": NonPrivateEvent,
}


def event_to_dict(event: Event) -> dict[str, Any]:
    """Plain form, as it stands in a release."""
    [kind] = [name for name, cls in _KINDS.items() if cls is type(event)]
    return {"kind": kind, **asdict(event)}


def event_from_dict(plain: dict[str, Any]) -> Event:
    """Read what `event_to_dict` wrote."""
    fields = dict(plain)
    kind = fields.pop("kind", None)
    if kind not in _KINDS:
        raise ReleaseError(f"An event of kind {kind!r} is not known to this version.")
    event: Event = _KINDS[kind](**fields)
    return event


def twice(event: Event) -> Event:
    """The same draw for tables that are two steps apart, as with one row removed and one added."""
    match event:
        case GaussianEvent(noise_multiplier=multiplier):
            return replace(event, noise_multiplier=multiplier / 2)
        case PureEvent(epsilon=epsilon):
            return replace(event, epsilon=2 * epsilon)
        case ApproximateEvent(epsilon=epsilon, delta=delta):
            both = delta * (1 + math.exp(min(epsilon, 700.0)))
            if both < 1:
                return replace(event, epsilon=2 * epsilon, delta=both)
    return NonPrivateEvent(purpose=event.purpose)
