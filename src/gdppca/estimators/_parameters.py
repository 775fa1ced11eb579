"""From the parameters of `DPPCA` to checked settings, and from a release to parameters.

What is wrong is refused here, unspent.
"""

from __future__ import annotations

import warnings
from typing import Any

from gdppca._errors import ParameterError, PrivacyWarning, ReleaseError
from gdppca.design import Parameters, Supply, design_of, doubts, lost_steps
from gdppca.estimators._base import (
    PrivatePCA,
    check_components,
    check_rows,
    warn_of_large_delta,
)
from gdppca.estimators._settings import Settings
from gdppca.ledgers import check_ledger
from gdppca.noise.bits import rng_for
from gdppca.releases import Release
from gdppca.signs import sign_from_description


def settings_of(pca: PrivatePCA, n: int, d: int, supply: Supply = Supply.TABLE) -> Settings:
    """Check every parameter against the shape, before any row counts."""
    check_rows(n)
    _check_choices(pca, d)
    return Settings(
        **vars(design_of(Parameters.of(pca), n, d, supply)),
        n_components=pca.n_components,
        ledger=pca.ledger,
        seeded=rng_for(pca.random_state).seeded,
    )


def _check_choices(pca: PrivatePCA, d: int) -> None:
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


def parameters_of(release: Release) -> dict[str, Any]:
    """Parameters of `DPPCA` behind a release."""
    if release.method != "DPPCA" or release.sign is None or release.scheme is None:
        raise ReleaseError(f"The release was made by {release.method}, not by DPPCA.")
    return {
        "n_components": len(release.components),
        # The true ε with tight noise is the noise that was drawn, whatever the calibration.
        "epsilon": release.guarantee.nominal_epsilon,
        "delta": release.guarantee.delta,
        "sign": sign_from_description(release.sign),
        "pairs": _pairs_of(release.scheme),
        "location": "private" if release.centre_origin == "private" else release.location,
        "scale": "private" if release.scale_origin == "private" else release.scale,
    }


def _pairs_of(scheme: dict[str, Any]) -> int | str:
    """The parameter `pairs` behind a scheme's description."""
    if scheme["name"] in ("one-sample", "merged"):
        return "auto"
    pairs: int | str = scheme.get("size", scheme["name"])
    return pairs
