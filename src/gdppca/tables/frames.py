"""pandas, polars, arrow and numpy tables to one matrix of finite floats.

Refusals name columns and never quote a cell: a message is not covered by the guarantee.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
from scipy import sparse

from gdppca._errors import ColumnTypeError, DataError
from gdppca.kernels.sums import all_finite

Result = TypeVar("Result")

_COLUMNS = 8  # that are laid side by side at once: a line of the cache
_ROWS = 2**13  # of them


@dataclass(frozen=True)
class Matrix:
    """A table as floats (n, d), row by row in memory, and its column names if it has any."""

    values: np.ndarray
    names: tuple[str, ...] | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape


def as_matrix(X: Any, gaps: bool = False) -> Matrix:
    """Turn a table into a matrix of finite floats, or say which column stands in the way.

    With `gaps`, what is missing or infinite is NaN.
    """
    if isinstance(X, Matrix):
        return X
    frame = nw.dependencies.is_into_dataframe(X)
    return _finished(_from_frame(X, gaps) if frame else _from_array(X, gaps), gaps)


def _finished(matrix: Matrix, gaps: bool, where: str = "") -> Matrix:
    if all_finite(matrix.values):
        return matrix
    if not gaps:
        unfit = np.flatnonzero(~np.isfinite(matrix.values).all(axis=0))
        names = [matrix.names[k] if matrix.names else str(k) for k in unfit]
        _refuse("NaN or inf", names, where)
    return Matrix(np.where(np.isinf(matrix.values), np.nan, matrix.values), matrix.names)


def _from_frame(X: Any, gaps: bool) -> Matrix:
    # An arrow table's `columns` are its cells; its names are `column_names`.
    names = [str(name) for name in getattr(X, "column_names", X.columns)]
    if len(set(names)) < len(names):
        raise DataError("Several columns have one name. Rename them.")
    frame = nw.from_native(X, eager_only=True)
    refuse_text(
        [
            name
            for name, kind in zip(names, frame.schema.dtypes(), strict=True)
            if not _is_number(kind)
        ]
    )
    columns = (
        _numbers(column, name, gaps)
        for column, name in zip(frame.iter_columns(), names, strict=True)
    )
    return Matrix(_side_by_side(columns, len(frame), len(names)), tuple(names))


def _is_number(kind: Any) -> bool:
    return kind.is_numeric() or kind in (nw.Boolean, nw.Object)


def matrix_of(
    columns: Sequence[np.ndarray | None],
    names: tuple[str, ...],
    gaps: bool = False,
    where: str = "",
) -> Matrix:
    """Columns of floats as a matrix of finite ones; None stands for one with missing cells.

    With `gaps`, what is infinite is NaN, and NaN stays. `where` is what a refusal calls the table.
    """
    _refuse("missing values", [names[k] for k, c in enumerate(columns) if c is None][:1], where)
    there = [column for column in columns if column is not None]
    matrix = Matrix(_side_by_side(iter(there), len(there[0]), len(names)), names)
    return _finished(matrix, gaps, where)


def _side_by_side(columns: Iterator[np.ndarray], n: int, d: int) -> np.ndarray:
    """Columns as a matrix that is laid out row by row; a few at a time, so that few are kept."""
    values = np.empty((n, d))
    for first in range(0, d, _COLUMNS):
        together = list(itertools.islice(columns, _COLUMNS))
        for start in range(0, n, _ROWS):
            rows = slice(start, start + _ROWS)
            for k, column in enumerate(together, start=first):
                values[rows, k] = column[rows]
    return values


def _numbers(column: nw.Series[Any], name: str, gaps: bool) -> np.ndarray:
    missing, entries = _attempted(lambda: (column.null_count(), column.to_numpy())) or (0, None)
    if missing and gaps:
        return _floats_or_gaps(entries, column, name)
    _refuse("missing values", [name] if missing else [])
    return _floats(entries, name, gaps)


def _floats_or_gaps(entries: np.ndarray | None, column: nw.Series[Any], name: str) -> np.ndarray:
    """Floats of a column with nulls, which libraries give in several ways."""
    if entries is not None and entries.dtype.kind == "f":  # nulls are NaN already
        return entries.astype(float, copy=False)
    listed = _attempted(column.to_list)
    return _floats(None if listed is None else _objects(listed), name, gaps=True)


def _objects(entries: Sequence[Any]) -> np.ndarray:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _attempted(action: Callable[[], Result]) -> Result | None:
    """What a library gives; nothing where it stumbles over a cell, which it may quote."""
    try:
        return action()
    except MemoryError:
        raise
    except Exception:
        return None


def _floats(column: np.ndarray | None, name: str, gaps: bool = False) -> np.ndarray:
    if column is not None and column.dtype.kind in "biuf":
        return column.astype(float, copy=False)
    cell = _float_or_gap if gaps else _float
    floats = (
        _attempted(lambda: np.array([*map(cell, column)], float)) if column is not None else None
    )
    if floats is None:
        raise not_numbers([name])
    return floats


def _float(entry: Any) -> float:
    if isinstance(entry, Real) or hasattr(entry, "as_tuple"):
        return float(entry)
    raise TypeError


def _float_or_gap(entry: Any) -> float:
    """The number of one entry; NaN for what is none, whatever stands in other rows."""
    found = _attempted(lambda: _float(entry))
    return math.nan if found is None else found


def _from_array(X: Any, gaps: bool) -> Matrix:
    if sparse.issparse(X):
        raise ColumnTypeError(
            "Sparse data was passed, but dense data is required: use X.toarray()."
        )
    if nw.dependencies.is_into_series(X) or hasattr(X, "collect"):
        raise DataError("A whole table is needed. Select columns as a frame; collect a lazy one.")
    if isinstance(X, np.ma.MaskedArray):
        raise DataError("Masked arrays are not read: drop or fill the masked cells first.")
    array = _attempted(lambda: np.asarray(X))
    if array is None:
        raise DataError("The table must be rectangular: rows of one length.")
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: give the real and imaginary parts as columns.")
    if array.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {array.ndim}D array instead. "
            "Reshape your data: one row per person, one column per measurement."
        )
    if array.dtype.kind in "biuf":
        return Matrix(np.ascontiguousarray(array, dtype=float), None)
    objects = array.astype(object)
    columns = [_floats(objects[:, k], str(k), gaps) for k in range(array.shape[1])]
    return Matrix(np.ascontiguousarray(np.stack(columns, axis=1)), None)


def _listed(columns: list[str]) -> str:
    shown = ", ".join(repr(name) for name in columns[:8])
    return f"Column{'s' if len(columns) > 1 else ''} {shown}{', …' if len(columns) > 8 else ''}"


def _refuse(what: str, columns: list[str], where: str = "") -> None:
    if columns:
        raise DataError(
            f"{_listed(columns)}{f' of {where}' if where else ''}: {what}. Allow gaps by "
            "missing='rates' (--missing rates), leave the column out, or drop or fill such rows by "
            "a rule that does not depend on other people's values."
        )


def refuse_text(columns: list[str]) -> None:
    """Refuse columns that hold something else than numbers, if there are any."""
    if columns:
        raise not_numbers(columns)


def not_numbers(columns: list[str]) -> ColumnTypeError:
    """What to say of columns that hold something else."""
    return ColumnTypeError(
        f"{_listed(columns)}: not numbers. Use other columns, say in a description what their "
        "cells mean (`gdppca describe`), or code them as numbers yourself."
    )
