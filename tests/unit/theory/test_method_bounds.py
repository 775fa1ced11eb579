"""The paper's error bounds of methods, in terms of Σ (F7)."""

import math

import numpy as np
import pytest

from gdppca import ParameterError, theory

PHI = [0.5, 0.3, 0.2]
LAM = [10.0, 5.0] + [1.0] * 8


def test_effective_rank():
    assert theory.effective_rank(LAM) == pytest.approx(2.3)
    assert theory.effective_rank(np.ones(7)) == 7


def test_spherical_bound_by_hand():
    sizes = {"n_samples": 1000, "epsilon": 0.5}
    phi = theory.spherical_eigenvalues(LAM)
    by_signs = (math.sqrt(10) / 500 + math.sqrt(phi[0] * math.log(10) / 1000)) / (phi[1] - phi[2])
    by_scatter = 10 / 4 * (2.3 * math.sqrt(10) / 500 + math.sqrt(2.3 * math.log(10) / 1000))
    assert theory.spherical_bound(LAM, 2, **sizes) == pytest.approx(by_signs)
    assert theory.spherical_bound(LAM, 2, through="scatter", **sizes) == pytest.approx(by_scatter)


@pytest.mark.parametrize(("law", "power"), [("gaussian", 2), (("t", 1), 1)])
def test_winsor_bound_starts_at_the_spherical_one_and_grows_without_end(law, power):
    # ε is small: only the privacy term is monotone, the sampling term may dip by a little.
    sizes = {"n_samples": 1000, "epsilon": 1e-6}
    radii = (1e-4, 1.0, 2.0, 5.0, 1e3, 1e4)
    bounds = [theory.winsor_bound(LAM, 2, radius=r, law=law, **sizes) for r in radii]
    spherical = theory.spherical_bound(LAM, 2, **sizes)
    assert bounds[0] == pytest.approx(spherical, rel=1e-6)
    assert np.all(np.diff(bounds) > -1e-12 * spherical)
    assert bounds[-1] / bounds[-2] == pytest.approx(10**power, rel=0.02)  # as r²/(gap of φ) does


def test_competitors_by_hand():
    sizes = {"n_samples": 1000, "epsilon": 0.5}
    analyze_gauss = 10 / 4 * (10**1.5 / 500 + 0.1)
    sgpca = (0.25 + 0.5) * (10 / 500 + 0.1)
    assert theory.analyze_gauss_bound(LAM, 2, **sizes) == pytest.approx(analyze_gauss)
    assert theory.sgpca_bound(LAM, 2, **sizes) == pytest.approx(sgpca)


def test_privacy_terms_grow_with_d_as_remark_3_1_says():
    """λ/σ² = d^a with a = 1/2: exponents 3/2 - a and 1 - a/2."""
    dims = np.array([10**4, 10**6])
    spectra = [np.concatenate([[1 + d**0.5], np.ones(d - 1)]) for d in dims]
    sizes = {"n_samples": 1, "epsilon": 1e-9}  # the privacy term is all there is
    ours = [theory.spherical_bound(lam, 1, through="scatter", **sizes) for lam in spectra]
    theirs = [theory.sgpca_bound(lam, 1, **sizes) for lam in spectra]
    assert np.log(ours[1] / ours[0]) / np.log(100) == pytest.approx(1.0, abs=0.01)
    assert np.log(theirs[1] / theirs[0]) / np.log(100) == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("m", [0, 3, 4, 1.5, True])
def test_bad_numbers_of_components_are_refused(m):
    plain = {"n_samples": 100, "epsilon": 1.0}
    calls = [
        lambda: theory.spherical_bound(PHI, m, **plain),
        lambda: theory.winsor_bound(PHI, m, radius=1.0, **plain),
        lambda: theory.analyze_gauss_bound(PHI, m, **plain),
        lambda: theory.sgpca_bound(PHI, m, **plain),
    ]
    for call in calls:
        with pytest.raises(ParameterError, match="n_components"):
            call()


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [-1.0, 2.0], [np.inf, 1.0], [[1.0, 2.0]]])
def test_bad_spectra_are_refused(values):
    with pytest.raises(ParameterError, match="lam"):
        theory.effective_rank(values)


def test_unknown_form_is_refused():
    with pytest.raises(ParameterError, match="through"):
        theory.spherical_bound(LAM, 2, n_samples=10, epsilon=1.0, through="both")
