"""Sums over pairs of rows: all pairs, blocks, halves. Deterministic; nothing here is private."""

from __future__ import annotations

from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError, ParameterError
from gdppca.kernels.guard import (
    Rows,
    Scratch,
    direct_rounding_error,
    guard_for,
    rounding_error,
    tile_weights,
)
from gdppca.kernels.one_sample import add_signs
from gdppca.kernels.parallel import Progress, in_order, silent
from gdppca.kernels.schemes import DEFAULT_BLOCK, AllPairs, Blocks, Halves, as_scheme
from gdppca.kernels.sums import CompensatedSum, finite_matrix
from gdppca.linalg import SQRT2, symmetrized
from gdppca.signs import Sign, as_sign

_TILE = 240  # whole vectors, but not a stride of whole pages, which would fight over the cache
_SUMMED_ROWS = 512  # rows that one matrix product sums in the block scheme; bounds the chain
_LARGEST_STACKED = 512  # larger blocks are summed one by one, as all pairs are
_STACK_ENTRIES = 2**16  # pairs (i, j) of a stack of blocks: its arrays fit a second-level cache
_SLAB = 2**13  # rows that are prepared at once
_TASK = 2**15  # rows that a thread sums before it hands over
_ALL_PAIRS_TARGET = 1e-9
_BLOCKS_TARGET = 1e-11


