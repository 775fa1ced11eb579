"""The paper's formulas and the law of the noise: public numbers in, public numbers out."""

from gdppca.theory.breakdown import breakdown_bound
from gdppca.theory.conditions import spherical_condition, winsor_condition
from gdppca.theory.contamination import contaminated_covariance, flip_shift
from gdppca.theory.distances import projector_distance, sin_theta
from gdppca.theory.error_bounds import (
    CorruptionBound,
    classical_noise_sd,
    corruption_bound,
    error_bound,
    required_samples,
)
from gdppca.theory.intervals import LoadingIntervals
from gdppca.theory.method_bounds import (
    analyze_gauss_bound,
    effective_rank,
    sgpca_bound,
    spherical_bound,
    winsor_bound,
)
from gdppca.theory.noise_floor import (
    components_above_noise,
    denoised_eigenvalues,
    noise_band,
    noise_edge,
)
from gdppca.theory.patterns import variance_shares
from gdppca.theory.rates import (
    corrected,
    entry_sd,
    even_noise,
    kept_share,
    rate_errors,
    shrunk_rates,
)
from gdppca.theory.shrinkage import ShrunkLoadings, shrunken_loadings
from gdppca.theory.spherical import spherical_eigenvalues, spherical_eigenvalues_inverse
from gdppca.theory.uncertainty import loading_intervals
from gdppca.theory.winsor import (
    pair_radius_quantile,
    pair_radius_survival,
    winsor_eigenvalues,
)

__all__ = [
    "CorruptionBound",
    "LoadingIntervals",
    "ShrunkLoadings",
    "analyze_gauss_bound",
    "breakdown_bound",
    "classical_noise_sd",
    "components_above_noise",
    "contaminated_covariance",
    "corrected",
    "corruption_bound",
    "denoised_eigenvalues",
    "effective_rank",
    "entry_sd",
    "error_bound",
    "even_noise",
    "flip_shift",
    "kept_share",
    "loading_intervals",
    "noise_band",
    "noise_edge",
    "pair_radius_quantile",
    "pair_radius_survival",
    "projector_distance",
    "rate_errors",
    "required_samples",
    "sgpca_bound",
    "shrunk_rates",
    "shrunken_loadings",
    "sin_theta",
    "spherical_bound",
    "spherical_condition",
    "spherical_eigenvalues",
    "spherical_eigenvalues_inverse",
    "variance_shares",
    "winsor_bound",
    "winsor_condition",
    "winsor_eigenvalues",
]
