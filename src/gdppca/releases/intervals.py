"""How certain released directions are: intervals for their loadings, from the release alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError, ReleaseError
from gdppca.releases.loadings import independent_rows, shrunk_for
from gdppca.releases.noise_floor import rate_error
from gdppca.releases.release import Release
from gdppca.releases.second_stage import staged_for
from gdppca.theory import LoadingIntervals, ShrunkLoadings, loading_intervals
from gdppca.theory.intervals import PRIVACY, PRIVACY_AND_SAMPLING, about

_SMALL = 1e-100  # sizes of a matrix between this and its inverse have squares that are floats


def release_intervals(
    release: Release, level: float = 0.9, *, sampling: bool = False
) -> LoadingIntervals:
    r"""Intervals for the loadings of a release, from the release alone.

    Parameters
    ----------
    release : Release
        With its noisy matrix and at least one component.
    level : float, default 0.9
        Share of the loadings that shall lie in their intervals.
    sampling : bool, default False
        False: about the directions of the same rows without noise. True: about those of the
        population; for the spherical sign only.

    Returns
    -------
    LoadingIntervals
        For the components of the release, in their order and with their signs.

    Notes
    -----
    **Privacy.** Nothing is spent: post-processing, see `gdppca.theory.loading_intervals`. Where
    the loadings were shrunk the intervals are those of their posterior,
    `gdppca.theory.shrunken_loadings`.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.releases import release_intervals
    >>> X = np.random.default_rng(0).normal(size=(5000, 4)) * [30, 10, 1, 1]
    >>> release = DPPCA(n_components=2, epsilon=1.0, delta=1e-6, random_state=0).fit(X).release_
    >>> release_intervals(release).angles.round(3)
    array([0.002, 0.003])
    """
    if release.scatter is None or not len(release.components):
        raise ReleaseError("The release holds no noisy matrix or no components.")
    if sampling and (release.sign is None or release.sign["name"] != "spherical"):
        raise ParameterError(
            "`sampling=True` is known for the spherical sign only: with other signs the sampling "
            "error depends on the law of the lengths too."
        )
    if release.loadings is not None and release.loadings.shrunk:
        return _after_shrinking(release, _validate.fraction(level=level), sampling=sampling)
    if release.second_stage is not None:
        return _after_second_stage(release, _validate.fraction(level=level), sampling=sampling)
    m = len(release.components)
    unit = _unit(release.scatter)
    found = loading_intervals(
        release.scatter / unit,
        release.noise_sd / unit,
        independent_rows(release),
        m,
        level,
        sampling=sampling,
        centre_bias=release.centre_bias,
        scale_error=release.scale_error,
        rates=release.rates,
        rate_error=rate_error(release),
    )
    same = (np.einsum("kd,kd->k", found.components, release.components) > 0)[:, None]
    return replace(
        found,
        components=release.components,
        feature_names=release.feature_names,
        lower=np.where(same, found.lower, -found.upper),
        upper=np.where(same, found.upper, -found.lower),
    )


def _unit(scatter: np.ndarray) -> float:
    """What to divide a matrix by whose squares are no floats; directions do not feel it."""
    size = float(np.abs(scatter).max())
    return 1.0 if _SMALL < size < 1 / _SMALL else max(size, np.finfo(float).tiny)


def _after_shrinking(release: Release, level: float, *, sampling: bool) -> LoadingIntervals:
    """Posterior intervals, about rows or population whichever of them was shown."""
    found = shrunk_for(release, "population" if sampling else "rows")
    assert found is not None
    return _gaussian(release, found, level, sampling=sampling)


def _after_second_stage(release: Release, level: float, *, sampling: bool) -> LoadingIntervals:
    """Intervals of both stages together."""
    found = staged_for(release, "population" if sampling else "rows")
    if found is None:
        raise ReleaseError("The release's matrix does not carry its second stage.")
    return _gaussian(release, found, level, sampling=sampling)


def _gaussian(
    release: Release, found: ShrunkLoadings, level: float, *, sampling: bool
) -> LoadingIntervals:
    """Intervals by standard deviations, around loadings that may be others than those shown."""
    shown = release.components
    same = np.where(np.einsum("kd,kd->k", found.components, shown) > 0, 1.0, -1.0)[:, None]
    turned = replace(found, components=same * found.components)
    lower, upper = turned.interval(level)
    return LoadingIntervals(
        components=shown,
        lower=np.minimum(lower, shown),
        upper=np.maximum(upper, shown),
        angles=found.angles,
        subspace_angle=found.subspace_angle,
        above_noise=int(np.isfinite(found.sd).all(axis=1).sum()),
        level=level,
        covers=PRIVACY_AND_SAMPLING if sampling else PRIVACY,
        about=about(
            sampling=sampling,
            centre=release.centre_bias > 0,
            scales=release.scale_error is not None,
            gaps=release.rates is not None,
        ),
        feature_names=release.feature_names,
    )
