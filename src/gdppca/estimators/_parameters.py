"""From the parameters of `DPPCA` to checked settings: what is wrong is refused here, unspent."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from gdppca._errors import ParameterError, PrivacyWarning
from gdppca.design import Parameters, Supply, design_of, doubts, lost_steps
from gdppca.estimators._base import check_components, check_rows, warn_of_large_delta
from gdppca.estimators._settings import Settings
from gdppca.ledgers import check_ledger
from gdppca.randomness import rng_for

if TYPE_CHECKING:
    from gdppca.estimators.gdppca import DPPCA


def settings_of(pca: DPPCA, n: int, d: int, supply: Supply = Supply.TABLE) -> Settings:
    """Check every parameter against the shape, before any row counts."""
    check_rows(n)
    _check_choices(pca, d)
    return Settings(
        **vars(design_of(Parameters.of(pca), n, d, supply)),
        n_components=pca.n_components,
        ledger=pca.ledger,
        seeded=rng_for(pca.random_state).seeded,
    )


def _check_choices(pca: DPPCA, d: int) -> None:
    if isinstance(pca.n_components, str):
        if pca.n_components != "auto":
            raise ParameterError(
                f"`n_components` must be a whole number or 'auto', got {pca.n_components!r}."
            )
    else:
        check_components(pca.n_components, d)
    check_ledger(pca.ledger, seeded=pca.random_state is not None)


def warn_of_weakness(settings: Settings, stacklevel: int) -> None:
    """Warn of doubtful budgets and refuse lost ones, from public numbers, before any draw."""
    for lost in lost_steps(settings):
        raise ParameterError(lost)
    warn_of_large_delta(settings.delta, settings.n_samples, stacklevel)
    for doubt in doubts(settings):
        _warn(doubt, stacklevel)
    reached = settings.guarantee.nominal_epsilon
    if reached > settings.epsilon:
        _warn(
            f"The paper's noise does not reach epsilon = {settings.epsilon:g} here; the guarantee "
            f"states the true value, {reached:.4g}.",
            stacklevel,
        )


def _warn(message: str, stacklevel: int) -> None:
    warnings.warn(message, PrivacyWarning, stacklevel=stacklevel + 1)
