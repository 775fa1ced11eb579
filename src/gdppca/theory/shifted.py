r"""What an error of the centre does to the matrix of the spherical sign.

Rows y of a Gaussian law with variances λ are seen from a centre that is off by e. With
:math:`1/|y|^2 = \int_0^\infty e^{-t|y|^2} dt` the matrix :math:`E[yy^\top/|y|^2]` is one integral,
by the trapezoid rule in log t as in `gdppca.theory.spherical`. Where one direction is far wider
than the others, it grows with the length of e itself and not with its square: the few rows that
lie near the middle all point along e.
"""

from __future__ import annotations

import math

import numpy as np

from gdppca.theory.quadrature import LOG_X, STEP, X

_LEAST_DISTANCE = 0.6  # of a single wide direction, in its standard deviations, as walks find it


@np.errstate(all="ignore")  # weights that vanish are meant to
def shifted_matrix(lam: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """E[yy'/|y|²] for y with variances λ around `shift`, in the basis of λ; its trace is one."""
    scaled, moved = lam / lam.max(), shift / math.sqrt(lam.max())
    grown = 1 + np.outer(X, scaled)
    fallen = -0.5 * np.log(grown).sum(axis=1) - 0.5 * X * (moved**2 / grown).sum(axis=1)
    weight = 0.5 * STEP * np.exp(LOG_X + fallen)
    towards = moved / grown
    return (weight[:, None] * towards).T @ towards + np.diag(weight @ (scaled / grown))


@np.errstate(all="ignore")
def typical_distance(lam: np.ndarray) -> float:
    """1/E[1/|y|] of rows with variances λ, as a walk to their centre finds it."""
    scaled = lam / lam.max()
    fallen = 0.5 * LOG_X - 0.5 * np.log1p(np.outer(X, scaled)).sum(axis=1)
    mean_inverse = STEP * np.exp(fallen).sum() / math.sqrt(2 * math.pi)
    return math.sqrt(float(lam.max())) * max(1 / mean_inverse, _LEAST_DISTANCE)


def centre_rise(others: np.ndarray, length: float) -> float:
    """Eigenvalue that an error of the centre makes by itself, in a direction without variance.

    `others` are the variances of all other directions, `length` is that of the error over the
    typical distance.
    """
    lam = np.append(others, 1e-9 * others.max())
    shift = np.append(np.zeros(len(others)), length * typical_distance(lam))
    return float(shifted_matrix(lam, shift)[-1, -1])
