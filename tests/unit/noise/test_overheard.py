"""What is overheard is measured rightly, whatever its size."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from gdppca import DPPCA, StateError
from gdppca.noise import Draw, Overheard, Repeated, secure_noise, seeded_noise


@pytest.mark.parametrize("size", [5e-320, 1e-200, 1.0, 1e200])
def test_a_move_is_told_in_shares_of_the_sensitivity_whatever_its_size(size):
    draw = Draw("gaussian", np.array([3.0, 0.0]) * size, 1.0, size, None)
    assert draw.moved_by(np.array([0.0, 4.0]) * size) == pytest.approx(5.0, rel=1e-3)
    assert draw.moved_by(draw.exact) == 0


def test_a_seed_gives_the_same_whether_somebody_listens_or_not(rng):
    X = rng.normal(size=(3000, 3)) * [9, 3, 1]
    ear = Overheard(seeded_noise(5))
    plain, heard = (
        DPPCA(2, location=None, random_state=noise).fit_release(X, variances=0.2, score_map=0.2)
        for noise in (5, ear)
    )
    assert plain.to_dict() == heard.to_dict()
    assert {"gaussian", "argmax", "laplace"} <= {draw.kind for draw in ear.draws}


def test_exact_numbers_are_not_pickled_and_a_clone_has_the_same_ear(rng):
    ear = Overheard(secure_noise())
    pca = DPPCA(1, random_state=ear).fit(rng.normal(size=(50, 2)))
    for holds in (ear, Repeated(ear.draws), pca):
        with pytest.raises(StateError, match="not pickled"):
            pickle.dumps(holds)
    assert clone(pca).random_state is ear
