"""scikit-learn estimators."""

from gdppca.estimators.analyze_gauss import AnalyzeGauss
from gdppca.estimators.diagnostics import OutlierMap, breakdown_of, outlier_figure, outlier_map
from gdppca.estimators.gdppca import DPPCA
from gdppca.estimators.nsggd import NSGGD
from gdppca.estimators.sgpca import SGPCA
from gdppca.estimators.sign_covariance import SignCovariancePCA

__all__ = [
    "DPPCA",
    "NSGGD",
    "SGPCA",
    "AnalyzeGauss",
    "OutlierMap",
    "SignCovariancePCA",
    "breakdown_of",
    "outlier_figure",
    "outlier_map",
]
