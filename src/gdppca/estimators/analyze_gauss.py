"""Baseline: noise on a covariance matrix of bounded rows, `AnalyzeGauss`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.design import Design
from gdppca.estimators.baseline import Baseline
from gdppca.kernels import OneSample
from gdppca.privacy import Status
from gdppca.signs import Winsor
from gdppca.steps.base import Public, State
from gdppca.steps.printed import PrintedCovariance
from gdppca.steps.scatter import Scatter, matrix_budget, require_representable

_OWN_NORM = (
    "the rows are divided by their own largest norm, so one row can move the matrix far beyond "
    "the stated sensitivity; give `norm` and `center`"
)


@dataclass(eq=False, repr=False, kw_only=True)
class AnalyzeGauss(Baseline):
    r"""Principal components of a noisy covariance matrix; not robust, a baseline.

    Parameters
    ----------
    n_components : int, default 2
        Number of directions.
    epsilon, delta : float, default 1.0 and 1e-6
        Privacy ε and δ. An infinite ε adds no noise and protects nobody.
    ledger : None or str, default None
        As for `DPPCA`; a fit without `norm` protects nobody, and is refused.
    random_state : None or int, default None
        As for `DPPCA`: a seed makes a simulation.
    norm : None or float, default None
        Public bound on the distance of a row from `center`; longer rows are pulled back to it.
        None is the printed form, which takes the bound from the data and protects nobody.
    center : None or array of shape (d,), default None
        Public centre, needed with `norm`; zeros are allowed.

    Attributes
    ----------
    components_ : array of shape (m, d)
        Directions, one per row.
    guarantee_ : Guarantee
        What was promised; status "none" for the printed form.
    release_ : Release
        Everything that the method puts out.
    scatter_, eigenvalues_, noise_sd_, noise_floor_ : array or float
        The noisy matrix, its spectrum, and σ and the spectral edge of its noise.

    Notes
    -----
    **Privacy.** With `norm` and `center` pulling back is the winsorised sign around the centre,
    so :math:`\frac1n\sum_i z_i z_i^\top` moves by at most :math:`\sqrt2\,r^2/n`: one Gaussian
    event, exactly (ε, δ), replace-one, n public. Without them none: half of the rows at
    :math:`e_1`, half at :math:`-e_1` and one replaced by :math:`10^6 e_2` moves the matrix by 1
    where 6/n is claimed.

    **Paper.** Algorithm 1, App D.1, is the form with ``norm=None``: rows minus their mean, over
    their largest norm, covariance with 1/(n-1), :math:`\sigma = 6\sqrt{2\ln(1.25/\delta)}
    /(n\varepsilon)`.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.estimators import AnalyzeGauss
    >>> X = np.random.default_rng(0).normal(size=(3000, 4)) * [9, 3, 1, 1]
    >>> pca = AnalyzeGauss(1, epsilon=1.0, delta=1e-6, norm=20.0, center=np.zeros(4)).fit(X)
    >>> print(pca.guarantee_)
    (epsilon = 1, delta = 1e-06)-differential privacy, replace-one neighbours
    >>> AnalyzeGauss(1).fit(X).guarantee_.epsilon
    inf
    """

    norm: float | None = None
    center: Any = None

    def _steps_for(self, public: Public) -> Design:
        ball = self._ball(public.n_features)
        if ball is None:
            step = PrintedCovariance(
                public=public,
                epsilon=self.epsilon,
                delta=self.delta,
                n_components=self.n_components,
            )
            return self._list(step, calibration="printed", status=Status.NONE, reason=_OWN_NORM)
        sign, center = ball
        budget = matrix_budget(self.epsilon, self.delta, "tight")
        level = budget.level(sign, OneSample(), public.n_samples, public.n_features)
        require_representable(level, sign, public.n_features)
        matrix = Scatter(public=public, n_components=self.n_components, first=level)
        start = State(sign=sign, scheme=OneSample(), location=center)
        return self._list(matrix, start=start)

    def _ball(self, d: int) -> tuple[Winsor, np.ndarray] | None:
        """Sign and centre of the ball that rows are pulled back to, None for the printed form."""
        if self.norm is None:
            if self.center is not None:
                raise ParameterError("`center` goes with `norm`. Give both, or neither.")
            return None
        norm = _validate.finite_positive(norm=self.norm)
        if self.center is None:
            raise ParameterError(
                "`center` is missing: `norm` bounds the distance from it. Choose both without "
                "looking at the data; zeros are allowed."
            )
        return Winsor(norm), _validate.vector(d, center=self.center)
