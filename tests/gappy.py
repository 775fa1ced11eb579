"""Releases with missing cells."""

from dataclasses import replace

import numpy as np

from gdppca import DPPCA, linalg
from gdppca.releases import Release
from gdppca.theory import corrected


def with_gaps(release: Release, matrix: np.ndarray, rates: np.ndarray) -> Release:
    """The same with the raw matrix of zero-filled signs and observed rates."""
    m = len(release.components)
    components = linalg.Spectrum(corrected(matrix, rates)).leading(m).T
    return replace(release, scatter=matrix, components=components, rates=rates)


def fitted_with_gaps(n, rates, seed, variances=(10.0, 5.0, 1.0, 1.0, 1.0)):
    """A release of rows whose cells are missing completely at random, and the true directions."""
    rng = np.random.default_rng(seed)
    d = len(rates)
    basis = np.linalg.qr(np.random.default_rng(9).normal(size=(d, d)))[0]
    rows = (rng.normal(size=(n, d)) * np.sqrt(variances)) @ basis.T
    unit = linalg.directions(np.where(rng.random(rows.shape) < rates, rows, 0.0))[0]
    release = DPPCA(2, location=np.zeros(d), loadings="plain", random_state=seed).fit(rows).release_
    noise = rng.normal(scale=release.noise_sd, size=linalg.packed_length(d))
    matrix = unit.T @ unit / n + linalg.vecd_inverse(noise)
    return with_gaps(release, matrix, rates), basis.T[:2]
