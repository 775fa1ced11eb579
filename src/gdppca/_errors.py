"""Everything that can go wrong, as a tree.

::

    GdppcaError
    ├── ParameterError (ValueError)        a parameter breaks its rule
    │   └── NotAvailableError              a legal wish that this version cannot fulfil
    ├── DataError (ValueError)             the table cannot be used as it is
    │   └── ColumnTypeError (TypeError)    a column does not hold numbers
    ├── ReleaseError (ValueError)          a release file is damaged, edited or too new
    ├── StateError (RuntimeError)          a call at the wrong time, such as a second draw of noise
    └── MissingExtraError (ImportError)    an optional package is not installed

    PrivacyWarning (UserWarning)           legal, but think again

A message names parameters, columns, shapes and files. It never holds the value of a cell.
"""

from __future__ import annotations


class GdppcaError(Exception):
    """Root of every error that this package raises on purpose."""


class ParameterError(GdppcaError, ValueError):
    """A parameter breaks its rule."""


class NotAvailableError(ParameterError):
    """A legal wish that this version cannot fulfil."""


class DataError(GdppcaError, ValueError):
    """The table cannot be used as it is."""


class ColumnTypeError(DataError, TypeError):
    """A column does not hold numbers."""


class ReleaseError(GdppcaError, ValueError):
    """A release file is damaged, edited or of a later version."""


class StateError(GdppcaError, RuntimeError):
    """A call at the wrong time."""


class MissingExtraError(GdppcaError, ImportError):
    """An optional package is not installed."""


class PrivacyWarning(UserWarning):
    """A choice that is legal but doubtful."""
