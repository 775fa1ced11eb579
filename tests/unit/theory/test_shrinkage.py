"""Loadings that are shrunk under the known noise of their matrix."""

import numpy as np
import pytest

from gdppca import ParameterError, sin_theta
from gdppca.linalg import Spectrum
from gdppca.theory import corrected, entry_sd, shrunken_loadings


def symmetric_noise(d, sd, rng):
    square = rng.normal(size=(d, d)) * sd
    return np.triu(square) + np.triu(square, 1).T


def goe(d, sigma, rng):
    return symmetric_noise(d, entry_sd(sigma, None, d), rng)


def spiked(loadings, sizes):
    """A matrix of trace one with given directions as columns, and their sizes above the rest."""
    matrix = np.eye(len(loadings)) + (loadings * sizes) @ loadings.T
    return matrix / np.trace(matrix)


def sparse_directions(d, m, support, rng):
    loadings = np.zeros((d, m))
    loadings[rng.permutation(d)[:support]] = rng.normal(size=(support, m))
    return np.linalg.qr(loadings)[0]


def errors(d, sigma, directions, sizes, rng, *, runs=12, n=10**5, **more):
    """Mean angles of the plain directions and of the shrunken ones."""
    truth, m = spiked(directions, sizes), directions.shape[1]
    found = [
        shrunken_loadings(truth + goe(d, sigma, rng), sigma, n, m, **more) for _ in range(runs)
    ]
    plain = np.mean([sin_theta(each.plain, directions.T) for each in found])
    shrunk = np.mean([sin_theta(each.components, directions.T) for each in found])
    return plain, shrunk


@pytest.mark.parametrize("m", [1, 2])
def test_sparse_directions_come_out_far_better(m):
    rng = np.random.default_rng(m)
    directions = sparse_directions(60, m, 5, rng)
    plain, shrunk = errors(60, 0.008, directions, np.array([20.0, 10.0])[:m], rng)
    assert shrunk < 0.6 * plain


def test_a_component_beyond_fades_from_sparse_directions():
    """A dense third one, more than half as large as the second, is mixed into it by the noise."""
    rng = np.random.default_rng(22)
    sparse = sparse_directions(25, 2, 5, rng)
    away = rng.normal(size=25)
    away -= sparse @ (sparse.T @ away)
    whole = np.column_stack([sparse, away / np.linalg.norm(away)])
    truth = spiked(whole, np.array([7.0, 3.5, 2.2]))
    released = [truth + goe(25, 0.006, rng) for _ in range(40)]
    found = [shrunken_loadings(matrix, 0.006, 10**5, 2) for matrix in released]
    plain = np.mean([sin_theta(each.plain, sparse.T) for each in found])
    shrunk = np.mean([sin_theta(each.components, sparse.T) for each in found])
    assert shrunk < 0.43 * plain  # 0.48 if it were taken out with the noise that is in it


def test_ten_columns_tell_the_axes_of_two_components():
    rng = np.random.default_rng(22)
    both = np.zeros((10, 2))
    both[:4] = np.array([[1, 1], [1, -1], [1, 1], [1, -1]]) / 2
    found = [
        shrunken_loadings(spiked(both, np.array([9.0, 4.0])) + goe(10, 0.006, rng), 0.006, 10**5, 2)
        for _ in range(10)
    ]
    assert sum(each.kind == "axes" for each in found) >= 5
    three = np.linalg.qr(np.column_stack([both, rng.normal(size=10)]))[0]
    released = spiked(three, np.array([9.0, 4.0, 3.9])) + goe(10, 0.006, rng)
    assert shrunken_loadings(released, 0.006, 10**5, 2).kind != "axes"  # a third as large as that


def test_dense_directions_stay_as_they_are():
    rng = np.random.default_rng(3)
    directions = np.linalg.qr(rng.normal(size=(40, 2)))[0]
    plain, shrunk = errors(40, 0.008, directions, np.array([12.0, 8.0]), rng)
    assert shrunk < 1.03 * plain


def test_where_the_likelihood_asks_for_nothing_eigenvectors_come_back_bit_for_bit():
    rng = np.random.default_rng(4)
    directions = np.linalg.qr(rng.normal(size=(80, 2)))[0]
    released = spiked(directions, np.array([30.0, 20.0])) + goe(80, 0.004, rng)
    found = shrunken_loadings(released, 0.004, 10**5, 2)
    assert found.kind == "plain"
    assert np.array_equal(found.components, Spectrum(released).leading(2).T)
    assert not found.negligible.any()


def test_without_noise_the_rows_have_what_they_have():
    rng = np.random.default_rng(5)
    released = spiked(sparse_directions(30, 2, 5, rng), np.array([9.0, 4.0]))
    assert shrunken_loadings(released, 0.0, 1000, 2).kind == "plain"


def test_negligible_columns_are_negligible():
    rng, zero, called = np.random.default_rng(6), 0, 0
    for _ in range(20):
        directions = sparse_directions(40, 2, 6, rng)
        released = spiked(directions, np.array([20.0, 10.0])) + goe(40, 0.008, rng)
        named = shrunken_loadings(released, 0.008, 10**5, 2).negligible
        called += named.sum()
        zero += (named & (np.abs(directions.T) < 1e-12)).sum()
    assert called > 0.5 * 20 * 2 * 34
    assert zero > 0.99 * called


