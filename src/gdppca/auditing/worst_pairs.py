r"""The neighbouring tables that an estimator tells apart best, and the best score.

All rows lie at one point but one, which lies in this direction or in a perpendicular one, as far
out as the sign reaches: that moves a scatter matrix by its sensitivity, to the last digit. Given
everything else that was released, the noisy matrix is Gaussian around one of two known matrices
:math:`K_1, K_2`, so the best score is the logarithm of the likelihood ratio,
:math:`\langle\tilde K - (K_1 + K_2)/2,\ K_1 - K_2\rangle/\sigma^2`. Where a centre or scales are
private, everything that was drawn for them counts too; see `draws`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from gdppca import _validate, linalg
from gdppca._errors import ParameterError
from gdppca.auditing.draws import gaussian_log_ratio, log_ratio, overheard
from gdppca.auditing.experiment import Experiment, claim_of
from gdppca.design import Parameters, design_of
from gdppca.estimators import DPPCA, NSGGD, SGPCA, AnalyzeGauss, SignCovariancePCA
from gdppca.kernels import kendall_tau, sign_covariance
from gdppca.noise import Noise
from gdppca.releases import Release
from gdppca.sensitivity import likely_projection
from gdppca.signs import Custom, Sign, as_sign, sign_from_description
from gdppca.steps.base import Public

_ROWS = 8
_ROWS_FOR_A_CENTRE = 400  # the matrix gets 96 % of the budget then
_ROWS_OF_PRINTED = 64  # the more, the worse its claim
_FAR, _LESS_FAR = 1e100, 1e30  # beyond every radius and centre that noise could bring
_RUNS_OF_DEAR = 3000  # where a run draws much; noise too small by √2 is still found out
_INSIDE = 1 - 1e-12  # a cut-off itself may round to its far side
_ARRAYS = ("location", "center", "scale", "eigenvalues")

Score = Callable[[Any], float]
Tables = tuple[np.ndarray, np.ndarray]


def experiment_for(estimator: Any) -> Experiment:
    """Tables, score and claim for an estimator; its budget and its ledger are not touched.

    Parameters
    ----------
    estimator : estimator
        Any of this package, fitted or not. Its parameters count, with secure noise.

    Returns
    -------
    Experiment
        To be given to `audit`.

    Examples
    --------
    >>> from gdppca import DPPCA
    >>> from gdppca.auditing import experiment_for
    >>> experiment = experiment_for(DPPCA(n_components=1, epsilon=4.0))
    >>> first, second = experiment.tables
    >>> int((first != second).any(axis=1).sum()), round(experiment.claim.epsilon, 6)
    (1, 4.0)
    """
    build = _BUILDERS.get(type(estimator))
    if build is None:
        raise ParameterError(
            f"`estimator` must be one of {', '.join(cls.__name__ for cls in _BUILDERS)}, or an "
            f"Experiment, got {type(estimator).__name__}."
        )
    if math.isinf(_validate.budget(epsilon=estimator.epsilon)):
        raise ParameterError(
            "`epsilon` must be finite: without noise nothing is promised, and there is nothing to "
            "audit."
        )
    fitter = clone(estimator).set_params(random_state=None)
    if "ledger" in fitter.get_params():
        fitter.set_params(ledger=None)  # made-up rows cost nobody anything
    tables, score = build(fitter)
    claim = claim_of(fitter.fit(tables[0]).guarantee_, estimator.epsilon)
    name = type(estimator).__name__
    if score is not None:
        runs = _RUNS_OF_DEAR if _has_private_radius(fitter) else Experiment.runs
        return Experiment(
            name=name, tables=tables, run=fitter.fit, score=score, claim=claim, runs=runs
        )

    def mechanism(table: np.ndarray, noise: Noise) -> Any:
        return clone(fitter).set_params(random_state=noise).fit(table)

    return Experiment(
        name=name,
        tables=tables,
        run=partial(overheard, mechanism),
        score=lambda heard: log_ratio(mechanism, tables, heard.draws),
        claim=claim,
        runs=_RUNS_OF_DEAR,
    )


# --- Scatter matrices of signs --------------------------------------------------------------------


def _signs(pca: DPPCA | SignCovariancePCA) -> tuple[Tables, Score | None]:
    d = _columns(pca)
    base = _public(pca.location, np.zeros(d))
    unit = _public(getattr(pca, "scale", None), np.ones(d))
    if _seeks_centre(pca):
        spread = _around_a_centre if isinstance(pca, DPPCA) else _beyond_all_bounds
        return spread(base, unit), None
    tables = _apart(_rows(pca), base, _row_length(pca, d) * unit)
    if _is_private(pca, "scale"):
        return tables, None
    return tables, _matrix_score(tables, _own_sign(pca))


def _row_length(pca: DPPCA | SignCovariancePCA, d: int) -> float:
    """How far out the row lies; beyond all noise where its unit is private."""
    if _has_private_radius(pca) or _is_private(pca, "scale") or _is_private(pca, "location"):
        return _FAR
    reach = _reach(as_sign(pca.sign, pca.radius, n_features=d)) * _INSIDE
    # In pairs g is applied to (x - y)/√2.
    return linalg.SQRT2 * reach if _public(pca.location, None) is None else reach


def _has_private_radius(pca: Any) -> bool:
    return isinstance(getattr(pca, "radius", None), str) and pca.radius == "quantile"


def _is_private(pca: Any, name: str) -> bool:
    """Whether centre or scales are private for certain; "auto" looks for none in few rows."""
    value = getattr(pca, name, None)
    return isinstance(value, str) and value != "auto"


def _seeks_centre(pca: DPPCA | SignCovariancePCA) -> bool:
    """Whether a centre is released that has a proof."""
    return _is_private(pca, "location") and pca.location != "pmwm-published"


def _around_a_centre(base: np.ndarray, unit: np.ndarray) -> Tables:
    """Rows one unit away on all sides, so that the walk to their centre is short.

    One row lies far out in this direction or in a perpendicular one, less far. That is the worst
    for the matrix, which gets most of the budget, and half of the worst for the looks.
    """
    d = len(base)
    sides = np.concatenate([np.diag(unit), -np.diag(unit)])
    around = base + np.tile(sides, (math.ceil(_ROWS_FOR_A_CENTRE / (2 * d)), 1))
    first, second = around.copy(), around.copy()
    first[0] = base + _FAR * unit * (np.arange(d) == 0)
    second[0] = base + _LESS_FAR * unit * (np.arange(d) == 1)
    return first, second


def _beyond_all_bounds(base: np.ndarray, unit: np.ndarray) -> Tables:
    """One row above all bounds of a winsorised mean or below, in every column.

    It points along the first column or against the second, to the last digit: the worst for every
    count, for the mean and for the matrix.
    """
    first, second = np.tile(base, (2, _ROWS, 1))
    first[0], second[0] = base + _LESS_FAR * unit, base - _LESS_FAR * unit
    first[0, 0], second[0, 1] = base[0] + _FAR * unit[0], base[1] - _FAR * unit[1]
    return first, second


def _ball(pca: AnalyzeGauss) -> tuple[Tables, Score]:
    if pca.norm is None:
        return _printed(pca)
    base = _public(pca.center, np.zeros(_columns(pca)))
    tables = _apart(_ROWS, base, np.full(len(base), float(pca.norm)))
    return tables, _matrix_score(tables, None)


def _columns(pca: Any) -> int:
    """As many as the arrays among the parameters, at least two."""
    for name in _ARRAYS:
        value = getattr(pca, name, None)
        if value is not None and not isinstance(value, str):
            return len(_at_least_two(_public(value, None)))
    return 2 if isinstance(pca.n_components, str) else max(2, pca.n_components)


def _at_least_two(array: np.ndarray) -> np.ndarray:
    if array.size < 2:
        raise ParameterError("An audit needs two columns: the direction of one says nothing.")
    return array


def _public(value: Any, default: Any) -> Any:
    """A public vector, or the default where it is private or not given."""
    if value is None or isinstance(value, str):
        return default
    array = _validate.floats(value)
    if array is None:
        raise ParameterError("Public vectors of an estimator must hold numbers.")
    return array


def _rows(pca: Any) -> int:
    """Few, for speed; blocks must be full, and no step may be refused."""
    rows, block = _ROWS, getattr(pca, "pairs", None)
    while isinstance(pca, DPPCA) and _is_lost(pca, rows):
        rows *= 2
    if isinstance(block, str) or block is None:
        return rows
    return block * math.ceil(rows / block)


def _is_lost(pca: DPPCA, rows: int) -> bool:
    """Whether a fit of so few rows would be refused."""
    return any(design_of(Parameters.of(pca), Public.of(rows, _columns(pca))).lost)


def _reach(sign: Sign) -> float:
    """A length that the sign keeps longest."""
    cut_offs = [getattr(sign, name, None) for name in ("radius", "inner", "outer")]
    known = [float(c) for c in cut_offs if c is not None]
    lengths = np.array([1.0, *known, *(c / 2 for c in known), *np.geomspace(1e-6, 1e6, 241)])
    return float(lengths[np.argmax(sign.radial(lengths))])


def _apart(n: int, base: np.ndarray, reach: np.ndarray) -> Tables:
    """All rows at the base but one, which lies along the first column or along the second."""
    first, second = np.tile(base, (2, n, 1))
    first[0, 0] += reach[0]
    second[0, 1] += reach[1]
    return first, second


def _own_sign(pca: Any) -> Sign | None:
    """A user's own sign, which is not in a release."""
    sign = None if isinstance(pca.sign, str) else as_sign(pca.sign)
    return sign if isinstance(sign, Custom) else None


