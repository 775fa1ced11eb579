"""Splitting one budget over several steps, exactly."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from gdppca import _validate
from gdppca._errors import ParameterError, PrivacyWarning
from gdppca.privacy.accounting import gaussian_epsilon, gaussian_multiplier


def split_budget(epsilon: float, delta: float, shares: Sequence[float]) -> tuple[float, ...]:
    r"""Budgets of several releases that together give (ε, δ), each quoted at the same δ.

    Parameters
    ----------
    epsilon, delta : float
        The budget of all releases together.
    shares : sequence of float
        What each one gets, adding up to 1.

    Returns
    -------
    tuple of float
        One ε per release, to be used with the same δ. Their sum exceeds ε: Gaussian noise composes
        better than by adding.

    Notes
    -----
    **Privacy.** Nothing is spent. Releases by Gaussian noise with multipliers :math:`1/\mu_k`
    compose to :math:`\mu^2 = \sum_k \mu_k^2` (Dong, Roth, Su 2022), so a share is one of
    :math:`\mu^2`. For a release that is not Gaussian alone, add the guarantees and look.

    Examples
    --------
    >>> from gdppca.privacy import split_budget
    >>> [round(part, 3) for part in split_budget(1.0, 1e-6, [0.8, 0.2])]
    [0.887, 0.422]
    """
    _validate.budget(epsilon=epsilon)
    total = [_validate.finite_positive(share=share) for share in shares]
    if not math.isclose(sum(total), 1.0, rel_tol=1e-9):
        raise ParameterError(f"`shares` must add up to 1, got {sum(total):g}.")
    if math.isinf(epsilon):
        return (math.inf,) * len(total)
    multiplier = gaussian_multiplier(epsilon, delta)
    return tuple(gaussian_epsilon(multiplier / math.sqrt(share), delta) for share in total)


def warn_of_large_delta(delta: float, n: int, stacklevel: int, those: str = "rows") -> None:
    """Warn of a δ at which publishing one whole row would pass as private."""
    if delta >= 1 / n:
        warnings.warn(
            f"`delta` = {delta:g} is not below 1/n with n = {n} {those}: publishing all of one "
            "person could pass as private. Choose it far smaller.",
            PrivacyWarning,
            stacklevel=stacklevel + 1,
        )
