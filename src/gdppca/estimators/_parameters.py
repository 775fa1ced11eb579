"""From the parameters of `DPPCA` to checked settings: what is wrong is refused here, unspent."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError, PrivacyWarning
from gdppca.estimators._base import check_components, check_rows, warn_of_large_delta
from gdppca.estimators._settings import Settings, Supply
from gdppca.kernels import Blocks, OneSample, Scheme, as_scheme
from gdppca.ledgers import check_ledger
from gdppca.privacy import PureEvent
from gdppca.randomness import rng_for
from gdppca.releases.scale import scale_is_doubtful
from gdppca.sensitivity import CALIBRATIONS
from gdppca.signs import TYPICAL_QUANTILE, as_sign

if TYPE_CHECKING:
    from gdppca.estimators.gdppca import DPPCA

_LEAST_QUANTILE_ROOM = 12.0  # ε times ranks; below, the noise of the quantile may win
_LARGEST_QUANTILE_EPSILON = 10.0  # where the matrix gets no noise at all


def settings_of(pca: DPPCA, n: int, d: int, supply: Supply = Supply.TABLE) -> Settings:
    """Check every parameter against the shape, before any row counts."""
    check_rows(n)
    _check_choices(pca, d)
    radius_event = _radius_event(pca, supply)
    radius = pca.radius if radius_event is None else 1.0  # until it is known
    location, scale = _public_vectors(pca, d)
    settings = Settings(
        n_components=pca.n_components,
        epsilon=pca.epsilon,
        delta=pca.delta,
        calibration=pca.calibration,
        n_samples=n,
        n_features=d,
        sign=as_sign(pca.sign, radius, n_features=d),
        scheme=_scheme(pca, n, d, supply),
        location=location,
        scale=scale,
        wanted_location=_wanted_location(pca, supply),
        scale_share=_scale_share(pca, supply),
        radius_event=radius_event,
        quantile=_quantile(pca),
        ledger=pca.ledger,
        seeded=rng_for(pca.random_state).seeded,
        supply=supply,
    )
    _ = settings.noise  # a bad budget is refused here
    return settings


def _check_choices(pca: DPPCA, d: int) -> None:
    if isinstance(pca.n_components, str):
        if pca.n_components != "auto":
            raise ParameterError(
                f"`n_components` must be a whole number or 'auto', got {pca.n_components!r}."
            )
    else:
        check_components(pca.n_components, d)
    _validate.one_of(CALIBRATIONS, calibration=pca.calibration)  # compared with words below
    check_ledger(pca.ledger, seeded=pca.random_state is not None)


def _radius_event(pca: DPPCA, supply: Supply) -> PureEvent | None:
    """What a private radius will spend, or None where the radius is public."""
    if not isinstance(pca.radius, str) or pca.radius != "quantile":
        return None
    share = _validate.fraction(quantile_share=pca.quantile_share)
    if pca.quantile is not None:
        _validate.fraction(quantile=pca.quantile)
    if not isinstance(pca.sign, str) or pca.sign not in TYPICAL_QUANTILE:
        raise ParameterError("`radius='quantile'` needs a sign given by name that has a cut-off.")
    if supply is Supply.BATCHES:
        raise ParameterError(
            "`radius='quantile'` needs all rows at once. With partial_fit give a number."
        )
    epsilon = min(share * _validate.positive(epsilon=pca.epsilon), _LARGEST_QUANTILE_EPSILON)
    return PureEvent(purpose="radius", epsilon=epsilon)


def _quantile(pca: DPPCA) -> float:
    """Which quantile a private radius is."""
    if pca.quantile is not None:
        return _validate.fraction(quantile=pca.quantile)
    return TYPICAL_QUANTILE.get(pca.sign, 0.5) if isinstance(pca.sign, str) else 0.5


def _public_vectors(pca: DPPCA, d: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Public centre and scales, where they are arrays."""
    public = {
        name: _validate.vector(d, **{name: value})
        for name in ("location", "scale")
        if (value := getattr(pca, name)) is not None and not isinstance(value, str)
    }
    location, scale = public.get("location"), public.get("scale")
    if scale is not None and not (scale > 0).all():
        raise ParameterError("`scale` must hold numbers > 0.")
    return location, scale


