"""Means of signs around a given centre: the spatial sign covariance matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError, ParameterError
from gdppca.kernels.guard import DIRECT_ROWS, direct_scatter, is_constant, unit_scatter
from gdppca.kernels.parallel import Progress, in_order, silent
from gdppca.kernels.sums import CompensatedSum, finite_matrix
from gdppca.linalg import symmetrized
from gdppca.signs import Sign, as_sign

_TASK = 32 * DIRECT_ROWS


def add_in_parts(
    total: CompensatedSum,
    part_sum: Callable[[int, int], np.ndarray],
    n: int,
    progress: Progress = silent,
) -> None:
    """Add the sum over n rows, which is asked for by parts of at most `DIRECT_ROWS`."""

    def task_sum(start: int) -> tuple[np.ndarray, np.ndarray]:
        partial = CompensatedSum(*total.shape)
        stop = min(n, start + _TASK)
        for first in range(start, stop, DIRECT_ROWS):
            partial.add(part_sum(first, min(stop, first + DIRECT_ROWS)))
        return partial.parts

    starts = range(0, n, _TASK)
    for done, parts in enumerate(in_order(task_sum, starts), start=1):
        total.add_parts(parts)
        progress(done, len(starts))


def add_signs(
    total: CompensatedSum,
    minuend_and_subtrahend: Callable[[int, int], tuple[np.ndarray, np.ndarray]],
    n: int,
    sign: Sign,
    divisor: float,
) -> None:
    """Add g(t) g(t)' / ‖g‖∞² over n differences t, which are asked for by parts."""
    add_in_parts(
        total,
        lambda start, stop: direct_scatter(*minuend_and_subtrahend(start, stop), sign, divisor),
        n,
    )


class SignSum:
    """Mergeable sum of signs around a fixed centre, in one pass. Not private.

    Parameters
    ----------
    sign : str or Sign
        The sign g.
    center : array of shape (d,)
        The centre, the same for all rows.
    radius : float or "sqrt_d", optional
        Cut-off of a sign given by name.
    """

    def __init__(self, sign: Any, center: Any, *, radius: Any = None) -> None:
        found = _validate.floats(center)
        self.center = _validate.vector(1 if found is None else found.size, center=center)
        self.n_features = len(self.center)
        self.sign = as_sign(sign, radius, n_features=self.n_features)
        self.n_samples = 0
        self._total = CompensatedSum(*self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the sum."""
        return self.n_features, self.n_features

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_samples={self.n_samples}, n_features={self.n_features})"

    def update(
        self, X: np.ndarray, order: np.ndarray | None = None, progress: Progress = silent
    ) -> SignSum:
        """Add rows; their order does not matter here."""
        X = finite_matrix(X)
        if X.shape[1] != self.n_features:
            raise DataError(f"Rows have {X.shape[1]} columns where {self.n_features} were before.")
        return self.add_rows(X, progress)

    def add_rows(
        self, X: np.ndarray, progress: Progress = silent, parts: np.ndarray | None = None
    ) -> SignSum:
        """Add rows that are known to be finite, contiguous and of the right columns.

        Parts say how much each row counts, in units of 2⁻³⁰; each counts whole without them.
        """
        weights = None if parts is None else np.ldexp(parts.astype(float), -30)

        def part_sum(start: int, stop: int) -> np.ndarray:
            own = None if weights is None else weights[start:stop]
            return self._term(X[start:stop], own)

        add_in_parts(self._total, part_sum, len(X), progress)
        self.n_samples += len(X)
        return self

    def _term(self, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The sum of at most `DIRECT_ROWS` rows, whose weights lie in [0, 1]."""
        if weights is None and is_constant(self.sign):
            return unit_scatter(rows, self.center[None])
        return direct_scatter(rows, self.center[None], self.sign, 1.0, weights)

    def merge(self, other: SignSum) -> SignSum:
        """Add the sum of other rows around the same centre."""
        if self.sign != other.sign or not np.array_equal(self.center, other.center):
            raise ParameterError("Sums merge only with the same sign and centre.")
        self._total.add_parts(other._total.parts)
        self.n_samples += other.n_samples
        return self

    def mean(self, number: int | None = None) -> np.ndarray:
        """The sign covariance of all rows so far, (d, d): their sum over their number.

        Or over another number, where weights of rows are shares of persons.
        """
        if self.n_samples < 1:
            raise DataError("The sign covariance needs at least one row.")
        each = symmetrized(self._total.value) / (number or self.n_samples)
        return self.sign.sup_norm**2 * each


def sign_covariance(
    X: np.ndarray,
    center: Any,
    sign: Any = "spherical",
    *,
    radius: Any = None,
    progress: Progress = silent,
) -> np.ndarray:
    r"""Generalized spatial sign covariance matrix around a given centre, without noise.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite numbers, at least one row.
    center : array of shape (d,)
        The centre. Under privacy it must be public or privately released.
    sign : str or Sign, default "spherical"
        The sign g.
    radius : float or "sqrt_d", optional
        Cut-off of a sign given by name.
    progress : callable, optional
        Called with the number of tasks done and in all.

    Returns
    -------
    array of shape (d, d)
        :math:`\hat\Sigma_g = \frac1n \sum_i g(x_i - c) g(x_i - c)^\top`.

    Notes
    -----
    **Privacy.** None: this is the statistic before the noise. One row moves it by at most
    :math:`\sqrt2 \|g\|_\infty^2 / n`, half of what it does to the pair statistic.

    **Paper.** The GSSCM of Remark 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.kernels import sign_covariance
    >>> sign_covariance(np.array([[4.0, 5.0], [1.0, 1.0]]), center=[1.0, 1.0])
    array([[0.18, 0.24],
           [0.24, 0.32]])
    """
    return SignSum(sign, center, radius=radius).update(X, progress=progress).mean()
