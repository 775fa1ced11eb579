"""What a list of steps promises, with everything that is taken for granted."""

from __future__ import annotations

from gdppca.privacy import Event, Guarantee, Status
from gdppca.privacy.counting import UNCOUNTED, counted
from gdppca.signs import Custom, Sign

ASSUMED = (
    "Each person is in one row only.",
    "The number of rows and the column names are public.",
    "Parameters were chosen without looking at the data.",
    UNCOUNTED,
)
ASSUMED_LOCATION = "The centre was chosen without looking at the data."
ASSUMED_SCALE = "The column scales were chosen without looking at the data."
ASSUMED_ORDER = (
    "Rows came in batches whose order did not depend on their values; "
    "rows were shuffled inside each batch only."
)
ASSUMED_GROUPS = "The names of the groups are public."
ASSUMED_FRAME = "The frame was chosen without looking at the data."
ASSUMED_APART = "The components come from a release, whose own guarantee is to be added."
ASSUMED_OWN_SIGN = (
    "The sign is the user's own: its `radial` gives each length a new one of at most `sup_norm`, "
    "from that length alone and always the same, and was not derived from the data."
)
NO_NOISE = "epsilon is infinite, so no noise was added"


def assumed_of_sign(sign: Sign) -> tuple[str, ...]:
    """What is taken for granted of a sign: nothing of those that are built in and proven."""
    return (ASSUMED_OWN_SIGN,) if isinstance(sign, Custom) else ()


def promise(
    events: tuple[Event, ...],
    delta: float,
    *,
    entered: bool,
    seeded: bool,
    noiseless: bool,
    assumed: tuple[str, ...] = (),
    status: Status = Status.PROVEN,
    reason: str = "",
) -> Guarantee:
    """What a fit promises by its draws; nothing without noise, else as firmly as `status` says."""
    return Guarantee(
        events=events,
        delta=delta,
        assumptions=(*counted(ASSUMED, entered=entered), *assumed),
        seeded=seeded,
        status=Status.NONE if noiseless else status,
        reason=NO_NOISE if noiseless else reason,
    )
