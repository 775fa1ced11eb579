"""Robust and differentially private principal component analysis.

>>> import numpy as np
>>> from gdppca import DPPCA
>>> X = np.random.default_rng(0).standard_cauchy((2000, 4)) * [9, 3, 1, 1]
>>> pca = DPPCA(n_components=1, epsilon=1.0, delta=1e-6).fit(X)
>>> pca.components_.shape, round(pca.guarantee_.epsilon, 3)
((1, 4), 1.0)

Names load when they are asked for: ``import gdppca`` itself loads next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gdppca._version import __version__

if TYPE_CHECKING:  # for readers of types; at run time `__getattr__` finds the same names
    from gdppca import datasets, kernels, privacy, releases, signs, studies, theory
    from gdppca._errors import (
        BudgetExceeded,
        ColumnTypeError,
        DataError,
        DescriptionError,
        EngineError,
        GdppcaError,
        LedgerError,
        MissingExtraError,
        ParameterError,
        PrivacyWarning,
        ReleaseError,
        StateError,
    )
    from gdppca.auditing.audit import audit
    from gdppca.auditing.result import AuditResult
    from gdppca.estimators import DPPCA, NSGGD, SGPCA, AnalyzeGauss, SignCovariancePCA
    from gdppca.kernels import PairSum, kendall_tau
    from gdppca.ledgers import Ledger
    from gdppca.linalg import sin_theta
    from gdppca.planning.plan import Plan, plan
    from gdppca.privacy import Guarantee
    from gdppca.releases import Release
    from gdppca.tables import Description, Query, describe

__all__ = [
    "DPPCA",
    "NSGGD",
    "SGPCA",
    "AnalyzeGauss",
    "AuditResult",
    "BudgetExceeded",
    "ColumnTypeError",
    "DataError",
    "Description",
    "DescriptionError",
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
    "Query",
    "Release",
    "ReleaseError",
    "SignCovariancePCA",
    "StateError",
    "__version__",
    "audit",
    "datasets",
    "describe",
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

# Rooms, which a dotted name may enter without an import of its own (`gdppca.signs.Winsor`), and
# the promised names that they hold. The other names are errors.
_NAMES_IN = {
    "auditing": ("AuditResult", "audit"),
    "datasets": (),
    "estimators": ("DPPCA", "NSGGD", "SGPCA", "AnalyzeGauss", "SignCovariancePCA"),
    "kernels": ("PairSum", "kendall_tau"),
    "ledgers": ("Ledger",),
    "linalg": ("sin_theta",),
    "planning": ("Plan", "plan"),
    "plots": (),
    "privacy": ("Guarantee",),
    "releases": ("Release",),
    "report": (),
    "signs": (),
    "studies": (),
    "tables": ("Description", "Query", "describe"),
    "theory": (),
}
_ROOM_OF = {name: room for room, names in _NAMES_IN.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a promised name, or a room, the first time it is asked for (PEP 562)."""
    if name in _NAMES_IN:
        return import_module(f"gdppca.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'gdppca' has no attribute {name!r}")
    value = getattr(import_module(f"gdppca.{_ROOM_OF.get(name, '_errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_NAMES_IN})