def _all_pairs_chain(n: int) -> int:
    # Two products over a tile; sums along a strip, over strips, and over tiles at the end; 16 for
    # single operations.
    return 2 * _TILE + 3 * -(-n // _TILE) + 16


def _blocks_chain(size: int) -> int:
    return size + max(size, _SUMMED_ROWS) + 16


def pair_rounding_error(scheme: AllPairs | Blocks | Halves, n: int, d: int) -> float:
    """Proven bound η on the error of `kendall_tau` in units of ‖g‖∞², for every finite input."""
    if isinstance(scheme, Halves):
        return direct_rounding_error(d)
    if isinstance(scheme, Blocks) and scheme.size <= _LARGEST_STACKED:
        chain, target = _blocks_chain(scheme.size), _BLOCKS_TARGET
    else:
        longest = n if isinstance(scheme, AllPairs) else min(n, scheme.size)
        chain, target = _all_pairs_chain(longest), _ALL_PAIRS_TARGET
    return rounding_error(chain, guard_for(chain, target), d)


def _all_pairs_sum(X: np.ndarray, sign: Sign, progress: Progress = silent) -> np.ndarray:
    """Σ_{i<j} g g' / ‖g‖∞² over every pair, by strips of tiles."""
    n, d = X.shape
    guard = guard_for(_all_pairs_chain(n), _ALL_PAIRS_TARGET)
    rows = Rows.prepare(X[None])
    tiles = [slice(start, start + _TILE) for start in range(0, n, _TILE)]
    columns = [rows[:, tile].columns for tile in tiles]

    def strip(first: int):
        return _strip_sum(rows, tiles[first:], columns[first:], sign, guard)

    total = np.zeros((d, d))
    degrees = np.zeros(n)
    for done, (scatter, weights) in enumerate(in_order(strip, range(len(tiles))), start=1):
        total += scatter
        degrees += weights
        progress(done, len(tiles))
    for tile in tiles:
        U = rows.centred[0, tile, :-1]
        total += U.T @ (degrees[tile, None] * U)
    return symmetrized(total)


def _strip_sum(rows, tiles, columns, sign, guard):
    """Pairs of one strip of rows, the first tile, with itself and with all later tiles.

    Returns its share of U'(D - W)U and the weights that the later rows gathered.
    """
    from gdppca.kernels import _compiled

    n, d = rows.raw.shape[1:]
    own = rows[:, tiles[0]]
    products = np.zeros((own.norms.shape[1], d + 1))
    degrees = np.zeros((1, n))
    scatter = np.zeros((d, d))
    scratch = Scratch.of_shape(1, len(products), len(products), d)
    for tile, tile_columns in zip(tiles, columns, strict=True):
        other = rows[:, tile]
        if other.norms.shape[1] != scratch.lengths.shape[-1]:  # the last tile is narrower
            scratch = Scratch.of_shape(1, len(products), other.norms.shape[1], d)
        lower = tile is tiles[0]
        refused = tile_weights(own, other, tile_columns, sign, guard, lower, scratch)
        products += scratch.weights[0] @ other.centred[0]
        _compiled.add_column_sums(scratch.weights, degrees[:, tile])
        if refused is not None:
            scatter += refused
    centred = own.centred[0]
    _compiled.laplacian_rows(centred, products, np.zeros(len(products)))
    return scatter + centred[:, :-1].T @ products[:, :-1], degrees[0]


def _taken(X: np.ndarray, order: np.ndarray | None, start: int, stop: int) -> np.ndarray:
    """Rows start to stop in the given order; without one, a view."""
    return X[start:stop] if order is None else np.take(X, order[start:stop], axis=0)


def _blocks_sum(
    X: np.ndarray, order: np.ndarray | None, start: int, stop: int, size: int, sign: Sign
) -> tuple[np.ndarray, np.ndarray]:
    """Σ over blocks of Σ_{i<j} g g' / ‖g‖∞², for rows that fill whole small blocks."""
    d = X.shape[1]
    stack = max(1, _STACK_ENTRIES // size**2)
    scratch = Scratch.of_shape(min(stack, (stop - start) // size), size, size, d)
    slab = max(1, _SLAB // (stack * size)) * stack * size
    total = CompensatedSum(d)
    rows = None
    for first in range(start, stop, slab):
        taken = _taken(X, order, first, min(stop, first + slab)).reshape(-1, size, d)
        rows = Rows.prepare(taken, memory=rows)
        for block in range(0, len(taken), stack):
            part = rows[block : block + stack]
            _add_stack(part, sign, scratch[: len(part.raw)], total)
    return total.parts


def _add_stack(part: Rows, sign: Sign, scratch: Scratch, total: CompensatedSum) -> None:
    """Add Σ_{i<j} g g' / ‖g‖∞² of a stack of blocks."""
    from gdppca.kernels import _compiled

    size, d = part.raw.shape[1:]
    guard = guard_for(_blocks_chain(size), _BLOCKS_TARGET)
    refused = tile_weights(part, part, part.columns, sign, guard, True, scratch)
    degrees = np.zeros(part.norms.shape)
    _compiled.add_column_sums(scratch.weights, degrees)
    np.matmul(scratch.weights, part.centred, out=scratch.products)
    products = scratch.products.reshape(-1, d + 1)
    centred = part.centred.reshape(-1, d + 1)
    _compiled.laplacian_rows(centred, products, degrees.ravel())
    for start in range(0, len(centred), _SUMMED_ROWS):
        few = slice(start, start + _SUMMED_ROWS)
        total.add(symmetrized(centred[few, :-1].T @ products[few, :-1]))
    if refused is not None:
        total.add(refused)


class PairSum:
    r"""Mergeable sum over the pairs inside blocks of rows, in one pass.

    Rows are taken in the order in which they come: blocks are consecutive rows. Under privacy
    that order must not depend on the values; `DPPCA` shuffles, or says that it could not.

    Parameters
    ----------
    sign : str or Sign, default "spherical"
        The sign g.
    n_features : int, optional
        Number of columns; taken from the first rows if left out.
    pairs : int, default 64
        Rows in a block.
    radius : float or "sqrt_d", optional
        Cut-off of a sign given by name.

    Notes
    -----
    Not private: it holds exact sums and the rows of an unfinished block.

    :math:`\hat K = \frac1n \sum_k \frac{2}{b_k - 1} \sum_{i<j \in k} g_{ij} g_{ij}^\top`. Every
    row weighs the same, so one row moves it by at most :math:`2\sqrt2\|g\|_\infty^2/n`, as for
    all pairs. A last row that is alone in its block has no pair and adds nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import PairSum, kendall_tau
    >>> X = np.arange(24.0).reshape(8, 3) ** 2 % 7
    >>> first, second = PairSum(pairs=4).update(X[:4]), PairSum(pairs=4).update(X[4:])
    >>> bool(np.allclose(first.merge(second).mean(), kendall_tau(X, pairs=4)))
    True
    """

    def __init__(
        self,
        sign: Any = "spherical",
        n_features: int | None = None,
        *,
        pairs: int = DEFAULT_BLOCK,
        radius: Any = None,
    ) -> None:
        self._sign_wish = (sign, radius)
        self.block_size = _validate.count(pairs=pairs, at_least=2)
        self.n_samples = 0
        self.n_features: int | None = None
        if n_features is not None:
            self._set_columns(_validate.count(n_features=n_features))

    def _set_columns(self, d: int) -> None:
        self.n_features = d
        self.sign = as_sign(*self._sign_wish, n_features=d)
        self._total = CompensatedSum(d)  # Σ 2/(b-1) Σ g g' over whole blocks
        self._unpaired = np.empty((0, d))  # rows of the unfinished block

    def __repr__(self) -> str:
        return (
            f"PairSum(n_samples={self.n_samples}, n_features={self.n_features}, "
            f"pairs={self.block_size})"
        )

    def update(
        self,
        X: np.ndarray,
        order: np.ndarray | None = None,
        progress: Progress = silent,
    ) -> PairSum:
        """Add rows.

        Parameters
        ----------
        X : array of shape (n, d)
            Finite numbers.
        order : array of int, optional
            Take the rows in this order, without copying the whole table.
        progress : callable, optional
            Called with the number of tasks done and in all.

        Returns
        -------
        PairSum
            Itself.
        """
        X = finite_matrix(X)
        if self.n_features is None:
            self._set_columns(X.shape[1])
        if X.shape[1] != self.n_features:
            raise DataError(f"Rows have {X.shape[1]} columns where {self.n_features} were before.")
        n = len(X) if order is None else len(order)
        self.n_samples += n
        start = min(n, -len(self._unpaired) % self.block_size)
        self._unpaired = np.concatenate([self._unpaired, _taken(X, order, 0, start)])
        if len(self._unpaired) == self.block_size:
            self._total.add(self._block_mean(self._unpaired))
            self._unpaired = self._unpaired[:0]
        stop = n - (n - start) % self.block_size
        self._add_blocks(X, order, start, stop, progress)
        if n > stop:
            self._unpaired = _taken(X, order, stop, n).copy()
        return self

    def _add_blocks(
        self,
        X: np.ndarray,
        order: np.ndarray | None,
        start: int,
        stop: int,
        progress: Progress = silent,
    ) -> None:
        """Add rows that fill whole blocks."""
        b = self.block_size
        large = b > _LARGEST_STACKED
        step = b if large else max(1, _TASK // b) * b
        tasks = [(first, min(stop, first + step)) for first in range(start, stop, step)]

        def block_sums(part: tuple[int, int]):
            return _blocks_sum(X, order, *part, b, self.sign)

        def large_block_sum(part: tuple[int, int]):
            return (_all_pairs_sum(_taken(X, order, *part), self.sign),)

        # A large block spreads over the cores by itself.
        results = map(large_block_sum, tasks) if large else in_order(block_sums, tasks)
        for done, parts in enumerate(results, start=1):
            self._total.add_parts(parts, 2 / (b - 1))
            progress(done, len(tasks))

    def _block_mean(self, block: np.ndarray) -> np.ndarray:
        alone = PairSum(self.sign, self.n_features, pairs=len(block))
        alone._add_blocks(block, None, 0, len(block))
        return alone._total.value

    def merge(self, other: PairSum) -> PairSum:
        """Add the sum of other rows, which must have the same sign, columns and block size."""
        if other.n_features is None:
            return self
        if self.n_features is None:
            self._set_columns(other.n_features)
        mine = (self.sign, self.block_size, self.n_features)
        if mine != (other.sign, other.block_size, other.n_features):
            raise ParameterError("Sums merge only with the same sign, block size and columns.")
        self._total.add_parts(other._total.parts)
        self.n_samples += other.n_samples - len(other._unpaired)
        return self.update(other._unpaired)

    def mean(self) -> np.ndarray:
        """The pair scatter K̂ of all rows so far, (d, d)."""
        if self.n_features is None or self.n_samples < 2:
            raise DataError("A pair needs two rows; there are fewer.")
        total = self._total.value
        if len(self._unpaired) > 1:
            total = total + self._block_mean(self._unpaired)
        return self.sign.sup_norm**2 * symmetrized(total) / self.n_samples


def kendall_tau(
    X: np.ndarray,
    sign: Any = "spherical",
    pairs: Any = "all",
    *,
    radius: Any = None,
    order: np.ndarray | None = None,
    progress: Progress = silent,
) -> np.ndarray:
    r"""Generalized multivariate Kendall's tau matrix K̂, without any noise.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite numbers, at least two rows.
    sign : str or Sign, default "spherical"
        The sign g.
    pairs : "all", "halves", "auto" or int, default "all"
        Which pairs: every one, row i with row i + ⌊n/2⌋, or those inside blocks of so many
        consecutive rows.
    radius : float or "sqrt_d", optional
        Cut-off of a sign given by name.
    order : array of int, optional
        Take the rows in this order; matters for blocks and halves.
    progress : callable, optional
        Called with the number of tasks done and in all.

    Returns
    -------
    array of shape (d, d)
        :math:`\hat K_g`.

    Notes
    -----
    **Privacy.** None: this is the statistic before the noise.

    **Paper.** :math:`\hat K_g = \frac{2}{n(n-1)} \sum_{i<j} g\big(\tfrac{x_j - x_i}{\sqrt2}\big)
    g\big(\tfrac{x_j - x_i}{\sqrt2}\big)^\top`, Sec 2.1. Cost O(n²d + nd²) for all
    pairs, O(nbd + nd²) for blocks of b.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import kendall_tau
    >>> kendall_tau(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[0.36, 0.48],
           [0.48, 0.64]])
    """
    X = finite_matrix(X)
    n, d = X.shape
    if n < 2:
        raise DataError(f"A pair needs two rows, got {n}.")
    sign = as_sign(sign, radius, n_features=d)
    scheme = as_scheme(pairs, n, d)
    if isinstance(scheme, Blocks):
        return PairSum(sign, d, pairs=scheme.size).update(X, order, progress).mean()
    if isinstance(scheme, Halves):
        return _halves(X, sign, np.arange(n) if order is None else order)
    return sign.sup_norm**2 * _all_pairs_sum(X, sign, progress) * (2 / n) / (n - 1)


def _halves(X: np.ndarray, sign: Sign, order: np.ndarray) -> np.ndarray:
    half = len(order) // 2

    def pairs(part: slice) -> tuple[np.ndarray, np.ndarray]:
        return X[order[:half][part]], X[order[half : 2 * half][part]]

    total = CompensatedSum(X.shape[1])
    add_signs(total, pairs, half, sign, divisor=SQRT2)
    return sign.sup_norm**2 * symmetrized(total.value) / half
