"""Counts in cells under noise of a known size: what is there, and what may be noise alone."""

from __future__ import annotations

import math

import numpy as np
from scipy.ndimage import uniform_filter

_WIDTH = 3  # cells: a count and its neighbours
_CHANCE = 0.05  # that noise alone is taken for something, anywhere in a map


def smoothed_counts(
    counts: np.ndarray, noise_sd: float, *, out_of: int | None = None
) -> np.ndarray:
    r"""Counts without most of their noise; zero where noise could be all there is.

    Parameters
    ----------
    counts : array of shape (across, up)
        Noisy counts of cells that lie side by side.
    noise_sd : float
        Standard deviation of the noise on each, Gaussian or Laplace.
    out_of : int, optional
        Number of cells that noise may stand out in, where there are others elsewhere.

    Returns
    -------
    array of shape (across, up)
        Not negative, and not whole.

    Notes
    -----
    Wiener's filter with a known noise: a count is drawn towards the mean of the 3 × 3 cells around
    it, all the way where these differ by no more than the noise makes them, and hardly where they
    differ by much. What stays is set to zero unless the count, or the mean, is larger than noise
    makes any of N cells with a chance of about α = 0.05: :math:`\sqrt{2 \log(N/\alpha)}` standard
    deviations for Gaussian noise and for means, and :math:`\log(N/2\alpha) / \sqrt2` for a count
    whose noise follows Laplace's law, if that is larger.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.theory.noisy_counts import smoothed_counts
    >>> counts = np.zeros((9, 9))
    >>> counts[4, 4], counts[0, 0] = 500, 12
    >>> bool(smoothed_counts(counts, noise_sd=6.0)[4, 4] > 400)
    True
    >>> float(smoothed_counts(counts, noise_sd=6.0)[0, 0])
    0.0
    """
    counts = np.asarray(counts, dtype=float)
    if noise_sd == 0:
        return np.maximum(counts, 0.0)
    cells = _around(np.ones(counts.shape))
    mean = _around(counts) / cells
    differ = _around((counts - mean) ** 2) / cells
    kept = np.clip(1 - noise_sd**2 / np.maximum(differ, noise_sd**2), 0, 1)
    rare = max(out_of or counts.size, 2) / _CHANCE
    of_means = math.sqrt(2 * math.log(rare)) * noise_sd
    of_counts = max(of_means, math.log(rare / 2) / math.sqrt(2) * noise_sd)
    there = (counts > of_counts) | (mean > of_means / np.sqrt(cells))
    return np.where(there, np.maximum(mean + kept * (counts - mean), 0.0), 0.0)


def _around(counts: np.ndarray) -> np.ndarray:
    """Totals over each cell and those around it, as far as there are any."""
    return np.asarray(_WIDTH**2 * uniform_filter(counts, _WIDTH, mode="constant"))
