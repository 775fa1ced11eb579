"""Rows in the order of their keys, in memory and on disk."""

import numpy as np
import pytest

from gdppca import DataError
from gdppca.tables.base import OrderKeys
from gdppca.tables.runs import regular, sorted_rows

KEYS = OrderKeys(b"a secret of thirty-two bytes ...")


def pieces(rows, size):
    keys = KEYS.range(len(rows))
    for start in range(0, len(rows), size):
        yield rows[start : start + size], keys[start : start + size]


@pytest.mark.parametrize("at_once", [50, 64, 333, 1000, 5000])
def test_rows_come_in_the_order_of_their_keys_whatever_fits_into_memory(at_once, tmp_path):
    rows = np.random.default_rng(0).normal(size=(1000, 3))
    found = list(sorted_rows(pieces(rows, 50), 1000, at_once, tmp_path))
    np.testing.assert_array_equal(np.concatenate(found), rows[np.argsort(KEYS.range(1000))])
    assert max(map(len, found)) <= 2 * at_once
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_where_somebody_stops_in_the_middle(tmp_path):
    batches = sorted_rows(pieces(np.zeros((100, 2)), 10), 100, 10, tmp_path)
    next(batches)
    assert list(tmp_path.iterdir())
    batches.close()
    assert not list(tmp_path.iterdir())


def test_no_rows_are_no_batches(tmp_path):
    assert list(sorted_rows([], 0, 10, tmp_path)) == []
    assert list(regular([np.empty((0, 2))], 3)) == []


def test_batches_have_one_size_and_the_last_one_the_rest():
    rows = np.arange(40.0).reshape(20, 2)
    found = list(regular(np.split(rows, [1, 2, 9, 9, 10]), 3))
    assert [len(batch) for batch in found] == [3] * 6 + [2]
    np.testing.assert_array_equal(np.concatenate(found), rows)


def test_a_full_disk_is_told_and_quotes_nothing(tmp_path, monkeypatch):
    class Full:
        def tell(self):
            return 0

        def write(self, content):
            raise OSError("no room for 123.25")

    from gdppca.tables import runs

    with pytest.raises(DataError, match="is full") as caught:
        runs._written([(np.ones((2, 1)), KEYS.range(2))], runs.range_starts(2), Full(), tmp_path)
    assert caught.value.__context__ is None
