"""Distances between subspaces (F10)."""

import numpy as np
import pytest

import gdppca
from gdppca import ParameterError, theory
from gdppca.theory import projector_distance, sin_theta


def projector(rows):
    basis = np.linalg.qr(rows.T)[0]
    return basis @ basis.T


def test_sin_theta_is_the_one_of_the_front_door():
    assert theory.sin_theta is gdppca.sin_theta


def test_distance_is_that_of_the_projectors(rng):
    for m in (1, 2, 4):
        first, second = rng.normal(size=(2, m, 6))
        expected = np.linalg.norm(projector(first) - projector(second))
        assert projector_distance(first, second) == pytest.approx(expected)


def test_one_direction_gives_root_two_times_the_sine():
    first, second = np.array([1.0, 0.0]), np.array([3.0, 4.0])
    assert projector_distance(first, second) == pytest.approx(np.sqrt(2) * 0.8)
    assert projector_distance(first, second) == pytest.approx(np.sqrt(2) * sin_theta(first, second))


def test_small_angles_keep_their_digits():
    assert projector_distance(np.array([1.0, 0.0]), np.array([1.0, 1e-12])) == pytest.approx(
        np.sqrt(2) * 1e-12
    )


def test_orthogonal_subspaces_are_farthest():
    assert projector_distance(np.eye(4)[:2], np.eye(4)[2:]) == pytest.approx(2)
    assert projector_distance(np.eye(4)[:2], np.eye(4)[:2][::-1]) == pytest.approx(0, abs=1e-15)


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="shape"):
        projector_distance(np.eye(3)[:1], np.eye(3)[:2])
    with pytest.raises(ParameterError, match="independent"):
        projector_distance(np.ones((2, 3)), np.eye(3)[:2])
