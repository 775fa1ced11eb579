"""From the parameters of `DPPCA` to a checked design: what is wrong is refused here, unspent."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.design.design import Design, Supply
from gdppca.kernels import Blocks, OneSample, Scheme, as_scheme
from gdppca.privacy import PureEvent
from gdppca.sensitivity import CALIBRATIONS
from gdppca.signs import TYPICAL_QUANTILE, as_sign

_LARGEST_QUANTILE_EPSILON = 10.0  # where the matrix gets no noise at all


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameters:
    """What a user chooses, unchecked: names, meanings and defaults are those of `DPPCA`."""

    n_components: Any = 2
    epsilon: float = 1.0
    delta: float = 1e-6
    sign: Any = "spherical"
    radius: Any = None
    quantile: Any = None
    quantile_share: float = 0.05
    pairs: Any = "auto"
    calibration: str = "tight"
    location: Any = "auto"
    scale: Any = None
    scale_share: float = 0.2

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Those of an estimator."""
        return cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})

    @property
    def has_public_center(self) -> bool:
        """Whether a centre is known before the fit."""
        return self.location is not None and not isinstance(self.location, str)


def design_of(asked: Parameters, n: int, d: int, supply: Supply = Supply.TABLE) -> Design:
    """Check every parameter against the shape, before any row counts."""
    _validate.one_of(CALIBRATIONS, calibration=asked.calibration)  # compared with words below
    radius_event = _radius_event(asked, supply)
    radius = asked.radius if radius_event is None else 1.0  # until it is known
    location, scale = _public_vectors(asked, d)
    design = Design(
        epsilon=asked.epsilon,
        delta=asked.delta,
        calibration=asked.calibration,
        n_samples=n,
        n_features=d,
        sign=as_sign(asked.sign, radius, n_features=d),
        scheme=_scheme(asked, n, d, supply),
        location=location,
        scale=scale,
        wanted_location=_wanted_location(asked, supply),
        scale_share=_scale_share(asked, supply),
        radius_event=radius_event,
        quantile=_quantile(asked),
        supply=supply,
    )
    design.require_noise()  # a bad budget or radius is refused here
    return design


def _radius_event(asked: Parameters, supply: Supply) -> PureEvent | None:
    """What a private radius will spend, or None where the radius is public."""
    if not isinstance(asked.radius, str) or asked.radius != "quantile":
        return None
    share = _validate.fraction(quantile_share=asked.quantile_share)
    if asked.quantile is not None:
        _validate.fraction(quantile=asked.quantile)
    if not isinstance(asked.sign, str) or asked.sign not in TYPICAL_QUANTILE:
        raise ParameterError("`radius='quantile'` needs a sign given by name that has a cut-off.")
    if supply is Supply.BATCHES:
        raise ParameterError(
            "`radius='quantile'` needs all rows at once. With partial_fit give a number."
        )
    epsilon = min(share * _validate.positive(epsilon=asked.epsilon), _LARGEST_QUANTILE_EPSILON)
    return PureEvent(purpose="radius", epsilon=epsilon)


def _quantile(asked: Parameters) -> float:
    """Which quantile a private radius is."""
    if asked.quantile is not None:
        return _validate.fraction(quantile=asked.quantile)
    return TYPICAL_QUANTILE.get(asked.sign, 0.5) if isinstance(asked.sign, str) else 0.5


def _public_vectors(asked: Parameters, d: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Public centre and scales, where they are arrays."""
    public = {
        name: _validate.vector(d, **{name: value})
        for name in ("location", "scale")
        if (value := getattr(asked, name)) is not None and not isinstance(value, str)
    }
    location, scale = public.get("location"), public.get("scale")
    if scale is not None and not (scale > 0).all():
        raise ParameterError("`scale` must hold numbers > 0.")
    return location, scale


def _wanted_location(asked: Parameters, supply: Supply) -> str | None:
    """Whether a private centre is asked for; "auto" leaves it to the public numbers."""
    if not isinstance(asked.location, str):
        return None
    wanted = _validate.one_of(("private", "auto"), location=asked.location)
    asks_for_pairs = asked.calibration == "paper" or not _is_auto(asked.pairs)
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


def _scale_share(asked: Parameters, supply: Supply) -> float | None:
    """Share of μ² for private scales, None where they are not asked for."""
    if not isinstance(asked.scale, str):
        return None
    _validate.one_of(("private",), scale=asked.scale)
    if supply is Supply.BATCHES:
        raise ParameterError(
            "`scale='private'` needs all rows at once. With partial_fit give numbers."
        )
    if asked.calibration == "paper":
        raise ParameterError("`scale='private'` goes with `calibration='tight'` only.")
    return _validate.fraction(scale_share=asked.scale_share)


def _scheme(asked: Parameters, n: int, d: int, supply: Supply) -> Scheme:
    scheme = as_scheme(asked.pairs, n, d)
    if asked.has_public_center:
        return OneSample()
    if supply is Supply.TABLE:
        return scheme
    if asked.pairs != "auto" and not isinstance(scheme, Blocks):
        raise ParameterError(
            f"`pairs={asked.pairs!r}` needs all rows at once in memory. With rows that come in "
            "parts use a block size or 'auto'."
        )
    return scheme if isinstance(scheme, Blocks) else Blocks()
