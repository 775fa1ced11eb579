"""Eigenvalues of the winsorised matrix and the law of the pair radius (F6)."""

import numpy as np
import pytest
from scipy import integrate, stats

from gdppca import ParameterError
from gdppca.theory import (
    pair_radius_quantile,
    pair_radius_survival,
    spherical_eigenvalues,
    winsor_condition,
    winsor_eigenvalues,
)

LAWS = ["gaussian", ("t", 0.5), ("t", 1), ("t", 3), ("t", 50)]
SPECTRA = [
    [2.0],
    [4.0, 1.0],
    [10.0, 5.0] + [1.0] * 8,
    [1.0, 1e-6],
    [3.0, 1.0, 0.0],
    list(np.logspace(0, 2, 40)),
    [100.0] + [1e-3] * 10_000,
]


def pair_differences(lam, law, size, rng):
    """Rows (X - X̃)/√2, drawn by the definition of the law."""

    def rows():
        normal = rng.normal(size=(size, len(lam))) * np.sqrt(lam)
        if law == "gaussian":
            return normal
        return normal / np.sqrt(rng.chisquare(law[1], size=(size, 1)) / law[1])

    return (rows() - rows()) / np.sqrt(2)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("radius", [0.5, 3.0, 20.0])
def test_agrees_with_simulation(law, radius, rng):
    lam = np.array([10.0, 5.0, 1.0, 1.0, 0.2])
    squares = pair_differences(lam, law, 300_000, rng) ** 2
    clipped = squares * np.minimum(1, radius**2 / squares.sum(axis=1))[:, None]
    error = clipped.std(axis=0) / np.sqrt(len(clipped))
    assert np.all(np.abs(winsor_eigenvalues(lam, radius, law) - clipped.mean(axis=0)) < 5 * error)


@pytest.mark.parametrize("n_features", [1, 2, 10, 100, 2000])
@pytest.mark.parametrize("share", [1e-3, 0.3, 1.0, 1.1, 3.0])
def test_equal_eigenvalues_have_a_closed_form_under_the_gaussian_law(n_features, share):
    radius = share * np.sqrt(3 * n_features)
    c = radius**2 / 3
    chi2 = stats.chi2
    exact = 3 * (chi2.cdf(c, n_features + 2) + c / n_features * chi2.sf(c, n_features))
    np.testing.assert_allclose(
        winsor_eigenvalues(np.full(n_features, 3.0), radius), exact, rtol=1e-12
    )


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("radius", [0.1, 2.0, 40.0])
def test_two_columns_agree_with_an_integral_over_the_angle(law, radius):
    """Eq 3.2 as it is printed: S on the circle, R by its own law."""
    lam = np.array([9.0, 0.5])

    def mean_clipped_square(cap):  # E min(R², cap) = ∫ P(R² > q) dq
        return integrate.quad(
            lambda u: pair_radius_survival(u, 2, law) * 2 * u, 0, np.sqrt(cap), epsrel=1e-11
        )[0]

    angles = (np.arange(60) + 0.5) * np.pi / 120
    squares = lam[:, None] * np.stack([np.cos(angles) ** 2, np.sin(angles) ** 2])
    caps = radius**2 / squares.sum(axis=0)
    exact = (squares * [mean_clipped_square(cap) for cap in caps]).mean(axis=1)
    np.testing.assert_allclose(winsor_eigenvalues(lam, radius, law), exact, rtol=1e-7)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("lam", SPECTRA, ids=len)
def test_small_radius_gives_the_spherical_sign(law, lam):
    lam = np.array(lam)
    radius = 1e-8 * np.sqrt(lam[lam > 0].min())
    expected = spherical_eigenvalues(lam)
    tolerance = {"rtol": 1e-10, "atol": 1e-15} if len(lam) > 1 else {"rtol": 1e-6}
    np.testing.assert_allclose(
        winsor_eigenvalues(lam, radius, law) / radius**2, expected, **tolerance
    )


@pytest.mark.parametrize("lam", SPECTRA, ids=len)
def test_large_radius_gives_the_covariance(lam):
    lam = np.array(lam)
    radius = 1e3 * np.sqrt(lam.sum())
    np.testing.assert_allclose(winsor_eigenvalues(lam, radius), lam, rtol=1e-13)
    heavy = winsor_eigenvalues(lam, radius, ("t", 12))
    np.testing.assert_allclose(heavy, lam * 12 / 10, rtol=1e-10)


def test_cauchy_rows_have_no_covariance():
    small, large = (winsor_eigenvalues([4.0, 1.0], r, ("t", 1)) for r in (1e10, 1e40))
    np.testing.assert_allclose(large / small, 1e30, rtol=1e-7)  # grows like r


def test_many_degrees_of_freedom_are_gaussian():
    lam = [10.0, 5.0, 1.0]
    np.testing.assert_allclose(
        winsor_eigenvalues(lam, 2.0, ("t", 1e7)), winsor_eigenvalues(lam, 2.0), rtol=1e-6
    )


