"""Whether the numbers of a release of `DPPCA` follow from each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca._errors import ParameterError, ReleaseError
from gdppca._version import __version__
from gdppca.kernels import AllPairs, Blocks, Halves, OneSample, Scheme
from gdppca.linalg import packed_length
from gdppca.noise.gaussian import lattice_slack
from gdppca.privacy import GaussianEvent, Neighbors, NonPrivateEvent, Unit
from gdppca.privacy.accounting import gdp_mu
from gdppca.privacy.assumptions import one_of_groups
from gdppca.releases.loadings import check_shrunk
from gdppca.releases.origin import Origin, derived_origins
from gdppca.releases.second_stage import check_second_stage
from gdppca.sensitivity import CALIBRATIONS, scatter_sensitivity
from gdppca.signs import sign_from_description
from gdppca.signs.base import cut_off
from gdppca.steps.staged import LEAST_COLUMNS

if TYPE_CHECKING:
    from gdppca.releases.release import Release

RATES = "rates"  # what an event that drew them is for
_ROUNDING = 1e-3  # relative, most that sums and persons may add to a sensitivity
_SCHEMES: dict[str, Scheme] = {"all": AllPairs(), "halves": Halves(), "one-sample": OneSample()}


def check_consistency(release: Release) -> None:
    """Refuse a release whose noise, sign or components contradict its guarantee or its matrix."""
    sign, scheme, K = release.sign, release.scheme, release.matrix
    if sign is None or scheme is None or K is None:
        raise ReleaseError("A release of DPPCA needs a sign, a scheme and a matrix.")
    if release.calibration not in CALIBRATIONS:
        raise ReleaseError("The release's calibration is not one of DPPCA.")
    _check_neighbors(release, scheme["name"])
    _check_rates(release)
    if release.scale is not None and not (release.scale > 0).all():
        raise ReleaseError("The release's scales must be > 0.")
    _check_scale_error(release)
    _check_bound(sign)
    if scheme["name"] == "merged":
        _check_merged(release, scheme["groups"])
    else:
        _check_origins(release)
        if not math.isclose(release.centre_bias, release.bias_of_events(), rel_tol=1e-6):
            raise ReleaseError("The release's error of the centre does not follow from its events.")
        _check_noise(release, _scheme(scheme), sign["sup_norm"])
    stage, same = release.second_stage, release.library_version == __version__
    check_second_stage(release, same_version=same)
    _check_components(release.plain_components if stage is None else stage.directions, K)
    _require_orthonormal(release.plain_components)
    if release.loadings is not None:
        _check_loadings(release)


def _check_neighbors(release: Release, scheme: str) -> None:
    """Without a known n rows are summed around a centre, with tight noise; in pairs never."""
    summed = scheme in ("one-sample", "merged") and release.calibration == "tight"
    if release.neighbors is Neighbors.ADD_REMOVE and not summed:
        raise ReleaseError(
            "The release compares pairs, or has the paper's noise: neither is possible for "
            "add-remove neighbours."
        )


def _check_rates(release: Release) -> None:
    """Shares of cells that are there are shares, and were drawn."""
    if release.rates is None:
        return
    if not ((release.rates > 0) & (release.rates <= 1)).all():
        raise ReleaseError("The release's rates must be above 0 and at most 1.")
    merged = release.scheme is not None and release.scheme["name"] == "merged"
    if not merged and all(event.purpose != RATES for event in release.guarantee.events):
        raise ReleaseError("The release's guarantee leaves out what its rates spent.")


def _check_scale_error(release: Release) -> None:
    """Errors are those of private scales, and a scale that was not found is one."""
    if release.scale_error is None:
        return
    drawn = release.scale_origin is Origin.PRIVATE
    scale = release.scale
    if scale is None or not drawn or (scale[np.isinf(release.scale_error)] != 1).any():
        raise ReleaseError("The release's errors of scales do not fit its scales.")


def _check_origins(release: Release) -> None:
    """What is called private was drawn, and only that."""
    if (release.centre_origin, release.scale_origin) != derived_origins(release):
        raise ReleaseError("The release's centre or scales did not come from where it says.")


def _check_bound(sign: dict[str, Any]) -> None:
    stated = sign["sup_norm"]
    try:
        custom = sign["name"] == "custom"
        bound = cut_off(sup_norm=stated) if custom else sign_from_description(sign).sup_norm
    except ParameterError:
        raise ReleaseError("The release's sign has impossible parameters.") from None
    if not math.isclose(bound, stated, rel_tol=1e-9):
        raise ReleaseError("The release's `sup_norm` does not follow from its sign.")


def _scheme(described: dict[str, Any]) -> Scheme:
    name = described["name"]
    return Blocks(described["size"]) if name == "blocks" else _SCHEMES[name]


def _check_noise(release: Release, scheme: Scheme, sup_norm: float) -> None:
    """The noise must be what the recorded event says, for this sign, scheme and shape."""
    events = [event for event in release.guarantee.events if event.purpose == "scatter"]
    private = all(isinstance(event, GaussianEvent) for event in events)
    match events:
        case [NonPrivateEvent()]:
            fits = release.noise_sd == 0
        case [_, *more] if private and release.noise_sd > 0:
            staged = not more or _may_be_staged(release)  # in increments, and averaged
            fits = staged and _follows(release, 1 / gdp_mu(events), scheme, sup_norm)
        case _:
            fits = False
    if not fits:
        raise ReleaseError(
            "The release's `noise_sd` does not follow from its events, sign and shape. It was "
            "edited, or made by an incompatible version."
        )


def _may_be_staged(release: Release) -> bool:
    """Whether a matrix may have been drawn in increments: around a centre, from so many columns."""
    centred = release.scheme is not None and release.scheme["name"] == "one-sample"
    return centred and release.n_features >= LEAST_COLUMNS


def _follows(release: Release, stated: float, scheme: Scheme, sup_norm: float) -> bool:
    """Whether a multiplier is the noise over the sensitivity of what it was drawn for.

    Without a known n that is a sum, which was divided by the estimate afterwards. The kernels of
    sums and of persons round a little, within what is allowed for here.
    """
    n, d = release.n_samples, release.n_features
    secret = release.neighbors is Neighbors.ADD_REMOVE
    sigma = release.noise_sd * n if secret else release.noise_sd
    least = sup_norm**2 if secret else scatter_sensitivity(scheme, sup_norm, n, d)
    plain_rows = not secret and release.unit is Unit.ROW
    most = least if plain_rows else least * (1 + _ROUNDING)
    slack = lattice_slack(sigma, packed_length(d))
    cautious = sigma / (most + 2 * slack)  # calibrated for up to that
    return cautious * (1 - 1e-6) <= stated <= sigma / (least + slack) * (1 + 1e-6)


def _check_merged(release: Release, groups: int) -> None:
    """A merged release has several matrices' noise; what it must have whatever they were."""
    exact = any(isinstance(event, NonPrivateEvent) for event in release.guarantee.events)
    disjoint = one_of_groups(groups) in release.guarantee.assumptions
    enough = release.n_samples >= 2 * groups
    centred = release.centre_origin in (Origin.NONE, Origin.MERGED)
    if not (disjoint and enough and centred) or (release.noise_sd == 0 and not exact):
        raise ReleaseError(
            "The merged release's noise, rows or assumptions contradict its groups. It was edited, "
            "or made by an incompatible version."
        )


