"""What a fit would say is asked of its design, from public numbers."""

import numpy as np
import pytest

from gdppca import DPPCA
from gdppca._errors import ParameterError
from gdppca.planning.foresight import foreseen
from gdppca.steps.base import Public


def test_what_is_foreseen_is_what_the_fit_says():
    ahead = foreseen(Public.of(60, 10), wants_scales=True, epsilon=1.0, delta=1e-6)
    assert not ahead.scaled
    X = np.random.default_rng(0).normal(size=(60, 10))
    with pytest.raises(ParameterError) as refused:
        DPPCA(scale="private", epsilon=1.0, delta=1e-6).fit(X)
    assert str(refused.value) in ahead.refusals


def test_scales_that_can_be_had():
    ahead = foreseen(Public.of(100_000, 5), wants_scales=True, epsilon=1.0, delta=1e-6)
    assert ahead.scaled
    assert ahead.refusals == ()
    assert not foreseen(Public.of(100_000, 5), wants_scales=False).scaled


def test_parameters_that_no_fit_takes():
    ahead = foreseen(Public.of(100, 5), wants_scales=False, epsilon=-1.0)
    assert "`epsilon`" in ahead.refusals[0]
