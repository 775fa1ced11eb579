"""From public numbers to a list of steps: planned, debited and run as one. No row is seen here."""

from gdppca.design.design import Design, assumed_of_sign
from gdppca.design.parameters import Choices, Parameters, design_of
from gdppca.design.run import note_spend_on_error, run
from gdppca.design.shares import Shares
from gdppca.design.shown import showing

__all__ = [
    "Choices",
    "Design",
    "Parameters",
    "Shares",
    "assumed_of_sign",
    "design_of",
    "note_spend_on_error",
    "run",
    "showing",
]