def _matrix_score(tables: Tables, own_sign: Sign | None) -> Score:
    """Log-likelihood ratio of a noisy scatter matrix, given the centre, scales and sign."""
    known: dict[Any, Tables] = {}

    def score(fitted: Any) -> float:
        release = fitted.release_
        given = _given(release)
        if given not in known:  # the same every time, unless it is private
            known.clear()
            first, second = (_exact(table, release, own_sign) for table in tables)
            known[given] = first, second
        # Packing keeps inner products, so it is left out.
        return gaussian_log_ratio(release.scatter, *known[given], release.noise_sd)

    return score


def _given(release: Release) -> tuple[Any, ...]:
    """All that the exact matrix depends on beside the rows."""
    arrays = (release.location, release.scale)
    held = tuple(None if array is None else array.tobytes() for array in arrays)
    return (*held, repr(release.sign), repr(release.scheme))


def _exact(table: np.ndarray, release: Release, own_sign: Sign | None) -> np.ndarray:
    assert release.sign is not None
    assert release.scheme is not None
    sign = sign_from_description(release.sign) if own_sign is None else own_sign
    scale = 1.0 if release.scale is None else release.scale
    if release.location is not None:
        return sign_covariance(table / scale, release.location / scale, sign)
    pairs = release.scheme.get("size", release.scheme["name"])
    return kendall_tau(table / scale, sign, pairs)


