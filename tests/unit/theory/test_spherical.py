"""Eigenvalues of the spherical sign's matrix and back (F5)."""

import numpy as np
import pytest

from gdppca import ParameterError, kendall_tau
from gdppca.theory import spherical_eigenvalues, spherical_eigenvalues_inverse

SPECTRA = [
    [1.0],
    [4.0, 1.0],
    [10.0, 5.0, 1.0, 1.0, 1.0],
    [10.0, 5.0] + [1.0] * 98,
    [1e6, 1e3, 1.0, 1e-3],
    list(np.logspace(0, 9, 30)),
    [1.0] * 500,
]


def test_two_columns_have_a_closed_form():
    # φ₁ = √λ₁/(√λ₁ + √λ₂)
    np.testing.assert_allclose(spherical_eigenvalues([9.0, 1.0]), [0.75, 0.25], atol=1e-14)


@pytest.mark.parametrize("lam", SPECTRA)
def test_inverse_returns(lam):
    lam = np.array(lam)
    phi = spherical_eigenvalues(lam)
    assert phi.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(spherical_eigenvalues_inverse(phi), lam / lam.sum(), rtol=1e-8)


def test_integral_sums_to_one_without_being_made_to():
    from gdppca.theory import spherical

    for lam in SPECTRA:
        scaled = np.array(lam) / max(lam)
        grown = np.log1p(np.outer(spherical.X, scaled))
        common = np.exp(spherical.LOG_X - 0.5 * grown.sum(axis=1))
        total = 0.5 * spherical.STEP * (scaled * (common @ np.exp(-grown))).sum()
        assert total == pytest.approx(1, abs=1e-13)


def test_integral_agrees_with_simulation(rng):
    lam = np.array([10.0, 5.0, 1.0, 1.0, 1.0])
    squares = lam * rng.normal(size=(400_000, 5)) ** 2
    shares = (squares / squares.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(spherical_eigenvalues(lam), shares, atol=2e-3)


def test_kernel_on_a_large_sample_has_these_eigenvalues(rng):
    lam = np.array([10.0, 5.0, 1.0, 1.0, 1.0])
    X = rng.normal(size=(20_000, 5)) * np.sqrt(lam) / np.abs(rng.normal(size=(20_000, 1)))
    values = np.linalg.eigvalsh(kendall_tau(X, pairs=64))[::-1]
    np.testing.assert_allclose(values, spherical_eigenvalues(lam), atol=0.01)


def test_zero_eigenvalues_stay_zero():
    np.testing.assert_allclose(spherical_eigenvalues([1.0, 0.0, 0.0]), [1, 0, 0], atol=1e-14)
    np.testing.assert_allclose(spherical_eigenvalues_inverse([0.7, 0.3, 0.0])[2], 0)


@pytest.mark.parametrize("bad", [[], [0.0, 0.0], [-1.0, 2.0], [np.nan], [[1.0]]])
def test_bad_spectra_are_refused(bad):
    for function in (spherical_eigenvalues, spherical_eigenvalues_inverse):
        with pytest.raises(ParameterError):
            function(bad)
