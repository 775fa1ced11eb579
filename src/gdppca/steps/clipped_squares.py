r"""Sums of clipped squares: what spreads are measured by, robustly and without steps.

Of sizes y and a bound b the mean of :math:`\min(y^2/b^2, 1)` is taken. One size moves it by at
most one over their number, a size far out counts no more than one at the bound, and a small change
of the bound changes it little, whatever the law: no column has a gap that could be jumped over.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from gdppca.kernels.weights import exact_sums
from gdppca.linalg import SQRT2

_STEPS = 24  # bits kept of a clipped square
_SMALLEST, _LARGEST_RATIO = 1e-6, 8.0  # what a Gaussian's sd may be, in units of the bound


def square_sums(
    sizes: np.ndarray, bounds: np.ndarray, parts: np.ndarray | None = None
) -> np.ndarray:
    """Sums of min(y²/b², 1), each rounded to 2⁻²⁴, or cut to 2⁻³⁰ where sizes have weights; exact.

    What is missing adds nothing.
    """
    ways = np.minimum(np.minimum(sizes, bounds) / bounds, 1.0)
    return exact_sums(np.nan_to_num(ways) ** 2, parts, _STEPS)


def gaussian_ratio(shares: np.ndarray, sizes: np.ndarray | None = None) -> np.ndarray:
    """Standard deviation σ/b of the Gaussian for which E min(y²/b², 1) is as given.

    Of a mixture of Gaussians, as many as there are rows in `sizes`, which is their σ over this one.
    """
    low, high = np.full((2, *shares.shape), [[_SMALLEST], [_LARGEST_RATIO]])
    for _ in range(60):
        middle = np.sqrt(low * high)
        whole = gaussian_share(middle) if sizes is None else _mixed_share(middle, sizes)
        above = whole > shares
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(low > _SMALLEST, low, 0.0)


def _mixed_share(ratio: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return np.asarray(np.mean(gaussian_share(np.maximum(ratio * sizes, _SMALLEST)), axis=0))


def gaussian_share(ratio: np.ndarray) -> np.ndarray:
    """E min(t²Z², 1) for a standard Gaussian Z."""
    cut = 1 / ratio
    inside = special.erf(cut / SQRT2) - 2 * cut * np.exp(-(cut**2) / 2) / math.sqrt(2 * math.pi)
    return ratio**2 * inside + special.erfc(cut / SQRT2)


def gaussian_slope(ratio: np.ndarray) -> np.ndarray:
    """How `gaussian_share` changes with the logarithm of t: 2 E[t²Z², |tZ| < 1]."""
    return 2 * (gaussian_share(ratio) - special.erfc(1 / (ratio * SQRT2)))