def _check_loadings(release: Release) -> None:
    """Shrunken loadings follow from the matrix; where nothing was shrunk, all is plain."""
    assert release.loadings is not None
    V = release.components
    _require_orthonormal(V)
    if not release.loadings.shrunk and not np.array_equal(V, release.plain_components):
        raise ReleaseError("The release's components are not the plain ones that it says they are.")
    if release.library_version == __version__:  # another may shrink in another way
        check_shrunk(release)


def _require_orthonormal(V: np.ndarray) -> None:
    if not np.allclose(V @ V.T, np.eye(len(V)), atol=1e-8):
        raise ReleaseError("The release's components are not orthonormal.")


def _check_components(V: np.ndarray, K: np.ndarray) -> None:
    """Components must be leading eigenvectors of the matrix."""
    _require_orthonormal(V)
    image = V @ K
    values = np.einsum("id,id->i", image, V)
    leading = np.linalg.eigvalsh(K)[::-1][: len(V)]
    size = max(np.abs(K).max(), 1e-300)
    if np.abs(image - values[:, None] * V).max(initial=0) > 1e-7 * size:
        raise ReleaseError("The release's components are not eigenvectors of its matrix.")
    if np.abs(values - leading).max(initial=0) > 1e-7 * size:
        raise ReleaseError("The release's components are not the leading ones of its matrix.")
