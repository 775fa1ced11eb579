"""From public numbers to what is drawn: a fit runs it, a plan predicts from it. No row is seen."""

from gdppca.design.design import Design, Supply, doubts, lost_steps
from gdppca.design.parameters import Parameters, design_of
from gdppca.design.reserved import reserved_events, shared_out

__all__ = [
    "Design",
    "Parameters",
    "Supply",
    "design_of",
    "doubts",
    "lost_steps",
    "reserved_events",
    "shared_out",
]
