"""Numbers of names, and rows by their codes."""

import numpy as np
import pytest

from gdppca._errors import DataError
from gdppca.kernels import roll as module
from gdppca.kernels.roll import Roll, rows_by_code


@pytest.fixture(autouse=True)
def few_slots(monkeypatch):
    monkeypatch.setattr(module, "_FIRST", 4)


def test_numbers_follow_the_first_time_and_are_counted(rng):
    codes = rng.integers(0, 3000, size=10_000)
    names = rng.integers(0, 2**64, size=(3000, 2), dtype=np.uint64)
    names[:50, 0] = 7  # one key, told apart by the other word
    names[50:100, 1] = 7  # and one place in the table
    roll = Roll()
    found = np.concatenate([roll.add(names[part]) for part in np.array_split(codes, 37)])
    first = np.unique(codes, return_index=True)[1]
    order = codes[np.sort(first)]
    assert roll.number == len(order)
    np.testing.assert_array_equal(order[found], codes)
    np.testing.assert_array_equal(roll.counts, np.bincount(codes)[order])
    np.testing.assert_array_equal(roll.keys(), names[order, 0])


def test_words_of_zeros_are_a_name_like_any_other():
    roll = Roll()
    assert roll.add(np.zeros((3, 2), dtype=np.uint64)).tolist() == [0, 0, 0]
    assert (roll.number, roll.counts.tolist(), roll.keys().tolist()) == (1, [3], [0])


def test_too_many_names_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    with pytest.raises(DataError, match="at most 2 rows"):
        Roll().add(np.arange(6, dtype=np.uint64).reshape(3, 2))


def test_rows_by_code_are_a_stable_sort(rng):
    codes = rng.integers(0, 20, size=300)
    counts = np.bincount(codes, minlength=21)
    order, starts = rows_by_code(codes, counts)
    np.testing.assert_array_equal(order, np.argsort(codes, kind="stable"))
    np.testing.assert_array_equal(starts, np.cumsum(counts) - counts)