@pytest.mark.parametrize("radius", [3.0, 1e3, 1e8])
def test_one_column_of_three_degrees_of_freedom_agrees_with_its_tail(radius):
    # λ E min(R², r²/λ) = λ (E R² - ∫ P(R² > q) dq from r²/λ on), E R² = 3
    def tail(u):
        return pair_radius_survival(float(np.exp(u)), 1, ("t", 3)) * 2 * np.exp(2 * u)

    start = np.log(radius)
    beyond = integrate.quad(tail, start, start + 40, epsrel=1e-11, limit=200)[0]
    exact = 3 - beyond
    assert winsor_eigenvalues([1.0], radius, ("t", 3))[0] == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_grows_with_the_radius_between_its_bounds(law):
    lam = np.array([10.0, 5.0, 1.0, 1.0])
    radii = np.logspace(-2, 2, 9)
    phi = np.array([winsor_eigenvalues(lam, radius, law) for radius in radii])
    ceiling = radii[:, None] ** 2 * spherical_eigenvalues(lam)
    floor = np.array([winsor_condition(radius, lam, law) for radius in radii])[:, None] * ceiling
    assert np.all(np.diff(phi, axis=0) > -1e-12)
    assert np.all(phi <= ceiling * (1 + 1e-12))
    assert np.all(phi >= floor * (1 - 1e-12))


def test_order_and_scale_are_kept():
    lam = np.array([1.0, 10.0, 1.0, 5.0])
    phi = winsor_eigenvalues(lam, 2.0)
    assert phi[0] == phi[2] < phi[3] < phi[1]
    np.testing.assert_allclose(winsor_eigenvalues(9 * lam, 6.0), 9 * phi, rtol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_extreme_radii_and_spectra_are_fine(law):
    for radius in (1e-49, 1e-20, 1e20, 1e49):
        phi = winsor_eigenvalues([1.0, 1e-59, 0.0, 1e-70], radius, law)
        assert np.isfinite(winsor_eigenvalues([2.0, 1.0], radius, law)).all()
        assert np.isfinite(phi).all()
        assert np.all(phi[:2] > 0)
        assert np.all(phi[2:] == 0)


def test_inversion_is_exact_far_in_the_lower_tail():
    from gdppca.theory.quadratic_form import QuadraticForm

    form = QuadraticForm(np.ones(1), np.array([10.0]))
    for s in [0.01, 1.0, 1e3, 1e8, 1e20]:
        level = form.level(np.array([s]))[0]
        got = form.tilted_mean(np.array([s]), np.ones(1))[0]
        assert got == pytest.approx(stats.chi2.cdf(level, 12), rel=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("n_features", [1, 7, 200])
def test_radius_law_agrees_with_simulation(law, n_features, rng):
    radii = np.linalg.norm(pair_differences(np.ones(n_features), law, 20_000, rng), axis=1)
    for q in (0.1, 0.5, 0.9):
        quantile = pair_radius_quantile(q, n_features, law)
        assert pair_radius_survival(quantile, n_features, law) == pytest.approx(1 - q, abs=1e-10)
        assert np.mean(radii <= quantile) == pytest.approx(q, abs=0.015)


def test_one_cauchy_column_has_a_closed_form():
    # Half the difference of two Cauchy numbers is Cauchy: R = √2 |C|.
    for radius in (1e-3, 1.0, 30.0, 1e6, 1e100):
        exact = 2 * stats.cauchy.sf(radius / np.sqrt(2))
        assert pair_radius_survival(radius, 1, ("t", 1)) == pytest.approx(exact, rel=1e-12)


def test_median_radius_of_cauchy_rows_is_near_two_root_d():
    medians = [pair_radius_quantile(0.5, d, ("t", 1)) / np.sqrt(d) for d in range(25, 201, 25)]
    np.testing.assert_allclose(medians, 2.08, atol=0.015)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf, "1", 1e80])
def test_bad_radii_are_refused(radius):
    with pytest.raises(ParameterError, match="radius"):
        winsor_eigenvalues([2.0, 1.0], radius)


@pytest.mark.parametrize("law", ["normal", "t", ("t",), ("t", 0), ("t", -1), ("f", 3), None, 3])
def test_unknown_laws_are_refused(law):
    with pytest.raises(ParameterError):
        winsor_eigenvalues([2.0, 1.0], 1.0, law)
    with pytest.raises(ParameterError):
        pair_radius_quantile(0.5, 2, law)


@pytest.mark.parametrize("lam", [[], [0.0], [-1.0, 2.0], [np.nan, 1.0], [[1.0]], "ab"])
def test_bad_spectra_are_refused(lam):
    with pytest.raises(ParameterError, match="lam"):
        winsor_eigenvalues(lam, 1.0)


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, "0.5"])
def test_bad_levels_are_refused(q):
    with pytest.raises(ParameterError, match="q"):
        pair_radius_quantile(q, 3)