def test_intervals_hold_the_rows_loadings():
    rng, held = np.random.default_rng(7), []
    n, d, sigma = 2000, 25, 0.006
    for _ in range(30):
        population = spiked(sparse_directions(d, 2, 5, rng), np.array([9.0, 4.0]))
        X = rng.multivariate_normal(np.zeros(d), population, size=n)
        U = X / np.linalg.norm(X, axis=1, keepdims=True)
        rows = U.T @ U / n
        found = shrunken_loadings(rows + goe(d, sigma, rng), sigma, n, 2)
        exact = Spectrum(rows).leading(2).T
        exact *= np.sign(np.einsum("kd,kd->k", exact, found.components))[:, None]
        lower, upper = found.interval(0.9)
        held.append(((exact >= lower) & (exact <= upper)).mean())
    assert 0.86 < np.mean(held) < 0.97


def test_uneven_noise_is_known():
    rng = np.random.default_rng(8)
    d, sigma, rates = 40, 0.004, np.linspace(0.4, 1.0, 40)
    directions = sparse_directions(d, 2, 5, rng)
    truth, plain, shrunk = spiked(directions, np.array([20.0, 10.0])), [], []
    for _ in range(10):
        noise = symmetric_noise(d, entry_sd(sigma, rates, d), rng)
        scatter = (truth + noise) / corrected(np.ones((d, d)), rates)
        found = shrunken_loadings(scatter, sigma, 10**5, 2, rates=rates)
        plain.append(sin_theta(found.plain, directions.T))
        shrunk.append(sin_theta(found.components, directions.T))
    assert np.mean(shrunk) < 0.7 * np.mean(plain)


def test_components_within_the_noise_do_not_keep_the_others_plain():
    rng = np.random.default_rng(9)
    directions = sparse_directions(60, 1, 4, rng)
    released = spiked(directions, np.array([20.0])) + goe(60, 0.008, rng)
    found = shrunken_loadings(released, 0.008, 10**5, 3)
    assert found.kind != "plain"
    assert sin_theta(found.components[:1], directions.T) < sin_theta(found.plain[:1], directions.T)
    assert np.allclose(found.components @ found.components.T, np.eye(3), atol=1e-12)
    assert np.isinf(found.sd[1:]).all()
    assert np.isfinite(found.sd[0]).all()


def test_pure_noise_gives_plain_directions():
    found = shrunken_loadings(goe(30, 0.1, np.random.default_rng(10)), 0.1, 1000, 2)
    assert found.kind == "plain"


@pytest.mark.parametrize("target", ["rows", "population"])
@pytest.mark.parametrize("size", [1e-300, 1e-12, 1.0, 1e12, 1e290])
def test_size_of_the_matrix_does_not_matter(size, target):
    rng = np.random.default_rng(11)
    released = spiked(sparse_directions(30, 2, 4, rng), np.array([20.0, 9.0])) + goe(30, 0.008, rng)
    usual = shrunken_loadings(released, 0.008, 5000, 2, target=target)
    found = shrunken_loadings(size * released, size * 0.008, 5000, 2, target=target)
    assert usual.kind != "plain"
    np.testing.assert_allclose(found.components, usual.components, atol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 21, 120])
@pytest.mark.parametrize("sigma", [0.0, 1e-200, 1e-6, 0.01, 1.0, 1e200])
@pytest.mark.parametrize("target", ["rows", "population"])
def test_every_matrix_gives_finite_orthonormal_directions(d, sigma, target):
    rng = np.random.default_rng(d)
    noise = goe(d, min(sigma, 1.0), rng)
    matrices = [np.zeros((d, d)), np.eye(d), -np.eye(d), np.ones((d, d)) / d, noise]
    for matrix in matrices:
        for m in {1, min(2, d), d}:
            found = shrunken_loadings(
                matrix,
                sigma,
                1.0 + d,
                m,
                target=target,
                scale_error=np.full(d, 0.2),
                centre_bias=0.1,
            )
            assert np.allclose(found.components @ found.components.T, np.eye(m), atol=1e-9)
            assert not np.isnan(found.sd).any()
            assert 0 <= found.subspace_angle <= 1


def test_the_same_release_gives_the_same_directions():
    rng = np.random.default_rng(12)
    released = spiked(sparse_directions(50, 2, 4, rng), np.array([20.0, 9.0])) + goe(50, 0.006, rng)
    first, second = (shrunken_loadings(released, 0.006, 5000, 2) for _ in range(2))
    assert np.array_equal(first.components, second.components)
    assert first.subspace_angle == second.subspace_angle


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scatter": np.full((3, 3), np.nan)}, "scatter"),
        ({"scatter": np.ones((3, 2))}, "scatter"),
        ({"n_components": 4}, "n_components"),
        ({"target": "people"}, "target"),
        ({"n_samples": 0}, "n_samples"),
    ],
)
def test_what_makes_no_sense_is_refused(change, words):
    asked = {"scatter": np.eye(3), "noise_sd": 0.1, "n_samples": 100, "n_components": 1} | change
    with pytest.raises(ParameterError, match=words):
        shrunken_loadings(**asked)
