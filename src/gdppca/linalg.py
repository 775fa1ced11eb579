"""Packed symmetric matrices, eigenspaces and the distance between subspaces."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from gdppca._errors import ParameterError

LARGEST = float(np.finfo(float).max)
SQRT2 = float(np.sqrt(2.0))


def vecd(matrix: np.ndarray) -> np.ndarray:
    """Pack a symmetric matrix so that Euclidean length is Frobenius norm.

    The diagonal first, then the upper off-diagonal entries times √2 (Sec 1.2 of the paper).
    """
    upper = np.triu_indices(len(matrix), k=1)
    return np.concatenate([np.diagonal(matrix), SQRT2 * matrix[upper]])


def vecd_inverse(packed: np.ndarray) -> np.ndarray:
    """Unpack what `vecd` packed."""
    d = packed_order(len(packed))
    matrix = np.diag(packed[:d])
    upper = np.triu_indices(d, k=1)
    matrix[upper] = packed[d:] / SQRT2
    return matrix + np.triu(matrix, k=1).T


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
    values, vectors = linalg.eigh(matrix)
    return values[::-1].copy(), with_stable_signs(vectors[:, ::-1])


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
    basis = np.asarray(vectors, dtype=float)
    if basis.ndim == 1:
        basis = basis[None, :]
    if basis.ndim != 2 or not np.isfinite(basis).all():
        raise ParameterError(f"`{name}` must hold directions as the rows of a finite matrix.")
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
    a = orthonormal_basis("first", first)
    b = orthonormal_basis("second", second)
    if a.shape != b.shape:
        raise ParameterError(
            f"`first` and `second` must have one shape, got {a.T.shape} and {b.T.shape}."
        )
    outside = b - a @ (a.T @ b)
    return float(min(1.0, linalg.norm(outside, ord=2)))
