"""Everything about a release that is known before a row is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from gdppca.privacy import Assumption, Event, Guarantee, Status
from gdppca.privacy.assumptions import OWN_SIGN, counted, everywhere
from gdppca.signs import Custom, Sign
from gdppca.steps.base import Public, State, Step

Kind = TypeVar("Kind")

_NO_NOISE = "epsilon is infinite, so no noise was added"


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """A list of steps with their shares of a budget: what is planned is what is debited and run."""

    public: Public
    steps: tuple[Step, ...]
    debit: tuple[Event, ...]  # the most that they draw together
    epsilon: float  # of all of it
    delta: float
    noiseless: bool = False
    start: State = field(default_factory=State)  # what is public
    calibration: str = "tight"
    assumptions: tuple[Assumption, ...] = ()  # beside what every release takes for granted
    status: Status = Status.PROVEN
    reason: str = ""
    counted: Callable[[float], Design] | None = None  # the design once a secret number is known

    @classmethod
    def of(cls, *steps: Step, **more: Any) -> Self:
        """Steps that draw just what they announce."""
        debit = tuple(event for step in steps for event in step.events)
        return cls(public=steps[0].public, steps=steps, debit=debit, **more)

    def known_by(self, state: State) -> Design:
        """The same for the number of rows or persons that was drawn; itself where n is public."""
        return self if self.counted is None or state.number is None else self.counted(state.number)

    def step(self, kind: type[Kind]) -> Kind | None:
        """The step of this kind, if it is one of them."""
        return next((step for step in self.steps if isinstance(step, kind)), None)

    @property
    def needs_sample(self) -> bool:
        """Whether some step looks at rows themselves."""
        return any(step.needs_sample for step in self.steps)

    @property
    def lost(self) -> Iterator[str]:
        """Steps whose noise would win over what they measure, and what would do; refused."""
        return (words for step in self.steps if (words := getattr(step, "lost", None)) is not None)

    @property
    def doubts(self) -> Iterator[str]:
        """Steps whose noise may win, in words; from public numbers, before anything is drawn."""
        return (words for step in self.steps if (words := getattr(step, "doubt", None)) is not None)

    def guarantee(self, events: tuple[Event, ...], *, entered: bool, seeded: bool) -> Guarantee:
        """What the draws promise: nothing without noise, else as firmly as `status` says."""
        return Guarantee(
            events=events,
            delta=self.delta,
            neighbors=self.public.protected.neighbors,
            unit=self.public.protected.unit,
            assumptions=(
                *counted(everywhere(self.public.protected), entered=entered),
                *self.assumptions,
            ),
            seeded=seeded,
            status=Status.NONE if self.noiseless else self.status,
            reason=_NO_NOISE if self.noiseless else self.reason,
        )


def assumed_of_sign(sign: Sign) -> tuple[Assumption, ...]:
    """What is taken for granted of a sign: nothing of those that are built in and proven."""
    return (OWN_SIGN,) if isinstance(sign, Custom) else ()
