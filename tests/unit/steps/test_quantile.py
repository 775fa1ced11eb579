"""A quantile from a public grid, or by a climb: what reaches the noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdppca.noise import Overheard, Repeated, seeded_noise
from gdppca.privacy import PureEvent
from gdppca.steps.base import Public, State
from gdppca.steps.quantile import METHODS, Quantile, ladder, quantile_grid
from gdppca.tables.memory import MemoryTable

any_float = st.floats(allow_nan=False, allow_infinity=False, width=64)


def test_grid_spans_all_floats_and_its_prior_sums_to_one():
    for nonnegative in (True, False):
        candidates, log_prior = quantile_grid(nonnegative)
        assert np.all(np.diff(candidates) > 0)
        assert np.isfinite(candidates).all()
        assert candidates[-1] > 1e307
        assert np.exp(log_prior).sum() == pytest.approx(1)
    assert np.isfinite(ladder()).all()
    assert np.all(np.diff(ladder()) > 0)


def found(step, values, noise):
    return step.draw(MemoryTable(np.array(values)[:, None], None, noise), State(), noise)


@pytest.mark.parametrize("method", METHODS)
@given(st.lists(any_float, min_size=2, max_size=9), any_float)
def test_one_value_moves_no_score_and_no_count_by_more_than_one(method, values, other):
    step = Quantile(public=Public.of(len(values), 1), q=0.4, epsilon=0.7, method=method)
    heard = Overheard(seeded_noise(len(values)))
    first = found(step, values, heard)
    again = Repeated(heard.draws)
    second = found(step, [other, *values[1:]], again)
    assert first.quantile == second.quantile  # nothing of the data decides but what was drawn
    assert first.events == second.events == (PureEvent(purpose="quantile", epsilon=0.7),)
    for draw, moved in zip(heard.draws, again.draws, strict=True):
        assert draw.kind == moved.kind == {"grid": "argmax", "unbounded": "laplace"}[method]
        assert draw.scale == moved.scale
        assert draw.moved_by(moved.exact) <= 1 + 1e-9
