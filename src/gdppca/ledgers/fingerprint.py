"""Keyed hashes of tables, which show that the same rows came under two names."""

from __future__ import annotations

import hmac
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError, ParameterError


def keyed_hash(data: Any, key: bytes) -> str:
    """Hash of numbers, their shape and their order."""
    numbers = _validate.floats(data)
    if numbers is None:
        raise DataError("`data` must be numbers: a table's matrix, or an array.")
    table = np.ascontiguousarray(numbers, dtype="<f8")
    return hmac.new(key, repr(table.shape).encode() + table.tobytes(), "sha256").hexdigest()


def require_digest(fingerprint: object) -> None:
    """Refuse what is no fingerprint of a table; there may be none."""
    if fingerprint is not None and not (isinstance(fingerprint, str) and len(fingerprint) == 64):
        raise ParameterError("`fingerprint` must come from Ledger.fingerprint.")