def _wanted_location(pca: DPPCA, supply: Supply) -> str | None:
    """Whether a private centre is asked for; "auto" leaves it to the public numbers."""
    if not isinstance(pca.location, str):
        return None
    wanted = _validate.one_of(("private", "auto"), location=pca.location)
    asks_for_pairs = pca.calibration == "paper" or not _is_auto(pca.pairs)
    if wanted == "auto":
        return None if supply is Supply.BATCHES or asks_for_pairs else "auto"
    if supply is Supply.BATCHES:
        raise ParameterError(
            "`location='private'` needs all rows at once. With partial_fit give None, 'auto' "
            "or a public centre."
        )
    if asks_for_pairs:
        raise ParameterError(
            "`location='private'` compares rows with a centre, not in pairs, and has tight "
            "noise: leave `pairs` at 'auto' and `calibration` at 'tight'."
        )
    return "private"


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _scale_share(pca: DPPCA, supply: Supply) -> float | None:
    """Share of μ² for private scales, None where they are not asked for."""
    if not isinstance(pca.scale, str):
        return None
    _validate.one_of(("private",), scale=pca.scale)
    if supply is Supply.BATCHES:
        raise ParameterError(
            "`scale='private'` needs all rows at once. With partial_fit give numbers."
        )
    if pca.calibration == "paper":
        raise ParameterError("`scale='private'` goes with `calibration='tight'` only.")
    return _validate.fraction(scale_share=pca.scale_share)


def _scheme(pca: DPPCA, n: int, d: int, supply: Supply) -> Scheme:
    asked = as_scheme(pca.pairs, n, d)
    if pca.location is not None and not isinstance(pca.location, str):
        return OneSample()
    if supply is Supply.TABLE:
        return asked
    if pca.pairs != "auto" and not isinstance(asked, Blocks):
        raise ParameterError(
            f"`pairs={pca.pairs!r}` needs all rows at once in memory. With rows that come in parts "
            "use a block size or 'auto'."
        )
    return asked if isinstance(asked, Blocks) else Blocks()


def warn_of_weakness(settings: Settings, stacklevel: int) -> None:
    """Warn of doubtful budgets, from public numbers and before anything is drawn."""
    n = settings.n_seen
    warn_of_large_delta(settings.delta, settings.n_samples, stacklevel)
    if settings.radius_event is not None and settings.quantile_room < _LEAST_QUANTILE_ROOM:
        _warn(
            f"{n} rows and this budget are too little for a private radius: it may be far off. Use "
            "more rows, a larger `epsilon` or `quantile_share`, or give `radius` as a number.",
            stacklevel,
        )
    if settings.scale_share is not None:
        mu = settings.mu_left * math.sqrt(settings.scale_share)
        if scale_is_doubtful(n, settings.n_features, mu):
            _warn(
                f"{n} rows and this budget are too little for private scales: some may be far "
                "off. Use more rows, a larger `epsilon` or `scale_share`, or give `scale`.",
                stacklevel,
            )
    if settings.wanted_location == "private" and not settings.centre_budget.worthwhile:
        _warn(
            f"{n} rows and this budget are too little for a private centre: comparing pairs, "
            "`location=None`, is expected to be more accurate.",
            stacklevel,
        )
    reached = settings.guarantee.nominal_epsilon
    if reached > settings.epsilon:
        _warn(
            f"The paper's noise does not reach epsilon = {settings.epsilon:g} here; the guarantee "
            f"states the true value, {reached:.4g}.",
            stacklevel,
        )


def _warn(message: str, stacklevel: int) -> None:
    warnings.warn(message, PrivacyWarning, stacklevel=stacklevel + 1)
