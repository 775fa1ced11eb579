"""From rows to the noisy matrix: when the debit comes, and what is told of it."""

from contextlib import nullcontext
from unittest import mock

import numpy as np
import pytest

from gdppca import DPPCA, DataError
from gdppca.tables.base import Supply


class Shrinking:
    """Rows that live elsewhere, where one is deleted after they were counted."""

    names = None
    n_samples, n_features = 3000, 3
    supply = Supply.PARTS

    def __init__(self, X):
        self.X = X

    def sample(self, size):
        return self.X[:size]

    def total(self, recipe, progress):
        sums = recipe.empty()
        sums.update(self.X[:-1], np.arange(len(self.X) - 1))
        return sums


@pytest.mark.parametrize(("location", "debits"), [(None, 0), ("private", 1)])
def test_changed_number_of_rows_is_refused_before_the_debit_where_it_can_be(
    location, debits, rng, monkeypatch
):
    table = Shrinking(rng.normal(size=(3000, 3)))
    monkeypatch.setattr("gdppca.estimators.base.open_table", lambda *_, **__: nullcontext(table))
    fail = mock.Mock(side_effect=AssertionError("noise was drawn"))
    monkeypatch.setattr("gdppca.steps.scatter.noisy_matrix", fail)
    with mock.patch("gdppca.design.run.enter") as debit, pytest.raises(DataError) as caught:
        DPPCA(2, location=location).fit_stream("rows.csv")
    assert debit.call_count == debits
    assert "number of rows changed" in str(caught.value)
    assert len(getattr(caught.value, "__notes__", ())) == debits  # told where a step was drawn
