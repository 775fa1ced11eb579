r"""How far shrunken loadings will be off, where each component has few columns.

Shrinking is post-processing of the released matrix, so it can be run on simulated ones: the law of
`gdppca.planning.prediction`, turned from the basis of the true directions to that of the columns.
Which columns, and how large their loadings are, nobody knows beforehand: they are drawn, the same
columns for all components. What shrinking gains on a few such matrices is taken off the error of
plain eigenvectors, which is known better; errors of private scales and of missing cells stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.noise.bits import generator_for
from gdppca.planning.prediction import Angles, Law, expected_angles, sines
from gdppca.theory import shrunken_loadings

_SEED = 20_260_217  # of a simulation without data; any number would do
_DRAWS = (20, 160)  # fewest and most
_WORK = 4000  # draws times columns: shrinking takes longer where there are many


def shrunken_angles(law: Law, n_components: int, sparsity: int, n_samples: int) -> Angles:
    """Mean sines of the angles after shrinking, of components with so many columns each."""
    whole = expected_angles(law, n_components)
    even = replace(law, gaps=None, scale_error=0.0)
    plain = whole if law.even else expected_angles(even, n_components)
    before, after = _simulated(even, n_components, sparsity, n_samples)
    ratio = np.divide(after, before, out=np.ones_like(after), where=before > 0)
    largest, *single = np.sqrt(_both(whole) ** 2 - (1 - ratio**2) * _both(plain) ** 2)
    return Angles(sin_theta=float(largest), per_component=np.array(single))


def _both(angles: Angles) -> np.ndarray:
    return np.append(angles.sin_theta, angles.per_component)


def _simulated(law: Law, m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean sines of plain and of shrunken directions: of the subspace, then of each."""
    d = len(law.eigenvalues)
    bias = float(law.eigenvalues.sum()) * d * law.centre_error**2
    generator = generator_for(_SEED)
    plain, shrunk = [], []
    for stack in law.draws(int(np.clip(_WORK // d, *_DRAWS))):
        for matrix in stack:
            basis = _basis(generator.standard_normal((d, d)), m, k)
            released = basis @ matrix @ basis.T
            found = shrunken_loadings(released, law.noise_sd, n, m, centre_bias=bias)
            plain.append(basis.T @ found.plain.T)
            shrunk.append(basis.T @ found.components.T)
    return sines(np.array(plain)).mean(axis=0), sines(np.array(shrunk)).mean(axis=0)


def _basis(normal: np.ndarray, m: int, k: int) -> np.ndarray:
    """True directions as columns; the first m have loadings on k columns alone."""
    normal[max(k, m) :, :m] = 0.0
    return np.asarray(np.linalg.qr(normal)[0])


def checked_sparsity(sparsity: Any, d: int) -> int | None:
    """A guess of how many columns have a part in a component; None for all."""
    if sparsity is None:
        return None
    k = _validate.count(sparsity=sparsity)
    if k > d:
        raise ParameterError(f"`sparsity` must not exceed the number of columns {d}, got {k}.")
    return k
