r"""How far one row moves each statistic, in Frobenius norm.

Neighbours are replace-one with n public. For vectors with :math:`|u|, |v| \le r`,

.. math:: \|uu^\top - vv^\top\|_F^2 = |u|^4 + |v|^4 - 2 (u \cdot v)^2 \le 2 r^4,

so a row in b - 1 pairs of weight :math:`2/(n(b-1))` moves the sum by at most
:math:`2\sqrt2\, r^2/n`, whatever the pair scheme, and a row against a fixed centre by
:math:`\sqrt2\, r^2/n`. Both are attained; the paper states 4r²/n. Twice the proven rounding error
of the kernels is added, since each of two neighbouring sums may be off by it. Proofs:
docs/proofs/sensitivity.md.
"""

from __future__ import annotations

from gdppca import _validate
from gdppca.kernels import (
    Halves,
    OneSample,
    Scheme,
    direct_rounding_error,
    pair_rounding_error,
)
from gdppca.linalg import SQRT2

CALIBRATIONS = ("tight", "paper")


def scatter_sensitivity(scheme: Scheme, sup_norm: float, n_samples: int, n_features: int) -> float:
    """Proven bound on the move of a sign scatter as computed, rounding errors included."""
    moved = moved_share(scheme, n_samples)
    return sup_norm**2 * (SQRT2 * moved + 2 * rounding_share(scheme, n_samples, n_features))


def paper_sensitivity(scheme: Scheme, sup_norm: float, n_samples: int) -> float:
    """The paper's bound: 4‖g‖²/n for pairs (Sec 2.2), 2‖g‖²/n around a centre (App B.1)."""
    return 2 * sup_norm**2 * moved_share(scheme, n_samples)


def moved_share(scheme: Scheme, n_samples: int) -> float:
    """Total weight of the terms that hold one given row."""
    n = _validate.count(n_samples=n_samples)
    if isinstance(scheme, OneSample):
        return 1 / n
    if isinstance(scheme, Halves):
        return 1 / (n // 2)
    return 2 / n


def rounding_share(scheme: Scheme, n_samples: int, n_features: int) -> float:
    """Proven rounding error of the kernel for this scheme, in units of ‖g‖²."""
    if isinstance(scheme, OneSample):
        return direct_rounding_error(n_features)
    return pair_rounding_error(scheme, n_samples, n_features)
