"""pandas, polars, arrow and numpy tables to one matrix of finite floats.

Refusals name columns and never quote a cell: a message is not covered by the guarantee.
"""

from __future__ import annotations

import itertools
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


def finished(matrix, gaps):
    if not gaps:
        _require_finite(matrix)
    return Matrix(np.where(np.isinf(matrix.values), np.nan, matrix.values), matrix.names)


def as_matrix(X: Any, gaps: bool = False) -> Matrix:
    """Turn a table into a matrix of finite floats, or say which column stands in the way."""
    if isinstance(X, Matrix):
        return X
    matrix = _from_frame(X) if nw.dependencies.is_into_dataframe(X) else _from_array(X)
    if gaps:
        return finished(matrix, gaps)
    _require_finite(matrix)
    return matrix


def _from_frame(X: Any) -> Matrix:
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
    columns = map(_numbers, frame.iter_columns(), names)
    return Matrix(_side_by_side(columns, len(frame), len(names)), tuple(names))


def _is_number(kind: Any) -> bool:
    return kind.is_numeric() or kind in (nw.Boolean, nw.Object)


def matrix_of(columns: Sequence[np.ndarray | None], names: tuple[str, ...]) -> Matrix:
    """Columns of floats as a matrix of finite ones; None stands for one with missing cells."""
    _refuse("missing values", [names[k] for k, c in enumerate(columns) if c is None][:1])
    there = [column for column in columns if column is not None]
    matrix = Matrix(_side_by_side(iter(there), len(there[0]), len(names)), names)
    _require_finite(matrix)
    return matrix


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


def _numbers(column: nw.Series[Any], name: str) -> np.ndarray:
    missing, entries = _attempted(lambda: (column.null_count(), column.to_numpy())) or (0, None)
    _refuse("missing values", [name] if missing else [])
    return _floats(entries, name)


def _attempted(action: Callable[[], Result]) -> Result | None:
    """What a library gives; nothing where it stumbles over a cell, which it may quote."""
    try:
        return action()
    except MemoryError:
        raise
    except Exception:
        return None


def _floats(column: np.ndarray | None, name: str) -> np.ndarray:
    if column is not None and column.dtype.kind in "biuf":
        return column.astype(float, copy=False)
    floats = _attempted(lambda: np.array([*map(_float, column)])) if column is not None else None
    if floats is None:
        raise not_numbers([name])
    return floats


def _float(entry: Any) -> float:
    if isinstance(entry, Real) or hasattr(entry, "as_tuple"):
        return float(entry)
    raise TypeError


def _from_array(X: Any) -> Matrix:
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
    columns = [_floats(objects[:, k], str(k)) for k in range(array.shape[1])]
    return Matrix(np.ascontiguousarray(np.stack(columns, axis=1)), None)


def _require_finite(matrix: Matrix) -> None:
    if all_finite(matrix.values):
        return
    unfit = np.flatnonzero(~np.isfinite(matrix.values).all(axis=0))
    _refuse("NaN or inf", [matrix.names[k] if matrix.names else str(k) for k in unfit])


def _listed(columns: list[str]) -> str:
    shown = ", ".join(repr(name) for name in columns[:8])
    return f"Column{'s' if len(columns) > 1 else ''} {shown}{', …' if len(columns) > 8 else ''}"


def _refuse(what: str, columns: list[str]) -> None:
    if columns:
        raise DataError(
            f"{_listed(columns)}: {what}. Leave the column out, or drop or fill such rows by a "
            "rule that does not depend on other people's values."
        )


def refuse_text(columns: list[str]) -> None:
    """Refuse columns that hold something else than numbers, if there are any."""
    if columns:
        raise not_numbers(columns)


def not_numbers(columns: list[str]) -> ColumnTypeError:
    """What to say of columns that hold something else."""
    return ColumnTypeError(
        f"{_listed(columns)}: not numbers. Use other columns, or code these as numbers yourself."
    )
