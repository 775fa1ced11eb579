"""What a list of steps promises, with everything that is taken for granted."""

from __future__ import annotations

from gdppca.privacy import Assumption, Event, Guarantee, Status
from gdppca.privacy.assumptions import EVERYWHERE, OWN_SIGN, counted
from gdppca.signs import Custom, Sign

NO_NOISE = "epsilon is infinite, so no noise was added"


def assumed_of_sign(sign: Sign) -> tuple[Assumption, ...]:
    """What is taken for granted of a sign: nothing of those that are built in and proven."""
    return (OWN_SIGN,) if isinstance(sign, Custom) else ()


def promise(
    events: tuple[Event, ...],
    delta: float,
    *,
    entered: bool,
    seeded: bool,
    noiseless: bool,
    assumed: tuple[Assumption, ...] = (),
    status: Status = Status.PROVEN,
    reason: str = "",
) -> Guarantee:
    """What a fit promises by its draws; nothing without noise, else as firmly as `status` says."""
    return Guarantee(
        events=events,
        delta=delta,
        assumptions=(*counted(EVERYWHERE, entered=entered), *assumed),
        seeded=seeded,
        status=Status.NONE if noiseless else status,
        reason=NO_NOISE if noiseless else reason,
    )
