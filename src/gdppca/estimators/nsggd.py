"""Baseline: noisy stochastic descent over subspaces, `NSGGD`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.design import Design
from gdppca.estimators.baseline import Baseline
from gdppca.privacy import Status
from gdppca.privacy.assumptions import NOT_CRYPTOGRAPHIC
from gdppca.steps.base import Public
from gdppca.steps.descent import Descent

_TOO_LITTLE = (
    "the printed noise is too small by a factor near n/B for subsampled Gaussian steps, and the "
    'start divides by the data\'s own largest norm; use noise="accounted"'
)


@dataclass(eq=False, repr=False, kw_only=True)
class NSGGD(Baseline):
    r"""Noisy stochastic geodesic gradient descent for least absolute deviations; a baseline.

    Parameters
    ----------
    n_components : int, default 2
        Number of directions; their order means nothing.
    epsilon, delta : float, default 1.0 and 1e-6
        Privacy ε and δ. An infinite ε adds no noise and protects nobody.
    ledger : None or str, default None
        As for `DPPCA`; a fit with the printed noise protects nobody, and is refused.
    random_state : None or int, default None
        As for `DPPCA`: a seed makes a simulation.
    n_iterations : None or int, default None
        Number of steps T; None is n².
    batch_size : None or int, default None
        Pairs in a step B, on average with ``noise="accounted"``; None is the paper's
        :math:`\max(n\sqrt{\varepsilon/8T}, 1)`, which is 1 for T = n² and ε < 32.
    learning_rate : None, "paper" or float, default None
        Length η of a step; None and "paper" are 1/n². With Tη = 1 the descent hardly leaves its
        start. Tη = 20 does better with the printed noise, and worse with the accounted noise,
        whose start is good and whose steps are not.
    noise : "printed" or "accounted", default "printed"
        The paper's noise, which protects nobody, or noise from an account of the steps.
    descend : bool, default True
        False takes the printed sign of the gradient, which climbs away from the minimum.

    Attributes
    ----------
    components_ : array of shape (m, d)
        Directions, one per row, in no order.
    guarantee_ : Guarantee
        What was promised; status "none" for the printed noise.
    release_ : Release
        Everything that the method puts out; there is no matrix.
    noise_sd_ : float
        σ of the noise on each entry of a step's mean gradient.
    n_iterations_, batch_size_ : int
        T and B as used.
    learning_rate_ : float
        η as used.

    Notes
    -----
    **Privacy.** With ``noise="accounted"``, half of ε and δ buys the start, a noisy mean of
    :math:`zz^\top` over pairs that moves by at most :math:`\sqrt2/(n/2)`. The other half buys the
    steps. A row is in one pair, a pair adds at most 1 to the length of a step's gradient, and
    each pair enters a step by its own coin of probability B/(n/2): T Gaussian mechanisms with
    Poisson sampling, accounted by Rényi divergences. Leaving a pair out is one move and putting
    another in its place a second one, so the steps are calibrated to ε₀ = ε/4 and
    δ₀ = (δ/2)/(1 + exp ε₀) for one move, which gives (ε/2, δ/2) for both. The noise of the steps
    is floating-point noise of a fast generator with a secret seed, unlike that of every other
    estimator here; the guarantee lists it among its assumptions.

    With ``noise="printed"``, none: σ is too small by a factor near n/B.

    **Paper.** Algorithm 3, App D.3, with three repairs: pairs are :math:`X_{n/2+i}, X_i`, the
    step descends, and T and η are taken from the number of rows, σ from the number of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.estimators import NSGGD
    >>> X = np.random.default_rng(0).standard_t(2, size=(600, 4)) * [9, 1, 1, 1]
    >>> pca = NSGGD(1, epsilon=4.0, delta=1e-4, noise="accounted").fit(X)
    >>> pca.components_.shape, pca.n_iterations_, round(pca.guarantee_.epsilon, 3)
    ((1, 4), 360000, 4.0)
    """

    n_iterations: int | None = None
    batch_size: int | None = None
    learning_rate: Any = None
    noise: str = "printed"
    descend: bool = True

    _least_rows: ClassVar[int] = 4

    def _steps_for(self, public: Public) -> Design:
        descent = self.descent(public)
        self.n_iterations_, self.batch_size_ = descent.n_steps, descent.batch_size
        self.learning_rate_ = abs(descent.step)
        private = descent.private
        return self._list(
            descent,
            calibration=self.noise,
            assumptions=(NOT_CRYPTOGRAPHIC,) if private else (),
            status=Status.PROVEN if private else Status.NONE,
            reason="" if private else _TOO_LITTLE,
        )

    def descent(self, public: Public) -> Descent:
        """Lines 2 and 3, and the paper's choices of T, B and η; no row is seen.

        Parameters
        ----------
        public : Public
            Shape of the table.

        Returns
        -------
        Descent
            The one step of the method.
        """
        T, B, eta = self._schedule(public.n_samples)
        accounted = _validate.one_of(("printed", "accounted"), noise=self.noise) == "accounted"
        return Descent(
            public=public,
            epsilon=self.epsilon,
            delta=self.delta,
            n_components=self.n_components,
            n_steps=T,
            batch_size=B,
            step=eta if _validate.flag(descend=self.descend) else -eta,
            accounted=accounted,
        )

    def _schedule(self, n: int) -> tuple[int, int, float]:
        T = n**2 if self.n_iterations is None else _validate.count(n_iterations=self.n_iterations)
        if self.batch_size is not None:
            B = _validate.count(batch_size=self.batch_size)
        else:
            B = 1 if math.isinf(self.epsilon) else int(n * math.sqrt(self.epsilon / (8 * T)))
        B = min(max(B, 1), n // 2)
        if isinstance(self.learning_rate, str):
            _validate.one_of(("paper",), learning_rate=self.learning_rate)
        if self.learning_rate is None or isinstance(self.learning_rate, str):
            return T, B, 1 / n**2
        eta = _validate.finite_positive(learning_rate=self.learning_rate)
        if eta > 1e6:
            raise ParameterError("`learning_rate` must be at most 1e6.")
        return T, B, eta
