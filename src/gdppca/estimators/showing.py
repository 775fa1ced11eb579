"""How a release is shown: how many components, shrunken loadings, few columns; all for nothing."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.design import Design, Parameters, Shares
from gdppca.estimators.base import check_components
from gdppca.ledgers import Booking
from gdppca.releases import Release, seen_spectrum
from gdppca.releases.loadings import DEFAULT, WISHES, checked_max_loadings
from gdppca.releases.publish import published
from gdppca.signs import Spherical
from gdppca.steps.base import State
from gdppca.steps.score_map import MapCounts
from gdppca.theory import variance_shares
from gdppca.theory.shrinkage import TARGETS


@dataclass(kw_only=True, eq=False, repr=False)
class Showing:
    """What a user of `DPPCA` chooses of how a release is shown, unchecked; post-processing."""

    loadings: str = DEFAULT
    target: str = "rows"
    max_loadings: int | None = None
    whiten: bool = False


def wanted_share(n_components: Any) -> float | None:
    """The share of variance that the components are to carry; None where they are counted."""
    if isinstance(n_components, Integral) or not isinstance(n_components, Real):
        return None
    return _validate.fraction(n_components=n_components)


def check_wanted(n_components: Any, d: int, shares: Shares | None) -> None:
    """Refuse numbers, shares and words that say nothing of how many components there shall be."""
    if isinstance(n_components, str):
        if n_components != "auto":
            raise ParameterError(
                f"`n_components` must be a whole number, a share or 'auto', got {n_components!r}."
            )
        return
    share = wanted_share(n_components)
    if share is None:
        check_components(n_components, d)
    elif shares is not None and shares.counts_rows:
        raise ParameterError(
            "Variances and a score map need a number of components that is known before the fit: "
            f"`n_components` must be a whole number, got {share:g}."
        )


def asked_of(pca: Any) -> Parameters:
    """What a fit is designed from; a share of variance is found among those above the noise."""
    asked = Parameters.of(pca)
    share = wanted_share(asked.n_components)
    return asked if share is None else replace(asked, n_components="auto")


@dataclass(frozen=True, kw_only=True)
class View:
    """How a release is shown, checked before anything is spent."""

    share: float | None  # of the variance
    target: str | None  # whose loadings are estimated; None: plain eigenvectors
    max_loadings: int | None

    @classmethod
    def of(cls, pca: Any, design: Design) -> View:
        """What an estimator's parameters ask for."""
        d, share = design.public.n_features, wanted_share(pca.n_components)
        shrunk = _validate.one_of(WISHES, loadings=pca.loadings) == "shrunk"
        target = _validate.one_of(TARGETS, target=pca.target)
        _validate.flag(whiten=pca.whiten)
        k = pca.max_loadings
        spherical = isinstance(design.start.sign, Spherical)
        if not spherical and (share is not None or (shrunk and target == "population")):
            asked = "`n_components` as a share" if share is not None else "`target='population'`"
            raise ParameterError(
                f"{asked} is known for the spherical sign only: with other signs the eigenvalues "
                "depend on the law of the lengths too."
            )
        return cls(
            share=share,
            target=target if shrunk and pca.calibration == "tight" else None,
            max_loadings=None if k is None else checked_max_loadings(k, d),
        )

    def of_release(self, release: Release) -> Release:
        """The release as it is shown."""
        if self.share is not None:
            kept = min(len(release.components), _needed(release, self.share))
            release = replace(release, components=release.components[:kept])
        if self.target is not None:
            release = release.shrunk(self.target)
        return replace(release, max_loadings=self.max_loadings)

    def of_state(self, design: Design, names: tuple[str, ...], state: State) -> np.ndarray:
        """Directions as they are shown, for steps that look at them."""
        known = design.known_by(state)
        steps = tuple(step for step in known.steps if not isinstance(step, MapCounts))
        alone, unpaid = replace(known, steps=steps), Booking(None)
        drawn = published(alone, state, "", names, booking=unpaid, seeded=True)
        return self.of_release(drawn).components

    def warn_of_missing_share(self, release: Release, stacklevel: int) -> None:
        """Say where the components that stand above the noise carry less than was asked for."""
        m = len(release.components)
        if self.share is None or m == 0 or _needed(release, self.share) <= m:
            return
        those = "component stands" if m == 1 else "components stand"
        warnings.warn(
            f"Only {m} {those} above the noise, and less than {self.share:.0%} of the variance "
            f"goes with {'it' if m == 1 else 'them'}: the next ones cannot be told from noise.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def _needed(release: Release, share: float) -> int:
    """How many components carry such a share of the variance, by the free spectrum."""
    seen = seen_spectrum(release)
    assert seen is not None
    carried = np.cumsum(variance_shares(seen.without_noise, release.rates))
    enough = carried >= share * (1 - 1e-9)
    return 1 + int(np.argmax(enough)) if enough.any() else release.n_features
