"""Guarantees, events and accounting. Nothing in this room ever sees a row."""

from gdppca.privacy.assumptions import Assumption
from gdppca.privacy.budget import split_budget
from gdppca.privacy.events import ApproximateEvent, Event, GaussianEvent, NonPrivateEvent, PureEvent
from gdppca.privacy.guarantee import Guarantee, Neighbors, Protected, Status, Unit
from gdppca.privacy.ledger import Budget, BudgetLedger, Receipt

__all__ = [
    "ApproximateEvent",
    "Assumption",
    "Budget",
    "BudgetLedger",
    "Event",
    "GaussianEvent",
    "Guarantee",
    "Neighbors",
    "NonPrivateEvent",
    "Protected",
    "PureEvent",
    "Receipt",
    "Status",
    "Unit",
    "split_budget",
]
