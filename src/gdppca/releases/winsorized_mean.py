"""A private winsorised mean on its own: design, debit, step, publish."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError, PrivacyWarning
from gdppca.design import Design, run
from gdppca.ledgers import Booking
from gdppca.noise import Noise, noise_for
from gdppca.privacy import Event
from gdppca.privacy.spending import epsilon_at
from gdppca.releases.files import checksum
from gdppca.steps.base import Public
from gdppca.steps.winsorized_mean import WinsorizedMean
from gdppca.tables.frames import as_matrix
from gdppca.tables.memory import MemoryTable

_QUOTED_AT = 1e-6  # δ of what an error says is spent


@dataclass(frozen=True, kw_only=True)
class NoisyLocation:
    """A private centre, the private bounds that rows were winsorised to, and what was drawn."""

    center: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    events: tuple[Event, ...]


def private_winsorized_mean(
    X: Any,
    zcdp_rho: float,
    random_state: int | Noise | None = None,
    *,
    ledger: str | None = None,
) -> NoisyLocation:
    r"""Release a winsorised mean of each column, without bounds from the user.

    Parameters
    ----------
    X : table of shape (n, d)
        Finite numbers, at least two rows.
    zcdp_rho : float
        Budget ρ of zero-concentrated differential privacy; infinity draws no noise.
    random_state : None, int or Noise, default None
        None draws from the secure source; a seed makes a simulation.
    ledger : None or str, default None
        Where the spend is entered before anything is drawn: "sqlite:///budget.db#patients".

    Returns
    -------
    NoisyLocation
        Centre and bounds, all of them private.

    Notes
    -----
    **Privacy.** ρ-zCDP, replace-one, n public: three quarters of ρ for the bounds, one quarter
    for the mean.

    See `gdppca.steps.winsorized_mean.WinsorizedMean` for how, and for what differs from the
    private modified winsorized mean (PMWM) of Ramsay and Spicker (2025), which App B.1 uses.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.releases import private_winsorized_mean
    >>> X = np.random.default_rng(0).normal(loc=[1000.0, -3.0], size=(5000, 2))
    >>> private_winsorized_mean(X, 0.5, random_state=1).center.round(1)
    array([1000.,   -3.])
    """
    zcdp_rho = _validate.positive(rho=zcdp_rho)
    matrix = as_matrix(X)  # what is no number is refused before anything is spent
    public = Public.of(*matrix.values.shape)
    if public.n_samples < 2 or not public.n_features:
        raise DataError(f"At least two rows and a column are needed, got {matrix.values.shape}.")
    step = WinsorizedMean(public=public, zcdp_rho=zcdp_rho)
    noise = noise_for(random_state)
    design = Design.of(
        step,
        epsilon=epsilon_at(step.events, _QUOTED_AT),
        delta=_QUOTED_AT,
    )
    for doubt in design.doubts:
        warnings.warn(doubt, PrivacyWarning, stacklevel=2)
    booking = Booking(ledger, "private_winsorized_mean", {"rho": zcdp_rho})
    state = run(design, MemoryTable(matrix.values, None, noise), noise, booking)
    assert state.location is not None
    assert state.bounds is not None
    lower, upper = state.bounds
    booking.complete(checksum({"center": state.location.tolist()}))
    return NoisyLocation(center=state.location, lower=lower, upper=upper, events=state.events)
