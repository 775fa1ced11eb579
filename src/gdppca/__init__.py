"""Robust and differentially private principal component analysis.

>>> import numpy as np
>>> from gdppca import DPPCA
>>> X = np.random.default_rng(0).standard_cauchy((2000, 4)) * [9, 3, 1, 1]
>>> pca = DPPCA(n_components=1, epsilon=1.0, delta=1e-6).fit(X)
>>> pca.components_.shape, round(pca.guarantee_.epsilon, 3)
((1, 4), 1.0)
"""

from gdppca import datasets, kernels, privacy, releases, signs, studies, theory
from gdppca._errors import (
    BudgetExceeded,
    ColumnTypeError,
    DataError,
    EngineError,
    GdppcaError,
    LedgerError,
    MissingExtraError,
    ParameterError,
    PrivacyWarning,
    ReleaseError,
    StateError,
)
from gdppca._version import __version__
from gdppca.auditing import AuditResult, audit
from gdppca.estimators import DPPCA, NSGGD, SGPCA, AnalyzeGauss, SignCovariancePCA
from gdppca.kernels import PairSum, kendall_tau
from gdppca.ledgers import Ledger
from gdppca.linalg import sin_theta
from gdppca.planning import Plan, plan
from gdppca.privacy import Guarantee
from gdppca.releases import Release

__all__ = [
    "DPPCA",
    "NSGGD",
    "SGPCA",
    "AnalyzeGauss",
    "AuditResult",
    "BudgetExceeded",
    "ColumnTypeError",
    "DataError",
    "EngineError",
    "GdppcaError",
    "Guarantee",
    "Ledger",
    "LedgerError",
    "MissingExtraError",
    "PairSum",
    "ParameterError",
    "Plan",
    "PrivacyWarning",
    "Release",
    "ReleaseError",
    "SignCovariancePCA",
    "StateError",
    "__version__",
    "audit",
    "datasets",
    "kendall_tau",
    "kernels",
    "plan",
    "privacy",
    "releases",
    "signs",
    "sin_theta",
    "studies",
    "theory",
]
