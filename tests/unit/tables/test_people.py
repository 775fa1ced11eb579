"""Rows by their persons: which of them stand for a person, and what they count."""

import numpy as np
import pytest

from gdppca.kernels.weights import WHOLE
from gdppca.noise import Texts, seeded_noise
from gdppca.tables.people import MOST_EACH, People, rows_each, together

COUNTS = [1, 9, 3, 40, 4]


@pytest.fixture
def people(rng):
    words = seeded_noise(1).keys().named(Texts.of([f"P{k}" for k in range(len(COUNTS))]))
    whose = rng.permutation(np.repeat(np.arange(len(COUNTS)), COUNTS))
    rows = np.column_stack([rng.normal(size=(len(whose), 2)), whose])
    return People.of(rows, words[whose, 0], words[whose, 1])


def whose(people):
    return people.rows[:, -1].astype(int)


def test_rows_of_a_person_lie_together_in_the_order_of_keys(people):
    assert (people.keys[1:] >= people.keys[:-1]).all()
    each = np.split(whose(people), people.starts[1:])
    assert all(len(set(rows)) == 1 for rows in each)
    assert [COUNTS[rows[0]] for rows in each] == list(people.counts)


def test_some_rows_of_each_and_one_more_changes_no_other_choice(people):
    few, fewer = people.some(4), people.some(1)
    assert list(few.counts) == list(np.minimum(people.counts, 4))
    np.testing.assert_array_equal(few.rows[few.starts], fewer.rows)


def test_the_order_in_which_rows_come_does_not_matter(people, rng):
    order = rng.permutation(len(people.keys))
    others = np.zeros(len(order), np.uint64)
    again = People.of(people.rows[order], people.keys[order], others)
    for one, other in ((people, again), (people.some(3), again.some(3))):
        np.testing.assert_array_equal(one.rows, other.rows)


def test_persons_of_one_key_are_told_apart_by_the_other_word():
    rows, keys = np.arange(6.0).reshape(6, 1), np.full(6, 7, np.uint64)
    both = People.of(rows, keys, np.array([1, 2, 1, 2, 1, 2], np.uint64))
    assert list(both.counts) == [3, 3]
    assert {tuple(sorted(part.ravel())) for part in np.split(both.rows, 2)} == {
        (0, 2, 4),
        (1, 3, 5),
    }


def test_every_row_is_chosen_as_often_as_any_other():
    rows = np.arange(5.0).reshape(5, 1)
    n = 4000
    keys = np.repeat(np.arange(n, dtype=np.uint64) * np.uint64(2**40), 5)
    people = People.of(np.tile(rows, (n, 1)), keys, np.zeros(5 * n, np.uint64))
    for each in (1, 2, 4):
        found = np.bincount(people.some(each).rows[:, 0].astype(int), minlength=5)
        assert abs(found - n * each / 5).max() < 5 * np.sqrt(n)


def test_a_sample_counts_each_person_once(people):
    sample = people.some(4).sample(None, 2)
    assert sample.number == len(COUNTS)
    assert sample.values.shape == (1 + 4 + 3 + 4 + 4, 2)
    total = np.add.reduceat(sample.parts, sample.one_each)
    assert (total <= WHOLE).all()
    assert (total > WHOLE - 4).all()


def test_ranges_of_persons_are_put_together(people):
    cut = people.starts[2]
    first = People(people.rows[:cut], people.keys[:cut], people.starts[:2])
    last = People(people.rows[cut:], people.keys[cut:], people.starts[2:] - cut)
    nobody = People(people.rows[:0], people.keys[:0], people.starts[:0])
    again = together([first, nobody, last])
    for what in ("rows", "keys", "starts"):
        np.testing.assert_array_equal(getattr(again, what), getattr(people, what))


def test_of_many_persons_there_are_fewer_rows_each():
    assert rows_each(5000, 20) == MOST_EACH
    assert rows_each(2**17, 20) == 2
    assert rows_each(2**14, 1024) == 2
    assert rows_each(2, 2**24) == 1
