"""Columns of a frame by their names, and the numbers that a description makes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from gdppca._errors import ParameterError
from gdppca.tables.cells import MISSING
from gdppca.tables.described import chosen_columns, featured
from gdppca.tables.description import Column, Description
from gdppca.tables.encode import encode, encode_frame
from gdppca.tables.frames import Matrix
from gdppca.tables.headers import require_columns


def frame_names(X: Any) -> list[str]:
    """Names of a frame's columns; an array has none."""
    if type(X) is dict:
        return list(X)
    if not nw.dependencies.is_into_dataframe(X):
        raise ParameterError(
            "Columns of an array have no names: give ids, weights and labels as sequences, and a "
            "description to a frame."
        )
    return [str(name) for name in getattr(X, "column_names", X.columns)]


def frame_columns(X: Any, names: list[str]) -> Any:
    """Some columns of a frame."""
    every = frame_names(X)
    require_columns(every, names, "The table")
    frame = nw.from_native(X, eager_only=True)
    return frame[:, [every.index(name) for name in names]].to_native()


def frame_column(X: Any, name: str) -> Any:
    """One column of a frame."""
    every = frame_names(X)
    if name not in every:
        raise ParameterError(f"The table has no column '{name}'.")
    if type(X) is dict:
        return X[name]
    return nw.from_native(X, eager_only=True)[:, every.index(name)].to_native()


def described_matrix(X: Any, description: Description, gaps: bool) -> Matrix:
    """The numbers of a frame by its description; what is missing is refused without gaps."""
    description.require_columns_of(frame_names(X), "The table")
    values = encode(X, description) if type(X) is dict else encode_frame(X, description)[0]
    return featured(values, description, gaps, "the table")


def plain_matrix(columns: dict[str, list[Any]], names: list[str] | None, gaps: bool) -> Matrix:
    """Cells of columns as numbers, where nothing is said of them but their names."""
    known = Description(columns=(), missing=MISSING)
    chosen = chosen_columns(known, list(columns), names, "The table")
    return described_matrix(columns, chosen, gaps)


def frame_numbers(X: Any, description: Description | None, name: str) -> np.ndarray:
    """One column of numbers, such as weights, as a description writes them; NaN for gaps."""
    frame_column(X, name)
    known = description or Description(columns=(), missing=MISSING)
    alone = replace(
        known, columns=(Column(name=name),), person=None, weight=None, largest_weight=None
    )
    return described_matrix(X, alone, gaps=True).values[:, 0]
