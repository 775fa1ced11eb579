"""The neighbouring tables that an estimator tells apart best.

All rows lie at one point but one, which lies in this direction or in a perpendicular one, as far
out as the sign reaches: that moves a scatter matrix by its sensitivity, to the last digit. The
score is the exact likelihood ratio of everything that was drawn; see `draws`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from gdppca import _validate, linalg
from gdppca._errors import ParameterError
from gdppca.auditing.draws import RUNS_OF_DEAR, overheard_experiment
from gdppca.auditing.experiment import Experiment, claim_of
from gdppca.design import Parameters, design_of
from gdppca.estimators import DPPCA, NSGGD, SGPCA, AnalyzeGauss, SignCovariancePCA
from gdppca.noise import Noise
from gdppca.sensitivity import likely_projection
from gdppca.signs import Sign, as_sign
from gdppca.steps.base import Public

_ROWS = 8
_ROWS_FOR_A_CENTRE = 400  # the matrix gets 96 % of the budget then
_ROWS_OF_PRINTED = 64  # the more, the worse its claim
_FAR, _LESS_FAR = 1e100, 1e30  # beyond every radius and centre that noise could bring
_INSIDE = 1 - 1e-12  # a cut-off itself may round to its far side
_ARRAYS = ("location", "center", "scale", "eigenvalues")

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
    name, tables = type(estimator).__name__, build(fitter)
    claim = claim_of(fitter.fit(tables[0]).guarantee_, estimator.epsilon)
    if isinstance(fitter, NSGGD):
        return Experiment(name=name, tables=tables, run=fitter.fit, score=_leaning, claim=claim)

    def mechanism(table: np.ndarray, noise: Noise) -> Any:
        return fitter.set_params(random_state=noise).fit(table)

    runs = RUNS_OF_DEAR if _draws_much(fitter) else Experiment.runs
    return overheard_experiment(name, tables, mechanism, claim, runs=runs)


def _leaning(fitted: NSGGD) -> float:
    """Directions alone are released: which of the two do they lean to?"""
    squares = (fitted.components_**2).sum(axis=0)
    return float(squares[0] - squares[1])


# --- Scatter matrices of signs --------------------------------------------------------------------


def _signs(pca: DPPCA | SignCovariancePCA) -> Tables:
    d = _columns(pca)
    base = _public(pca.location, np.zeros(d))
    unit = _public(getattr(pca, "scale", None), np.ones(d))
    if not _is_private(pca, "location") or pca.location == "pmwm-published":  # which has no proof
        return _apart(_rows(pca), base, _row_length(pca, d) * unit)
    spread = _around_a_centre if isinstance(pca, DPPCA) else _beyond_all_bounds
    return spread(base, unit)


def _row_length(pca: DPPCA | SignCovariancePCA, d: int) -> float:
    """How far out the row lies; beyond all noise where its unit is private."""
    if _draws_much(pca):
        return _FAR
    reach = reach_of(as_sign(pca.sign, pca.radius, n_features=d)) * _INSIDE
    # In pairs g is applied to (x - y)/√2.
    return linalg.SQRT2 * reach if _public(pca.location, None) is None else reach


def _draws_much(pca: Any) -> bool:
    """Whether more than a matrix is private."""
    private_radius = str(getattr(pca, "radius", None)) == "quantile"
    return private_radius or _is_private(pca, "scale") or _is_private(pca, "location")


def _is_private(pca: Any, name: str) -> bool:
    """Whether centre or scales are private for certain; "auto" looks for none in few rows."""
    value = getattr(pca, name, None)
    return isinstance(value, str) and value != "auto"


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


def _ball(pca: AnalyzeGauss) -> Tables:
    if pca.norm is None:
        return _printed(pca)
    base = _public(pca.center, np.zeros(_columns(pca)))
    return _apart(_ROWS, base, np.full(len(base), float(pca.norm)))


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


def reach_of(sign: Sign) -> float:
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


# --- Baselines ------------------------------------------------------------------------------------


def _printed(pca: AnalyzeGauss) -> Tables:
    """Half of the rows on either side, one replaced by a huge one: its own norm shrinks the rest.

    The promise of the printed form does not stand, and this is why.
    """
    first = np.zeros((_ROWS_OF_PRINTED, _columns(pca)))
    first[:, 0] = np.where(np.arange(len(first)) % 2, 1.0, -1.0)
    second = first.copy()
    second[0] = 0.0
    second[0, 1] = 1e6
    return first, second


def _projection(pca: SGPCA) -> Tables:
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
    return first, second


def _axes(pca: NSGGD) -> Tables:
    d = _columns(pca)
    return _apart(_ROWS, np.zeros(d), np.ones(d))


_BUILDERS: dict[type, Callable[[Any], Tables]] = {
    DPPCA: _signs,
    SignCovariancePCA: _signs,
    AnalyzeGauss: _ball,
    SGPCA: _projection,
    NSGGD: _axes,
}
