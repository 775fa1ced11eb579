"""scikit-learn estimators."""

from gdppca.estimators.gdppca import DPPCA

__all__ = ["DPPCA"]
