"""Baseline: noise on the projection onto the leading eigenvectors, `SGPCA`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.design import Design
from gdppca.estimators.baseline import Baseline
from gdppca.privacy import Status
from gdppca.sensitivity import likely_projection
from gdppca.steps.base import Public
from gdppca.steps.projection import Projection

_ONLY_LIKELY = (
    "the sensitivity bound holds with high probability only, and only for rows of a spiked "
    "sub-Gaussian model with the given eigenvalues"
)


@dataclass(eq=False, repr=False, kw_only=True)
class SGPCA(Baseline):
    r"""Principal components of a noisy projection; an oracle under a spiked Gaussian model.

    Parameters
    ----------
    n_components : int, default 2
        Number of directions, taken to be the number of spikes.
    epsilon, delta : float, default 1.0 and 1e-6
        Privacy ε and δ. An infinite ε adds no noise and protects nobody.
    ledger : None or str, default None
        As for `DPPCA`. The entry is worth what the guarantee is: it holds with high
        probability only.
    random_state : None or int, default None
        As for `DPPCA`: a seed makes a simulation.
    eigenvalues : array of shape (d,)
        Eigenvalues of the population covariance, known beforehand: the method is an oracle.

    Attributes
    ----------
    components_ : array of shape (m, d)
        Directions, one per row.
    guarantee_ : Guarantee
        What was promised; status "high-probability".
    release_ : Release
        Everything that the method puts out.
    scatter_, eigenvalues_ : array
        The noisy projection and its spectrum.
    noise_sd_, noise_floor_ : float
        √2 times the noise of an entry, in units of the other estimators, and its spectral edge.

    Notes
    -----
    **Privacy.** One Gaussian event, replace-one, if Δ below bounds the move of the projection.
    One row can break that: the bound holds with high probability under a spiked sub-Gaussian
    model, not for every table. Rows are put in a secret random order before they are paired.

    **Paper.** Algorithm 2, App D.2: :math:`\hat V_m\hat V_m^\top + E` from paired differences,
    with :math:`\Delta = 4(\lambda_d/\lambda_1 + \sqrt{\lambda_d/\lambda_1})
    \sqrt{d(m + \log n)}/n`. The n in Δ is the number of rows, not of pairs: only so do the
    paper's figures come out.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.estimators import SGPCA
    >>> X = np.random.default_rng(0).normal(size=(3000, 4)) * np.sqrt([90, 1, 1, 1])
    >>> pca = SGPCA(1, epsilon=1.0, delta=1e-6, eigenvalues=[90, 1, 1, 1]).fit(X)
    >>> np.abs(pca.components_[0]).argmax(), str(pca.guarantee_.status)
    (np.int64(0), 'high-probability')
    """

    eigenvalues: Any = None

    def _steps_for(self, public: Public) -> Design:
        step = Projection(
            public=public,
            epsilon=self.epsilon,
            delta=self.delta,
            n_components=self.n_components,
            sensitivity=self._sensitivity(public.n_samples, public.n_features),
        )
        return self._list(
            step,
            calibration="printed",
            status=Status.HIGH_PROBABILITY,
            reason=_ONLY_LIKELY,
        )

    def _sensitivity(self, n: int, d: int) -> float:
        """Δ of App D.2; holds with high probability only."""
        if self.eigenvalues is None:
            raise ParameterError(
                "`eigenvalues` is missing: SGPCA is an oracle that needs the population "
                f"eigenvalues, one for each of the {d} columns. They must not come from the data."
            )
        eigenvalues = _validate.vector(d, eigenvalues=self.eigenvalues)
        if not (eigenvalues > 0).all():
            raise ParameterError("`eigenvalues` must hold numbers > 0.")
        return likely_projection(eigenvalues, self.n_components, n)