# --- Baselines ------------------------------------------------------------------------------------


def _printed(pca: AnalyzeGauss) -> tuple[Tables, Score]:
    """Half of the rows on either side, one replaced by a huge one: its own norm shrinks the rest.

    The promise of the printed form does not stand, and this is why.
    """
    first = np.zeros((_ROWS_OF_PRINTED, _columns(pca)))
    first[:, 0] = np.where(np.arange(len(first)) % 2, 1.0, -1.0)
    second = first.copy()
    second[0] = 0.0
    second[0, 1] = 1e6
    return (first, second), _noiseless_score(pca, (first, second))


def _projection(pca: SGPCA) -> tuple[Tables, Score]:
    """Two directions whose projections differ by just the Δ that the method takes for granted.

    A worse pair exists, and the guarantee says so: Δ holds with high probability only. This one
    asks whether the noise is right for Δ. The directions mirror each other, so that the
    projections differ on the diagonal, whose noise is not halved.
    """
    if pca.n_components != 1:
        raise ParameterError(
            f"`n_components` must be 1 for an audit of SGPCA, got {pca.n_components!r}: the "
            "worst pair is known for one direction."
        )
    d = _columns(pca)
    Delta = 0.0
    if pca.eigenvalues is not None:
        Delta = likely_projection(_public(pca.eigenvalues, None), 1, _ROWS)
    angle = 0.5 * math.acos(min(1.0, Delta / linalg.SQRT2))
    first, second = np.zeros((2, _ROWS, d))
    first[0, :2] = math.cos(angle), math.sin(angle)
    second[0, :2] = math.sin(angle), math.cos(angle)
    return (first, second), _noiseless_score(pca, (first, second))


def _noiseless_score(pca: Any, tables: Tables) -> Score:
    """Log-likelihood ratio of a noisy matrix whose mean depends on nothing but the table."""
    upper = np.triu_indices(tables[0].shape[1])
    weights = np.ones(len(upper[0]))
    if isinstance(pca, AnalyzeGauss):  # noise of one size on the packed matrix
        weights = np.where(upper[0] == upper[1], 1.0, linalg.SQRT2)
    exact = clone(pca).set_params(epsilon=math.inf)
    first, second = (weights * exact.fit(table).scatter_[upper] for table in tables)
    share = 1.0 if isinstance(pca, AnalyzeGauss) else 1 / linalg.SQRT2

    def score(fitted: Any) -> float:
        return gaussian_log_ratio(
            weights * fitted.scatter_[upper], first, second, share * fitted.release_.noise_sd
        )

    return score


def _descent(pca: NSGGD) -> tuple[Tables, Score]:
    """Directions alone are released: which of the two do they lean to?"""
    d = _columns(pca)
    tables = _apart(_ROWS, np.zeros(d), np.ones(d))

    def score(fitted: Any) -> float:
        squares = (fitted.components_**2).sum(axis=0)
        return float(squares[0] - squares[1])

    return tables, score


_BUILDERS: dict[type, Callable[[Any], tuple[Tables, Score | None]]] = {
    DPPCA: _signs,
    SignCovariancePCA: _signs,
    AnalyzeGauss: _ball,
    SGPCA: _projection,
    NSGGD: _descent,
}
