"""What is taken for known about the variances before any budget is spent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.linalg import eigenvalues_descending
from gdppca.planning.prediction import gaussian_lengths, pair_ratio, sign_moments, sign_ratios
from gdppca.releases import Release
from gdppca.releases.noise_floor import known_noise
from gdppca.signs import Sign, Spherical
from gdppca.signs.base import legal_radius
from gdppca.theory import (
    denoised_eigenvalues,
    spherical_eigenvalues,
    variance_shares,
)

_SPIKED = "spiked:"
_WEAKEST_SPIKE = 5.0  # of the spectrum that stands in where none is given


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    """Variances of the true components and what follows from them for the spherical sign.

    Parameters
    ----------
    variances : array of shape (d,)
        λ up to a factor, largest first.
    eigenvalues : array of shape (d,)
        φ of the sign's matrix, in the same order, summing to one.
    words : str
        What they are, to be read after "for".
    has_units : bool
        Whether the variances are in the units of the columns, not up to a factor.
    """

    variances: np.ndarray
    eigenvalues: np.ndarray
    words: str
    has_units: bool = True

    @cached_property
    def moments(self) -> np.ndarray:
        """Sampling variance of the sign covariance around a known centre, times n."""
        return sign_moments(self.variances)

    @cached_property
    def pair_ratio(self) -> float:
        """Sampling variance of the pair statistic over that."""
        return pair_ratio(self.variances)

    def seen_through(self, sign: Sign) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and moments of a sign's matrix: of a Gaussian law but for the spherical."""
        if isinstance(sign, Spherical):
            return self.eigenvalues, self.moments
        first, second = sign_ratios(sign, self.variances)
        return first * self.eigenvalues, second * self.moments

    def length_quantile(self, q: float) -> float:
        """Quantile of the lengths of Gaussian rows, as a radius that every sign takes."""
        return legal_radius(float(np.quantile(gaussian_lengths(self.variances)[1], q)))


def as_spectrum(spectrum: Any, n_features: int, n_components: int) -> Spectrum:
    """Turn what a user writes into variances: numbers, "spiked:10,5", a release, its file, None."""
    if spectrum is None:
        return _assumed(n_features, n_components)
    if isinstance(spectrum, str) and spectrum.startswith(_SPIKED):
        leading = _numbers(spectrum.removeprefix(_SPIKED))
        return _spiked(leading, n_features, f"variances {_rest(leading)}")
    if isinstance(spectrum, (str, Path)):
        path = Path(spectrum)
        if not path.is_file():
            raise ParameterError(
                "`spectrum` must hold variances, or be written like 'spiked:10,5', or name a "
                f"release file; there is no file '{path}'."
            )
        return _released(Release.load(path), n_features)
    if isinstance(spectrum, Release):
        return _released(spectrum, n_features)
    return _given(spectrum, n_features)


def _assumed(n_features: int, n_components: int) -> Spectrum:
    """Each component twice the next, the last one five times the rest: 10, 5, 1, … for two."""
    number = min(n_components, n_features)
    leading = _WEAKEST_SPIKE * 2.0 ** np.arange(number - 1, -1, -1)
    words = f"variances {_rest(leading)}, assumed because no spectrum was given"
    return _spiked(leading, n_features, words)


def _spiked(leading: np.ndarray, n_features: int, words: str) -> Spectrum:
    if len(leading) > n_features:
        raise ParameterError(
            f"`spectrum` names {len(leading)} leading variances; there are {n_features} columns."
        )
    return _from_variances(np.append(leading, np.ones(n_features - len(leading))), words)


def _given(spectrum: Any, n_features: int) -> Spectrum:
    given = _validate.floats(spectrum)
    if given is None:
        raise ParameterError(
            "`spectrum` must be a sequence of numbers, or written like 'spiked:10,5'."
        )
    if given.shape != (n_features,):
        raise ParameterError(
            f"`spectrum` must hold one variance per column: shape ({n_features},), got "
            f"{given.shape}. For leading variances above equal ones write 'spiked:10,5'."
        )
    return _from_variances(_validate.vector(n_features, spectrum=spectrum), "the given variances")


def _from_variances(variances: np.ndarray, words: str) -> Spectrum:
    if (variances < 0).any() or not variances.max() > 0:
        raise ParameterError("`spectrum` must hold variances >= 0, not all zero.")
    if variances.max() > 1e100:
        raise ParameterError("`spectrum` must not exceed 1e100; only ratios of variances count.")
    ordered = np.sort(variances)[::-1]
    return Spectrum(variances=ordered, eigenvalues=spherical_eigenvalues(ordered), words=words)


def _released(release: Release, n_features: int) -> Spectrum:
    """Post-processing of a released matrix: its noise is taken out by its known law."""
    matrix = release.matrix
    if matrix is None or (release.sign or {}).get("name") != "spherical":
        raise ParameterError(
            "`spectrum` must be a release that holds a matrix of the spherical sign. Otherwise "
            "give variances."
        )
    if release.n_features != n_features:
        raise ParameterError(
            f"`spectrum` is a release of {release.n_features} columns; the plan has {n_features}."
        )
    values = eigenvalues_descending(matrix)
    known = known_noise(release)
    shown = denoised_eigenvalues(values, *known)
    if not shown.sum() > 0:
        raise ParameterError("`spectrum` is a release whose matrix is mere noise. Give variances.")
    phi = shown / shown.sum()
    words = f"the variances behind a release of {release.n_samples} rows"
    variances = variance_shares(phi, known.rates)
    if known.rates is not None:  # a plan starts from whole rows
        phi = spherical_eigenvalues(variances)
    return Spectrum(variances=variances, eigenvalues=phi, words=words, has_units=False)


def _numbers(text: str) -> np.ndarray:
    try:
        values = np.array([float(part) for part in text.split(",")])
    except ValueError:
        values = np.array([np.nan])
    if not np.isfinite(values).all():
        raise ParameterError(
            f"`spectrum` must be written like 'spiked:10,5', got {_SPIKED + text!r}."
        )
    return values


def _rest(leading: np.ndarray) -> str:
    return ", ".join(f"{value:g}" for value in leading) + " and 1 for the rest"
