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

__all__ = [
    "ApproximateEvent",
    "Event",
    "GaussianEvent",
    "Guarantee",
    "Neighbors",
    "NonPrivateEvent",
    "PureEvent",
    "Status",
    "split_budget",
]
