"""Shrunken loadings of a release, and directions of few columns: both from the release alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError, ReleaseError
from gdppca.releases.files import frozen
from gdppca.releases.noise_floor import rate_error
from gdppca.theory import ShrunkLoadings, shrunken_loadings
from gdppca.theory.shrinkage import TARGETS, Target

if TYPE_CHECKING:
    from gdppca.releases.release import Release

Wish = Literal["plain", "shrunk"]
WISHES: tuple[Wish, ...] = get_args(Wish)
DEFAULT: Wish = "shrunk"  # what `DPPCA` shows unless it is told
_TOLERANCE = 1e-6  # within which a file must hold what follows from its matrix


@dataclass(frozen=True, kw_only=True, eq=False)
class Loadings:
    """What became of the plain eigenvectors of a release where shrinking was asked for.

    Parameters
    ----------
    target : "rows" or "population"
        Whose loadings are estimated.
    kind : "plain", "rows" or "axes"
        What the likelihood asked for: nothing, so that the components are the plain eigenvectors;
        shrinking each column's loadings together; or along single axes too.
    plain : array of shape (m, d)
        The plain eigenvectors.
    negligible : array of bool of shape (m, d)
        Where a loading is zero with a probability of 0.9 or more.
    sd : array of shape (m, d)
        Posterior standard deviation of each loading; infinite where nothing was shrunk.
    """

    target: Target
    kind: str
    plain: np.ndarray
    negligible: np.ndarray
    sd: np.ndarray

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for name, kind in (("plain", float), ("negligible", bool), ("sd", float)):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=kind)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy is as read-only as what it was made of."""
        self.__dict__.update(state)
        for name in ("plain", "negligible", "sd"):
            self.__dict__[name].setflags(write=False)

    @property
    def shrunk(self) -> bool:
        """Whether something was shrunk."""
        return self.kind != "plain"

    def to_dict(self) -> dict[str, Any]:
        """Plain form; JSON has no infinity."""
        return {
            "target": self.target,
            "kind": self.kind,
            "plain": self.plain.tolist(),
            "negligible": self.negligible.tolist(),
            "sd": [[x if math.isfinite(x) else None for x in row] for row in self.sd.tolist()],
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any], m: int, d: int) -> Loadings:
        """Read the plain form of m components of d columns."""
        tables = {name: plain[name] for name in ("plain", "negligible", "sd")}
        if any(len(rows) != m or any(len(row) != d for row in rows) for rows in tables.values()):
            raise ReleaseError("The release's shrunken loadings do not fit its components.")
        sd = [[math.inf if x is None else x for x in row] for row in plain["sd"]]
        return cls(
            target=plain["target"],
            kind=plain["kind"],
            plain=np.array(plain["plain"], dtype=float).reshape(m, d),
            negligible=np.array(plain["negligible"], dtype=bool).reshape(m, d),
            sd=np.array(sd, dtype=float).reshape(m, d),
        )


def independent_rows(release: Release) -> float:
    """Rows that a one-sample matrix of the same sampling error would need."""
    scheme = release.scheme or {}
    if scheme.get("name") == "halves":
        return release.n_samples / 2
    size = scheme.get("size", math.inf)
    return release.n_samples * (1 - 1 / size)


def shrunk_for(release: Release, target: str) -> ShrunkLoadings | None:
    """Shrunken loadings of as many components as a release has; None where it has no matrix."""
    _validate.one_of(TARGETS, target=target)
    spherical = release.sign is not None and release.sign["name"] == "spherical"
    if target == "population" and not spherical:
        raise ParameterError(
            "`target='population'` is known for the spherical sign only: with other signs the "
            "sampling error depends on the law of the lengths too. Use 'rows'."
        )
    if release.scatter is None:
        return None
    return shrunken_loadings(
        release.scatter,
        release.noise_sd,
        independent_rows(release),
        len(release.components),
        target="population" if target == "population" else "rows",
        centre_bias=release.centre_bias,
        scale_error=release.scale_error,
        rates=release.rates,
        rate_error=rate_error(release),
        cross=release.second_stage,
    )


def shrunk_fields(release: Release, target: str) -> dict[str, Any]:
    """Components and `loadings` of a release after shrinking; plain ones where there is nothing."""
    found = shrunk_for(release, target)
    if found is None:
        plain = release.components
        found = ShrunkLoadings.unshrunk(plain, "population" if target == "population" else "rows")
    loadings = Loadings(
        target=found.target,
        kind=found.kind,
        plain=found.plain,
        negligible=found.negligible,
        sd=found.sd,
    )
    return {"components": found.components, "loadings": loadings}


def check_shrunk(release: Release) -> None:
    """Refuse shrunken loadings that do not follow from the matrix and its noise."""
    said = release.loadings
    assert said is not None
    try:
        found = shrunk_for(release, said.target)
    except ParameterError:
        found = None
    if found is None or found.kind != said.kind:
        raise ReleaseError("The release's loadings were not shrunk as it says.")
    follows = (
        np.array_equal(found.negligible, said.negligible)
        and np.allclose(found.sd, said.sd, rtol=_TOLERANCE, atol=_TOLERANCE)
        and (not said.shrunk or _same_directions(found.components, release.components))
    )
    if not follows:
        raise ReleaseError(
            "The release's shrunken loadings do not follow from its matrix. It was edited, or made "
            "by an incompatible version."
        )


def _same_directions(first: np.ndarray, second: np.ndarray) -> bool:
    """Up to the sign, which two entries of one size leave open."""
    signs = np.sign(np.einsum("kd,kd->k", first, second))[:, None]
    return bool(np.allclose(first, signs * second, rtol=0, atol=_TOLERANCE))


def sparse_components(components: np.ndarray, max_loadings: int) -> np.ndarray:
    """The k largest loadings of each direction, the others zero, at length one again.

    Parameters
    ----------
    components : array of shape (m, d)
        Directions as rows.
    max_loadings : int
        k, the most columns that a direction names; at most d.

    Returns
    -------
    array of shape (m, d)
        Of all directions of k columns each is the nearest to its component. They are no longer
        orthogonal to each other in general.

    Notes
    -----
    **Privacy.** Post-processing: costs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.releases import sparse_components
    >>> sparse_components(np.array([[0.6, 0.1, 0.78, -0.15]]), 2).round(2)
    array([[0.61, 0.  , 0.79, 0.  ]])
    """
    k = checked_max_loadings(max_loadings, np.shape(components)[1])
    sparse = np.zeros(np.shape(components))
    for row, component in zip(sparse, components, strict=True):
        named = np.argsort(-np.abs(component), kind="stable")[:k]
        length = float(np.linalg.norm(component[named]))
        row[named] = component[named] / (length if length > 0 else 1.0)
    return sparse


def checked_max_loadings(max_loadings: Any, d: int) -> int:
    """A number of columns to name; more than there are is refused."""
    k = _validate.count(max_loadings=max_loadings)
    if k > d:
        raise ParameterError(
            f"`max_loadings` must not exceed the number of columns {d}, got {k}. Leave it out to "
            "name all of them."
        )
    return k
