"""What was drawn from the data. An event's meaning never changes; a new meaning is a new class."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gdppca import _validate
from gdppca._errors import ReleaseError


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianEvent:
    """Gaussian noise of standard deviation `noise_multiplier` times the sensitivity.

    The sensitivity is that under the guarantee's own neighbour relation, so no accountant may
    double it again.
    """

    purpose: str
    noise_multiplier: float

    def __post_init__(self) -> None:
        """Check the multiplier."""
        _validate.finite_positive(noise_multiplier=self.noise_multiplier)


@dataclass(frozen=True, slots=True, kw_only=True)
class PureEvent:
    """A step that is ε-differentially private with δ = 0, such as a private quantile."""

    purpose: str
    epsilon: float

    def __post_init__(self) -> None:
        """Check epsilon."""
        _validate.finite_positive(epsilon=self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateEvent:
    """A step known only to be (ε, δ)-differentially private, such as a run of noisy descent."""

    purpose: str
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Check the two numbers."""
        _validate.finite_positive(epsilon=self.epsilon)
        _validate.fraction(delta=self.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class NonPrivateEvent:
    """A number that left without any protection."""

    purpose: str


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
