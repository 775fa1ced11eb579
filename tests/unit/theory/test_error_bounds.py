"""The paper's noise and its error bounds (F1, F2, F4)."""

import math

import numpy as np
import pytest

from gdppca import ParameterError, theory

PHI = [0.5, 0.3, 0.2]
SIZES = {"sup_norm": 1.0, "n_samples": 1000, "epsilon": 1.0, "delta": 1e-5}


def test_noise_is_four_over_n_times_the_classical_multiplier():
    assert theory.classical_noise_sd(0.5, 1e-5, n_samples=1000) == pytest.approx(
        4 * 9.689610 / 1000
    )
    wider = theory.classical_noise_sd(0.5, 1e-5, n_samples=1000, sup_norm=3.0)
    assert wider == pytest.approx(9 * 4 * 9.689610 / 1000)
    assert theory.classical_noise_sd(math.inf, 1e-5, n_samples=10) == 0


def test_error_bound_by_hand():
    privacy = 2 * (1.7320508 + 1.7308183) * 3.3930702 / 1000
    sampling = math.sqrt(2 * 4.0943446 / 1000)
    assert theory.error_bound(PHI, 1, **SIZES) == pytest.approx(2.5 * (privacy + sampling))
    without_noise = theory.error_bound(PHI, 1, **SIZES | {"epsilon": math.inf})
    assert without_noise == pytest.approx(2.5 * sampling)


def test_error_bound_ignores_order_and_joint_scale():
    first = theory.error_bound(PHI, 2, **SIZES)
    assert theory.error_bound(PHI[::-1], 2, **SIZES) == first
    scaled = theory.error_bound(9 * np.array(PHI), 2, **SIZES | {"sup_norm": 3.0})
    assert scaled == pytest.approx(first)


def test_error_bound_falls_with_every_resource():
    base = theory.error_bound(PHI, 1, **SIZES)
    for better in ({"n_samples": 2000}, {"epsilon": 2.0}, {"delta": 1e-3}, {"beta": 0.2}):
        assert theory.error_bound(PHI, 1, **SIZES | better) < base


def test_no_eigengap_no_bound():
    assert theory.error_bound([0.4, 0.4, 0.2], 1, **SIZES) == math.inf
    assert theory.corruption_bound([0.4, 0.4, 0.2], 1, alpha=0.1, **SIZES).total == math.inf


def test_required_samples_by_hand():
    # 16/3 · (2 + 1) · log(6/0.05) = 16 · 4.787492 = 76.6
    assert theory.required_samples(PHI, sup_norm=1.0, beta=0.05) == 77
    assert theory.required_samples(PHI, sup_norm=1.0, beta=0.05, alpha=0.5) == 154


def test_corruption_bound_by_hand():
    bound = theory.corruption_bound(PHI, 1, alpha=0.1, **SIZES)
    assert bound.privacy == pytest.approx(2 * (1.7320508 + 1.7308183) * 3.3930702 / 1000)
    assert bound.sampling == pytest.approx(math.sqrt(3 * 4.0943446 / 900))
    assert bound.corruption == pytest.approx(0.1 * 1.9 * 3)
    assert bound.total == pytest.approx(2.5 * (bound.privacy + bound.sampling + bound.corruption))


def test_corruption_bound_without_corruption_is_within_root_two_of_the_error_bound():
    clean = theory.error_bound(PHI, 1, **SIZES)
    bound = theory.corruption_bound(PHI, 1, alpha=0.0, **SIZES)
    assert bound.corruption == 0
    assert clean < bound.total < math.sqrt(2) * clean


def test_corruption_term_does_not_fall_with_n():
    many = theory.corruption_bound(PHI, 1, alpha=0.05, **SIZES | {"n_samples": 10**12})
    assert many.total == pytest.approx(2.5 * many.corruption, rel=1e-4)


@pytest.mark.parametrize("m", [0, 3, 4, 1.5, True])
def test_bad_numbers_of_components_are_refused(m):
    with pytest.raises(ParameterError, match="n_components"):
        theory.error_bound(PHI, m, **SIZES)
    with pytest.raises(ParameterError, match="n_components"):
        theory.corruption_bound(PHI, m, alpha=0.1, **SIZES)


@pytest.mark.parametrize(
    "change",
    [{"sup_norm": 0}, {"n_samples": 0}, {"epsilon": 0}, {"delta": 0}, {"delta": 1}, {"beta": 1}],
)
def test_bad_numbers_are_refused(change):
    with pytest.raises(ParameterError, match=next(iter(change))):
        theory.error_bound(PHI, 1, **SIZES | change)
    with pytest.raises(ParameterError, match=next(iter(change))):
        theory.corruption_bound(PHI, 1, alpha=0.1, **SIZES | change)


@pytest.mark.parametrize("alpha", [-0.1, 1.0, math.nan, "0.1"])
def test_bad_fractions_of_corruption_are_refused(alpha):
    with pytest.raises(ParameterError, match="alpha"):
        theory.corruption_bound(PHI, 1, alpha=alpha, **SIZES)
    with pytest.raises(ParameterError, match="alpha"):
        theory.required_samples(PHI, sup_norm=1.0, alpha=alpha)


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [-1.0, 2.0], [np.inf, 1.0], [[1.0, 2.0]]])
def test_bad_spectra_are_refused(values):
    with pytest.raises(ParameterError, match="eigenvalues"):
        theory.error_bound(values, 1, **SIZES)
