"""Generalized spatial signs: what g does to the length of a difference.

Every sign is a small frozen object with `radial` (ξ) and `sup_norm` (‖g‖∞). `as_sign` turns what
a user writes (a name and a radius, or an object) into one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

from gdppca import _validate
from gdppca._errors import ParameterError, ReleaseError
from gdppca.signs.base import Sign, cut_off
from gdppca.signs.custom import Custom
from gdppca.signs.redescending import Ball, LinearlyRedescending, Quad, Shell
from gdppca.signs.spherical import Spherical
from gdppca.signs.trimmed import Trimmed
from gdppca.signs.winsor import Winsor

__all__ = [
    "NAMES",
    "TYPICAL_QUANTILE",
    "Ball",
    "Custom",
    "LinearlyRedescending",
    "Quad",
    "Shell",
    "Sign",
    "Spherical",
    "Trimmed",
    "Winsor",
    "as_sign",
    "sign_from_description",
]

_FROM_RADIUS: dict[str, Callable[[float], Sign]] = {
    "winsor": Winsor,
    "trimmed": Trimmed,
    "ball": Ball,
    "quad": Quad,
    "shell": lambda radius: Shell(inner=radius / 2, outer=radius),
    "lr": LinearlyRedescending,
}
_BUILT_IN = (Spherical, Winsor, Trimmed, Ball, Quad, Shell, LinearlyRedescending, Custom)
NAMES = ("spherical", *_FROM_RADIUS)
# Quantile of the lengths that suits each sign: the paper's first quartile for winsorisation (App
# B.2), few pairs dropped where dropping is the point.
TYPICAL_QUANTILE = {
    "winsor": 0.25,
    "quad": 0.25,
    "lr": 0.5,
    "ball": 0.75,
    "shell": 0.75,
    "trimmed": 0.9,
}


def as_sign(sign: Any = "spherical", radius: Any = None, n_features: int | None = None) -> Sign:
    """Turn a name and a radius, or an object, into a sign.

    Parameters
    ----------
    sign : str or object
        One of ``NAMES``, a `Sign`, or any object with `radial` and `sup_norm`.
    radius : None, float or "sqrt_d"
        Cut-off of the named signs that have one. None means √d, the paper's choice: the typical
        length of a difference over √2 when every column has variance one.
    n_features : int, optional
        Number of columns d, for √d.

    Returns
    -------
    Sign
        A frozen sign.

    Examples
    --------
    >>> from gdppca.signs import as_sign
    >>> as_sign("winsor", n_features=25)
    Winsor(radius=5.0)
    """
    if isinstance(sign, str):
        return _named(_validate.one_of(NAMES, sign=sign), radius, n_features)
    if radius is not None:
        raise ParameterError("`radius` goes with a sign given by name; set it in the object.")
    return sign if type(sign) in _BUILT_IN else _adopted(sign)


def sign_from_description(description: dict[str, Any]) -> Sign:
    """Sign that a release describes; the spherical one for a user's own, which is not in there."""
    cls = {cls.name: cls for cls in _BUILT_IN if cls is not Custom}.get(description["name"])
    try:
        return Spherical() if cls is None else cls(**description["parameters"])
    except TypeError:
        raise ReleaseError("The release describes its sign with unknown parameters.") from None


def _named(name: str, radius: Any, n_features: int | None) -> Sign:
    if name == "spherical":
        if radius is not None:
            raise ParameterError("`radius` must be None: the spherical sign has no cut-off.")
        return Spherical()
    return _FROM_RADIUS[name](_cut_off(radius, n_features))


def _cut_off(radius: Any, n_features: int | None) -> float:
    if radius is None or (isinstance(radius, str) and radius == "sqrt_d"):
        if n_features is None:
            raise ParameterError("`radius` must be a number here: the number of columns is open.")
        return math.sqrt(n_features)
    if isinstance(radius, str):
        raise ParameterError(f"`radius` must be a number, 'sqrt_d' or 'quantile', got {radius!r}.")
    return cut_off(radius=radius)


def _adopted(sign: Any) -> Sign:
    radial, bound = getattr(sign, "radial", None), getattr(sign, "sup_norm", None)
    if not callable(radial):
        raise ParameterError(
            f"`sign` must be one of {', '.join(NAMES)}, or an object with `radial` and `sup_norm`."
        )
    if not isinstance(bound, Real) or not math.isfinite(bound):
        raise ParameterError(
            "`sign` has no finite `sup_norm`. Without a bound on g one row could move the result "
            "without limit, and no noise would hide it."
        )
    return Custom(radial, float(bound))
