"""Keyed hashes of tables, which show that the same rows came under two names."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
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
    return keyed_hash_of((repr(table.shape).encode(), table), key)


def keyed_hash_of(pieces: Iterable[Any], key: bytes) -> str:
    """Hash of pieces of bytes, one after the other."""
    digest = hmac.new(key, digestmod="sha256")
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def require_digest(fingerprint: object) -> None:
    """Refuse what is no fingerprint of a table; there may be none."""
    if fingerprint is not None and not (isinstance(fingerprint, str) and len(fingerprint) == 64):
        raise ParameterError("`fingerprint` must come from Ledger.fingerprint.")
