"""Guarantees, events and accounting. Nothing in this room ever sees a row."""

from gdppca.privacy.budget import split_budget
from gdppca.privacy.events import (
    ApproximateEvent,
    Event,
    GaussianEvent,
    NonPrivateEvent,
    PureEvent,
)
from gdppca.privacy.guarantee import Guarantee, Neighbors, Status
from gdppca.privacy.ledger import Budget, BudgetLedger, Receipt

__all__ = [
    "ApproximateEvent",
    "Budget",
    "BudgetLedger",
    "Event",
    "GaussianEvent",
    "Guarantee",
    "Neighbors",
    "NonPrivateEvent",
    "PureEvent",
    "Receipt",
    "Status",
    "split_budget",
]
