"""Columns of a frame by their names, and the numbers that a description makes of them."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from gdppca._errors import ParameterError
from gdppca.tables.described import featured
from gdppca.tables.description import Description
from gdppca.tables.encode import encode_frame
from gdppca.tables.frames import Matrix


def frame_names(X: Any) -> list[str]:
    """Names of a frame's columns; an array has none."""
    if not nw.dependencies.is_into_dataframe(X):
        raise ParameterError(
            "Columns of an array have no names: give ids, weights and labels as sequences, and a "
            "description to a frame."
        )
    return [str(name) for name in getattr(X, "column_names", X.columns)]


def frame_columns(X: Any, names: list[str]) -> Any:
    """Some columns of a frame."""
    every = frame_names(X)
    frame = nw.from_native(X, eager_only=True)
    return frame[:, [every.index(name) for name in names]].to_native()


def frame_column(X: Any, name: str) -> Any:
    """One column of a frame."""
    every = frame_names(X)
    if name not in every:
        raise ParameterError(f"The table has no column '{name}'.")
    return nw.from_native(X, eager_only=True)[:, every.index(name)].to_native()


def described_matrix(X: Any, description: Description, gaps: bool) -> Matrix:
    """The numbers of a frame by its description; what is missing is refused without gaps."""
    frame_names(X)
    values, _ = encode_frame(X, description)
    return featured(values, description, gaps, "the table")
