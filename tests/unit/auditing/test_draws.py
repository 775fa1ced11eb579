"""Overhearing what a mechanism draws."""

import threading

import numpy as np
import pytest

from gdppca.auditing.draws import gaussian_log_ratio, log_ratio, overheard
from gdppca.noise.bits import SecureRng, secure_rng
from gdppca.steps import scale, scatter
from gdppca.steps.scale import private_scale


def mechanism(table):
    return private_scale(table, 2.0, secure_rng())


@pytest.fixture
def tables(rng):
    first = rng.normal(size=(20, 2))
    second = first.copy()
    second[0] = 1e9
    return first, second


def test_everything_is_heard_and_nothing_is_changed(tables):
    heard = overheard(mechanism, tables[0])
    assert [draw.name for draw in heard.draws].count("add_gaussian") == len(heard.published.events)
    assert [draw.name for draw in heard.draws].count("permutation") == 2
    assert (heard.published.scale > 0).all()
    for draw in heard.draws:
        if draw.name == "add_gaussian":
            values, sigma, _ = draw.given
            assert 0 < np.abs(draw.drawn - values).max() < 10 * sigma


def test_noise_is_fresh_in_every_run(tables):
    one, other = (overheard(mechanism, tables[0]) for _ in range(2))
    assert not np.array_equal(one.published.scale, other.published.scale)


def test_score_is_the_sum_of_log_likelihood_ratios(tables):
    """Repeated on its own table a run gives what it gave; on the neighbour, something else."""
    heard = overheard(mechanism, tables[0])
    assert log_ratio(mechanism, (tables[0], tables[0]), heard.draws) == 0.0
    forwards = log_ratio(mechanism, tables, heard.draws)
    assert forwards == pytest.approx(-log_ratio(mechanism, tables[::-1], heard.draws))
    assert forwards != 0.0


def test_gaussian_log_ratio():
    drawn, first, second = np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.array([1.0, -1.0])
    expected = -0.5 * (np.sum((drawn - first) ** 2) - np.sum((drawn - second) ** 2)) / 0.25
    assert gaussian_log_ratio(drawn, first, second, 0.5) == pytest.approx(expected)


def test_ears_are_taken_off_again(tables):
    before = scale.add_gaussian, scatter.add_gaussian, SecureRng.permutation
    overheard(mechanism, tables[0])

    def fails(table):
        mechanism(table)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        overheard(fails, tables[0])
    assert (scale.add_gaussian, scatter.add_gaussian, SecureRng.permutation) == before


def test_other_threads_are_not_overheard(tables):
    def meanwhile(table):
        other = threading.Thread(target=mechanism, args=(table,))
        other.start()
        other.join()
        return mechanism(table)

    heard = overheard(meanwhile, tables[0])
    names = [draw.name for draw in heard.draws]
    assert names.count("add_gaussian") == len(heard.published.events)
