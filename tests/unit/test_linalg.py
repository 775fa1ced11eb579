"""Packing, eigenvectors and angles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import LinAlgError, subspace_angles

from gdppca import ParameterError, linalg, sin_theta
from gdppca.linalg import (
    LARGEST,
    SQRT2,
    Spectrum,
    directions,
    eigen_descending,
    eigenvalues_descending,
    packed_length,
    packed_order,
    vecd,
    vecd_inverse,
    with_stable_signs,
)
from gdppca.theory import projector_distance


@pytest.mark.parametrize("d", [1, 2, 3, 17])
def test_packing_keeps_lengths_and_comes_back(d, rng):
    M = rng.normal(size=(d, d))
    M = M + M.T
    packed = vecd(M)
    assert len(packed) == packed_length(d)
    assert packed_order(len(packed)) == d
    assert np.linalg.norm(packed) == pytest.approx(np.linalg.norm(M))
    np.testing.assert_allclose(vecd_inverse(packed), M, rtol=1e-15)
    np.testing.assert_array_equal(vecd_inverse(packed), vecd_inverse(packed).T)


def test_packing_order_is_the_diagonal_then_rows_above_it(rng):
    M = rng.normal(size=(5, 5))
    M = M + M.T
    upper = np.triu_indices(5, k=1)
    np.testing.assert_array_equal(vecd(M), [*np.diagonal(M), *(SQRT2 * M[upper])])
    np.testing.assert_array_equal(vecd(np.asfortranarray(M)), vecd(M))
    np.testing.assert_array_equal(vecd_inverse(np.arange(15.0))[upper], np.arange(5, 15) / SQRT2)


@pytest.mark.parametrize("d", [1, 100, 2000, 46_340])
def test_packed_order_is_exact_for_large_matrices(d):
    assert packed_order(packed_length(d)) == d


def test_eigenvectors_come_largest_first_with_stable_signs(rng):
    M = rng.normal(size=(6, 6))
    M = M @ M.T
    values, vectors = eigen_descending(M)
    assert np.all(np.diff(values) <= 0)
    np.testing.assert_allclose(M @ vectors, vectors * values, atol=1e-12)
    heaviest = np.abs(vectors).argmax(axis=0)
    assert np.all(vectors[heaviest, range(6)] > 0)
    np.testing.assert_array_equal(with_stable_signs(-vectors), vectors)


# --- Leading eigenvectors -------------------------------------------------------------------------


def turned(values, seed):
    """A symmetric matrix with these eigenvalues."""
    d = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    return linalg.symmetrized((Q * values) @ Q.T)


@st.composite
def symmetric_matrices(draw):
    """Spectra with gaps of any size, clusters, ties, zeros, and entries of any size."""
    d = draw(st.sampled_from([1, 2, 5, linalg.SMALL, linalg.SMALL + 1, 90]))
    gap = 10.0 ** draw(st.integers(-16, 0))
    few = draw(st.integers(0, d))
    values = np.concatenate([3 + gap * np.arange(few), gap * np.arange(d - few)])
    values *= draw(st.sampled_from([1.0, -1.0, 2.0**-900, 2.0**900]))
    seed = draw(st.none() | st.integers(0, 99))
    return (np.diag(values) if seed is None else turned(values, seed)), draw(st.integers(0, d))


@settings(max_examples=200)
@given(case=symmetric_matrices())
def test_leading_eigenvectors_are_those_of_the_full_decomposition(case):
    M, m = case
    size = np.abs(M).max() or 1.0
    spectrum = Spectrum(M)
    values, vectors = eigen_descending(M)
    V = spectrum.leading(m)
    assert V.shape == (len(M), m)
    np.testing.assert_allclose(spectrum.values / size, values / size, rtol=0, atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(m), rtol=0, atol=1e-11)
    residual = (M / size) @ V - V * (spectrum.values[:m] / size)
    assert np.abs(residual).max(initial=0) < 1e-11
    if 0 < m < len(M) and (values[m - 1] - values[m]) / size > 1e-3:
        assert sin_theta(V.T, vectors[:, :m].T) < 1e-10
    heaviest = np.abs(V).argmax(axis=0)
    assert (V[heaviest, range(m)] > 0).all()


def test_leading_eigenvectors_agree_one_by_one_where_gaps_are_wide():
    values = np.concatenate([np.arange(10, 2, -1), np.linspace(1, 0, 142)])
    M = turned(values, 7)
    spectrum = Spectrum(M)
    np.testing.assert_allclose(spectrum.values, values, atol=1e-13)
    full = eigen_descending(M)[1]
    for m in (1, 8, 150):
        np.testing.assert_allclose(spectrum.leading(m)[:, :8], full[:, : min(m, 8)], atol=1e-11)
    np.testing.assert_array_equal(spectrum.leading(3), Spectrum(M).leading(3))


def test_matrix_is_left_as_it_was(rng):
    M = rng.normal(size=(80, 80))
    M = np.asfortranarray(M + M.T)
    before = M.copy()
    Spectrum(M).leading(2)
    np.testing.assert_array_equal(M, before)


def test_a_failing_solver_costs_time_only(rng, monkeypatch):
    M = rng.normal(size=(80, 80))
    M = M + M.T
    spectrum, expected = Spectrum(M), eigen_descending(M)[1][:, :3]

    def fail(*_):
        raise LinAlgError("did not converge")

    monkeypatch.setattr(linalg, "_last_eigenvectors", fail)
    np.testing.assert_allclose(spectrum.leading(3), expected, atol=1e-11)


@pytest.mark.parametrize("d", [3, 80])
def test_no_solver_that_fails_loses_a_matrix(d, rng, monkeypatch):
    M = rng.normal(size=(d, d))
    M = M + M.T
    expected = Spectrum(M).values

    def failing(solver):
        def solve(*arguments, driver="evr", lapack_driver="evr", **options):
            if driver == "evr" and lapack_driver in ("evr", "sterf"):
                raise LinAlgError("did not converge")
            return solver(*arguments, driver=driver, **options)

        return solve

    for name in ("eigh", "eigvalsh_tridiagonal"):
        monkeypatch.setattr(linalg.linalg, name, failing(getattr(linalg.linalg, name)))
    np.testing.assert_allclose(Spectrum(M).values, expected, atol=1e-11)


@pytest.mark.parametrize("size", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1015])
@pytest.mark.parametrize("d", [3, 80])
def test_spectrum_of_a_matrix_of_any_size(d, size, rng):
    M = rng.normal(size=(d, d))
    M = M + M.T
    np.testing.assert_array_equal(Spectrum(M * size).values, Spectrum(M).values * size)
    np.testing.assert_array_equal(Spectrum(M * size).leading(2), Spectrum(M).leading(2))
    np.testing.assert_array_equal(
        eigenvalues_descending(M * size), eigenvalues_descending(M) * size
    )


@pytest.mark.parametrize("d", [3, 80])
def test_spectrum_of_what_is_not_finite_is_refused(d):
    M = np.eye(d)
    M[1, 1] = np.nan
    with pytest.raises(ValueError, match="infs or NaNs"):
        Spectrum(M)


def test_eigenvalues_alone(rng):
    M = rng.normal(size=(9, 9))
    M = M + M.T
    np.testing.assert_allclose(eigenvalues_descending(M), eigen_descending(M)[0], atol=1e-13)


# --- Angles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 4])
def test_sin_theta_is_the_sine_of_the_largest_angle(m, rng):
    a, b = rng.normal(size=(2, m, 7))
    assert sin_theta(a, b) == pytest.approx(np.sin(subspace_angles(a.T, b.T).max()))
    assert sin_theta(a, b) == pytest.approx(sin_theta(b, a))
    assert sin_theta(a, rng.normal(size=(m, m)) @ a) == pytest.approx(0, abs=1e-12)


def test_sin_theta_keeps_its_digits_at_small_angles():
    assert sin_theta([[1.0, 0.0]], [[1.0, 1e-9]]) == pytest.approx(1e-9, rel=1e-6)


def test_sin_theta_takes_single_vectors():
    assert sin_theta([1.0, 0.0], [0.0, 2.0]) == 1.0


def test_sin_theta_refuses_what_has_no_angle():
    with pytest.raises(ParameterError, match="one shape"):
        sin_theta(np.eye(3)[:1], np.eye(3)[:2])
    with pytest.raises(ParameterError, match="independent"):
        sin_theta([[1.0, 0.0], [2.0, 0.0]], np.eye(2))
    with pytest.raises(ParameterError, match="finite"):
        sin_theta([[np.nan, 0.0]], [[1.0, 0.0]])


@pytest.mark.parametrize("distance", [sin_theta, projector_distance])
def test_directions_given_as_columns_are_refused(distance, rng):
    a, b = rng.normal(size=(2, 7, 2))
    with pytest.raises(ParameterError, match=r"`first` .* got shape \(7, 2\). Pass .* as rows"):
        distance(a, b)
    with pytest.raises(ParameterError, match=r"`second` .* as rows"):
        distance(a.T, b)
    assert distance(a.T, b.T) > 0
    assert distance(np.eye(2), rng.normal(size=(2, 2))) == pytest.approx(0, abs=1e-12)


def test_directions_survive_the_whole_range_of_floats():
    rows = np.array([[3e-324, 4e-324], [3e307, 4e307], [LARGEST, LARGEST], [0, 0], [5e-324, 0]])
    unit, length = directions(rows)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), [1, 1, 1, 0, 1])
    assert length[1] == pytest.approx(5e307)
    assert length[2] == LARGEST
