"""Public labels of rows, for a map by group."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np

from gdppca._errors import DataError, ParameterError, PrivacyWarning
from gdppca.tables.cells import label_text


def group_codes(groups: Any, categories: Any, n: int) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """For every row the index of its group, -1 for rows of none, and the groups' names."""
    if groups is None:
        if categories is not None:
            raise ParameterError("`categories` needs `groups`: one label per row.")
        return np.zeros(n, dtype=np.int64), None
    labels = plain_labels(groups, "groups", "labels")
    if len(labels) != n:
        raise DataError("`groups` must hold one label per row, no more and no less.")
    try:
        declared = _declared(groups) if categories is None else list(categories)
        place = {category: k for k, category in enumerate(declared)}
    except TypeError:
        raise ParameterError("`categories` must be a sequence of names.") from None
    names = tuple(str(category) for category in declared)
    if not names or len(set(names)) < len(names) or len(place) < len(names):
        raise ParameterError("`categories` must hold at least one name, and no name twice.")
    written = {label_text(category): k for k, category in enumerate(declared)}
    codes = (_place(place, written, label) for label in labels)
    return np.fromiter(codes, dtype=np.int64, count=n), names


def _place(place: dict[Any, int], written: dict[str | None, int], label: Any) -> int:
    """Index of a label; anything undeclared, even what is no name at all, is in no group.

    A label is a category that it equals, or else one that is written the same: next to one word
    some libraries turn all numbers into words, and next to one gap into fractions.
    """
    try:
        if label in place:
            return place[label]
        return written.get(label_text(label), -1)
    except Exception:  # whatever it is, others have their places
        return -1


def plain_labels(labels: Any, name: str, what: str) -> list[Any]:
    """Labels as plain objects; one that is none stops no other, and an error tells of none."""
    if not isinstance(labels, str) and getattr(labels, "ndim", 1) == 1:
        for way in ("to_pylist", "to_list", "tolist"):  # arrow, pandas and polars, numpy
            with suppress(Exception):
                return list(getattr(labels, way)())
        with suppress(TypeError):
            return [_plain(label) for label in labels]
    raise ParameterError(f"`{name}` must be a sequence of {what}, one per row.")


def _plain(label: Any) -> Any:
    """A label of arrow as an object of Python, or none."""
    try:
        return label.as_py() if hasattr(label, "as_py") else label
    except Exception:
        return None


def _declared(groups: Any) -> list[Any]:
    """Categories that the labels' type declares: pandas Categorical, polars Enum."""
    dtype = getattr(groups, "dtype", None)
    if type(dtype).__name__ not in ("CategoricalDtype", "Enum"):
        raise ParameterError(
            "`categories` is missing. Name the groups without looking at the data, "
            "such as categories=['A', 'B'], or give a pandas Categorical."
        )
    assert dtype is not None
    if type(dtype).__name__ == "CategoricalDtype":
        warnings.warn(
            "The categories of `groups` are published. Where they were taken from the rows, as by "
            "astype('category'), a rare one tells of a person: declare them with `categories`.",
            PrivacyWarning,
            stacklevel=5,
        )
    return list(dtype.categories)
