"""pandas, polars, arrow and numpy tables to one matrix of finite floats.

Refusals name columns and never quote a cell: a message is not covered by the guarantee.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, cast

import narwhals as nw
import numpy as np
from scipy import sparse

from gdppca._errors import ColumnTypeError, DataError
from gdppca.kernels.sums import all_finite

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


def as_matrix(X: Any) -> Matrix:
    """Turn a table into a matrix of finite floats, or say which column stands in the way."""
    if isinstance(X, Matrix):
        return X
    matrix = _from_frame(X) if nw.dependencies.is_into_dataframe(X) else _from_array(X)
    _require_finite(matrix)
    return matrix


def _from_frame(X: Any) -> Matrix:
    # An arrow table's `columns` are its cells; its names are `column_names`.
    names = [str(name) for name in getattr(X, "column_names", X.columns)]
    if len(set(names)) < len(names):
        raise DataError("Several columns have one name. Rename them.")
    frame = nw.from_native(X, eager_only=True)
    _refuse("text or other things that are not numbers", _not_numeric(frame))
    columns = map(_numbers, frame.iter_columns(), names)
    return Matrix(_side_by_side(columns, len(frame), len(names)), tuple(names))


def matrix_of(columns: Sequence[np.ndarray | None], names: tuple[str, ...]) -> Matrix:
    """Columns of floats as a matrix of finite ones; None stands for one with missing cells."""
    _refuse("missing values", [names[k] for k, c in enumerate(columns) if c is None][:1])
    there = cast("Sequence[np.ndarray]", columns)  # no list of its own: the arrays may go
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
    missing, entries = _entries(column)
    if missing:
        _refuse("missing values", [name])
    if entries is None:
        raise not_numbers([name])
    return _floats(entries, name)


def _entries(column: nw.Series[Any]) -> tuple[int, np.ndarray | None]:
    """Missing cells and all cells; none where a library stumbles over one, and may quote it."""
    try:
        return column.null_count(), column.to_numpy()
    except MemoryError:
        raise
    except Exception:
        return 0, None


def _not_numeric(frame: nw.DataFrame[Any]) -> list[str]:
    return [
        str(name)
        for name, dtype in frame.schema.items()
        if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Object))
    ]


def _floats(column: np.ndarray, name: str) -> np.ndarray:
    if column.dtype.kind in "biuf":
        return column.astype(float, copy=False)
    try:
        if all(isinstance(entry, Real) or hasattr(entry, "as_tuple") for entry in column):
            return np.array([float(entry) for entry in column])
    except (TypeError, ValueError, OverflowError):
        pass
    raise not_numbers([name])


def _from_array(X: Any) -> Matrix:
    if sparse.issparse(X):
        raise ColumnTypeError(
            "Sparse data was passed, but dense data is required: use X.toarray()."
        )
    if nw.dependencies.is_into_series(X) or hasattr(X, "collect"):
        raise DataError("A whole table is needed. Select columns as a frame; collect a lazy one.")
    if isinstance(X, np.ma.MaskedArray):
        raise DataError("Masked arrays are not read: drop or fill the masked cells first.")
    array = _as_array(X)
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
    columns = [
        _floats(np.asarray(array[:, k], dtype=object), str(k)) for k in range(array.shape[1])
    ]
    return Matrix(np.ascontiguousarray(np.stack(columns, axis=1)), None)


def _as_array(X: Any) -> np.ndarray | None:
    try:
        return np.asarray(X)
    except MemoryError:
        raise
    except Exception:  # it may quote a cell
        return None


def _require_finite(matrix: Matrix) -> None:
    if all_finite(matrix.values):
        return
    columns = [
        k for k in range(matrix.values.shape[1]) if not np.isfinite(matrix.values[:, k]).all()
    ]
    _refuse("NaN or inf", [matrix.names[k] if matrix.names else str(k) for k in columns])


def listed(columns: list[str]) -> str:
    """Columns as a message names them."""
    shown = ", ".join(repr(name) for name in columns[:8])
    return f"Column{'s' if len(columns) > 1 else ''} {shown}{', …' if len(columns) > 8 else ''}"


def _refuse(what: str, columns: list[str]) -> None:
    if not columns:
        return
    if what.startswith("text"):
        raise not_numbers(columns)
    raise DataError(
        f"{listed(columns)}: {what}. Leave the column out, or drop or fill such rows by a rule "
        "that does not depend on other people's values."
    )


def not_numbers(columns: list[str]) -> ColumnTypeError:
    """What to say of columns that hold something else."""
    return ColumnTypeError(
        f"{listed(columns)}: not numbers. Use other columns, or code these as numbers yourself."
    )
