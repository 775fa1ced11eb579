"""How a command ends: its exit code, and one JSON object where JSON was asked for."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

from gdppca._errors import (
    BudgetExceeded,
    DataError,
    EngineError,
    LedgerError,
    LedgerUnavailable,
    MissingExtraError,
    ReleaseError,
)


class Outcome(IntEnum):
    """Exit codes, as `docs/guide/operations.md` lists them."""

    DONE = 0
    REFUTED = 1  # by an audit; also what Python exits with after a fault of the program
    USAGE = 2
    DATA = 3
    BUDGET = 4
    ENVIRONMENT = 5
    INTERRUPTED = 130


# The first kind that an error is of decides.
_OUTCOME_OF: tuple[tuple[type[BaseException], Outcome], ...] = (
    (KeyboardInterrupt, Outcome.INTERRUPTED),
    (DataError, Outcome.DATA),
    (ReleaseError, Outcome.DATA),
    (BudgetExceeded, Outcome.BUDGET),
    (LedgerUnavailable, Outcome.ENVIRONMENT),
    (LedgerError, Outcome.BUDGET),
    (EngineError, Outcome.ENVIRONMENT),
    (MissingExtraError, Outcome.ENVIRONMENT),
    (FileNotFoundError, Outcome.USAGE),
    (IsADirectoryError, Outcome.USAGE),
    (NotADirectoryError, Outcome.USAGE),
    (OSError, Outcome.ENVIRONMENT),
)


def outcome_of(error: BaseException) -> Outcome:
    """The exit code that an error ends a command with."""
    return next((code for kind, code in _OUTCOME_OF if isinstance(error, kind)), Outcome.USAGE)


def as_json(error: BaseException, said: str) -> str:
    """An error as one JSON object, on one line."""
    told: dict[str, Any] = {
        "error": type(error).__name__,
        "exit_code": int(outcome_of(error)),
        "message": said,
        "notes": list(getattr(error, "__notes__", ())),  # what was spent before
    }
    if isinstance(error, BudgetExceeded):
        told |= {"requested": float(error.requested), "remaining": float(error.remaining)}
    return json.dumps(told)
