"""Sums over pairs of rows: all pairs, blocks, halves. Deterministic; nothing here is private."""

from __future__ import annotations

from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError, ParameterError
from gdppca.kernels import guard
from gdppca.kernels.layout import BLOCK_PADDING, LANES, LINES_PADDING, whole
from gdppca.kernels.one_sample import add_signs
from gdppca.kernels.panels import Panels, Rows, middle_of
from gdppca.kernels.parallel import Progress, in_order, silent
from gdppca.kernels.schemes import DEFAULT_BLOCK, AllPairs, Blocks, Halves, as_scheme
from gdppca.kernels.sums import CompensatedSum, finite_matrix
from gdppca.linalg import SQRT2, symmetrized
from gdppca.signs import Sign, as_sign

_TILE = 240  # rows of a tile: its arrays fit a second-level cache
_PANEL_ROWS = 512  # rows that one matrix product sums in the block scheme; bounds the chain
_LARGEST_STACKED = 512  # larger blocks are summed one by one, as all pairs are
_SLAB_ENTRIES = 2**16  # numbers, or pairs, of a slab: what is prepared at once fits the cache
LISTED = 2**14  # refused pairs of a slab that are noted one by one
_TASK_PANELS = 64  # panels that a thread sums before it hands over; bounds the chain
_ALL_PAIRS_TARGET = 1e-9
_BLOCKS_TARGET = 1e-11


