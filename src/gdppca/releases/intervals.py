"""How certain released directions are: intervals for their loadings, from the release alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError, ReleaseError
from gdppca.releases.loadings import independent_rows, shrunk_for
from gdppca.releases.noise_floor import rate_error
from gdppca.releases.release import Release
from gdppca.theory import LoadingIntervals, loading_intervals
from gdppca.theory.intervals import PRIVACY, PRIVACY_AND_SAMPLING, about


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
    array([0.002, 0.005])
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
    m = len(release.components)
    found = loading_intervals(
        release.scatter,
        release.noise_sd,
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


def _after_shrinking(release: Release, level: float, *, sampling: bool) -> LoadingIntervals:
    """Posterior intervals, about rows or population whichever of them was shown."""
    found = shrunk_for(release, "population" if sampling else "rows")
    assert found is not None
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
