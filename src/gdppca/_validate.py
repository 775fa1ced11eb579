"""Checks of parameters, called by name: ``positive(epsilon=epsilon)``."""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

from gdppca._errors import ParameterError

_LARGEST_COUNT = 10**15


def _only(parameter: dict[str, Any]) -> tuple[str, Any]:
    [(name, value)] = parameter.items()
    return name, value


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def shown(value: object) -> str:
    """A parameter as an error shows it; of anything that may hold cells only its kind and shape."""
    if isinstance(value, int) and abs(value) > _LARGEST_COUNT:
        return "a number of very many digits"
    if value is None or isinstance(value, (str, Real, np.bool_)):
        text = repr(value)
        return text if len(text) <= 80 else text[:77] + "..."
    kind = type(value).__name__
    shape = getattr(value, "shape", None)
    return f"{kind} of shape {shape}" if isinstance(shape, tuple) else kind


def _as_float(name: str, value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ParameterError(f"`{name}` is too large for a floating-point number.") from None


def positive(**parameter: Any) -> float:
    """Return the number, which must be above zero; infinity is allowed."""
    name, value = _only(parameter)
    if not _is_number(value) or not value > 0:
        raise ParameterError(f"`{name}` must be a number > 0, got {shown(value)}.")
    return _as_float(name, value)


def finite_positive(**parameter: Any) -> float:
    """Return the number, which must be above zero and finite."""
    name, _ = _only(parameter)
    value = positive(**parameter)
    if math.isinf(value):
        raise ParameterError(f"`{name}` must be finite.")
    return value


def budget(**parameter: Any) -> float:
    """Return an ε between 1e-5 and 1e6, where noise can be calibrated, or infinity."""
    name, _ = _only(parameter)
    value = positive(**parameter)
    if value < 1e-5:
        raise ParameterError(f"`{name}` must be at least 1e-5; below, noise cannot be calibrated.")
    if 1e6 < value < math.inf:
        raise ParameterError(f"`{name}` must not exceed 1e6, which protects nobody; use inf.")
    return value


def fraction(**parameter: Any) -> float:
    """Return the number, which must lie strictly between 0 and 1, and not vanish in arithmetic."""
    name, value = _only(parameter)
    if not _is_number(value) or not 0 < value < 1:
        raise ParameterError(
            f"`{name}` must be a number strictly between 0 and 1, got {shown(value)}."
        )
    if value < 1e-300:
        raise ParameterError(f"`{name}` must be at least 1e-300.")
    return float(value)


def share(**parameter: Any) -> float:
    """Return the number, which must lie between 0 and 1, both allowed."""
    name, value = _only(parameter)
    if not _is_number(value) or not 0 <= value <= 1:
        raise ParameterError(f"`{name}` must be a number between 0 and 1, got {shown(value)}.")
    return float(value)


def count(*, at_least: int = 1, **parameter: Any) -> int:
    """Return the whole number, which must not be below `at_least`."""
    name, value = _only(parameter)
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ParameterError(f"`{name}` must be a whole number >= {at_least}, got {shown(value)}.")
    if int(value) > _LARGEST_COUNT:
        raise ParameterError(f"`{name}` must not exceed {_LARGEST_COUNT:.0e}.")
    return int(value)


def one_of(choices: Collection[str], **parameter: Any) -> str:
    """Return the word, which must be one of `choices`."""
    name, value = _only(parameter)
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(str(choice)) for choice in choices)
        raise ParameterError(f"`{name}` must be one of {listed}, got {shown(value)}.")
    return value


def word_for_numbers(choices: Collection[str], **parameter: Any) -> str:
    """Return the word that stands where a number for each column may, or nothing at all."""
    name, value = _only(parameter)
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(str(choice)) for choice in choices)
        raise ParameterError(
            f"`{name}` must be {listed}, one public number for each column, or none at all "
            f"(`{name}=None`), got {shown(value)}."
        )
    return value


def flag(**parameter: Any) -> bool:
    """Return the truth value, which must be one: an array has none, and a word is always true."""
    name, value = _only(parameter)
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"`{name}` must be True or False, got {shown(value)}.")
    return bool(value)


def floats(values: Any) -> np.ndarray | None:
    """Anything as an array of floats, or None where it holds something else.

    Every array that a user hands over comes through here or through `tables.frames.as_matrix`:
    numpy's error quotes the entry, even behind another one that is raised while it is handled.
    """
    try:
        return np.asarray(values, dtype=float)
    except MemoryError:
        raise
    except Exception:  # of numpy, or of whatever library the entries are from
        return None


def vector(length: int, **parameter: Any) -> np.ndarray:
    """Return a finite float vector of the given length; its entries are never printed."""
    name, value = _only(parameter)
    array = floats(value)
    if array is None:
        raise ParameterError(f"`{name}` must be a sequence of numbers.")
    if array.shape != (length,):
        raise ParameterError(
            f"`{name}` must hold one number per column: shape ({length},), got {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ParameterError(f"`{name}` must be finite.")
    return array.copy()  # the caller may change its own
