"""Packed symmetric matrices, eigenspaces and the distance between subspaces."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from gdppca._errors import ParameterError
from gdppca._validate import floats

LARGEST = float(np.finfo(float).max)
SQRT2 = float(np.sqrt(2.0))

SMALL = 64  # columns up to which a full decomposition is as fast as a part of one


def vecd(matrix: np.ndarray) -> np.ndarray:
    """Pack a symmetric matrix so that Euclidean length is Frobenius norm.

    The diagonal first, then the upper off-diagonal entries times √2 (Sec 1.2 of the paper).
    """
    d = len(matrix)
    packed = np.empty(packed_length(d))
    packed[:d] = np.diagonal(matrix)
    for i, row in enumerate(_rows_above(packed, d)):
        np.multiply(matrix[i, i + 1 :], SQRT2, out=row)
    return packed


def vecd_inverse(packed: np.ndarray) -> np.ndarray:
    """Unpack what `vecd` packed."""
    d = packed_order(len(packed))
    matrix = np.diag(packed[:d])
    for i, row in enumerate(_rows_above(packed, d)):
        matrix[i, i + 1 :] = matrix[i + 1 :, i] = row / SQRT2
    return matrix


def _rows_above(packed: np.ndarray, d: int) -> Iterator[np.ndarray]:
    """Views of the packed rows above the diagonal; an index of all entries would take more room."""
    start = d
    for length in range(d - 1, 0, -1):
        yield packed[start : start + length]
        start += length


def packed_length(d: int) -> int:
    """Entries of a packed symmetric d × d matrix."""
    return d * (d + 1) // 2


def packed_order(length: int) -> int:
    """Order d of the matrix that was packed into `length` entries."""
    return (int(np.sqrt(8 * length + 1)) - 1) // 2


def symmetrized(matrix: np.ndarray) -> np.ndarray:
    """Symmetric part (M + M')/2."""
    return 0.5 * (matrix + matrix.T)


def eigen_descending(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, largest first, and eigenvectors as columns with stable signs."""
    scaled, exponent = _scaled(matrix)
    try:
        values, vectors = linalg.eigh(scaled)
    except linalg.LinAlgError:  # never seen; the matrix may be paid for
        values, vectors = linalg.eigh(scaled, driver="ev")
    return np.ldexp(values[::-1], exponent), with_stable_signs(vectors[:, ::-1])


def eigenvalues_descending(matrix: np.ndarray) -> np.ndarray:
    """Eigenvalues alone, largest first, in a third of the time."""
    scaled, exponent = _scaled(matrix)
    return np.ldexp(linalg.eigvalsh(scaled)[::-1], exponent)


def _scaled(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """The matrix over the power of two that brings it below one, and the exponent of that power.

    Nothing overflows then, and no other bit changes.
    """
    exponent = int(np.frexp(np.abs(matrix).max(initial=0.0))[1])
    return np.ldexp(matrix, -exponent), exponent


class Spectrum:
    """All eigenvalues of a symmetric matrix, largest first, and leading eigenvectors when asked.

    Nearly all the time goes into bringing the matrix to tridiagonal form, which is done once:
    the eigenvalues may be looked at before deciding how many eigenvectors are wanted.
    """

    values: np.ndarray

    def __init__(self, matrix: np.ndarray) -> None:
        self._matrix = np.asarray_chkfinite(matrix)
        if len(matrix) <= SMALL:
            self.values, self._vectors = eigen_descending(matrix)
            return
        self._scaled, exponent = _scaled(matrix)
        self._tridiagonal = _tridiagonal_form(self._scaled)
        _, diagonal, beside, _ = self._tridiagonal
        try:
            values = linalg.eigvalsh_tridiagonal(diagonal, beside, lapack_driver="sterf")
        except linalg.LinAlgError:  # never seen; the matrix may be paid for
            values = linalg.eigvalsh(self._scaled)
        self.values = np.ldexp(values[::-1], exponent)

    def leading(self, m: int) -> np.ndarray:
        """The first m eigenvectors as columns with stable signs."""
        if len(self._matrix) <= SMALL:
            return self._vectors[:, :m]
        if m == 0:
            return np.empty((len(self._matrix), 0))
        try:
            vectors = _last_eigenvectors(*self._tridiagonal, m)
        except linalg.LinAlgError:  # never seen; the matrix may be paid for
            vectors = linalg.eigh(self._scaled, driver="evd")[1][:, -m:]
        return with_stable_signs(vectors[:, ::-1])


_Tridiagonal = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _tridiagonal_form(matrix: np.ndarray) -> _Tridiagonal:
    """Reflectors, diagonal, entries beside it, factors of the reflectors; LAPACK's ``sytrd``."""
    size, _ = lapack.dsytrd_lwork(len(matrix), lower=1)
    reflectors, diagonal, beside, factors, _ = lapack.dsytrd(matrix, lower=1, lwork=int(size))
    return reflectors[1:, :-1], diagonal, beside, factors


def _last_eigenvectors(
    reflectors: np.ndarray, diagonal: np.ndarray, beside: np.ndarray, factors: np.ndarray, m: int
) -> np.ndarray:
    """Eigenvectors of the m largest eigenvalues, smallest of them first."""
    d = len(diagonal)
    _, vectors = linalg.eigh_tridiagonal(
        diagonal, beside, select="i", select_range=(d - m, d - 1), lapack_driver="stemr"
    )  # the other driver takes a time that grows with m², here up to four times as long
    below = vectors[1:]  # the first row is the same before and after
    _, size, _ = lapack.dormqr("L", "N", reflectors, factors, below, -1)
    vectors[1:], _, _ = lapack.dormqr("L", "N", reflectors, factors, below, int(size[0]))
    return vectors


def with_stable_signs(columns: np.ndarray) -> np.ndarray:
    """Flip each column so that its entry of largest size (the first such) is positive."""
    if columns.size == 0:
        return columns
    heaviest = np.argmax(np.abs(columns), axis=0)
    signs = np.sign(columns[heaviest, np.arange(columns.shape[1])])
    return columns * np.where(signs == 0, 1.0, signs)


def directions(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors and lengths of rows of any finite size, without overflow.

    Every row is first scaled by its own power of two. A zero row stays zero, and a length beyond
    the largest float is reported as the largest float.
    """
    with np.errstate(over="ignore", under="ignore"):
        _, exponent = np.frexp(np.max(np.abs(rows), axis=-1, initial=0.0))
        scaled = np.ldexp(rows, -exponent[..., None])
        length = np.sqrt(np.einsum("...k,...k->...", scaled, scaled))
        unit = scaled / np.where(length > 0, length, 1.0)[..., None]
        return unit, np.minimum(np.ldexp(length, exponent), LARGEST)


def orthonormal_basis(name: str, vectors: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span the given rows; `name` is what an error calls them."""
    basis = floats(vectors)
    if basis is not None and basis.ndim == 1:
        basis = basis[None, :]
    if basis is None or basis.ndim != 2 or not np.isfinite(basis).all():
        raise ParameterError(f"`{name}` must hold directions as the rows of a finite matrix.")
    if len(basis) > basis.shape[1]:  # they span everything, and any angle would be zero
        raise ParameterError(
            f"`{name}` must hold at most as many directions as columns, got shape {basis.shape}. "
            "Pass directions as rows."
        )
    q, r = linalg.qr(basis.T, mode="economic")
    if np.abs(np.diagonal(r)).min(initial=np.inf) <= 1e-12 * np.abs(r).max(initial=0.0):
        raise ParameterError(f"`{name}` must hold linearly independent directions.")
    return q


def sin_theta(first: np.ndarray, second: np.ndarray) -> float:
    r"""Sine of the largest angle between two subspaces.

    Parameters
    ----------
    first, second : array of shape (m, d)
        Directions as rows, as in ``components_``. They need not be orthonormal.

    Returns
    -------
    float
        Zero for equal subspaces, one when some direction of one is orthogonal to the other.

    Notes
    -----
    **Paper.** :math:`\sin\Theta = \sqrt{1 - \varrho_m^2}` with :math:`\varrho_m` the smallest
    singular value of :math:`V_1^\top V_2`, Sec 3.2. It is computed as the norm of the part of one
    basis outside the other, which keeps its digits at small angles.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import sin_theta
    >>> float(round(sin_theta(np.eye(3)[:1], np.array([[1.0, 1.0, 0.0]])), 6))
    0.707107
    """
    return float(min(1.0, linalg.norm(part_outside(first, second), ord=2)))


def part_outside(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Part of an orthonormal basis of the second subspace that lies outside the first."""
    a = orthonormal_basis("first", first)
    b = orthonormal_basis("second", second)
    if a.shape != b.shape:
        raise ParameterError(
            f"`first` and `second` must have one shape, got {a.T.shape} and {b.T.shape}."
        )
    return b - a @ (a.T @ b)