def _all_pairs_chain(n: int) -> int:
    # Two products over a tile; sums along a strip, over strips, and over tiles at the end; 16 for
    # single operations.
    return 2 * _TILE + 3 * -(-n // _TILE) + 16


def _blocks_chain(size: int) -> int:
    # The product over a block; that over a panel, in eight sums; the sum over the panels of a
    # task; 16 for single operations.
    return size + -(-max(size, _PANEL_ROWS) // 8) + _TASK_PANELS + 16


def pair_rounding_error(scheme: AllPairs | Blocks | Halves, n: int, d: int) -> float:
    """Proven bound η on the error of `kendall_tau` in units of ‖g‖∞², for every finite input."""
    if isinstance(scheme, Halves):
        return guard.direct_rounding_error(d)
    if isinstance(scheme, Blocks) and scheme.size <= _LARGEST_STACKED:
        chain, target = _blocks_chain(scheme.size), _BLOCKS_TARGET
    else:
        longest = n if isinstance(scheme, AllPairs) else min(n, scheme.size)
        chain, target = _all_pairs_chain(longest), _ALL_PAIRS_TARGET
    return guard.rounding_error(chain, guard.guard_for(chain, target), d)


def all_pairs_sum(X: np.ndarray, sign: Sign, progress: Progress = silent) -> np.ndarray:
    """Σ_{i<j} g g' / ‖g‖∞² over every pair, by strips of tiles."""
    n, d = X.shape
    limit = guard.guard_for(_all_pairs_chain(n), _ALL_PAIRS_TARGET)
    tiles = Panels.prepare(X, middle_of(Rows(X)), _TILE, slots=1, memory=None)

    def strip(first: int) -> tuple[np.ndarray, np.ndarray]:
        return _strip_sum(tiles, first, sign, limit)

    total = np.zeros((d, d))
    degrees = np.zeros(tiles.norms.shape)
    for done, (scatter, weights) in enumerate(in_order(strip, range(len(tiles))), start=1):
        total += scatter
        degrees += weights
        progress(done, len(tiles))
    for U, weights in zip(tiles.centred[:, :d], degrees, strict=True):
        total += U @ (weights * U).T
    return symmetrized(total)


def _strip_sum(
    tiles: Panels, first: int, sign: Sign, limit: float
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of one tile of rows with itself and with all later tiles.

    Returns its share of U'(D - W)U and the weights that the later rows gathered.
    """
    from gdppca.kernels import pair_loops

    own = tiles[first]
    d = own.raw.shape[1]
    centred = own.centred[:d]
    products, product = np.zeros(centred.shape), np.empty(centred.shape)
    own_degrees, degrees = np.zeros((1, tiles.padded)), np.zeros(tiles.norms.shape)
    scatter = np.zeros((d, d))
    weights = np.zeros((tiles.padded, tiles.padded + LANES))
    for later in range(first, len(tiles)):
        other = tiles[later]
        failed = guard.tile_weights(other, own, sign, limit, later == first, weights)
        np.matmul(other.centred[:d], weights[:, : tiles.padded], out=product)
        products += product
        gathered = np.zeros((1, tiles.padded))
        pair_loops.add_degrees(weights, degrees[later : later + 1, : tiles.padded], gathered)
        own_degrees += gathered
        if failed is not None:
            scatter += guard.refused_scatter(other, own, sign, limit, failed)
    products *= -2
    products += own_degrees * centred
    return scatter + centred @ products.T, degrees


def _panel_slots(size: int) -> int:
    """Blocks that lie side by side in a panel."""
    return max(1, _PANEL_ROWS // whole(size, BLOCK_PADDING))


def _blocks_sum(rows: Rows, size: int, sign: Sign) -> np.ndarray:
    """Σ over blocks of Σ_{i<j} g g' / ‖g‖∞², for rows that fill at most a task of small blocks."""
    d = rows.X.shape[1]
    slots = _panel_slots(size)
    row_entries = d if guard.is_constant(sign) else max(d, size)
    slab = max(1, _SLAB_ENTRIES // (slots * size * row_entries)) * slots * size
    centre, panels = middle_of(rows), None
    lower, refused = np.zeros([whole(d, LINES_PADDING)] * 2), np.zeros((d, d))
    for first in range(0, len(rows), slab):
        taken = rows.part(first, first + slab).taken
        panels = Panels.prepare(taken, centre, size, slots, memory=panels)
        refused += _add_panels(panels, sign, lower)
    lower = np.tril(lower[:d, :d])
    return lower + np.tril(lower, -1).T + refused


def _add_panels(panels: Panels, sign: Sign, lower: np.ndarray) -> np.ndarray:
    """Add Σ_{i<j} g g' / ‖g‖∞² of whole blocks to a lower half; return that of refused pairs."""
    from gdppca.kernels import pair_loops

    limit = guard.guard_for(_blocks_chain(panels.size), _BLOCKS_TARGET)
    refused = np.zeros(len(panels), dtype=np.int64)
    pairs = np.empty((LISTED, 2), dtype=np.int64)
    rows = (panels.scaled, panels.centred, panels.norms)
    sizes, limits = (panels.size, panels.padded, panels.slots), (limit, guard.LARGEST_WEIGHT)
    radial = _block_radial(panels, sign)
    listed = pair_loops.add_blocks(
        rows, sizes, radial, sign.sup_norm, limits, refused, pairs, lower
    )
    i, j = pairs[:listed].T
    scatter = guard.listed_scatter(panels.raw, panels.raw, i, j, sign)
    for block in np.flatnonzero(refused).tolist():
        tile = panels[block]
        weights = np.zeros((panels.padded, panels.padded))
        failed = guard.tile_weights(tile, tile, sign, limit, True, weights)
        if failed is not None:
            scatter += guard.refused_scatter(tile, tile, sign, limit, failed)
    return scatter


def _block_radial(panels: Panels, sign: Sign) -> np.ndarray | None:
    """ξ of the pairs inside each block, (B, p, p)."""
    from gdppca.kernels import pair_loops

    if guard.is_constant(sign):
        return None
    squares = np.zeros((len(panels), panels.padded, panels.padded))
    pair_loops.block_squares(panels.scaled, panels.padded, panels.slots, squares)
    return guard.radial_lengths(sign, squares, panels.exponent)


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
        self._total = CompensatedSum(d, d)  # Σ 2/(b-1) Σ g g' over whole blocks
        self._unpaired = np.empty((0, d))  # rows of the unfinished block

    def __repr__(self) -> str:
        shape = f"n_samples={self.n_samples}, n_features={self.n_features}"
        return f"PairSum({shape}, pairs={self.block_size})"

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
        return self.add_rows(Rows(finite_matrix(X), order), progress)

    def add_rows(self, rows: Rows, progress: Progress) -> PairSum:
        """Add rows of a finite matrix."""
        d, n = rows.X.shape[1], len(rows)
        if self.n_features is None:
            self._set_columns(d)
        if d != self.n_features:
            raise DataError(f"Rows have {d} columns where {self.n_features} were before.")
        self.n_samples += n
        start = min(n, -len(self._unpaired) % self.block_size)
        self._unpaired = np.concatenate([self._unpaired, rows.part(0, start).taken])
        if len(self._unpaired) == self.block_size:
            self._total.add(self._block_mean(self._unpaired))
            self._unpaired = self._unpaired[:0]
        stop = n - (n - start) % self.block_size
        self._add_blocks(rows.part(start, stop), progress)
        if n > stop:
            self._unpaired = rows.part(stop, n).taken.copy()
        return self

    def _add_blocks(self, rows: Rows, progress: Progress = silent) -> None:
        """Add rows that fill whole blocks."""
        b = self.block_size
        large = b > _LARGEST_STACKED
        step = b if large else _TASK_PANELS * _panel_slots(b) * b
        tasks = [rows.part(first, first + step) for first in range(0, len(rows), step)]
        # A large block spreads over the cores by itself.
        results = (
            (all_pairs_sum(part.taken, self.sign) for part in tasks)
            if large
            else in_order(lambda part: _blocks_sum(part, b, self.sign), tasks)
        )
        for done, scatter in enumerate(results, start=1):
            self._total.add(2 / (b - 1) * scatter)
            progress(done, len(tasks))

    def _block_mean(self, block: np.ndarray) -> np.ndarray:
        alone = PairSum(self.sign, self.n_features, pairs=len(block))
        alone._add_blocks(Rows(block))
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
        return self.sign.sup_norm**2 * (symmetrized(total) / self.n_samples)


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
    return pair_scatter(X, sign, as_scheme(pairs, n, d), order, progress)


def pair_scatter(
    X: np.ndarray,
    sign: Sign,
    scheme: AllPairs | Blocks | Halves,
    order: np.ndarray | None,
    progress: Progress,
) -> np.ndarray:
    """K̂ of a matrix that is known to be finite, contiguous and of at least two rows."""
    (n, d), rows = X.shape, Rows(X, order)
    if isinstance(scheme, Blocks):
        return PairSum(sign, d, pairs=scheme.size).add_rows(rows, progress).mean()
    if isinstance(scheme, Halves):
        return _halves(rows, sign)
    # The mean first: the bound times a sum over all pairs may not be a float.
    return sign.sup_norm**2 * (all_pairs_sum(X, sign, progress) * (2 / n) / (n - 1))


def _halves(rows: Rows, sign: Sign) -> np.ndarray:
    half = len(rows) // 2
    first, second = rows.part(0, half), rows.part(half, 2 * half)

    def pairs(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        return first.part(start, stop).taken, second.part(start, stop).taken

    total = CompensatedSum(*2 * rows.X.shape[1:])
    add_signs(total, pairs, half, sign, divisor=SQRT2)
    return sign.sup_norm**2 * (symmetrized(total.value) / half)
