"""Sums over rows and pairs of rows. Deterministic, exact to a proven bound, and not private."""

from gdppca.kernels.cross_sum import Cross, CrossSum
from gdppca.kernels.guard import cross_rounding_error, direct_rounding_error
from gdppca.kernels.one_sample import SignSum, sign_covariance
from gdppca.kernels.pair_sum import PairSum, kendall_tau, pair_rounding_error, pair_scatter
from gdppca.kernels.parallel import Progress, silent
from gdppca.kernels.schemes import AllPairs, Blocks, Halves, OneSample, Scheme, as_scheme

__all__ = [
    "AllPairs",
    "Blocks",
    "Cross",
    "CrossSum",
    "Halves",
    "OneSample",
    "PairSum",
    "Progress",
    "Scheme",
    "SignSum",
    "as_scheme",
    "cross_rounding_error",
    "direct_rounding_error",
    "kendall_tau",
    "pair_rounding_error",
    "pair_scatter",
    "sign_covariance",
    "silent",
]
