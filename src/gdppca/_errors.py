"""Everything that can go wrong, as a tree.

::

    GdppcaError
    ├── ParameterError (ValueError)        a parameter breaks its rule
    │   └── DescriptionError               the description of a table does
    ├── DataError (ValueError)             the table cannot be used as it is
    │   └── ColumnTypeError (TypeError)    a column does not hold numbers
    ├── ReleaseError (ValueError)          a release file is damaged, edited or too new
    ├── StateError (RuntimeError)          a call at the wrong time, such as a second draw of noise
    ├── LedgerError (RuntimeError)         a ledger cannot be used, or was tampered with
    │   └── LedgerUnavailable              its database does not answer, or is locked
    ├── BudgetExceeded (RuntimeError)      a request does not fit under a data set's cap
    ├── EngineError (RuntimeError)         a cluster is not there, or lost its workers
    └── MissingExtraError (ImportError)    a package that this needs is not installed

    PrivacyWarning (UserWarning)           legal, but think again

A message names parameters, columns, shapes and files. It never holds the value of a cell.
"""

from __future__ import annotations


class GdppcaError(Exception):
    """Root of every error that this package raises on purpose."""


class ParameterError(GdppcaError, ValueError):
    """A parameter breaks its rule."""


class DescriptionError(ParameterError):
    """The description of a table breaks a rule, or is still to be filled in.

    `file` is where it stands: then the message is about keys, which are called as parameters are.
    """

    def __init__(self, message: str, file: str | None = None) -> None:
        super().__init__(message)
        self.file = file


class DataError(GdppcaError, ValueError):
    """The table cannot be used as it is."""


class ColumnTypeError(DataError, TypeError):
    """A column does not hold numbers."""


class ReleaseError(GdppcaError, ValueError):
    """A release file is damaged, edited or of a later version."""


class StateError(GdppcaError, RuntimeError):
    """A call at the wrong time."""


class LedgerError(GdppcaError, RuntimeError):
    """A ledger cannot be used, or was tampered with; `findings` lists what `verify` found."""

    def __init__(self, message: str, findings: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.findings = findings


class LedgerUnavailable(LedgerError):
    """The database behind a ledger does not answer, is locked or is full: try again later."""


class BudgetExceeded(GdppcaError, RuntimeError):
    """A request does not fit under a data set's cap; nothing was spent and nothing drawn.

    `requested` and `remaining` are numbers ε that know their δ, both at the cap's δ.
    """

    def __init__(self, message: str, requested: float, remaining: float) -> None:
        super().__init__(message)
        self.requested = requested
        self.remaining = remaining

    def __reduce__(self) -> tuple[type[BudgetExceeded], tuple[str, float, float]]:
        """Survive the way back from a worker process."""
        return type(self), (str(self), self.requested, self.remaining)


class EngineError(GdppcaError, RuntimeError):
    """A cluster is not there, or lost its workers."""


class MissingExtraError(GdppcaError, ImportError):
    """A package that this needs is not installed."""


class PrivacyWarning(UserWarning):
    """A choice that is legal but doubtful."""
